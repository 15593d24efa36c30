"""Results computed in Python: numbers, strings and arrays that keep their operands."""

from __future__ import annotations

from collections.abc import Iterable

from kerascheck.interpreter.joins import any_of
from kerascheck.interpreter.value_kinds import is_text
from kerascheck.interpreter.values import (
    Constant,
    ExecutionPath,
    ExternalInstance,
    LoopVariable,
    SequenceValue,
    Value,
    constant,
    flat,
    options_of,
)
from kerascheck.knowledge.python import LISTS_OF_TEXTS, TEXTS


def computed(name: str, *values: Value) -> ExternalInstance:
    """A computed number or string with its operands; it varies with the innermost loop among them."""
    loops = [
        option.loop
        for value in values
        for option in flat(value)
        if isinstance(option, LoopVariable) and option.loop is not None
    ]
    operands: dict[str, Value] = {"operands": SequenceValue("tuple", list(values))}
    return (
        LoopVariable(name, None, operands, max(loops, key=lambda loop: loop.depth))
        if loops
        else ExternalInstance(name, None, operands)
    )


def item_of_turn(items: list[Value], loop: ExecutionPath) -> Value:
    """The value of one iteration over a list.

    It is a loop variable for many strings or numbers, else the join of the items.
    """
    item = any_of(items)
    kinds = {
        "builtins.str" if is_text(each) else "builtins.float" if type(constant(each)) in (int, float) else None
        for each in items
    }
    written = all(isinstance(option, Constant) for option in options_of(item))
    kind = kinds.pop() if len(kinds) == 1 else None
    return item if kind is None or written else LoopVariable(kind, loop=loop)


def derived(*values: Value) -> ExternalInstance:
    """A computed array with its operands."""
    return ExternalInstance("numpy.ndarray", None, {"operands": SequenceValue("tuple", list(values))})


def as_texts(name: str, given: Iterable[Value]) -> Value | None:
    """The string, or list of strings, that a function with this name returns.

    None for other results.
    """
    if name in TEXTS:
        return computed("builtins.str", *given)
    # Methods that split a string; the content of files and folders does not depend on their arguments.
    takes_apart = name in LISTS_OF_TEXTS and name.startswith("builtins.str.")
    return SequenceValue("list", [computed("builtins.str", *given)], open=True) if takes_apart else None
