"""libcst's nodes from the syntax tree of Python's own parser, in half of the time that libcst takes to parse.

The nodes hold what a program means: no white space, comments, commas or parentheses. Reading one of these fields raises
AttributeError; :meth:`kerascheck.syntax.tree.Tree.written` gives the node with them. :mod:`kerascheck.syntax.parse` decides
whether this module serves.

On 62,800 lines (Python 3.11, libcst 1.9) Python's parser takes 1.4 s and the nodes 1.9 s, where libcst takes 6.3 s.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from kerascheck.syntax.whitespace import NEWLINE

_CONTINUED = re.compile(r"\\\r?\n|\\\r")
_ONE_STRING = re.compile(
    r"""[rRbBuU]{0,2}(?:"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3}|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}"""
    r"""|"(?!"")[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"|'(?!'')[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*')""",
    re.S,
)


Place = tuple[int, int, int, int]
"""The lines, from 1 on, and the columns, in bytes, of a start and an end."""


class NoCounterpart(ValueError):
    """A program holds what is not made here: libcst has to parse it."""


FILLED: dict[type[cst.CSTNode], list[str]] = {}
"""By type of node, the fields that are filled here."""


def _setters(cls: type[cst.CSTNode], fields: str) -> list[Callable[[Any, Any], None]]:
    """Return what sets fields of a node, although libcst's nodes are frozen."""
    FILLED[cls] = fields.split()
    return [getattr(cls, field).__set__ for field in FILLED[cls]]


_new: Callable[[type], Any] = object.__new__


def _one_of_each(classes: dict[type, type[cst.CSTNode]]) -> dict[type, cst.CSTNode]:
    FILLED.update((cls, []) for cls in classes.values())
    return {written: _new(cls) for written, cls in classes.items()}


_OPERATORS: dict[type, cst.CSTNode] = _one_of_each({
    ast.Add: cst.Add, ast.Sub: cst.Subtract, ast.Mult: cst.Multiply, ast.Div: cst.Divide, ast.Mod: cst.Modulo,
    ast.Pow: cst.Power, ast.LShift: cst.LeftShift, ast.RShift: cst.RightShift, ast.BitOr: cst.BitOr,
    ast.BitXor: cst.BitXor, ast.BitAnd: cst.BitAnd, ast.FloorDiv: cst.FloorDivide, ast.MatMult: cst.MatrixMultiply,
    ast.And: cst.And, ast.Or: cst.Or, ast.Not: cst.Not, ast.USub: cst.Minus, ast.UAdd: cst.Plus,
    ast.Invert: cst.BitInvert, ast.Eq: cst.Equal, ast.Lt: cst.LessThan,
    ast.LtE: cst.LessThanEqual, ast.Gt: cst.GreaterThan, ast.GtE: cst.GreaterThanEqual, ast.Is: cst.Is,
    ast.IsNot: cst.IsNot, ast.In: cst.In, ast.NotIn: cst.NotIn,
})  # fmt: skip
# There are two ways to write it.
_OPERATORS[ast.NotEq] = cst.NotEqual()
_ASSIGNING: dict[type, cst.CSTNode] = _one_of_each({
    ast.Add: cst.AddAssign, ast.Sub: cst.SubtractAssign, ast.Mult: cst.MultiplyAssign, ast.Div: cst.DivideAssign,
    ast.Mod: cst.ModuloAssign, ast.Pow: cst.PowerAssign, ast.LShift: cst.LeftShiftAssign,
    ast.RShift: cst.RightShiftAssign, ast.BitOr: cst.BitOrAssign, ast.BitXor: cst.BitXorAssign,
    ast.BitAnd: cst.BitAndAssign, ast.FloorDiv: cst.FloorDivideAssign, ast.MatMult: cst.MatrixMultiplyAssign,
})  # fmt: skip
_ASYNCHRONOUS = _new(cst.Asynchronous)
_BARE: list[type[cst.CSTNode]] = [
    cst.Asynchronous, cst.Pass, cst.Break, cst.Continue, cst.Ellipsis, cst.ParamStar, cst.ImportStar, cst.Dot,
]  # fmt: skip
FILLED.update((each, []) for each in _BARE)

