"""Function summaries: results of pure calls, memoised by the key of the call.

Following a function from forty call sites runs it and its callees forty times. If one call was pure, its summary
replaces later calls with the same key, and such a call is recorded as unknown. A pure call creates nothing that a rule
inspects, and changes no older object. The key contains everything that may select another path through the function.
This is its call path, its receiver, and the switches, functions and tensors among its arguments.
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
"""Maximum number of items of a container in its fingerprint."""
_DEEP = 4
"""Maximum depth of a result; a structure that contains itself has no end."""
_PLAIN = ("builtins.", "numpy.", "cv2.")
"""Prefixes of functions that return numbers, strings and arrays."""


class CallSummary(NamedTuple):
    """The summary of all calls with one key."""

    result: Value
    uses: list[tuple[str, cst.CSTNode, ModuleLike]]
    """Their uses of tensors, as in :attr:`AbstractState.uses`."""


def summary_key(function: Function, arguments: Arguments, path: ExecutionPath, how: str | None) -> Hashable | None:
    """The key of a call's summary; None if every such call must be followed.

    Calls in dataset functions are always followed, because rules inspect everything in them. So are calls of compiled
    code from Python, which rules time and count.

    Args:
        function: its receiver is bound.
        path: the path of the call.
        how: the compiler of the function itself.
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
    # Compiled code does not depend on the Python loop around it.
    loops = tuple([loop.node for loop in path.loops(within="program") if loop.depth > compiled])
    given = [_fingerprint(value) for value in arguments.positional]
    named = [(name, _fingerprint(value)) for name, value in arguments.keywords.items()]
    rest = arguments.unknown_positional, arguments.unknown_keywords
    context = how or outside, loops, path.loop is None, path.condition is None
    return function.node, function.scope, _fingerprint(function.receiver), context, tuple(given), tuple(named), rest


def is_pure(result: Value, calls: Iterable[Call]) -> bool:
    """Whether a function with this result and these calls is pure."""
    return _is_computed(result) and not any(map(_is_of_interest, calls))


def fresh_copy(value: Value) -> Value:
    """Copy a memoised result, with a separate identity."""
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
    """Whether :func:`fresh_copy` can copy a value.

    It copies tensors, arrays, numbers, None, UNKNOWN, and structures of these up to a maximum depth.
    """
    if isinstance(value, Tensor):
        # The operands of an eager tensor differ between calls.
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
    """Whether a call creates or trains Keras objects, or reads a clock, all of which must be recorded."""
    name = call.name
    if name is None or not name.startswith(KERAS):
        return name in CLOCKS or call.attribute == "apply_gradients"
    # Functions such as keras.ops.relu, and calls of layers on tensors, are pure like those of TensorFlow.
    return not name.islower() and not name.endswith(".__call__")


def _fingerprint(value: Value | None) -> Hashable:
    """The part of a value on which code may branch: the switches, functions and classes in it."""
    find = _FINGERPRINTS.get(type(value))
    return value if find is None else find(value)


def _fingerprint_of_attribute(value: Value) -> Hashable:
    """The fingerprint of an attribute; other objects count only by class, since they may refer to each other."""
    find = _FINGERPRINTS_OF_ATTRIBUTES.get(type(value))
    return value if find is None else find(value)


def _fingerprint_within(value: Value) -> Hashable:
    """The fingerprint of an item of a container; nested containers are not entered."""
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


# Each function receives values of the type it is registered for. Other values are their own fingerprint.
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
_FINGERPRINTS_OF_ATTRIBUTES = {**_FINGERPRINTS, Instance: lambda value: value.cls.node}
