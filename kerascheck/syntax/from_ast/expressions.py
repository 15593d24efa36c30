"""Conversion of expressions, arguments and parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from kerascheck.syntax.from_ast.fields import (
    ASYNCHRONOUS,
    OPERATORS,
    new,
    set_annotation_annotation,
    set_arg_keyword,
    set_arg_star,
    set_arg_value,
    set_attribute_attr,
    set_attribute_value,
    set_await_expression,
    set_binary_left,
    set_binary_operator,
    set_binary_right,
    set_boolean_left,
    set_boolean_operator,
    set_boolean_right,
    set_call_args,
    set_call_func,
    set_choice_body,
    set_choice_orelse,
    set_choice_test,
    set_comp_async,
    set_comp_if_test,
    set_comp_ifs,
    set_comp_inner,
    set_comp_iter,
    set_comp_target,
    set_compared_comparator,
    set_compared_operator,
    set_comparison_comparisons,
    set_comparison_left,
    set_dict_comp_for_in,
    set_dict_comp_key,
    set_dict_comp_value,
    set_dict_elements,
    set_element_value,
    set_float_value,
    set_from_item,
    set_generator_elt,
    set_generator_for_in,
    set_imaginary_value,
    set_index_star,
    set_index_value,
    set_integer_value,
    set_lambda_body,
    set_lambda_params,
    set_list_comp_elt,
    set_list_comp_for_in,
    set_list_elements,
    set_name_value,
    set_pair_key,
    set_pair_value,
    set_param_annotation,
    set_param_default,
    set_param_name,
    set_param_star,
    set_parameters_kwonly,
    set_parameters_params,
    set_parameters_posonly,
    set_parameters_star_arg,
    set_parameters_star_kwarg,
    set_set_comp_elt,
    set_set_comp_for_in,
    set_set_elements,
    set_slice_lower,
    set_slice_step,
    set_slice_upper,
    set_starred_value,
    set_string_value,
    set_subscript_slice,
    set_subscript_value,
    set_subscripted_slice,
    set_tuple_elements,
    set_unary_expression,
    set_unary_operator,
    set_unpacked_value,
    set_walrus_target,
    set_walrus_value,
    set_yield_value,
)
from kerascheck.syntax.from_ast.layout import Layout, UnsupportedSyntax, location_of

_SINGLE_STRING = re.compile(
    r"""[rRbBuU]{0,2}(?:"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3}|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}"""
    r"""|"(?!"")[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"|'(?!'')[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*')""",
    re.S,
)