(_name_value,) = _setters(cst.Name, "value")
_attribute_value, _attribute_attr = _setters(cst.Attribute, "value attr")
_call_func, _call_args = _setters(cst.Call, "func args")
_arg_value, _arg_keyword, _arg_star = _setters(cst.Arg, "value keyword star")
_binary_left, _binary_operator, _binary_right = _setters(cst.BinaryOperation, "left operator right")
_boolean_left, _boolean_operator, _boolean_right = _setters(cst.BooleanOperation, "left operator right")
_unary_operator, _unary_expression = _setters(cst.UnaryOperation, "operator expression")
_comparison_left, _comparison_comparisons = _setters(cst.Comparison, "left comparisons")
_compared_operator, _compared_comparator = _setters(cst.ComparisonTarget, "operator comparator")
_choice_test, _choice_body, _choice_orelse = _setters(cst.IfExp, "test body orelse")
_lambda_params, _lambda_body = _setters(cst.Lambda, "params body")
_subscript_value, _subscript_slice = _setters(cst.Subscript, "value slice")
(_subscripted_slice,) = _setters(cst.SubscriptElement, "slice")
_index_value, _index_star = _setters(cst.Index, "value star")
_slice_lower, _slice_upper, _slice_step = _setters(cst.Slice, "lower upper step")
(_element_value,) = _setters(cst.Element, "value")
(_starred_value,) = _setters(cst.StarredElement, "value")
(_tuple_elements,) = _setters(cst.Tuple, "elements")
(_list_elements,) = _setters(cst.List, "elements")
(_set_elements,) = _setters(cst.Set, "elements")
(_dict_elements,) = _setters(cst.Dict, "elements")
_pair_key, _pair_value = _setters(cst.DictElement, "key value")
(_unpacked_value,) = _setters(cst.StarredDictElement, "value")
_list_comp_elt, _list_comp_for_in = _setters(cst.ListComp, "elt for_in")
_set_comp_elt, _set_comp_for_in = _setters(cst.SetComp, "elt for_in")
_generator_elt, _generator_for_in = _setters(cst.GeneratorExp, "elt for_in")
_dict_comp_key, _dict_comp_value, _dict_comp_for_in = _setters(cst.DictComp, "key value for_in")
_comp_target, _comp_iter, _comp_ifs, _comp_inner, _comp_async = _setters(
    cst.CompFor, "target iter ifs inner_for_in asynchronous"
)
(_comp_if_test,) = _setters(cst.CompIf, "test")
(_await_expression,) = _setters(cst.Await, "expression")
(_yield_value,) = _setters(cst.Yield, "value")
(_from_item,) = _setters(cst.From, "item")
_walrus_target, _walrus_value = _setters(cst.NamedExpr, "target value")
(_integer_value,) = _setters(cst.Integer, "value")
(_float_value,) = _setters(cst.Float, "value")
(_imaginary_value,) = _setters(cst.Imaginary, "value")
(_string_value,) = _setters(cst.SimpleString, "value")
_param_name, _param_annotation, _param_default, _param_star = _setters(cst.Param, "name annotation default star")
_parameters_params, _parameters_star_arg, _parameters_kwonly, _parameters_star_kwarg, _parameters_posonly = _setters(
    cst.Parameters, "params star_arg kwonly_params star_kwarg posonly_params"
)
(_annotation_annotation,) = _setters(cst.Annotation, "annotation")
(_expr_value,) = _setters(cst.Expr, "value")
_assign_targets, _assign_value = _setters(cst.Assign, "targets value")
(_target_target,) = _setters(cst.AssignTarget, "target")
_annotated_target, _annotated_annotation, _annotated_value = _setters(cst.AnnAssign, "target annotation value")
_augmented_target, _augmented_operator, _augmented_value = _setters(cst.AugAssign, "target operator value")
(_return_value,) = _setters(cst.Return, "value")
_raise_exc, _raise_cause = _setters(cst.Raise, "exc cause")
(_del_target,) = _setters(cst.Del, "target")
(_global_names,) = _setters(cst.Global, "names")
(_nonlocal_names,) = _setters(cst.Nonlocal, "names")
(_item_name,) = _setters(cst.NameItem, "name")
_assert_test, _assert_msg = _setters(cst.Assert, "test msg")
(_import_names,) = _setters(cst.Import, "names")
_import_from_module, _import_from_names, _import_from_relative = _setters(cst.ImportFrom, "module names relative")
_alias_name, _alias_asname = _setters(cst.ImportAlias, "name asname")
(_as_name,) = _setters(cst.AsName, "name")
(_line_body,) = _setters(cst.SimpleStatementLine, "body")
(_suite_body,) = _setters(cst.SimpleStatementSuite, "body")
(_block_body,) = _setters(cst.IndentedBlock, "body")
_if_test, _if_body, _if_orelse = _setters(cst.If, "test body orelse")
(_else_body,) = _setters(cst.Else, "body")
_for_target, _for_iter, _for_body, _for_orelse, _for_async = _setters(cst.For, "target iter body orelse asynchronous")
_while_test, _while_body, _while_orelse = _setters(cst.While, "test body orelse")
_with_items, _with_body, _with_async = _setters(cst.With, "items body asynchronous")
_with_item_item, _with_item_asname = _setters(cst.WithItem, "item asname")
_try_body, _try_handlers, _try_orelse, _try_finalbody = _setters(cst.Try, "body handlers orelse finalbody")
(_finally_body,) = _setters(cst.Finally, "body")
_handler_body, _handler_type, _handler_name = _setters(cst.ExceptHandler, "body type name")
_def_name, _def_params, _def_body, _def_decorators, _def_returns, _def_types, _def_async = _setters(
    cst.FunctionDef, "name params body decorators returns type_parameters asynchronous"
)
_class_name, _class_body, _class_bases, _class_keywords, _class_decorators, _class_types = _setters(
    cst.ClassDef, "name body bases keywords decorators type_parameters"
)
(_decorator_decorator,) = _setters(cst.Decorator, "decorator")
(_module_body,) = _setters(cst.Module, "body")


