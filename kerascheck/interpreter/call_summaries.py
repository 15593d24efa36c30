"""Which calls of a function are alike, and what those come to that only compute.

A function that is called from forty places would be run forty times, and so would all that it calls. Where one call has shown that it
only computes, makes nothing that a rule looks at and changes nothing that was there before, another of its kind is taken to do the same,
and stands for a call of which nothing more is known. What tells kinds apart is all that may lead another way through the function:
where it runs, on what object, and which switches, functions and tensors it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

import libcst as cst

from kerascheck.interpreter.internal_values import Imported
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Class,
    Constant,
    DictValue,
    ExecutionPath,
    ExternalInstance,
    Function,
    Instance,
    LoopVariable,
    ModuleLike,
    SequenceValue,
    Tensor,
    UnionValue,
    Value,
)
from kerascheck.knowledge.namespaces import KERAS
from kerascheck.knowledge.python import CLOCKS

_MANY = 8
"""So many items tell what is in a container."""
_DEEP = 4
"""So deep a structure may be: one that holds itself has no end."""
_PLAIN = ("builtins.", "numpy.", "cv2.")
"""What makes numbers, texts and arrays."""


class CallSummary(NamedTuple):
    """What calls of one kind come to."""

    result: Value
    uses: list[tuple[str, cst.CSTNode, ModuleLike]]
    """What they do with tensors, as in :attr:`Machine.uses`."""


def summary_key(function: Function, arguments: Arguments, path: ExecutionPath, how: str | None) -> Hashable | None:
    """What alike calls have in common; None where every one is to be followed.

    That is so in the function of a dataset, of which all is asked that it does, and where Python calls compiled code, which rules time and
    count.

    Args:
        function: its receiver is bound.
        scope: where the call is.
        how: what compiles the function itself.
    """
    outside = path.traced_by()
    if outside is None and how is not None:
        return None
    compiled = -1
    for frame in path.frames():
        if frame.stage is not None:
            return None
        if frame.traced:
            compiled = frame.depth
    # To compiled code it does not matter which loop of Python runs it.
    loops = tuple([loop.node for loop in path.loops(within="program") if loop.depth > compiled])
    given = [_fingerprint(value) for value in arguments.positional]
    named = [(name, _fingerprint(value)) for name, value in arguments.keywords.items()]
    rest = arguments.unknown_positional, arguments.unknown_keywords
    place = how or outside, loops, path.loop is None, path.condition is None
    return function.node, function.scope, _fingerprint(function.receiver), place, tuple(given), tuple(named), rest


def is_pure(result: Value, calls: Iterable[Call]) -> bool:
    """Whether that is all that a function does which returns ``result`` and makes these calls."""
    return _is_computed(result) and not any(map(_is_of_interest, calls))


def fresh_copy(value: Value) -> Value:
    """What a call returns that does as one before it: the same, but no object that is the same."""
    if isinstance(value, Tensor):
        return Tensor(value.origin, value.call)
    if isinstance(value, SequenceValue):
        return SequenceValue(value.kind, [fresh_copy(item) for item in value.items], value.open, value.most)
    if isinstance(value, DictValue):
        return DictValue({key: fresh_copy(item) for key, item in value.items.items()}, value.open, value.most)
    if isinstance(value, UnionValue):
        return UnionValue(tuple(map(fresh_copy, value.options)))
    return ExternalInstance(value.name) if isinstance(value, ExternalInstance) else value


def _is_computed(value: Value, depth: int = _DEEP) -> bool:
    """Whether a value is one of those that :func:`made_anew` makes: a tensor, an array, a number, nothing, what is not known, or a structure
    of these that is not too deep."""
    if isinstance(value, Tensor):
        # What an eager one was computed from is another thing each time.
        return not value.operands
    if isinstance(value, (SequenceValue, DictValue)):
        items = value.items if isinstance(value, SequenceValue) else value.items.values()
        return depth > 0 and all(_is_computed(item, depth - 1) for item in items)
    if isinstance(value, UnionValue):
        return all(_is_computed(option, depth) for option in value.options)
    if isinstance(value, ExternalInstance):
        return value.name.startswith(_PLAIN)
    return value is UNKNOWN or isinstance(value, Constant) and value.value is None


def _is_of_interest(call: Call) -> bool:
    """Whether a call makes or trains what belongs to Keras, or reads a clock: each time counts."""
    name = call.name
    if name is None or not name.startswith(KERAS):
        return name in CLOCKS or call.attribute == "apply_gradients"
    # A function of Keras, as keras.ops.relu, and what a layer does with tensors, are no more than TensorFlow's.
    return not name.islower() and not name.endswith(".__call__")


def _fingerprint(value: Value | None) -> Hashable:
    """What values have in common between which no code is seen to choose: the switches, functions and classes in them."""
    find = _FINGERPRINTS.get(type(value))
    return value if find is None else find(value)


def _fingerprint_of_attribute(value: Value) -> Hashable:
    """The sort of what an object holds; of another object only the class counts, since they may hold each other."""
    find = _SORTS_OF_ATTRIBUTES.get(type(value))
    return value if find is None else find(value)


def _fingerprint_within(value: Value) -> Hashable:
    """The sort of what a container holds, of which the same is true of another container."""
    return "container" if isinstance(value, (SequenceValue, DictValue)) else _fingerprint_of_attribute(value)


def _fingerprint_of_constant(value: Constant) -> Hashable:
    return value.value if value.value is None or isinstance(value.value, (bool, str)) else Constant


def _fingerprint_of_instance(value: Instance) -> Hashable:
    return value.cls.node, tuple(value.attributes), tuple(map(_fingerprint_of_attribute, value.attributes.values()))


def _fingerprint_of_function(value: Function) -> Hashable:
    return (
        value.node,
        value.scope,
        value.traced,
        None if value.receiver is None else _fingerprint_of_attribute(value.receiver),
    )


def _fingerprint_of_external(value: ExternalInstance) -> Hashable:
    return value if value.name.startswith(KERAS) else value.name


def _fingerprint_of_sequence(value: SequenceValue) -> Hashable:
    return value.kind, frozenset(map(_fingerprint_within, value.items[:_MANY]))


def _fingerprint_of_dict(value: DictValue) -> Hashable:
    return DictValue, frozenset(map(_fingerprint_within, list(value.items.values())[:_MANY]))


def _fingerprint_of_union(value: UnionValue) -> Hashable:
    return frozenset(map(_fingerprint_within, value.options))


# A function gets values of the type that the table gives it. The sort of any other value is that value alone.
_FINGERPRINTS: dict[type, Callable[..., Hashable]] = {
    Tensor: type,
    Imported: type,
    Constant: _fingerprint_of_constant,
    Instance: _fingerprint_of_instance,
    Class: lambda value: value.node,
    Function: _fingerprint_of_function,
    ExternalInstance: _fingerprint_of_external,
    LoopVariable: _fingerprint_of_external,
    SequenceValue: _fingerprint_of_sequence,
    DictValue: _fingerprint_of_dict,
    UnionValue: _fingerprint_of_union,
}
_SORTS_OF_ATTRIBUTES = {**_FINGERPRINTS, Instance: lambda value: value.cls.node}
