"""``for`` and ``while`` loops."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.binding import bind
from kerascheck.interpreter.callables import run_items
from kerascheck.interpreter.decisions import check_truth
from kerascheck.interpreter.iteration import element_of, enter_loop
from kerascheck.interpreter.joins import join_variables
from kerascheck.interpreter.limits import MAX_OPTIONS
from kerascheck.interpreter.values import UNKNOWN, Function, IteratorValue, Partial, SequenceValue
from kerascheck.syntax.tree import Tree


def run_for(state: AbstractState, node: cst.For) -> bool:
    iterable = state.eval(node.iter)
    run_items(state, iterable, node.iter)
    loop = enter_loop(state, node, iterable, node.iter)
    turns = bool(loop.trips)
    if _ends_first_turn(node.body):
        loop.trips = 1 if loop.trips is None else min(loop.trips, 1)
    before, mark = dict(state.scope.variables), len(state.undo_log)
    # Functions of a literal list run one after the other. Other loops run once, over the join of their items.
    apart = (
        iterable.items
        if isinstance(iterable, SequenceValue)
        and not iterable.open
        and 1 < len(iterable.items) <= MAX_OPTIONS
        and all(isinstance(item, (Function, Partial)) for item in iterable.items)
        else None
    )
    for item in [element_of(iterable, loop)] if apart is None else apart:
        bind(state, node.target, item)
        if loop.trips == 0 and isinstance(iterable, IteratorValue) and iterable.kind == "range":
            # A loop over range(0) is disabled on purpose, but its names may still be used.
            state.unrecorded(lambda body: state.inside(loop, state.run_suite, body), node.body)
        else:
            state.inside(loop, state.run_suite, node.body)
    if not turns:
        state.merge_branches({}, state.rollback(mark))
    if apart is None:
        state.scope.variables = join_variables(state.scope.variables, before)
    if node.orelse is not None:
        state.run_suite(node.orelse.body)
    return False


def run_while(state: AbstractState, node: cst.While) -> bool:
    check_truth(state, node.test, state.eval(node.test))
    loop = enter_loop(state, node, UNKNOWN)
    if _ends_first_turn(node.body):
        loop.trips = 1
    before, mark = dict(state.scope.variables), len(state.undo_log)
    state.inside(loop, state.run_suite, node.body)
    state.merge_branches({}, state.rollback(mark))
    state.scope.variables = join_variables(state.scope.variables, before)
    if node.orelse is not None:
        state.run_suite(node.orelse.body)
    return False


def _ends_first_turn(body: cst.BaseSuite) -> bool:
    """Whether a loop ends in its first iteration.

    It has an unconditional ``break``, ``return`` or ``raise``, and no ``continue`` before it.
    """
    for position, statement in enumerate(body.body):
        if isinstance(statement, cst.With):
            ends = _ends_first_turn(statement.body)
        else:
            line = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
            ends = any(isinstance(each, (cst.Break, cst.Return, cst.Raise)) for each in line)
        if ends:
            return not any(map(_may_continue, body.body[:position]))
    return False


def _may_continue(node: cst.CSTNode) -> bool:
    """Whether a statement may continue with the next iteration of the enclosing loop."""
    if isinstance(node, cst.Continue):
        return True
    if isinstance(node, (cst.For, cst.While)):
        # A ``continue`` in its body belongs to the inner loop.
        return node.orelse is not None and _may_continue(node.orelse)
    return not isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.BaseExpression)) and any(
        map(_may_continue, Tree.children(node))
    )
