"""Conversion of statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from kerascheck.syntax.from_ast.expressions import ExpressionConverter, arguments_in_order
from kerascheck.syntax.from_ast.fields import (
    ASYNCHRONOUS,
    AUGMENTED_OPERATORS,
    new,
    set_alias_asname,
    set_alias_name,
    set_annotated_annotation,
    set_annotated_target,
    set_annotated_value,
    set_as_name,
    set_assert_msg,
    set_assert_test,
    set_assign_targets,
    set_assign_value,
    set_attribute_attr,
    set_attribute_value,
    set_augmented_operator,
    set_augmented_target,
    set_augmented_value,
    set_block_body,
    set_class_bases,
    set_class_body,
    set_class_decorators,
    set_class_keywords,
    set_class_name,
    set_class_types,
    set_decorator_decorator,
    set_def_async,
    set_def_body,
    set_def_decorators,
    set_def_name,
    set_def_params,
    set_def_returns,
    set_def_types,
    set_del_target,
    set_else_body,
    set_expr_value,
    set_finally_body,
    set_for_async,
    set_for_body,
    set_for_iter,
    set_for_orelse,
    set_for_target,
    set_global_names,
    set_handler_body,
    set_handler_name,
    set_handler_type,
    set_if_body,
    set_if_orelse,
    set_if_test,
    set_import_from_module,
    set_import_from_names,
    set_import_from_relative,
    set_import_names,
    set_item_name,
    set_line_body,
    set_module_body,
    set_nonlocal_names,
    set_raise_cause,
    set_raise_exc,
    set_return_value,
    set_suite_body,
    set_target_target,
    set_try_body,
    set_try_finalbody,
    set_try_handlers,
    set_try_orelse,
    set_while_body,
    set_while_orelse,
    set_while_test,
    set_with_async,
    set_with_body,
    set_with_item_asname,
    set_with_item_item,
    set_with_items,
)
from kerascheck.syntax.from_ast.layout import UnsupportedSyntax, location_of


class Converter(ExpressionConverter):
    """Creates the nodes of one text.

    Args:
        text: the program.
        tree: the tree from Python's parser.
        record_parents: records the parents of all nodes below one that libcst parsed.

    Attributes:
        root: the ``libcst.Module``.
        parents: the parent of every node except the root, in source order.
        locations: locations from Python's parser, see :meth:`range_of`.
        parenthesised: locations of tuples and generators, in which Python's parser includes the parentheses.
        decorator_lines: 1-based lines of the first decorators of functions and classes.
        functions, classes, imports: nodes of these kinds in source order.

    Raises:
        UnsupportedSyntax: the program contains syntax that the conversion does not support.
        SyntaxError, ValueError, RecursionError, MemoryError: Python cannot parse it.
    """

    def __init__(
        self,
        text: str,
        tree: ast.Module,
        record_parents: Callable[[cst.CSTNode, dict[cst.CSTNode, cst.CSTNode]], object],
    ):
        super().__init__(text, record_parents)
        self.decorator_lines: dict[cst.CSTNode, int] = {}
        self.functions: list[cst.FunctionDef] = []
        self.classes: list[cst.ClassDef] = []
        self.imports: list[cst.Import | cst.ImportFrom] = []
        self.root: cst.Module = new(cst.Module)
        set_module_body(self.root, self._statements(tree.body, self.root))

    def _statements(self, nodes: Sequence[Any], parent: cst.CSTNode) -> list[Any]:
        """Convert the lines and compound statements of a block."""
        made: list[Any] = []
        line: list[Any] = []
        before: Any = None
        for node in nodes:
            make = _COMPOUND.get(type(node))
            if make is not None:
                made.append(make(self, node, parent))
                before = None
                continue
            if before is None or not self.is_on_one_line(before, node):
                holder = self._child(cst.SimpleStatementLine, parent)
                self.locations[holder] = location_of(node)
                line = []
                set_line_body(holder, line)
                made.append(holder)
            else:
                self.locations[holder] = *self.locations[holder][:2], node.end_lineno, node.end_col_offset
            line.append(self._simple(node, holder))
            before = node
        return made

    def _simple(self, node: Any, parent: cst.CSTNode) -> Any:
        make = _SIMPLE.get(type(node))
        if make is None:
            raise UnsupportedSyntax
        return make(self, node, parent)

    def _suite(self, nodes: Sequence[Any], parent: cst.CSTNode) -> Any:
        first = nodes[0]
        if type(first) in _COMPOUND or self.begins_line(first):
            made = self._child(cst.IndentedBlock, parent)
            set_block_body(made, self._statements(nodes, made))
            return made
        made = self._child(cst.SimpleStatementSuite, parent)
        set_suite_body(made, [self._simple(each, made) for each in nodes])
        return made

    def _expr(self, node: ast.Expr, parent: cst.CSTNode) -> Any:
        made = self._located(cst.Expr, node, parent)
        set_expr_value(made, self.expression(node.value, made))
        return made

    def _assign(self, node: ast.Assign, parent: cst.CSTNode) -> Any:
        made = self._located(cst.Assign, node, parent)
        targets = []
        for each in node.targets:
            target = self._child(cst.AssignTarget, made)
            set_target_target(target, self.expression(each, target))
            targets.append(target)
        set_assign_targets(made, targets)
        set_assign_value(made, self.expression(node.value, made))
        return made

    def _annotated(self, node: ast.AnnAssign, parent: cst.CSTNode) -> Any:
        made = self._located(cst.AnnAssign, node, parent)
        set_annotated_target(made, self.expression(node.target, made))
        set_annotated_annotation(made, self._annotation(node.annotation, made))
        set_annotated_value(made, self._optional(node.value, made))
        return made

    def _augmented(self, node: ast.AugAssign, parent: cst.CSTNode) -> Any:
        made = self._located(cst.AugAssign, node, parent)
        set_augmented_target(made, self.expression(node.target, made))
        set_augmented_operator(made, AUGMENTED_OPERATORS[type(node.op)])
        set_augmented_value(made, self.expression(node.value, made))
        return made

    def _return(self, node: ast.Return, parent: cst.CSTNode) -> Any:
        made = self._located(cst.Return, node, parent)
        set_return_value(made, self._optional(node.value, made))
        return made

    def _raise(self, node: ast.Raise, parent: cst.CSTNode) -> Any:
        made = self._located(cst.Raise, node, parent)
        set_raise_exc(made, self._optional(node.exc, made))
        set_raise_cause(made, None if node.cause is None else self._from(node.cause, made))
        return made

    def _del(self, node: ast.Delete, parent: cst.CSTNode) -> Any:
        made = self._located(cst.Del, node, parent)
        last: Any = node.targets[-1]
        end = self.range_of(self.locations[made])[1]
        after = self.text[self.offset(last.end_lineno, last.end_col_offset) : end]
        one = len(node.targets) == 1 and "," not in after
        set_del_target(made, self.expression(last, made) if one else self._tuple_of(node.targets, made))
        return made

    def _word(self, node: ast.stmt, parent: cst.CSTNode) -> Any:
        return self._located(_WORDS[type(node)], node, parent)

    def _global(self, node: ast.Global, parent: cst.CSTNode) -> Any:
        made = self._located(cst.Global, node, parent)
        set_global_names(made, [self._name_item(each, made) for each in node.names])
        return made

    def _nonlocal(self, node: ast.Nonlocal, parent: cst.CSTNode) -> Any:
        made = self._located(cst.Nonlocal, node, parent)
        set_nonlocal_names(made, [self._name_item(each, made) for each in node.names])
        return made

    def _name_item(self, name: str, parent: cst.CSTNode) -> cst.NameItem:
        made = self._child(cst.NameItem, parent)
        set_item_name(made, self._identifier(name, made))
        return made  # type: ignore[no-any-return]

    def _assert(self, node: ast.Assert, parent: cst.CSTNode) -> Any:
        made = self._located(cst.Assert, node, parent)
        set_assert_test(made, self.expression(node.test, made))
        set_assert_msg(made, self._optional(node.msg, made))
        return made

    def _import(self, node: ast.Import, parent: cst.CSTNode) -> Any:
        made = self._located(cst.Import, node, parent)
        self.imports.append(made)
        set_import_names(made, [self._alias(each, made) for each in node.names])
        return made

    def _import_from(self, node: ast.ImportFrom, parent: cst.CSTNode) -> Any:
        made = self._located(cst.ImportFrom, node, parent)
        self.imports.append(made)
        set_import_from_module(made, None if node.module is None else self._dotted(node.module, made))
        names: Any
        if node.names[0].name == "*":
            names = self._child(cst.ImportStar, made)
        else:
            names = [self._alias(each, made) for each in node.names]
        set_import_from_names(made, names)
        dots = [new(cst.Dot) for _ in range(node.level)]
        self.parents.update(dict.fromkeys(dots, made))
        set_import_from_relative(made, dots)
        return made

    def _alias(self, node: ast.alias, parent: cst.CSTNode) -> cst.ImportAlias:
        made = self._child(cst.ImportAlias, parent)
        set_alias_name(made, self._dotted(node.name, made))
        set_alias_asname(made, None if node.asname is None else self._named(node.asname, made))
        return made  # type: ignore[no-any-return]

    def _named(self, name: str, parent: cst.CSTNode) -> cst.AsName:
        made = self._child(cst.AsName, parent)
        set_as_name(made, self._identifier(name, made))
        return made  # type: ignore[no-any-return]

    def _dotted(self, name: str, parent: cst.CSTNode) -> Any:
        before, _, last = name.rpartition(".")
        if not before:
            return self._identifier(last, parent)
        made = self._child(cst.Attribute, parent)
        set_attribute_value(made, self._dotted(before, made))
        set_attribute_attr(made, self._identifier(last, made))
        return made

    def _if(self, node: ast.If, parent: cst.CSTNode) -> cst.If:
        made = self._located(cst.If, node, parent)
        set_if_test(made, self.expression(node.test, made))
        set_if_body(made, self._suite(node.body, made))
        orelse: Any = None
        if node.orelse:
            first = node.orelse[0]
            if type(first) is ast.If and self.text.startswith("elif", self.offset(first.lineno, first.col_offset)):
                orelse = self._if(first, made)
            else:
                orelse = self._else(node.orelse, made)
        set_if_orelse(made, orelse)
        return made  # type: ignore[no-any-return]

    def _else(self, nodes: Sequence[Any], parent: cst.CSTNode) -> cst.Else | None:
        if not nodes:
            return None
        made = self._child(cst.Else, parent)
        set_else_body(made, self._suite(nodes, made))
        return made  # type: ignore[no-any-return]

    def _for(self, node: Any, parent: cst.CSTNode) -> cst.For:
        made = self._located(cst.For, node, parent)
        set_for_target(made, self.expression(node.target, made))
        set_for_iter(made, self.expression(node.iter, made))
        set_for_body(made, self._suite(node.body, made))
        set_for_orelse(made, self._else(node.orelse, made))
        set_for_async(made, ASYNCHRONOUS if type(node) is ast.AsyncFor else None)
        return made  # type: ignore[no-any-return]

    def _while(self, node: ast.While, parent: cst.CSTNode) -> cst.While:
        made = self._located(cst.While, node, parent)
        set_while_test(made, self.expression(node.test, made))
        set_while_body(made, self._suite(node.body, made))
        set_while_orelse(made, self._else(node.orelse, made))
        return made  # type: ignore[no-any-return]

    def _with(self, node: Any, parent: cst.CSTNode) -> cst.With:
        made = self._located(cst.With, node, parent)
        items = []
        for each in node.items:
            item = self._child(cst.WithItem, made)
            set_with_item_item(item, self.expression(each.context_expr, item))
            named: Any = None
            if each.optional_vars is not None:
                named = self._child(cst.AsName, item)
                set_as_name(named, self.expression(each.optional_vars, named))
            set_with_item_asname(item, named)
            items.append(item)
        set_with_items(made, items)
        set_with_body(made, self._suite(node.body, made))
        set_with_async(made, ASYNCHRONOUS if type(node) is ast.AsyncWith else None)
        return made  # type: ignore[no-any-return]

    def _try(self, node: ast.Try, parent: cst.CSTNode) -> cst.Try:
        made = self._located(cst.Try, node, parent)
        set_try_body(made, self._suite(node.body, made))
        set_try_handlers(made, [self._handler(each, made) for each in node.handlers])
        set_try_orelse(made, self._else(node.orelse, made))
        last: Any = None
        if node.finalbody:
            last = self._child(cst.Finally, made)
            set_finally_body(last, self._suite(node.finalbody, last))
        set_try_finalbody(made, last)
        return made  # type: ignore[no-any-return]

    def _handler(self, node: ast.ExceptHandler, parent: cst.CSTNode) -> cst.ExceptHandler:
        made = self._child(cst.ExceptHandler, parent)
        set_handler_body(made, self._suite(node.body, made))
        set_handler_type(made, self._optional(node.type, made))
        set_handler_name(made, None if node.name is None else self._named(node.name, made))
        return made  # type: ignore[no-any-return]

    def _def(self, node: Any, parent: cst.CSTNode) -> cst.FunctionDef:
        if getattr(node, "type_params", None):
            raise UnsupportedSyntax
        made = self._located(cst.FunctionDef, node, parent)
        self.functions.append(made)
        set_def_name(made, self._identifier(node.name, made))
        set_def_params(made, self._parameters(node.args, made))
        set_def_body(made, self._suite(node.body, made))
        set_def_decorators(made, self._decorators(node.decorator_list, made))
        set_def_returns(made, None if node.returns is None else self._annotation(node.returns, made))
        set_def_types(made, None)
        set_def_async(made, ASYNCHRONOUS if type(node) is ast.AsyncFunctionDef else None)
        return made  # type: ignore[no-any-return]

    def _class(self, node: ast.ClassDef, parent: cst.CSTNode) -> cst.ClassDef:
        if getattr(node, "type_params", None):
            raise UnsupportedSyntax
        made = self._located(cst.ClassDef, node, parent)
        self.classes.append(made)
        set_class_name(made, self._identifier(node.name, made))
        set_class_body(made, self._suite(node.body, made))
        given = arguments_in_order(node.bases, node.keywords)
        count = next((index for index, each in enumerate(given) if type(each) is ast.keyword), len(given))
        set_class_bases(made, [self._arg(each, made) for each in given[:count]])
        set_class_keywords(made, [self._arg(each, made) for each in given[count:]])
        set_class_decorators(made, self._decorators(node.decorator_list, made))
        set_class_types(made, None)
        return made  # type: ignore[no-any-return]

    def _decorators(self, nodes: Sequence[Any], parent: cst.CSTNode) -> list[cst.Decorator]:
        if nodes:
            self.decorator_lines[parent] = nodes[0].lineno
        decorators = []
        for each in nodes:
            made = self._child(cst.Decorator, parent)
            set_decorator_decorator(made, self.expression(each, made))
            decorators.append(made)
        return decorators


_WORDS: dict[type, type[cst.CSTNode]] = {ast.Pass: cst.Pass, ast.Break: cst.Break, ast.Continue: cst.Continue}
_SIMPLE: dict[type, Callable[[Any, Any, cst.CSTNode], Any]] = {
    ast.Expr: Converter._expr, ast.Assign: Converter._assign, ast.AnnAssign: Converter._annotated, ast.AugAssign: Converter._augmented,
    ast.Return: Converter._return, ast.Raise: Converter._raise, ast.Delete: Converter._del, ast.Pass: Converter._word,
    ast.Break: Converter._word, ast.Continue: Converter._word, ast.Global: Converter._global, ast.Nonlocal: Converter._nonlocal,
    ast.Assert: Converter._assert, ast.Import: Converter._import, ast.ImportFrom: Converter._import_from,
}  # fmt: skip
_COMPOUND: dict[type, Callable[[Any, Any, cst.CSTNode], Any]] = {
    ast.If: Converter._if, ast.For: Converter._for, ast.AsyncFor: Converter._for, ast.While: Converter._while, ast.With: Converter._with,
    ast.AsyncWith: Converter._with, ast.Try: Converter._try, ast.FunctionDef: Converter._def, ast.AsyncFunctionDef: Converter._def,
    ast.ClassDef: Converter._class,
}  # fmt: skip
