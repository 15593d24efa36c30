"""What Python computes from values: numbers, texts and arrays that remember what they come from."""

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
    """A Python number or text that is computed from values, which it remembers: another one in each turn of the innermost loop that changes one of these."""
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
    """What a loop over a list gets in each turn: another text, or another of so many numbers, where it is no more than that."""
    item = any_of(items)
    kinds = {
        "builtins.str" if is_text(each) else "builtins.float" if type(constant(each)) in (int, float) else None
        for each in items
    }
    written = all(isinstance(option, Constant) for option in options_of(item))
    kind = kinds.pop() if len(kinds) == 1 else None
    return item if kind is None or written else LoopVariable(kind, loop=loop)


def derived(*values: Value) -> ExternalInstance:
    """An array computed from others, which it remembers."""
    return ExternalInstance("numpy.ndarray", None, {"operands": SequenceValue("tuple", list(values))})


def as_texts(name: str, given: Iterable[Value]) -> Value | None:
    """The text, or the list of texts, that Python makes of what a function of this name is given.

    None where it makes something else.
    """
    if name in TEXTS:
        return computed("builtins.str", *given)
    # The methods, which take a text apart; what a file or folder holds does not depend on what is given.
    takes_apart = name in LISTS_OF_TEXTS and name.startswith("builtins.str.")
    return SequenceValue("list", [computed("builtins.str", *given)], open=True) if takes_apart else None
