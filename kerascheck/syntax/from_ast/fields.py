"""Setters of node fields, since libcst's nodes are frozen, and shared nodes of operators."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import libcst as cst

FILLED: dict[type[cst.CSTNode], list[str]] = {}
"""The fields that the conversion fills, by node type."""


def _setters(cls: type[cst.CSTNode], fields: str) -> list[Callable[[Any, Any], None]]:
    """Return setters of a node's fields that work although libcst's nodes are frozen."""
    FILLED[cls] = fields.split()
    return [getattr(cls, field).__set__ for field in FILLED[cls]]


new: Callable[[type], Any] = object.__new__


def _one_of_each(classes: dict[type, type[cst.CSTNode]]) -> dict[type, cst.CSTNode]:
    FILLED.update((cls, []) for cls in classes.values())
    return {written: new(cls) for written, cls in classes.items()}


OPERATORS: dict[type, cst.CSTNode] = _one_of_each({
    ast.Add: cst.Add, ast.Sub: cst.Subtract, ast.Mult: cst.Multiply, ast.Div: cst.Divide, ast.Mod: cst.Modulo,
    ast.Pow: cst.Power, ast.LShift: cst.LeftShift, ast.RShift: cst.RightShift, ast.BitOr: cst.BitOr,
    ast.BitXor: cst.BitXor, ast.BitAnd: cst.BitAnd, ast.FloorDiv: cst.FloorDivide, ast.MatMult: cst.MatrixMultiply,
    ast.And: cst.And, ast.Or: cst.Or, ast.Not: cst.Not, ast.USub: cst.Minus, ast.UAdd: cst.Plus,
    ast.Invert: cst.BitInvert, ast.Eq: cst.Equal, ast.Lt: cst.LessThan,
    ast.LtE: cst.LessThanEqual, ast.Gt: cst.GreaterThan, ast.GtE: cst.GreaterThanEqual, ast.Is: cst.Is,
    ast.IsNot: cst.IsNot, ast.In: cst.In, ast.NotIn: cst.NotIn,
})  # fmt: skip
# It has two spellings.
OPERATORS[ast.NotEq] = cst.NotEqual()
AUGMENTED_OPERATORS: dict[type, cst.CSTNode] = _one_of_each({
    ast.Add: cst.AddAssign, ast.Sub: cst.SubtractAssign, ast.Mult: cst.MultiplyAssign, ast.Div: cst.DivideAssign,
    ast.Mod: cst.ModuloAssign, ast.Pow: cst.PowerAssign, ast.LShift: cst.LeftShiftAssign,
    ast.RShift: cst.RightShiftAssign, ast.BitOr: cst.BitOrAssign, ast.BitXor: cst.BitXorAssign,
    ast.BitAnd: cst.BitAndAssign, ast.FloorDiv: cst.FloorDivideAssign, ast.MatMult: cst.MatrixMultiplyAssign,
})  # fmt: skip
ASYNCHRONOUS = new(cst.Asynchronous)
_BARE: list[type[cst.CSTNode]] = [
    cst.Asynchronous, cst.Pass, cst.Break, cst.Continue, cst.Ellipsis, cst.ParamStar, cst.ImportStar, cst.Dot,
]  # fmt: skip
FILLED.update((each, []) for each in _BARE)

(set_name_value,) = _setters(cst.Name, "value")
set_attribute_value, set_attribute_attr = _setters(cst.Attribute, "value attr")
set_call_func, set_call_args = _setters(cst.Call, "func args")
set_arg_value, set_arg_keyword, set_arg_star = _setters(cst.Arg, "value keyword star")
set_binary_left, set_binary_operator, set_binary_right = _setters(cst.BinaryOperation, "left operator right")
set_boolean_left, set_boolean_operator, set_boolean_right = _setters(cst.BooleanOperation, "left operator right")
set_unary_operator, set_unary_expression = _setters(cst.UnaryOperation, "operator expression")
set_comparison_left, set_comparison_comparisons = _setters(cst.Comparison, "left comparisons")
set_compared_operator, set_compared_comparator = _setters(cst.ComparisonTarget, "operator comparator")
set_choice_test, set_choice_body, set_choice_orelse = _setters(cst.IfExp, "test body orelse")
set_lambda_params, set_lambda_body = _setters(cst.Lambda, "params body")
set_subscript_value, set_subscript_slice = _setters(cst.Subscript, "value slice")
(set_subscripted_slice,) = _setters(cst.SubscriptElement, "slice")
set_index_value, set_index_star = _setters(cst.Index, "value star")
set_slice_lower, set_slice_upper, set_slice_step = _setters(cst.Slice, "lower upper step")
(set_element_value,) = _setters(cst.Element, "value")
(set_starred_value,) = _setters(cst.StarredElement, "value")
(set_tuple_elements,) = _setters(cst.Tuple, "elements")
(set_list_elements,) = _setters(cst.List, "elements")
(set_set_elements,) = _setters(cst.Set, "elements")
(set_dict_elements,) = _setters(cst.Dict, "elements")
set_pair_key, set_pair_value = _setters(cst.DictElement, "key value")
(set_unpacked_value,) = _setters(cst.StarredDictElement, "value")
set_list_comp_elt, set_list_comp_for_in = _setters(cst.ListComp, "elt for_in")
set_set_comp_elt, set_set_comp_for_in = _setters(cst.SetComp, "elt for_in")
set_generator_elt, set_generator_for_in = _setters(cst.GeneratorExp, "elt for_in")
set_dict_comp_key, set_dict_comp_value, set_dict_comp_for_in = _setters(cst.DictComp, "key value for_in")
set_comp_target, set_comp_iter, set_comp_ifs, set_comp_inner, set_comp_async = _setters(
    cst.CompFor, "target iter ifs inner_for_in asynchronous"
)
(set_comp_if_test,) = _setters(cst.CompIf, "test")
(set_await_expression,) = _setters(cst.Await, "expression")
(set_yield_value,) = _setters(cst.Yield, "value")
(set_from_item,) = _setters(cst.From, "item")
set_walrus_target, set_walrus_value = _setters(cst.NamedExpr, "target value")
(set_integer_value,) = _setters(cst.Integer, "value")
(set_float_value,) = _setters(cst.Float, "value")
(set_imaginary_value,) = _setters(cst.Imaginary, "value")
(set_string_value,) = _setters(cst.SimpleString, "value")
set_param_name, set_param_annotation, set_param_default, set_param_star = _setters(
    cst.Param, "name annotation default star"
)
(
    set_parameters_params,
    set_parameters_star_arg,
    set_parameters_kwonly,
    set_parameters_star_kwarg,
    set_parameters_posonly,
) = _setters(cst.Parameters, "params star_arg kwonly_params star_kwarg posonly_params")
(set_annotation_annotation,) = _setters(cst.Annotation, "annotation")
(set_expr_value,) = _setters(cst.Expr, "value")
set_assign_targets, set_assign_value = _setters(cst.Assign, "targets value")
(set_target_target,) = _setters(cst.AssignTarget, "target")
set_annotated_target, set_annotated_annotation, set_annotated_value = _setters(cst.AnnAssign, "target annotation value")
set_augmented_target, set_augmented_operator, set_augmented_value = _setters(cst.AugAssign, "target operator value")
(set_return_value,) = _setters(cst.Return, "value")
set_raise_exc, set_raise_cause = _setters(cst.Raise, "exc cause")
(set_del_target,) = _setters(cst.Del, "target")
(set_global_names,) = _setters(cst.Global, "names")
(set_nonlocal_names,) = _setters(cst.Nonlocal, "names")
(set_item_name,) = _setters(cst.NameItem, "name")
set_assert_test, set_assert_msg = _setters(cst.Assert, "test msg")
(set_import_names,) = _setters(cst.Import, "names")
set_import_from_module, set_import_from_names, set_import_from_relative = _setters(
    cst.ImportFrom, "module names relative"
)
set_alias_name, set_alias_asname = _setters(cst.ImportAlias, "name asname")
(set_as_name,) = _setters(cst.AsName, "name")
(set_line_body,) = _setters(cst.SimpleStatementLine, "body")
(set_suite_body,) = _setters(cst.SimpleStatementSuite, "body")
(set_block_body,) = _setters(cst.IndentedBlock, "body")
set_if_test, set_if_body, set_if_orelse = _setters(cst.If, "test body orelse")
(set_else_body,) = _setters(cst.Else, "body")
set_for_target, set_for_iter, set_for_body, set_for_orelse, set_for_async = _setters(
    cst.For, "target iter body orelse asynchronous"
)
set_while_test, set_while_body, set_while_orelse = _setters(cst.While, "test body orelse")
set_with_items, set_with_body, set_with_async = _setters(cst.With, "items body asynchronous")
set_with_item_item, set_with_item_asname = _setters(cst.WithItem, "item asname")
set_try_body, set_try_handlers, set_try_orelse, set_try_finalbody = _setters(cst.Try, "body handlers orelse finalbody")
(set_finally_body,) = _setters(cst.Finally, "body")
set_handler_body, set_handler_type, set_handler_name = _setters(cst.ExceptHandler, "body type name")
set_def_name, set_def_params, set_def_body, set_def_decorators, set_def_returns, set_def_types, set_def_async = (
    _setters(cst.FunctionDef, "name params body decorators returns type_parameters asynchronous")
)
set_class_name, set_class_body, set_class_bases, set_class_keywords, set_class_decorators, set_class_types = _setters(
    cst.ClassDef, "name body bases keywords decorators type_parameters"
)
(set_decorator_decorator,) = _setters(cst.Decorator, "decorator")
(set_module_body,) = _setters(cst.Module, "body")
