"""Branches: if, match and try."""

from __future__ import annotations

from functools import partial

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState, Written
from kerascheck.interpreter.binding import bind, bind_name
from kerascheck.interpreter.decisions import check_truth, outcome_of
from kerascheck.interpreter.joins import join_variables
from kerascheck.interpreter.values import UNKNOWN, ExecutionPath, Value, holds_tensor


def run_if(state: AbstractState, node: cst.If) -> bool:
    test = state.eval(node.test)
    check_truth(state, node.test, test)
    if _is_main_guard(node.test):
        return state.run_suite(node.body) if state.module is state.entry else False
    decided = outcome_of(state, node.test)
    if decided is True:
        return state.run_suite(node.body)
    if decided is False:
        return node.orelse is not None and _run_orelse(state, node.orelse)
    _invalidate_types(state, node.test)
    before, mark = state.scope.variables, len(state.undo_log)
    state.scope.variables = dict(before)
    with_branch = state.branch_path(node, "if")
    ended = state.inside(with_branch, state.run_suite, node.body)
    taken, written = state.scope.variables, state.rollback(mark)
    state.scope.variables = dict(before)
    ended_else = False
    if node.orelse is not None:
        ended_else = state.inside(state.branch_path(node, "else"), partial(_run_orelse, state), node.orelse)
    skipped = state.scope.variables
    state.merge_branches(written, state.rollback(mark))
    if ended and not ended_else:
        state.scope.variables = skipped
    elif ended_else and not ended:
        state.scope.variables = taken
    else:
        state.scope.variables = join_variables(taken, skipped)
    if holds_tensor(test):
        state.use("branch", node)
    return ended and ended_else


def _invalidate_types(state: AbstractState, test: cst.BaseExpression) -> None:
    """Discard the types that a test inspects, because such a function also handles other types than tensors."""
    for node in state.module.tree.descendants(test):
        if not isinstance(node, cst.Call) or not node.args or not isinstance(node.args[0].value, cst.Name):
            continue
        name = (
            node.func.attr.value
            if isinstance(node.func, cst.Attribute)
            else node.func.value
            if isinstance(node.func, cst.Name)
            else ""
        )
        if name in ("isinstance", "hasattr", "is_tensor", "is_keras_tensor", "is_numpy_array") and holds_tensor(
            state.scope.lookup(node.args[0].value.value)
        ):
            bind_name(state, node.args[0].value.value, UNKNOWN)


def _run_orelse(state: AbstractState, node: cst.If | cst.Else) -> bool:
    return run_if(state, node) if isinstance(node, cst.If) else state.run_suite(node.body)


def _is_main_guard(test: cst.BaseExpression) -> bool:
    return (
        isinstance(test, cst.Comparison)
        and len(test.comparisons) == 1
        and isinstance(test.comparisons[0].operator, cst.Equal)
        and any(
            isinstance(side, cst.Name) and side.value == "__name__"
            for side in (test.left, test.comparisons[0].comparator)
        )
    )


def run_try(state: AbstractState, node: cst.Try | cst.TryStar) -> bool:
    before = dict(state.scope.variables)
    ended = state.inside(ExecutionPath("try", state.path, state.module, node), state.run_suite, node.body)
    after = state.scope.variables
    survivors = [] if ended else [after]
    mark = len(state.undo_log)
    written: list[Written] = []
    for handler in node.handlers:
        state.scope.variables = dict(join_variables(before, after))
        if handler.name is not None:
            bind(state, handler.name.name, UNKNOWN)
        path = ExecutionPath("handler", state.path, state.module, handler)
        if not state.inside(path, state.run_suite, handler.body):
            survivors.append(state.scope.variables)
        written.append(state.rollback(mark))
    state.merge_branches({}, *written)
    state.scope.variables = after
    if node.orelse is not None and not ended:
        if state.run_suite(node.orelse.body):
            survivors.remove(after)
        elif state.scope.variables is not after:
            survivors[0] = state.scope.variables
    if survivors:
        merged = survivors[0]
        for other in survivors[1:]:
            merged = join_variables(merged, other)
        state.scope.variables = merged
    finished = False
    if node.finalbody is not None:
        finished = state.run_suite(node.finalbody.body)
    return finished or not survivors


def run_match(state: AbstractState, node: cst.Match) -> bool:
    state.eval(node.subject)
    before, mark = state.scope.variables, len(state.undo_log)
    survivors: list[dict[str, Value]] = []
    written: list[Written] = []
    exhaustive = False
    for case in node.cases:
        state.scope.variables = dict(before)
        _bind_pattern(state, case.pattern)
        if case.guard is not None:
            state.eval(case.guard)
        if not state.inside(
            ExecutionPath("branch", state.path, state.module, node, label="case"), state.run_suite, case.body
        ):
            survivors.append(state.scope.variables)
        written.append(state.rollback(mark))
        exhaustive = exhaustive or (
            isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None and case.guard is None
        )
    if not exhaustive:
        survivors.append(before)
        written.append({})
    state.merge_branches(*written)
    state.scope.variables = survivors[0] if survivors else before
    for other in survivors[1:]:
        state.scope.variables = join_variables(state.scope.variables, other)
    return not survivors


def _bind_pattern(state: AbstractState, pattern: cst.MatchPattern) -> None:
    for node in state.module.tree.descendants(pattern):
        name = (
            node.rest
            if isinstance(node, cst.MatchMapping)
            else node.name
            if isinstance(node, (cst.MatchAs, cst.MatchStar))
            else None
        )
        if name is not None:
            bind_name(state, name.value, UNKNOWN)
