"""Writes of dataset functions to objects that outlive the call."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState, Start
from kerascheck.interpreter.values import (
    Class,
    DictValue,
    External,
    ExternalInstance,
    Instance,
    ModuleValue,
    Scope,
    SequenceValue,
    Value,
    options_of,
)

_DEEPEST_HOLDER = 4


def note_write(state: AbstractState, holder: cst.CSTNode | None, value: Value, node: cst.CSTNode) -> None:
    """Record a write of the running dataset function to an older object.

    Args:
        holder: syntax of the target: a variable, or the object whose attribute or item is written; None if unknown.
        value: the object written to.
    """
    start = state.mapped
    if start is None:
        return
    while isinstance(holder, (cst.Attribute, cst.Subscript)):
        holder = holder.value
    objects = list(options_of(value))
    if isinstance(holder, cst.Name):
        home = state.scope.redirected.get(holder.value) or state.scope.owner(holder.value)
        if home is None or not _is_own(state, home, start):
            state.use("write", node)
            return
        objects += options_of(home.variables.get(holder.value))
    if any(_is_older(state, each, start) for each in objects):
        state.use("write", node)


def note_mutation(state: AbstractState, node: cst.CSTNode, receiver: Value) -> None:
    """Record that a method mutates its object."""
    function = node.func if isinstance(node, cst.Call) else None
    note_write(state, function.value if isinstance(function, cst.Attribute) else None, receiver, node)


def _is_own(state: AbstractState, home: Scope, start: Start) -> bool:
    """Whether variables belong to a function called since then, or to a comprehension in it."""
    frames = state.frames[start.frames :]
    scope: Scope | None = state.scope
    while scope is not None and scope not in frames:
        if scope is home:
            return True
        scope = scope.parent
    return home in frames


def _is_older(state: AbstractState, value: Value, start: Start) -> bool:
    """Whether an object certainly existed before the dataset function was called."""
    if isinstance(value, ExternalInstance):
        return value.call is not None and value.call.order <= start.calls
    if isinstance(value, Instance):
        since = takewhile(lambda call: call.order > start.calls, reversed(state.calls))
        return not any(call.receiver is value and call.attribute == "__init__" for call in since)
    return (
        isinstance(value, (Class, External, ModuleValue))
        or isinstance(value, (SequenceValue, DictValue))
        and _is_held(state, value, start)
    )


def _is_held(state: AbstractState, value: Value, start: Start) -> bool:
    """Whether a container is in a variable outside the dataset function, or in an object that is older than its call."""
    frames = state.frames[start.frames :]
    holders = {id(scope): scope.variables for scope in state.module_scopes.values()}
    scope = frames[0].parent if frames else None
    while scope is not None:
        holders[id(scope)] = scope.variables
        scope = scope.parent
    held = [item for variables in holders.values() for item in variables.values()]
    held += [
        item
        for frame in frames
        for item in frame.variables.values()
        if isinstance(item, Instance) and _is_older(state, item, start)
    ]
    seen: set[int] = set()
    for _ in range(_DEEPEST_HOLDER):
        held = [option for item in held for option in options_of(item) if id(option) not in seen]
        if any(option is value for option in held):
            return True
        seen.update(map(id, held))
        held = [inner for option in held for inner in _contents(option)]
    return False


def _contents(value: Value) -> Iterator[Value]:
    """The contents of a container or object."""
    if isinstance(value, SequenceValue):
        yield from value.items
    elif isinstance(value, DictValue):
        yield from value.items.values()
    elif isinstance(value, (Instance, ExternalInstance)):
        yield from value.attributes.values()