class Reader:
    """Makes the nodes of one text.

    Args:
        text: the program.
        tree: what Python's parser makes of it.
        adopt: adds the parents of the nodes below one that libcst itself has made.

    Attributes:
        root: the ``libcst.Module``.
        parents: every node but the root to the node that holds it, in the order of the text.
        told: nodes to where Python's parser says that they stand, see :meth:`range_of`.
        around: the same of tuples and generators, of which Python's parser takes their parentheses for a part.
        decorated: functions and classes to the lines, from 1 on, of their first decorators.
        functions, classes, imports: nodes of these kinds in source order.

    Raises:
        NoCounterpart: it holds what is not made here.
        SyntaxError, ValueError, RecursionError, MemoryError: Python cannot parse it.
    """

    def __init__(
        self, text: str, tree: ast.Module, adopt: Callable[[cst.CSTNode, dict[cst.CSTNode, cst.CSTNode]], object]
    ):
        self.text, self._adopt = text, adopt
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.told: dict[cst.CSTNode, Any] = {}
        self.around: dict[cst.CSTNode, Any] = {}
        self.decorated: dict[cst.CSTNode, int] = {}
        self.functions: list[cst.FunctionDef] = []
        self.classes: list[cst.ClassDef] = []
        self.imports: list[cst.Import | cst.ImportFrom] = []
        self.starts = [0, *(match.end() for match in NEWLINE.finditer(text))]
        self._is_ascii = text.isascii()
        if not self._is_ascii and any(map(_may_be_another_name, set(text))):
            raise NoCounterpart
        self._has_semicolons, self._has_continuations = ";" in text, _CONTINUED.search(text) is not None
        self.root: cst.Module = _new(cst.Module)
        _module_body(self.root, self._statements(tree.body, self.root))

    def offset(self, line: int, column: int) -> int:
        """The place in the text of a 1-based line and a column in bytes."""
        start = self.starts[line - 1]
        if self._is_ascii:
            return start + column
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        part = self.text[start:end]
        return start + (column if part.isascii() else len(part.encode()[:column].decode()))

    def range_of(self, place: Place) -> tuple[int, int]:
        """Start and end in the text of what Python's parser puts at a place."""
        return self.offset(*place[:2]), self.offset(*place[2:])

    def _written(self, node: Any) -> str:
        start = self.offset(node.lineno, node.col_offset)
        return self.text[start : self.offset(node.end_lineno, node.end_col_offset)]

    # --- expressions ---------------------------------------------------------------------------------

    def expression(self, node: Any, parent: cst.CSTNode) -> Any:
        """The node of an expression, as a child of ``parent``."""
        make = _EXPRESSIONS.get(type(node))
        if make is not None:
            return make(self, node, parent)
        return self._parsed(node, parent)

    def _begin(self, kind: type[cst.CSTNode], node: Any, parent: cst.CSTNode) -> Any:
        """A node without its fields, which stands where Python's parser has ``node``."""
        made = self._child(kind, parent)
        self.told[made] = _place(node)
        return made

    def _child(self, kind: type[cst.CSTNode], parent: cst.CSTNode) -> Any:
        """A node without its fields."""
        made = _new(kind)
        self.parents[made] = parent
        return made

    def _optional(self, node: Any, parent: cst.CSTNode) -> Any:
        return None if node is None else self.expression(node, parent)

    def _parsed(self, node: Any, parent: cst.CSTNode) -> Any:
        """What libcst makes of an expression: of formatted strings, whose parts have no places before Python 3.12, and of others."""
        try:
            made = cst.parse_expression(f"({self._written(node)})")
        except cst.ParserSyntaxError:
            raise NoCounterpart from None
        self.parents[made] = parent
        self._adopt(made, self.parents)
        return made

    def _identifier(self, name: str, parent: cst.CSTNode) -> cst.Name:
        if not name.isascii():
            # Python's parser has normalised it.
            raise NoCounterpart
        made = self._child(cst.Name, parent)
        _name_value(made, name)
        return made  # type: ignore[no-any-return]

    def _name(self, node: ast.Name, parent: cst.CSTNode) -> cst.Name:
        made = self._identifier(node.id, parent)
        self.told[made] = _place(node)
        return made

    def _attribute(self, node: ast.Attribute, parent: cst.CSTNode) -> cst.Attribute:
        made = self._begin(cst.Attribute, node, parent)
        _attribute_value(made, self.expression(node.value, made))
        _attribute_attr(made, self._identifier(node.attr, made))
        return made  # type: ignore[no-any-return]

    def _call(self, node: ast.Call, parent: cst.CSTNode) -> cst.Call:
        made = self._begin(cst.Call, node, parent)
        _call_func(made, self.expression(node.func, made))
        _call_args(made, [self._arg(each, made) for each in _arguments(node.args, node.keywords)])
        return made  # type: ignore[no-any-return]

    def _arg(self, node: Any, parent: cst.CSTNode) -> cst.Arg:
        made = self._child(cst.Arg, parent)
        keyword, star = None, ""
        kind = type(node)
        if kind is ast.Starred:
            self.told[made] = _place(node)
            star, node = "*", node.value
        elif kind is ast.keyword:
            self.told[made] = _place(node)
            keyword, node = node.arg, node.value
            star = "**" if keyword is None else ""
        _arg_value(made, self.expression(node, made))
        _arg_keyword(made, None if keyword is None else self._identifier(keyword, made))
        _arg_star(made, star)
        return made  # type: ignore[no-any-return]

    def _binary(self, node: ast.BinOp, parent: cst.CSTNode) -> cst.BinaryOperation:
        made = self._begin(cst.BinaryOperation, node, parent)
        _binary_left(made, self.expression(node.left, made))
        _binary_operator(made, _OPERATORS[type(node.op)])
        _binary_right(made, self.expression(node.right, made))
        return made  # type: ignore[no-any-return]

    def _boolean(self, node: ast.BoolOp, parent: cst.CSTNode) -> cst.BooleanOperation:
        # Python's parser has one node for several operands, libcst one for two.
        chain = [_new(cst.BooleanOperation) for _ in node.values[1:]]
        self.told[chain[0]] = _place(node)
        for made in chain:
            self.parents[made] = parent
            _boolean_operator(made, _OPERATORS[type(node.op)])
            parent = made
        _boolean_left(chain[-1], self.expression(node.values[0], chain[-1]))
        for made, right in zip(reversed(chain), node.values[1:]):
            _boolean_right(made, self.expression(right, made))
        for made, inner in zip(chain, chain[1:]):
            _boolean_left(made, inner)
        return chain[0]  # type: ignore[no-any-return]

    def _unary(self, node: ast.UnaryOp, parent: cst.CSTNode) -> cst.UnaryOperation:
        made = self._begin(cst.UnaryOperation, node, parent)
        _unary_operator(made, _OPERATORS[type(node.op)])
        _unary_expression(made, self.expression(node.operand, made))
        return made  # type: ignore[no-any-return]

    def _comparison(self, node: ast.Compare, parent: cst.CSTNode) -> cst.Comparison:
        made = self._begin(cst.Comparison, node, parent)
        _comparison_left(made, self.expression(node.left, made))
        compared = []
        for operator, comparator in zip(node.ops, node.comparators):
            target = self._child(cst.ComparisonTarget, made)
            _compared_operator(target, _OPERATORS[type(operator)])
            _compared_comparator(target, self.expression(comparator, target))
            compared.append(target)
        _comparison_comparisons(made, compared)
        return made  # type: ignore[no-any-return]

    def _choice(self, node: ast.IfExp, parent: cst.CSTNode) -> cst.IfExp:
        made = self._begin(cst.IfExp, node, parent)
        _choice_test(made, self.expression(node.test, made))
        _choice_body(made, self.expression(node.body, made))
        _choice_orelse(made, self.expression(node.orelse, made))
        return made  # type: ignore[no-any-return]

    def _lambda(self, node: ast.Lambda, parent: cst.CSTNode) -> cst.Lambda:
        made = self._begin(cst.Lambda, node, parent)
        _lambda_params(made, self._parameters(node.args, made))
        _lambda_body(made, self.expression(node.body, made))
        return made  # type: ignore[no-any-return]

    def _subscript(self, node: ast.Subscript, parent: cst.CSTNode) -> Any:
        inner = node.slice
        several = [inner]
        if type(inner) is ast.Tuple and inner.elts:
            written = self._written(inner)
            if not (written[0] == "(" and written[-1] == ")" and self._is_in_parentheses(written)):
                several = inner.elts
        made = self._begin(cst.Subscript, node, parent)
        _subscript_value(made, self.expression(node.value, made))
        _subscript_slice(made, [self._subscripted(each, made) for each in several])
        return made

    def _is_in_parentheses(self, written: str) -> bool:
        """Whether a tuple that begins and ends with parentheses is in them as a whole."""
        try:
            return len(cst.parse_expression(f"x[{written}]").slice) == 1  # type: ignore[attr-defined]
        except cst.ParserSyntaxError:
            raise NoCounterpart from None

    def _subscripted(self, node: Any, parent: cst.CSTNode) -> cst.SubscriptElement:
        made = self._child(cst.SubscriptElement, parent)
        if type(node) is ast.Slice:
            part = self._child(cst.Slice, made)
            _slice_lower(part, self._optional(node.lower, part))
            _slice_upper(part, self._optional(node.upper, part))
            _slice_step(part, self._optional(node.step, part))
        else:
            part = self._child(cst.Index, made)
            star = None
            if type(node) is ast.Starred:
                star, node = "*", node.value
            _index_value(part, self.expression(node, part))
            _index_star(part, star)
        _subscripted_slice(made, part)
        return made  # type: ignore[no-any-return]

    def _element(self, node: Any, parent: cst.CSTNode) -> Any:
        if type(node) is ast.Starred:
            made = self._child(cst.StarredElement, parent)
            _starred_value(made, self.expression(node.value, made))
            return made
        made = self._child(cst.Element, parent)
        _element_value(made, self.expression(node, made))
        return made

    def _tuple(self, node: Any, parent: cst.CSTNode) -> cst.Tuple:
        made = self._tuple_of(node.elts, parent)
        self.around[made] = _place(node)
        return made

    def _tuple_of(self, elements: Sequence[Any], parent: cst.CSTNode) -> cst.Tuple:
        made = self._child(cst.Tuple, parent)
        _tuple_elements(made, [self._element(each, made) for each in elements])
        return made  # type: ignore[no-any-return]

    def _list(self, node: ast.List, parent: cst.CSTNode) -> cst.List:
        made = self._begin(cst.List, node, parent)
        _list_elements(made, [self._element(each, made) for each in node.elts])
        return made  # type: ignore[no-any-return]

    def _set(self, node: ast.Set, parent: cst.CSTNode) -> cst.Set:
        made = self._begin(cst.Set, node, parent)
        _set_elements(made, [self._element(each, made) for each in node.elts])
        return made  # type: ignore[no-any-return]

    def _dict(self, node: ast.Dict, parent: cst.CSTNode) -> cst.Dict:
        made = self._begin(cst.Dict, node, parent)
        elements = []
        for key, value in zip(node.keys, node.values):
            if key is None:
                pair = self._child(cst.StarredDictElement, made)
                _unpacked_value(pair, self.expression(value, pair))
            else:
                pair = self._child(cst.DictElement, made)
                _pair_key(pair, self.expression(key, pair))
                _pair_value(pair, self.expression(value, pair))
            elements.append(pair)
        _dict_elements(made, elements)
        return made  # type: ignore[no-any-return]

    def _list_comp(self, node: ast.ListComp, parent: cst.CSTNode) -> cst.ListComp:
        made = self._begin(cst.ListComp, node, parent)
        _list_comp_elt(made, self.expression(node.elt, made))
        _list_comp_for_in(made, self._comp_for(node.generators, made))
        return made  # type: ignore[no-any-return]

    def _set_comp(self, node: ast.SetComp, parent: cst.CSTNode) -> cst.SetComp:
        made = self._begin(cst.SetComp, node, parent)
        _set_comp_elt(made, self.expression(node.elt, made))
        _set_comp_for_in(made, self._comp_for(node.generators, made))
        return made  # type: ignore[no-any-return]

    def _generator(self, node: ast.GeneratorExp, parent: cst.CSTNode) -> cst.GeneratorExp:
        made = self._child(cst.GeneratorExp, parent)
        self.around[made] = _place(node)
        _generator_elt(made, self.expression(node.elt, made))
        _generator_for_in(made, self._comp_for(node.generators, made))
        return made  # type: ignore[no-any-return]

    def _dict_comp(self, node: ast.DictComp, parent: cst.CSTNode) -> cst.DictComp:
        if getattr(node, "value", None) is None:
            raise NoCounterpart
        made = self._begin(cst.DictComp, node, parent)
        _dict_comp_key(made, self.expression(node.key, made))
        _dict_comp_value(made, self.expression(node.value, made))
        _dict_comp_for_in(made, self._comp_for(node.generators, made))
        return made  # type: ignore[no-any-return]

    def _comp_for(self, nodes: Sequence[ast.comprehension], parent: cst.CSTNode) -> cst.CompFor:
        made, node = _new(cst.CompFor), nodes[0]
        self.parents[made] = parent
        _comp_target(made, self.expression(node.target, made))
        _comp_iter(made, self.expression(node.iter, made))
        ifs = []
        for test in node.ifs:
            condition = self._child(cst.CompIf, made)
            _comp_if_test(condition, self.expression(test, condition))
            ifs.append(condition)
        _comp_ifs(made, ifs)
        _comp_inner(made, self._comp_for(nodes[1:], made) if len(nodes) > 1 else None)
        _comp_async(made, _ASYNCHRONOUS if node.is_async else None)
        return made  # type: ignore[no-any-return]

    def _await(self, node: ast.Await, parent: cst.CSTNode) -> cst.Await:
        made = self._begin(cst.Await, node, parent)
        _await_expression(made, self.expression(node.value, made))
        return made  # type: ignore[no-any-return]

    def _yield(self, node: ast.Yield, parent: cst.CSTNode) -> cst.Yield:
        made = self._begin(cst.Yield, node, parent)
        _yield_value(made, self._optional(node.value, made))
        return made  # type: ignore[no-any-return]

    def _yield_from(self, node: ast.YieldFrom, parent: cst.CSTNode) -> cst.Yield:
        made = self._begin(cst.Yield, node, parent)
        _yield_value(made, self._from(node.value, made))
        return made  # type: ignore[no-any-return]

    def _from(self, node: Any, parent: cst.CSTNode) -> cst.From:
        made = self._child(cst.From, parent)
        _from_item(made, self.expression(node, made))
        return made  # type: ignore[no-any-return]

    def _walrus(self, node: ast.NamedExpr, parent: cst.CSTNode) -> cst.NamedExpr:
        made = self._begin(cst.NamedExpr, node, parent)
        _walrus_target(made, self.expression(node.target, made))
        _walrus_value(made, self.expression(node.value, made))
        return made  # type: ignore[no-any-return]

    def _constant(self, node: ast.Constant, parent: cst.CSTNode) -> Any:
        value = node.value
        if value is None or value is True or value is False:
            made = self._identifier(str(value), parent)
            self.told[made] = _place(node)
            return made
        written = self._written(node)
        if value is ...:
            if written != "...":
                raise NoCounterpart
            made = _new(cst.Ellipsis)
        elif isinstance(value, (str, bytes)):
            if _ONE_STRING.fullmatch(written) is None:
                return self._parsed(node, parent)
            made = _new(cst.SimpleString)
            _string_value(made, written)
        else:
            kind, set_value = _NUMBERS[type(value)]
            made = _new(kind)
            set_value(made, written)
        self.parents[made] = parent
        self.told[made] = _place(node)
        return made

    # --- parameters ----------------------------------------------------------------------------------

    def _parameters(self, node: ast.arguments, parent: cst.CSTNode) -> cst.Parameters:
        made = self._child(cst.Parameters, parent)
        named = [*node.posonlyargs, *node.args]
        without = len(named) - len(node.defaults)
        defaults: list[Any] = [*[None] * without, *node.defaults]
        count = len(node.posonlyargs)
        _parameters_posonly(
            made, [self._param(each, made, "", default) for each, default in zip(named[:count], defaults)]
        )
        _parameters_params(
            made, [self._param(each, made, "", default) for each, default in zip(node.args, defaults[count:])]
        )
        star: Any = cst.MaybeSentinel.DEFAULT
        if node.vararg is not None:
            star = self._param(node.vararg, made, "*", None)
        elif node.kwonlyargs:
            star = self._child(cst.ParamStar, made)
        _parameters_star_arg(made, star)
        _parameters_kwonly(
            made, [self._param(each, made, "", default) for each, default in zip(node.kwonlyargs, node.kw_defaults)]
        )
        _parameters_star_kwarg(made, None if node.kwarg is None else self._param(node.kwarg, made, "**", None))
        return made  # type: ignore[no-any-return]

    def _param(self, node: ast.arg, parent: cst.CSTNode, star: str, default: Any) -> cst.Param:
        made = self._child(cst.Param, parent)
        _param_name(made, self._identifier(node.arg, made))
        _param_annotation(made, None if node.annotation is None else self._annotation(node.annotation, made))
        _param_default(made, self._optional(default, made))
        _param_star(made, star)
        return made  # type: ignore[no-any-return]

    def _annotation(self, node: Any, parent: cst.CSTNode) -> cst.Annotation:
        made = self._child(cst.Annotation, parent)
        if type(node) is ast.Starred:
            raise NoCounterpart
        _annotation_annotation(made, self.expression(node, made))
        return made  # type: ignore[no-any-return]

    # --- statements ----------------------------------------------------------------------------------

    def _statements(self, nodes: Sequence[Any], parent: cst.CSTNode) -> list[Any]:
        """The lines and compound statements of a block."""
        made: list[Any] = []
        line: list[Any] = []
        before: Any = None
        for node in nodes:
            make = _COMPOUND.get(type(node))
            if make is not None:
                made.append(make(self, node, parent))
                before = None
                continue
            if before is None or not self._is_on_one_line(before, node):
                holder = self._child(cst.SimpleStatementLine, parent)
                self.told[holder] = _place(node)
                line = []
                _line_body(holder, line)
                made.append(holder)
            else:
                self.told[holder] = *self.told[holder][:2], node.end_lineno, node.end_col_offset
            line.append(self._simple(node, holder))
            before = node
        return made

    def _is_on_one_line(self, before: Any, node: Any) -> bool:
        if not self._has_semicolons:
            return False
        end, start = self.offset(before.end_lineno, before.end_col_offset), self.offset(node.lineno, node.col_offset)
        between = self.text[end:start]
        # A semicolon may also end the line.
        return "#" not in between and NEWLINE.search(_CONTINUED.sub("", between)) is None

    def _simple(self, node: Any, parent: cst.CSTNode) -> Any:
        make = _SIMPLE.get(type(node))
        if make is None:
            raise NoCounterpart
        return make(self, node, parent)

    def _suite(self, nodes: Sequence[Any], parent: cst.CSTNode) -> Any:
        first = nodes[0]
        if type(first) in _COMPOUND or self._begins_line(first):
            made = self._child(cst.IndentedBlock, parent)
            _block_body(made, self._statements(nodes, made))
            return made
        made = self._child(cst.SimpleStatementSuite, parent)
        _suite_body(made, [self._simple(each, made) for each in nodes])
        return made

    def _begins_line(self, node: Any) -> bool:
        """Whether a statement stands on a line of its own, not on that of a colon."""
        line = node.lineno - 1
        before = self.text[self.starts[line] : self.offset(node.lineno, node.col_offset)]
        if before and not before.isspace():
            return False
        if not self._has_continuations or not line:
            return True
        above = self.text[self.starts[line - 1] : self.starts[line]].strip()
        if not above.endswith("\\") or above.startswith("#"):
            return True
        if "#" in above or not above[:-1].rstrip().endswith(":"):
            # The backslash may be part of a comment.
            raise NoCounterpart
        return False

    def _expr(self, node: ast.Expr, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.Expr, node, parent)
        _expr_value(made, self.expression(node.value, made))
        return made

    def _assign(self, node: ast.Assign, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.Assign, node, parent)
        targets = []
        for each in node.targets:
            target = self._child(cst.AssignTarget, made)
            _target_target(target, self.expression(each, target))
            targets.append(target)
        _assign_targets(made, targets)
        _assign_value(made, self.expression(node.value, made))
        return made

    def _annotated(self, node: ast.AnnAssign, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.AnnAssign, node, parent)
        _annotated_target(made, self.expression(node.target, made))
        _annotated_annotation(made, self._annotation(node.annotation, made))
        _annotated_value(made, self._optional(node.value, made))
        return made

    def _augmented(self, node: ast.AugAssign, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.AugAssign, node, parent)
        _augmented_target(made, self.expression(node.target, made))
        _augmented_operator(made, _ASSIGNING[type(node.op)])
        _augmented_value(made, self.expression(node.value, made))
        return made

    def _return(self, node: ast.Return, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.Return, node, parent)
        _return_value(made, self._optional(node.value, made))
        return made

    def _raise(self, node: ast.Raise, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.Raise, node, parent)
        _raise_exc(made, self._optional(node.exc, made))
        _raise_cause(made, None if node.cause is None else self._from(node.cause, made))
        return made

    def _del(self, node: ast.Delete, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.Del, node, parent)
        last: Any = node.targets[-1]
        end = self.range_of(self.told[made])[1]
        after = self.text[self.offset(last.end_lineno, last.end_col_offset) : end]
        one = len(node.targets) == 1 and "," not in after
        _del_target(made, self.expression(last, made) if one else self._tuple_of(node.targets, made))
        return made

    def _word(self, node: ast.stmt, parent: cst.CSTNode) -> Any:
        return self._begin(_WORDS[type(node)], node, parent)

    def _global(self, node: ast.Global, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.Global, node, parent)
        _global_names(made, [self._name_item(each, made) for each in node.names])
        return made

    def _nonlocal(self, node: ast.Nonlocal, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.Nonlocal, node, parent)
        _nonlocal_names(made, [self._name_item(each, made) for each in node.names])
        return made

    def _name_item(self, name: str, parent: cst.CSTNode) -> cst.NameItem:
        made = self._child(cst.NameItem, parent)
        _item_name(made, self._identifier(name, made))
        return made  # type: ignore[no-any-return]

    def _assert(self, node: ast.Assert, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.Assert, node, parent)
        _assert_test(made, self.expression(node.test, made))
        _assert_msg(made, self._optional(node.msg, made))
        return made

    def _import(self, node: ast.Import, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.Import, node, parent)
        self.imports.append(made)
        _import_names(made, [self._alias(each, made) for each in node.names])
        return made

    def _import_from(self, node: ast.ImportFrom, parent: cst.CSTNode) -> Any:
        made = self._begin(cst.ImportFrom, node, parent)
        self.imports.append(made)
        _import_from_module(made, None if node.module is None else self._dotted(node.module, made))
        names: Any
        if node.names[0].name == "*":
            names = self._child(cst.ImportStar, made)
        else:
            names = [self._alias(each, made) for each in node.names]
        _import_from_names(made, names)
        dots = [_new(cst.Dot) for _ in range(node.level)]
        self.parents.update(dict.fromkeys(dots, made))
        _import_from_relative(made, dots)
        return made

    def _alias(self, node: ast.alias, parent: cst.CSTNode) -> cst.ImportAlias:
        made = self._child(cst.ImportAlias, parent)
        _alias_name(made, self._dotted(node.name, made))
        _alias_asname(made, None if node.asname is None else self._named(node.asname, made))
        return made  # type: ignore[no-any-return]

    def _named(self, name: str, parent: cst.CSTNode) -> cst.AsName:
        made = self._child(cst.AsName, parent)
        _as_name(made, self._identifier(name, made))
        return made  # type: ignore[no-any-return]

    def _dotted(self, name: str, parent: cst.CSTNode) -> Any:
        before, _, last = name.rpartition(".")
        if not before:
            return self._identifier(last, parent)
        made = self._child(cst.Attribute, parent)
        _attribute_value(made, self._dotted(before, made))
        _attribute_attr(made, self._identifier(last, made))
        return made

    def _if(self, node: ast.If, parent: cst.CSTNode) -> cst.If:
        made = self._begin(cst.If, node, parent)
        _if_test(made, self.expression(node.test, made))
        _if_body(made, self._suite(node.body, made))
        orelse: Any = None
        if node.orelse:
            first = node.orelse[0]
            if type(first) is ast.If and self.text.startswith("elif", self.offset(first.lineno, first.col_offset)):
                orelse = self._if(first, made)
            else:
                orelse = self._else(node.orelse, made)
        _if_orelse(made, orelse)
        return made  # type: ignore[no-any-return]

    def _else(self, nodes: Sequence[Any], parent: cst.CSTNode) -> cst.Else | None:
        if not nodes:
            return None
        made = self._child(cst.Else, parent)
        _else_body(made, self._suite(nodes, made))
        return made  # type: ignore[no-any-return]

    def _for(self, node: Any, parent: cst.CSTNode) -> cst.For:
        made = self._begin(cst.For, node, parent)
        _for_target(made, self.expression(node.target, made))
        _for_iter(made, self.expression(node.iter, made))
        _for_body(made, self._suite(node.body, made))
        _for_orelse(made, self._else(node.orelse, made))
        _for_async(made, _ASYNCHRONOUS if type(node) is ast.AsyncFor else None)
        return made  # type: ignore[no-any-return]

    def _while(self, node: ast.While, parent: cst.CSTNode) -> cst.While:
        made = self._begin(cst.While, node, parent)
        _while_test(made, self.expression(node.test, made))
        _while_body(made, self._suite(node.body, made))
        _while_orelse(made, self._else(node.orelse, made))
        return made  # type: ignore[no-any-return]

    def _with(self, node: Any, parent: cst.CSTNode) -> cst.With:
        made = self._begin(cst.With, node, parent)
        items = []
        for each in node.items:
            item = self._child(cst.WithItem, made)
            _with_item_item(item, self.expression(each.context_expr, item))
            named: Any = None
            if each.optional_vars is not None:
                named = self._child(cst.AsName, item)
                _as_name(named, self.expression(each.optional_vars, named))
            _with_item_asname(item, named)
            items.append(item)
        _with_items(made, items)
        _with_body(made, self._suite(node.body, made))
        _with_async(made, _ASYNCHRONOUS if type(node) is ast.AsyncWith else None)
        return made  # type: ignore[no-any-return]

    def _try(self, node: ast.Try, parent: cst.CSTNode) -> cst.Try:
        made = self._begin(cst.Try, node, parent)
        _try_body(made, self._suite(node.body, made))
        _try_handlers(made, [self._handler(each, made) for each in node.handlers])
        _try_orelse(made, self._else(node.orelse, made))
        last: Any = None
        if node.finalbody:
            last = self._child(cst.Finally, made)
            _finally_body(last, self._suite(node.finalbody, last))
        _try_finalbody(made, last)
        return made  # type: ignore[no-any-return]

    def _handler(self, node: ast.ExceptHandler, parent: cst.CSTNode) -> cst.ExceptHandler:
        made = self._child(cst.ExceptHandler, parent)
        _handler_body(made, self._suite(node.body, made))
        _handler_type(made, self._optional(node.type, made))
        _handler_name(made, None if node.name is None else self._named(node.name, made))
        return made  # type: ignore[no-any-return]

    def _def(self, node: Any, parent: cst.CSTNode) -> cst.FunctionDef:
        if getattr(node, "type_params", None):
            raise NoCounterpart
        made = self._begin(cst.FunctionDef, node, parent)
        self.functions.append(made)
        _def_name(made, self._identifier(node.name, made))
        _def_params(made, self._parameters(node.args, made))
        _def_body(made, self._suite(node.body, made))
        _def_decorators(made, self._decorators(node.decorator_list, made))
        _def_returns(made, None if node.returns is None else self._annotation(node.returns, made))
        _def_types(made, None)
        _def_async(made, _ASYNCHRONOUS if type(node) is ast.AsyncFunctionDef else None)
        return made  # type: ignore[no-any-return]

    def _class(self, node: ast.ClassDef, parent: cst.CSTNode) -> cst.ClassDef:
        if getattr(node, "type_params", None):
            raise NoCounterpart
        made = self._begin(cst.ClassDef, node, parent)
        self.classes.append(made)
        _class_name(made, self._identifier(node.name, made))
        _class_body(made, self._suite(node.body, made))
        given = _arguments(node.bases, node.keywords)
        count = next((index for index, each in enumerate(given) if type(each) is ast.keyword), len(given))
        _class_bases(made, [self._arg(each, made) for each in given[:count]])
        _class_keywords(made, [self._arg(each, made) for each in given[count:]])
        _class_decorators(made, self._decorators(node.decorator_list, made))
        _class_types(made, None)
        return made  # type: ignore[no-any-return]

    def _decorators(self, nodes: Sequence[Any], parent: cst.CSTNode) -> list[cst.Decorator]:
        if nodes:
            self.decorated[parent] = nodes[0].lineno
        decorators = []
        for each in nodes:
            made = self._child(cst.Decorator, parent)
            _decorator_decorator(made, self.expression(each, made))
            decorators.append(made)
        return decorators