class ExpressionConverter(Layout):
    """Creates the nodes of expressions, and records their parents and locations."""

    def __init__(self, text: str, record_parents: Callable[[cst.CSTNode, dict[cst.CSTNode, cst.CSTNode]], object]):
        super().__init__(text)
        self._record_parents = record_parents
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.locations: dict[cst.CSTNode, Any] = {}
        self.parenthesised: dict[cst.CSTNode, Any] = {}

    def expression(self, node: Any, parent: cst.CSTNode) -> Any:
        """Convert an expression to a child of ``parent``."""
        make = _EXPRESSIONS.get(type(node))
        if make is not None:
            return make(self, node, parent)
        return self._parsed(node, parent)

    def _located(self, kind: type[cst.CSTNode], node: Any, parent: cst.CSTNode) -> Any:
        """Create a node without fields, with the location of ``node``."""
        made = self._child(kind, parent)
        self.locations[made] = location_of(node)
        return made

    def _child(self, kind: type[cst.CSTNode], parent: cst.CSTNode) -> Any:
        """Create a node without fields."""
        made = new(kind)
        self.parents[made] = parent
        return made

    def _optional(self, node: Any, parent: cst.CSTNode) -> Any:
        return None if node is None else self.expression(node, parent)

    def _parsed(self, node: Any, parent: cst.CSTNode) -> Any:
        """Parse an expression with libcst.

        This serves formatted strings, whose parts have no locations before Python 3.12, and all unsupported expressions.
        """
        try:
            made = cst.parse_expression(f"({self.source_of(node)})")
        except cst.ParserSyntaxError:
            raise UnsupportedSyntax from None
        self.parents[made] = parent
        self._record_parents(made, self.parents)
        return made

    def _identifier(self, name: str, parent: cst.CSTNode) -> cst.Name:
        if not name.isascii():
            # Python's parser has normalised it.
            raise UnsupportedSyntax
        made = self._child(cst.Name, parent)
        set_name_value(made, name)
        return made  # type: ignore[no-any-return]

    def _name(self, node: ast.Name, parent: cst.CSTNode) -> cst.Name:
        made = self._identifier(node.id, parent)
        self.locations[made] = location_of(node)
        return made

    def _attribute(self, node: ast.Attribute, parent: cst.CSTNode) -> cst.Attribute:
        made = self._located(cst.Attribute, node, parent)
        set_attribute_value(made, self.expression(node.value, made))
        set_attribute_attr(made, self._identifier(node.attr, made))
        return made  # type: ignore[no-any-return]

    def _call(self, node: ast.Call, parent: cst.CSTNode) -> cst.Call:
        made = self._located(cst.Call, node, parent)
        set_call_func(made, self.expression(node.func, made))
        set_call_args(made, [self._arg(each, made) for each in arguments_in_order(node.args, node.keywords)])
        return made  # type: ignore[no-any-return]

    def _arg(self, node: Any, parent: cst.CSTNode) -> cst.Arg:
        made = self._child(cst.Arg, parent)
        keyword, star = None, ""
        kind = type(node)
        if kind is ast.Starred:
            self.locations[made] = location_of(node)
            star, node = "*", node.value
        elif kind is ast.keyword:
            self.locations[made] = location_of(node)
            keyword, node = node.arg, node.value
            star = "**" if keyword is None else ""
        set_arg_value(made, self.expression(node, made))
        set_arg_keyword(made, None if keyword is None else self._identifier(keyword, made))
        set_arg_star(made, star)
        return made  # type: ignore[no-any-return]

    def _binary(self, node: ast.BinOp, parent: cst.CSTNode) -> cst.BinaryOperation:
        made = self._located(cst.BinaryOperation, node, parent)
        set_binary_left(made, self.expression(node.left, made))
        set_binary_operator(made, OPERATORS[type(node.op)])
        set_binary_right(made, self.expression(node.right, made))
        return made  # type: ignore[no-any-return]

    def _boolean(self, node: ast.BoolOp, parent: cst.CSTNode) -> cst.BooleanOperation:
        # Python's parser has one node for several operands, libcst one for two.
        chain = [new(cst.BooleanOperation) for _ in node.values[1:]]
        self.locations[chain[0]] = location_of(node)
        for made in chain:
            self.parents[made] = parent
            set_boolean_operator(made, OPERATORS[type(node.op)])
            parent = made
        set_boolean_left(chain[-1], self.expression(node.values[0], chain[-1]))
        for made, right in zip(reversed(chain), node.values[1:]):
            set_boolean_right(made, self.expression(right, made))
        for made, inner in zip(chain, chain[1:]):
            set_boolean_left(made, inner)
        return chain[0]  # type: ignore[no-any-return]

    def _unary(self, node: ast.UnaryOp, parent: cst.CSTNode) -> cst.UnaryOperation:
        made = self._located(cst.UnaryOperation, node, parent)
        set_unary_operator(made, OPERATORS[type(node.op)])
        set_unary_expression(made, self.expression(node.operand, made))
        return made  # type: ignore[no-any-return]

    def _comparison(self, node: ast.Compare, parent: cst.CSTNode) -> cst.Comparison:
        made = self._located(cst.Comparison, node, parent)
        set_comparison_left(made, self.expression(node.left, made))
        compared = []
        for operator, comparator in zip(node.ops, node.comparators):
            target = self._child(cst.ComparisonTarget, made)
            set_compared_operator(target, OPERATORS[type(operator)])
            set_compared_comparator(target, self.expression(comparator, target))
            compared.append(target)
        set_comparison_comparisons(made, compared)
        return made  # type: ignore[no-any-return]

    def _choice(self, node: ast.IfExp, parent: cst.CSTNode) -> cst.IfExp:
        made = self._located(cst.IfExp, node, parent)
        set_choice_test(made, self.expression(node.test, made))
        set_choice_body(made, self.expression(node.body, made))
        set_choice_orelse(made, self.expression(node.orelse, made))
        return made  # type: ignore[no-any-return]

    def _lambda(self, node: ast.Lambda, parent: cst.CSTNode) -> cst.Lambda:
        made = self._located(cst.Lambda, node, parent)
        set_lambda_params(made, self._parameters(node.args, made))
        set_lambda_body(made, self.expression(node.body, made))
        return made  # type: ignore[no-any-return]

    def _subscript(self, node: ast.Subscript, parent: cst.CSTNode) -> Any:
        inner = node.slice
        several = [inner]
        if type(inner) is ast.Tuple and inner.elts:
            written = self.source_of(inner)
            if not (written[0] == "(" and written[-1] == ")" and self._is_in_parentheses(written)):
                several = inner.elts
        made = self._located(cst.Subscript, node, parent)
        set_subscript_value(made, self.expression(node.value, made))
        set_subscript_slice(made, [self._subscripted(each, made) for each in several])
        return made

    def _is_in_parentheses(self, written: str) -> bool:
        """Whether the first and last parenthesis of a tuple enclose all of it."""
        try:
            return len(cst.parse_expression(f"x[{written}]").slice) == 1  # type: ignore[attr-defined]
        except cst.ParserSyntaxError:
            raise UnsupportedSyntax from None

    def _subscripted(self, node: Any, parent: cst.CSTNode) -> cst.SubscriptElement:
        made = self._child(cst.SubscriptElement, parent)
        if type(node) is ast.Slice:
            part = self._child(cst.Slice, made)
            set_slice_lower(part, self._optional(node.lower, part))
            set_slice_upper(part, self._optional(node.upper, part))
            set_slice_step(part, self._optional(node.step, part))
        else:
            part = self._child(cst.Index, made)
            star = None
            if type(node) is ast.Starred:
                star, node = "*", node.value
            set_index_value(part, self.expression(node, part))
            set_index_star(part, star)
        set_subscripted_slice(made, part)
        return made  # type: ignore[no-any-return]

    def _element(self, node: Any, parent: cst.CSTNode) -> Any:
        if type(node) is ast.Starred:
            made = self._child(cst.StarredElement, parent)
            set_starred_value(made, self.expression(node.value, made))
            return made
        made = self._child(cst.Element, parent)
        set_element_value(made, self.expression(node, made))
        return made

    def _tuple(self, node: Any, parent: cst.CSTNode) -> cst.Tuple:
        made = self._tuple_of(node.elts, parent)
        self.parenthesised[made] = location_of(node)
        return made

    def _tuple_of(self, elements: Sequence[Any], parent: cst.CSTNode) -> cst.Tuple:
        made = self._child(cst.Tuple, parent)
        set_tuple_elements(made, [self._element(each, made) for each in elements])
        return made  # type: ignore[no-any-return]

    def _list(self, node: ast.List, parent: cst.CSTNode) -> cst.List:
        made = self._located(cst.List, node, parent)
        set_list_elements(made, [self._element(each, made) for each in node.elts])
        return made  # type: ignore[no-any-return]

    def _set(self, node: ast.Set, parent: cst.CSTNode) -> cst.Set:
        made = self._located(cst.Set, node, parent)
        set_set_elements(made, [self._element(each, made) for each in node.elts])
        return made  # type: ignore[no-any-return]

    def _dict(self, node: ast.Dict, parent: cst.CSTNode) -> cst.Dict:
        made = self._located(cst.Dict, node, parent)
        elements = []
        for key, value in zip(node.keys, node.values):
            if key is None:
                pair = self._child(cst.StarredDictElement, made)
                set_unpacked_value(pair, self.expression(value, pair))
            else:
                pair = self._child(cst.DictElement, made)
                set_pair_key(pair, self.expression(key, pair))
                set_pair_value(pair, self.expression(value, pair))
            elements.append(pair)
        set_dict_elements(made, elements)
        return made  # type: ignore[no-any-return]

    def _list_comp(self, node: ast.ListComp, parent: cst.CSTNode) -> cst.ListComp:
        made = self._located(cst.ListComp, node, parent)
        set_list_comp_elt(made, self.expression(node.elt, made))
        set_list_comp_for_in(made, self._comp_for(node.generators, made))
        return made  # type: ignore[no-any-return]

    def _set_comp(self, node: ast.SetComp, parent: cst.CSTNode) -> cst.SetComp:
        made = self._located(cst.SetComp, node, parent)
        set_set_comp_elt(made, self.expression(node.elt, made))
        set_set_comp_for_in(made, self._comp_for(node.generators, made))
        return made  # type: ignore[no-any-return]

    def _generator(self, node: ast.GeneratorExp, parent: cst.CSTNode) -> cst.GeneratorExp:
        made = self._child(cst.GeneratorExp, parent)
        self.parenthesised[made] = location_of(node)
        set_generator_elt(made, self.expression(node.elt, made))
        set_generator_for_in(made, self._comp_for(node.generators, made))
        return made  # type: ignore[no-any-return]

    def _dict_comp(self, node: ast.DictComp, parent: cst.CSTNode) -> cst.DictComp:
        if getattr(node, "value", None) is None:
            raise UnsupportedSyntax
        made = self._located(cst.DictComp, node, parent)
        set_dict_comp_key(made, self.expression(node.key, made))
        set_dict_comp_value(made, self.expression(node.value, made))
        set_dict_comp_for_in(made, self._comp_for(node.generators, made))
        return made  # type: ignore[no-any-return]

    def _comp_for(self, nodes: Sequence[ast.comprehension], parent: cst.CSTNode) -> cst.CompFor:
        made, node = new(cst.CompFor), nodes[0]
        self.parents[made] = parent
        set_comp_target(made, self.expression(node.target, made))
        set_comp_iter(made, self.expression(node.iter, made))
        ifs = []
        for test in node.ifs:
            condition = self._child(cst.CompIf, made)
            set_comp_if_test(condition, self.expression(test, condition))
            ifs.append(condition)
        set_comp_ifs(made, ifs)
        set_comp_inner(made, self._comp_for(nodes[1:], made) if len(nodes) > 1 else None)
        set_comp_async(made, ASYNCHRONOUS if node.is_async else None)
        return made  # type: ignore[no-any-return]

    def _await(self, node: ast.Await, parent: cst.CSTNode) -> cst.Await:
        made = self._located(cst.Await, node, parent)
        set_await_expression(made, self.expression(node.value, made))
        return made  # type: ignore[no-any-return]

    def _yield(self, node: ast.Yield, parent: cst.CSTNode) -> cst.Yield:
        made = self._located(cst.Yield, node, parent)
        set_yield_value(made, self._optional(node.value, made))
        return made  # type: ignore[no-any-return]

    def _yield_from(self, node: ast.YieldFrom, parent: cst.CSTNode) -> cst.Yield:
        made = self._located(cst.Yield, node, parent)
        set_yield_value(made, self._from(node.value, made))
        return made  # type: ignore[no-any-return]

    def _from(self, node: Any, parent: cst.CSTNode) -> cst.From:
        made = self._child(cst.From, parent)
        set_from_item(made, self.expression(node, made))
        return made  # type: ignore[no-any-return]

    def _walrus(self, node: ast.NamedExpr, parent: cst.CSTNode) -> cst.NamedExpr:
        made = self._located(cst.NamedExpr, node, parent)
        set_walrus_target(made, self.expression(node.target, made))
        set_walrus_value(made, self.expression(node.value, made))
        return made  # type: ignore[no-any-return]

    def _constant(self, node: ast.Constant, parent: cst.CSTNode) -> Any:
        value = node.value
        if value is None or value is True or value is False:
            made = self._identifier(str(value), parent)
            self.locations[made] = location_of(node)
            return made
        written = self.source_of(node)
        if value is ...:
            if written != "...":
                raise UnsupportedSyntax
            made = new(cst.Ellipsis)
        elif isinstance(value, (str, bytes)):
            if _SINGLE_STRING.fullmatch(written) is None:
                return self._parsed(node, parent)
            made = new(cst.SimpleString)
            set_string_value(made, written)
        else:
            kind, set_value = _NUMBERS[type(value)]
            made = new(kind)
            set_value(made, written)
        self.parents[made] = parent
        self.locations[made] = location_of(node)
        return made

    def _parameters(self, node: ast.arguments, parent: cst.CSTNode) -> cst.Parameters:
        made = self._child(cst.Parameters, parent)
        named = [*node.posonlyargs, *node.args]
        without = len(named) - len(node.defaults)
        defaults: list[Any] = [*[None] * without, *node.defaults]
        count = len(node.posonlyargs)
        set_parameters_posonly(
            made, [self._param(each, made, "", default) for each, default in zip(named[:count], defaults)]
        )
        set_parameters_params(
            made, [self._param(each, made, "", default) for each, default in zip(node.args, defaults[count:])]
        )
        star: Any = cst.MaybeSentinel.DEFAULT
        if node.vararg is not None:
            star = self._param(node.vararg, made, "*", None)
        elif node.kwonlyargs:
            star = self._child(cst.ParamStar, made)
        set_parameters_star_arg(made, star)
        set_parameters_kwonly(
            made, [self._param(each, made, "", default) for each, default in zip(node.kwonlyargs, node.kw_defaults)]
        )
        set_parameters_star_kwarg(made, None if node.kwarg is None else self._param(node.kwarg, made, "**", None))
        return made  # type: ignore[no-any-return]

    def _param(self, node: ast.arg, parent: cst.CSTNode, star: str, default: Any) -> cst.Param:
        made = self._child(cst.Param, parent)
        set_param_name(made, self._identifier(node.arg, made))
        set_param_annotation(made, None if node.annotation is None else self._annotation(node.annotation, made))
        set_param_default(made, self._optional(default, made))
        set_param_star(made, star)
        return made  # type: ignore[no-any-return]

    def _annotation(self, node: Any, parent: cst.CSTNode) -> cst.Annotation:
        made = self._child(cst.Annotation, parent)
        if type(node) is ast.Starred:
            raise UnsupportedSyntax
        set_annotation_annotation(made, self.expression(node, made))
        return made  # type: ignore[no-any-return]


