"""Types of tensors that the code of a single function proves.

Keras casts floating-point inputs of a layer to its policy but passes integers on, so parameters have no proven type.
Results of ``tf.cast`` and similar functions have one, as do arithmetic on them and names that are assigned once.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.values import Call, External, ModuleLike, constant
from kerascheck.knowledge.callables import CAST, CONSTANT, CONVERT_TO_TENSOR, OPS_CAST, OPS_CONVERT_TO_TENSOR
from kerascheck.knowledge.numpy_equivalences import DTYPES, FLOATS
from kerascheck.meaning.calls import CallIndex
from kerascheck.syntax.tree import Tree

_NESTED = 20  # maximum levels of one expression; deeper ones are unknown
_MAKERS = {CAST: "x", OPS_CAST: "x", CONSTANT: "value", CONVERT_TO_TENSOR: "value", OPS_CONVERT_TO_TENSOR: "x"}
_DENSE = frozenset({CONSTANT, CONVERT_TO_TENSOR})  # they raise an error for ragged and sparse tensors
_READS = (
    cst.Arg,
    cst.Attribute,
    cst.BinaryOperation,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.Element,
    cst.Return,
    cst.Subscript,
    cst.UnaryOperation,
)
_ORDERED = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_CLOSED = (cst.Add, cst.Subtract, cst.Multiply)
"""Operators that keep the type of their operands."""


@dataclass(frozen=True, slots=True)
class TensorType:
    """The proven properties of a tensor.

    Attributes:
        dtype: one of :data:`~kerascheck.knowledge.numpy_equivalences.DTYPES`.
        dense: whether it is certainly neither ragged nor sparse.
    """

    dtype: str
    dense: bool


def proven_type(module: ModuleLike, node: cst.BaseExpression, depth: int = _NESTED) -> TensorType | None:
    """The proven type of a tensor expression; None if it has none or is not a tensor."""
    if not depth:
        return None
    if isinstance(node, cst.Name):
        value = _only_value(module.tree, node)
        return None if value is None else proven_type(module, value, depth - 1)
    if isinstance(node, cst.Call):
        return _made(module, node, depth)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        operand = proven_type(module, node.expression, depth - 1)
        return operand if operand is not None and operand.dtype != "bool" else None
    if isinstance(node, cst.BinaryOperation):
        keeps = isinstance(node.operator, _CLOSED)
        both = (
            _of_both(module, node.left, node.right, depth) if keeps or isinstance(node.operator, cst.Divide) else None
        )
        return both if both is not None and (keeps or both.dtype in FLOATS) else None
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        (target,) = node.comparisons
        if isinstance(target.operator, _ORDERED):
            both = _of_both(module, node.left, target.comparator, depth)
            return None if both is None else TensorType("bool", both.dense)
    return None


def is_number(node: cst.BaseExpression, *, whole: bool = False) -> bool:
    """Whether an expression is a literal number; an integer, if ``whole``."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, (cst.Minus, cst.Plus)):
        node = node.expression
    return isinstance(node, cst.Integer) or isinstance(node, cst.Float) and not whole


def _of_both(module: ModuleLike, left: cst.BaseExpression, right: cst.BaseExpression, depth: int) -> TensorType | None:
    """The common type of two tensors, or of a tensor beside a Python number that its type can hold."""
    one, other = (None if is_number(each) else proven_type(module, each, depth - 1) for each in (left, right))
    known = one or other
    if known is None or known.dtype == "bool":
        return None
    for found, node in ((one, left), (other, right)):
        if found is None and not is_number(node, whole=known.dtype not in FLOATS):
            return None
        if found is not None and found.dtype != known.dtype:
            return None
    return TensorType(known.dtype, all(each is None or each.dense for each in (one, other)))


def _made(module: ModuleLike, node: cst.Call, depth: int) -> TensorType | None:
    calls = module.once(CallIndex).at(node)
    names = {call.name for call in calls}
    name = names.pop() if len(names) == 1 else None
    if name not in _MAKERS or any(arg.star for arg in node.args):
        return None
    dtype = _written_type(calls[0])
    if dtype is None:
        return None
    if name in _DENSE:
        return TensorType(dtype, True)
    source = calls[0].arguments.node(0, _MAKERS[name])
    inner = None if source is None else proven_type(module, source.value, depth - 1)
    return TensorType(dtype, inner is not None and inner.dense)


def _written_type(call: Call) -> str | None:
    """The type in the second argument: "float32", ``tf.float32`` or ``np.float32``."""
    written, value = call.arguments.node(1, "dtype"), call.arguments.get(1, "dtype")
    if written is None:
        return None
    if isinstance(written.value, cst.SimpleString):
        name = constant(value)
    else:
        name = value.name.rpartition(".")[2] if isinstance(value, External) else None
    return name if name in DTYPES else None


def _only_value(tree: Tree, name: cst.Name) -> cst.BaseExpression | None:
    """The value of a name that its function assigns once, in its outermost block; otherwise None."""
    function = tree.enclosing(name, cst.FunctionDef, cst.Lambda)
    if not isinstance(function, cst.FunctionDef):
        return None
    value = None
    for node in tree.descendants(function):
        if not isinstance(node, cst.Name) or node.value != name.value:
            continue
        parent = tree.parents.get(node)
        if isinstance(parent, cst.AssignTarget):
            assign = tree.parents.get(parent)
            line = None if assign is None else tree.parents.get(assign)
            block = None if line is None else tree.parents.get(line)
            if value is not None or not isinstance(assign, cst.Assign) or block is not function.body:
                return None
            value = assign.value
        elif not isinstance(parent, _READS):
            return None
    return value
