"""Table that maps expression nodes to the functions that evaluate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.expressions.containers import eval_comprehension, eval_dict, eval_sequence
from kerascheck.interpreter.expressions.operators import (
    eval_binary,
    eval_boolean,
    eval_comparison,
    eval_formatted,
    eval_unary,
)
from kerascheck.interpreter.expressions.simple import (
    eval_attribute,
    eval_await,
    eval_call,
    eval_conditional,
    eval_lambda,
    eval_name,
    eval_number,
    eval_string,
    eval_walrus,
    eval_yield,
)
from kerascheck.interpreter.expressions.subscripts import eval_subscript
from kerascheck.interpreter.values import Value

# Each evaluator receives nodes of the type it is registered for.
EXPRESSIONS: dict[type[cst.CSTNode], Callable[[AbstractState, Any], Value]] = {
    cst.Name: eval_name,
    cst.Attribute: eval_attribute,
    cst.Call: eval_call,
    cst.BinaryOperation: eval_binary,
    cst.UnaryOperation: eval_unary,
    cst.BooleanOperation: eval_boolean,
    cst.Comparison: eval_comparison,
    cst.IfExp: eval_conditional,
    cst.Subscript: eval_subscript,
    cst.Tuple: eval_sequence,
    cst.List: eval_sequence,
    cst.Set: eval_sequence,
    cst.Dict: eval_dict,
    cst.Lambda: eval_lambda,
    cst.ListComp: eval_comprehension,
    cst.SetComp: eval_comprehension,
    cst.DictComp: eval_comprehension,
    cst.GeneratorExp: eval_comprehension,
    cst.Await: eval_await,
    cst.Yield: eval_yield,
    cst.NamedExpr: eval_walrus,
    cst.Integer: eval_number,
    cst.Float: eval_number,
    cst.SimpleString: eval_string,
    cst.ConcatenatedString: eval_string,
    cst.FormattedString: eval_formatted,
}