def arguments_in_order(positional: Sequence[Any], keywords: Sequence[Any]) -> list[Any]:
    """Return arguments in source order."""
    if not keywords:
        return [*positional]
    given = [*positional, *keywords]
    if positional and location_of(positional[-1]) > location_of(keywords[0]):
        given.sort(key=location_of)
    return given


_NUMBERS: dict[type, tuple[type[cst.CSTNode], Callable[[Any, Any], None]]] = {
    int: (cst.Integer, set_integer_value),
    float: (cst.Float, set_float_value),
    complex: (cst.Imaginary, set_imaginary_value),
}
_EXPRESSIONS: dict[type, Callable[[Any, Any, cst.CSTNode], Any]] = {
    ast.Name: ExpressionConverter._name, ast.Attribute: ExpressionConverter._attribute, ast.Call: ExpressionConverter._call, ast.Constant: ExpressionConverter._constant,
    ast.BinOp: ExpressionConverter._binary, ast.BoolOp: ExpressionConverter._boolean, ast.UnaryOp: ExpressionConverter._unary, ast.Compare: ExpressionConverter._comparison,
    ast.IfExp: ExpressionConverter._choice, ast.Lambda: ExpressionConverter._lambda, ast.Subscript: ExpressionConverter._subscript, ast.Tuple: ExpressionConverter._tuple,
    ast.List: ExpressionConverter._list, ast.Set: ExpressionConverter._set, ast.Dict: ExpressionConverter._dict, ast.ListComp: ExpressionConverter._list_comp,
    ast.SetComp: ExpressionConverter._set_comp, ast.GeneratorExp: ExpressionConverter._generator, ast.DictComp: ExpressionConverter._dict_comp,
    ast.Await: ExpressionConverter._await, ast.Yield: ExpressionConverter._yield, ast.YieldFrom: ExpressionConverter._yield_from, ast.NamedExpr: ExpressionConverter._walrus,
}  # fmt: skip