def _arguments(positional: Sequence[Any], keywords: Sequence[Any]) -> list[Any]:
    """Arguments in the order of the text."""
    if not keywords:
        return [*positional]
    given = [*positional, *keywords]
    if positional and _place(positional[-1]) > _place(keywords[0]):
        given.sort(key=_place)
    return given


def _place(node: Any) -> Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _may_be_another_name(character: str) -> bool:
    """Whether Python reads a character of a name as an ASCII one."""
    return (
        not character.isascii()
        and f"a{character}".isidentifier()
        and unicodedata.normalize("NFKC", character).isascii()
    )


_NUMBERS: dict[type, tuple[type[cst.CSTNode], Callable[[Any, Any], None]]] = {
    int: (cst.Integer, _integer_value),
    float: (cst.Float, _float_value),
    complex: (cst.Imaginary, _imaginary_value),
}
_WORDS: dict[type, type[cst.CSTNode]] = {ast.Pass: cst.Pass, ast.Break: cst.Break, ast.Continue: cst.Continue}
_EXPRESSIONS: dict[type, Callable[[Any, Any, cst.CSTNode], Any]] = {
    ast.Name: Reader._name, ast.Attribute: Reader._attribute, ast.Call: Reader._call, ast.Constant: Reader._constant,
    ast.BinOp: Reader._binary, ast.BoolOp: Reader._boolean, ast.UnaryOp: Reader._unary, ast.Compare: Reader._comparison,
    ast.IfExp: Reader._choice, ast.Lambda: Reader._lambda, ast.Subscript: Reader._subscript, ast.Tuple: Reader._tuple,
    ast.List: Reader._list, ast.Set: Reader._set, ast.Dict: Reader._dict, ast.ListComp: Reader._list_comp,
    ast.SetComp: Reader._set_comp, ast.GeneratorExp: Reader._generator, ast.DictComp: Reader._dict_comp,
    ast.Await: Reader._await, ast.Yield: Reader._yield, ast.YieldFrom: Reader._yield_from, ast.NamedExpr: Reader._walrus,
}  # fmt: skip
_SIMPLE: dict[type, Callable[[Any, Any, cst.CSTNode], Any]] = {
    ast.Expr: Reader._expr, ast.Assign: Reader._assign, ast.AnnAssign: Reader._annotated, ast.AugAssign: Reader._augmented,
    ast.Return: Reader._return, ast.Raise: Reader._raise, ast.Delete: Reader._del, ast.Pass: Reader._word,
    ast.Break: Reader._word, ast.Continue: Reader._word, ast.Global: Reader._global, ast.Nonlocal: Reader._nonlocal,
    ast.Assert: Reader._assert, ast.Import: Reader._import, ast.ImportFrom: Reader._import_from,
}  # fmt: skip
_COMPOUND: dict[type, Callable[[Any, Any, cst.CSTNode], Any]] = {
    ast.If: Reader._if, ast.For: Reader._for, ast.AsyncFor: Reader._for, ast.While: Reader._while, ast.With: Reader._with,
    ast.AsyncWith: Reader._with, ast.Try: Reader._try, ast.FunctionDef: Reader._def, ast.AsyncFunctionDef: Reader._def,
    ast.ClassDef: Reader._class,
}  # fmt: skip
