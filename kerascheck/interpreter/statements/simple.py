"""Expression statements, ``with`` blocks, and statements that end a block."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.binding import bind
from kerascheck.interpreter.nodes import dotted_name
from kerascheck.interpreter.values import Constant, Dataset, ExecutionPath, ExternalInstance, options_of
from kerascheck.knowledge.python import ENDS_THE_PROGRAM


def run_expression_statement(state: AbstractState, node: cst.Expr) -> bool:
    value = state.eval(node.value)
    if isinstance(node.value, cst.Call):
        for dataset in options_of(value):
            if isinstance(dataset, Dataset) and dataset.stage.node is node.value and not dataset.stage.is_source:
                state.sink("discard", dataset, node.value)
        # In a notebook this ends a cell, or restarts the kernel for the following cells.
        goes_on = state.path.frame.function is None and state.module.source.cells is not None
        return isinstance(value, ExternalInstance) and value.name in ENDS_THE_PROGRAM and not goes_on
    return False


def run_return(state: AbstractState, node: cst.Return) -> bool:
    value = state.eval(node.value) if node.value is not None else Constant(None)
    if state.return_values:
        state.return_values[-1].append(value)
    return True


def run_jump(state: AbstractState, node: cst.Raise | cst.Break | cst.Continue) -> bool:
    if isinstance(node, cst.Raise) and node.exc is not None:
        state.eval(node.exc)
    return True


def run_assert(state: AbstractState, node: cst.Assert) -> None:
    for child in state.module.tree.children(node):
        if isinstance(child, cst.BaseExpression):
            state.eval(child)


def run_with(state: AbstractState, node: cst.With) -> bool:
    path = state.path
    try:
        for item in node.items:
            value = state.eval(item.item)
            if item.asname is not None:
                bind(state, item.asname.name, value)
            state.path = ExecutionPath("with", state.path, state.module, node, value=value)
        if any(_expects_error(item.item) for item in node.items):
            state.unrecorded(state.run_suite, node.body)
            return False
        return state.run_suite(node.body)
    finally:
        state.path = path


def _expects_error(manager: cst.BaseExpression) -> bool:
    """Whether a ``with`` statement enters ``pytest.raises``, ``self.assertRaises`` or similar."""
    function = manager.func if isinstance(manager, cst.Call) else manager
    return "raises" in dotted_name(function).rpartition(".")[2].lower()
