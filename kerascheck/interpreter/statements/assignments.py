"""Assignments, deletions, and the statements global and nonlocal."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.binding import bind, bind_name, is_side_effect
from kerascheck.interpreter.timing import clock_arithmetic, collect
from kerascheck.interpreter.values import UNKNOWN, Arguments, DictValue, Scope, SequenceValue, Tensor, holds_tensor
from kerascheck.interpreter.writes import note_write

_AUGMENTED: dict[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
}


def run_assign(state: AbstractState, node: cst.Assign) -> None:
    value = state.eval(node.value)
    for target in node.targets:
        bind(state, target.target, value)


def run_annotated_assign(state: AbstractState, node: cst.AnnAssign) -> None:
    if node.value is not None:
        bind(state, node.target, state.eval(node.value))


def run_augmented_assign(state: AbstractState, node: cst.AugAssign) -> None:
    left, right = state.eval(node.target), state.eval(node.value)
    if isinstance(left, (SequenceValue, DictValue)):
        note_write(state, node.target, left, node)
    if (
        isinstance(left, SequenceValue)
        and isinstance(right, SequenceValue)
        and isinstance(node.operator, cst.AddAssign)
    ):
        state.extend(left, right.items, certain=not right.open)
    elif isinstance(left, DictValue):
        state.update(left, right)
    elif holds_tensor(left) or holds_tensor(right):
        state.use("arithmetic", node)
        bind(state, node.target, Tensor("result"))
    else:
        bind(
            state,
            node.target,
            clock_arithmetic(state, node, _AUGMENTED.get(type(node.operator)), left, right) or UNKNOWN,
        )
    if isinstance(right, SequenceValue):
        collect(state, node, right.items)
    if is_side_effect(state, node.target):
        state.record(node, "builtins.object.__iadd__", "__iadd__", left, Arguments([right]))


def run_delete(state: AbstractState, node: cst.Del) -> None:
    targets = (
        [element.value for element in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
    )
    for target in targets:
        if isinstance(target, cst.Name):
            bind_name(state, target.value, UNKNOWN)
        elif isinstance(target, (cst.Attribute, cst.Subscript)):
            note_write(state, target.value, state.eval(target.value), target)


def run_global(state: AbstractState, node: cst.Global) -> None:
    module_env = state.module_scopes[state.module]
    for item in node.names:
        state.scope.redirected[item.name.value] = module_env


def run_nonlocal(state: AbstractState, node: cst.Nonlocal) -> None:
    for item in node.names:
        scope: Scope | None = state.scope.parent
        while scope is not None and item.name.value not in scope.variables:
            scope = scope.parent
        if scope is not None:
            state.scope.redirected[item.name.value] = scope
