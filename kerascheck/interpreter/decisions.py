"""Tests of branches, and their outcome if the source determines it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.nodes import literal_of
from kerascheck.interpreter.values import (
    Arguments,
    Class,
    Constant,
    Dataset,
    DictValue,
    Function,
    Instance,
    SequenceValue,
    Tensor,
    Value,
    constant,
)
from kerascheck.knowledge.callables import TENSOR_BOOL

_DEBUGGING = re.compile(r"debug", re.I)


def check_truth(state: AbstractState, test: cst.BaseExpression, value: Value) -> None:
    """Record that Python branches on a tensor."""
    if isinstance(value, Tensor):
        state.record(test, TENSOR_BOOL, "__bool__", value, Arguments([value]))


def outcome_of(state: AbstractState, test: cst.BaseExpression) -> bool | None:
    """The outcome of a test of literals and of parameters with known arguments; else None.

    Module constants do not decide a branch: users edit them, so both branches matter. Debugging switches are the
    exception: if off, they stay off.
    """
    decide = _TESTS.get(type(test))
    return None if decide is None else decide(state, test)


def _decided_not(state: AbstractState, test: cst.UnaryOperation) -> bool | None:
    inner = outcome_of(state, test.expression) if isinstance(test.operator, cst.Not) else None
    return None if inner is None else not inner


def _decided_both(state: AbstractState, test: cst.BooleanOperation) -> bool | None:
    sides = outcome_of(state, test.left), outcome_of(state, test.right)
    deciding = isinstance(test.operator, cst.Or)
    return deciding if deciding in sides else None if None in sides else not deciding


def _decided_value(state: AbstractState, test: cst.Name | cst.Integer) -> bool | None:
    literal = literal_of(test)
    if literal is not None or not isinstance(test, cst.Name):
        return None if literal is None else bool(literal.value)
    value = _parameter(state, test)
    if value is None and _DEBUGGING.search(test.value) and constant(state.scope.lookup(test.value), True) is False:
        return False
    return bool(value.value) if isinstance(value, Constant) else True if isinstance(value, (Function, Class)) else None


def _decided_comparison(state: AbstractState, test: cst.Comparison) -> bool | None:
    if len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return None
    operator, other = test.comparisons[0].operator, test.comparisons[0].comparator
    value, literal = _parameter(state, test.left), literal_of(other)
    listed = isinstance(operator, (cst.In, cst.NotIn))
    if listed and isinstance(other, (cst.Tuple, cst.List, cst.Set)) and isinstance(value, Constant):
        among = [literal_of(element.value) for element in other.elements]
        return None if None in among else (value in among) is isinstance(operator, cst.In)
    if literal is None or value is None:
        return None
    if isinstance(value, Constant):
        same: bool = literal.value == value.value
    elif literal.value is None and isinstance(value, (Function, Class, Dataset, Instance, SequenceValue, DictValue)):
        same = False
    else:
        return None
    if isinstance(operator, (cst.Equal, cst.Is)):
        return same
    return not same if isinstance(operator, (cst.NotEqual, cst.IsNot)) else None


def _parameter(state: AbstractState, name: cst.Name) -> Value | None:
    """The argument that the current call passes for a parameter; None for other variables."""
    scope = state.scope.owner(name.value)
    return scope.variables[name.value] if scope is not None and name.value in scope.parameters else None


_TESTS: dict[type[cst.CSTNode], Callable[[AbstractState, Any], bool | None]] = {
    cst.UnaryOperation: _decided_not,
    cst.BooleanOperation: _decided_both,
    cst.Name: _decided_value,
    cst.Integer: _decided_value,
    cst.Comparison: _decided_comparison,
}
