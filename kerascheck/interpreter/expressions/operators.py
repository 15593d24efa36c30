"""Arithmetic, comparisons, boolean operators and string formatting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.expressions.containers import bounded
from kerascheck.interpreter.joins import join
from kerascheck.interpreter.limits import MAX_TEXT
from kerascheck.interpreter.purity import computed, derived
from kerascheck.interpreter.timing import clock_arithmetic
from kerascheck.interpreter.value_kinds import is_array, is_number, is_symbolic, is_text
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Constant,
    ExternalInstance,
    LoopVariable,
    SequenceValue,
    Tensor,
    Value,
    constant,
    holds_tensor,
    options_of,
)
from kerascheck.knowledge.classes import KERAS_TENSOR, METRIC_RESULT

# Types that are neither tensors nor arrays nor times.
_PLAIN = frozenset({type(UNKNOWN), Constant})


_UFUNCS: dict[type[cst.CSTNode], str] = {
    cst.Add: "numpy.add",
    cst.Subtract: "numpy.subtract",
    cst.Multiply: "numpy.multiply",
    cst.Divide: "numpy.divide",
}


_BINARY: dict[type[cst.CSTNode], Callable[[Any, Any], Any]] = {
    cst.Add: lambda a, b: a + b,
    cst.Subtract: lambda a, b: a - b,
    cst.Multiply: lambda a, b: a * b,
    cst.FloorDivide: lambda a, b: a // b,
    cst.Divide: lambda a, b: a / b,
    cst.Modulo: lambda a, b: a % b,
}


def eval_binary(state: AbstractState, node: cst.BinaryOperation) -> Value:
    # Long chains are nested on the left: iterate along them instead of recursing.
    spine = []
    left: cst.CSTNode = node
    while isinstance(left, cst.BinaryOperation):
        spine.append(left)
        left = left.left
    value = state.eval(left)
    for operation in reversed(spine):
        value = _combine(state, operation, value, state.eval(operation.right))
    return value


def _combine(state: AbstractState, node: cst.BinaryOperation, left: Value, right: Value) -> Value:
    if isinstance(node.operator, cst.Modulo) and isinstance(constant(left), str):
        return _text(state, node, [right])
    if type(left) in _PLAIN and type(right) in _PLAIN:
        return _of_python(node.operator, left, right)
    if holds_tensor(left) or holds_tensor(right):
        both = holds_tensor(left) and holds_tensor(right)
        scalar = is_number(right if holds_tensor(left) else left)
        state.use("tensors" if both else "arithmetic" if scalar else "arithmetic-unknown", node)
        return state.computed_tensor(_origin(left, right), left, right)
    if is_symbolic(left) or is_symbolic(right):
        return ExternalInstance(KERAS_TENSOR, None, {"operands": SequenceValue("tuple", [left, right])})
    timed = clock_arithmetic(state, node, type(node.operator), left, right)
    if timed is not None:
        return timed
    # A value computed from a metric's result is on the same device.
    result = next(
        (side for side in (left, right) if isinstance(side, ExternalInstance) and side.name == METRIC_RESULT), None
    )
    if result is not None:
        return result
    if is_array(left) or is_array(right):
        return _array_result(state, node, left, right)
    return _of_python(node.operator, left, right)


def _array_result(state: AbstractState, node: cst.BinaryOperation, left: Value, right: Value) -> ExternalInstance:
    """An array result, with a call of the NumPy function behind the operator."""
    result = derived(left, right)
    name = _UFUNCS.get(type(node.operator))
    if name is not None:
        call = Call(state.module, node, name, None, UNKNOWN, Arguments([left, right]), state.path, state.order, result)
        result.attributes["operation"] = ExternalInstance(name, call)
    return result


def _origin(*operands: Value) -> str:
    """The origin of a result; arithmetic on parameters alone is a tensor with the same certainty."""
    origins = {option.origin for value in operands for option in options_of(value) if isinstance(option, Tensor)}
    return "parameter" if origins == {"parameter"} else "result"


def eval_unary(state: AbstractState, node: cst.UnaryOperation) -> Value:
    value = state.eval(node.expression)
    if holds_tensor(value) and not isinstance(node.operator, cst.Not):
        state.use("arithmetic", node)
        return Tensor("result")
    if holds_tensor(value):
        state.use("branch", node)
    if is_array(value):
        return derived(value)
    if isinstance(node.operator, cst.Minus) and isinstance(value, Constant) and isinstance(value.value, (int, float)):
        return Constant(-value.value)
    return UNKNOWN


def eval_boolean(state: AbstractState, node: cst.BooleanOperation) -> Value:
    left, right = state.eval(node.left), state.eval(node.right)
    if holds_tensor(left):
        state.use("branch", node)
    return join(left, right)


def eval_comparison(state: AbstractState, node: cst.Comparison) -> Value:
    values = [state.eval(node.left), *(state.eval(target.comparator) for target in node.comparisons)]
    identity = any(isinstance(target.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for target in node.comparisons)
    # Python decides comparisons of a tensor with None (tensor_equals in python/ops/math_ops.py).
    identity = identity or any(isinstance(value, Constant) and value.value is None for value in values)
    if any(holds_tensor(value) for value in values) and not identity:
        scalar = any(isinstance(value, Constant) for value in values)
        # In a chain, Python takes the truth value of the first comparison.
        chained = len(node.comparisons) > 1
        state.use("branch" if chained else "arithmetic" if scalar else "tensors", node)
        return Tensor(_origin(*values))
    if any(map(is_array, values)) and not identity:
        return derived(*values)
    return UNKNOWN


def eval_formatted(state: AbstractState, node: cst.FormattedString) -> Value:
    texts = [part.value for part in node.parts if isinstance(part, cst.FormattedStringText)]
    if len(texts) == len(node.parts):
        return Constant("".join(texts))
    return _text(
        state,
        node,
        [state.eval(part.expression) for part in node.parts if isinstance(part, cst.FormattedStringExpression)],
    )


def _text(state: AbstractState, node: cst.CSTNode, values: list[Value]) -> Value:
    """A string with formatted values, which reads them."""
    if any(map(holds_tensor, values)):
        state.use("format", node)
    state.record(node, "builtins.format", None, UNKNOWN, Arguments(values))
    return computed("builtins.str", *values)


def _of_python(operator: cst.BaseBinaryOp, left: Value, right: Value) -> Value:
    """The result of an operator on two Python numbers, strings or lists."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        operation = _BINARY.get(type(operator))
        numbers = all(isinstance(side.value, (int, float)) and type(side.value) is not bool for side in (left, right))
        strings = isinstance(operator, cst.Add) and all(isinstance(side.value, str) for side in (left, right))
        if operation and (numbers or strings):
            if _length(left.value) + _length(right.value) > MAX_TEXT:
                return UNKNOWN
            try:
                return Constant(operation(left.value, right.value))
            except (ArithmeticError, ValueError):
                return UNKNOWN
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    counter = next((side for side in (left, right) if isinstance(side, LoopVariable)), None)
    # A modulo or floor division yields only few different numbers.
    divides = isinstance(operator, (cst.Modulo, cst.FloorDivide))
    if counter is not None and is_number(left) and is_number(right) and not divides:
        return computed(counter.name, left, right)
    if not isinstance(operator, cst.Add):
        return UNKNOWN
    if is_text(left) and is_text(right):
        return computed("builtins.str", left, right)
    if isinstance(left, SequenceValue) and isinstance(right, SequenceValue):
        return bounded(SequenceValue(left.kind, left.items + right.items, left.open or right.open))
    return UNKNOWN


def _length(value: str | float) -> int:
    """The number of characters of a string, or of bits of an integer."""
    if isinstance(value, str):
        return len(value)
    return value.bit_length() if isinstance(value, int) else 0
