"""Edits of expressions, calls and their arguments."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kerascheck.finding import Edit
from kerascheck.syntax.edits.contract import CannotEdit, Edits, checked, insert
from kerascheck.syntax.edits.lines import (
    continues,
    indent_at,
    newline_of,
    next_line,
    past_comment,
    start_of_line,
    starts_line,
    tail_at,
)
from kerascheck.syntax.edits.ranges import comma_of, dot_of, is_bare_generator, outer
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.whitespace import skip

_OPERAND_OF = (
    cst.Attribute, cst.Subscript, cst.Call, cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation,
    cst.Comparison, cst.ComparisonTarget, cst.Await, cst.IfExp, cst.StarredElement, cst.StarredDictElement,
    cst.CompFor, cst.CompIf, cst.NamedExpr, cst.FormattedStringExpression, cst.Decorator,
)  # fmt: skip


PRIMARIES = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


_ATOMS = (
    *PRIMARIES, cst.BaseString, cst.List, cst.Dict, cst.Set, cst.ListComp, cst.SetComp, cst.DictComp, cst.Ellipsis,
)  # fmt: skip


def _needs_parentheses(tree: Tree, node: cst.CSTNode, text: str) -> bool:
    try:
        # In parentheses, because a bare walrus or generator is no expression.
        new = cst.parse_expression(f"({text})")
    except cst.ParserSyntaxError:
        new = None
    if new is None or not new.lpar:
        # Not an expression: the text replaces something else, such as a starred name.
        return False
    if len(new.lpar) > 1 or isinstance(new, _ATOMS):
        return False
    parent = tree.parents.get(node)
    if isinstance(new, cst.BaseNumber):
        return isinstance(parent, cst.Attribute)
    is_loose = isinstance(new, (cst.Tuple, cst.NamedExpr, cst.Yield, cst.GeneratorExp))
    return is_loose or isinstance(parent, _OPERAND_OF)


def replace(tree: Tree, node: cst.CSTNode, text: str) -> Edits:
    """Replace ``node`` by ``text``; its parentheses stay, and new ones are added if ``text`` needs them."""
    start, end = tree.range_of(node)
    if isinstance(node, cst.BaseExpression):
        if not tree.is_parenthesised(node) and _needs_parentheses(tree, node, text):
            text = f"({text})"
        # return"a", not(b)if"c"else d: the old text needed no space around it.
        if start and _is_word(tree.text[start - 1]) and (_is_word(text[0]) or text[0] in "'\""):
            text = " " + text
        if _is_word(tree.text[end : end + 1]) and _is_word(text[-1]):
            text += " "
    return checked(tree, node, Edit(start, end, text))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _call_brackets(tree: Tree, call: cst.Call) -> tuple[int, int]:
    """Return the offsets of the opening and closing parenthesis of a call."""
    return skip(tree.text, outer(tree, call.func)[1]), tree.range_of(call)[1] - 1


def add_keyword(tree: Tree, call: cst.Call, name: str, value: str) -> Edits:
    """Append a keyword argument, on its own line if the last argument has its own line.

    Raises:
        CannotEdit: the call passes ``name`` already.
    """
    if any(arg.keyword is not None and arg.keyword.value == name for arg in call.args):
        raise CannotEdit(f"{name} is there already")
    text, newline, keyword = tree.text, newline_of(tree), f"{name}={value}"
    opening, closing = _call_brackets(tree, call)
    if not call.args:
        comment = text.rfind("#", opening, closing)
        if comment < 0:
            return checked(tree, call, Edit(opening + 1, closing, keyword))
        # A comment extends to the end of its line, so the closing parenthesis starts a new one.
        indent = indent_at(text, comment) if starts_line(text, comment) else indent_at(text, closing) + "    "
        return checked(tree, call, insert(start_of_line(text, closing), f"{indent}{keyword},{newline}"))
    last = call.args[-1]
    start, end = tree.range_of(last)[0], outer(tree, last.value)[1]
    if is_bare_generator(tree, last.value):
        return checked(tree, call, insert(tree.range_of(last.value)[0], "("), insert(end, f"), {keyword}"))
    if starts_line(text, start):
        line = newline + indent_at(text, start) + keyword
        if starts_line(text, closing):
            comma = comma_of(tree, last)
            if comma is not None:
                return checked(tree, call, insert(past_comment(text, comma + 1), line + ","))
            place = past_comment(text, end)
            if place > end:
                return checked(tree, call, insert(end, ","), insert(place, line))
            return checked(tree, call, insert(end, "," + line))
        # A comment behind the call stays on its line.
        is_commented = past_comment(text, closing + 1) > closing + 1
        if (
            len(call.args) > 1
            and not is_commented
            and all(starts_line(text, tree.range_of(arg)[0]) for arg in call.args[1:])
        ):
            return checked(tree, call, insert(end, "," + line))
    return checked(tree, call, insert(end, f", {keyword}"))


def set_argument_value(tree: Tree, arg: cst.Arg, text: str) -> Edits:
    """Replace the value of an argument; keyword and stars stay."""
    return replace(tree, arg.value, text)


def remove_argument(tree: Tree, call: cst.Call, arg: cst.Arg) -> Edits:
    """Remove an argument with its comma; an argument on its own lines takes them and their comment along."""
    text = tree.text
    index = next(i for i, other in enumerate(call.args) if other is arg)
    is_last = index == len(call.args) - 1
    opening, closing = _call_brackets(tree, call)
    start, end = tree.range_of(arg)[0], outer(tree, arg.value)[1]
    comma = comma_of(tree, arg)
    after = end if comma is None else comma + 1
    if len(call.args) == 1 and "#" not in text[opening:start] + text[after:closing]:
        return (Edit(opening + 1, closing, ""),)
    previous_end = 0
    comma_before: Edits = ()
    if index:
        previous = call.args[index - 1]
        previous_end, place = outer(tree, previous.value)[1], comma_of(tree, previous)
        if is_last and comma is None and place is not None:
            comma_before = (Edit(place, place + 1, ""),)
    if starts_line(text, start) and tail_at(text, after):
        return (*comma_before, Edit(start_of_line(text, start), next_line(text, after), ""))
    if is_last and index and "#" not in text[previous_end:start]:
        return (Edit(previous_end, end, ""),)
    if is_last:
        return (*comma_before, Edit(start, after, ""))
    following = tree.range_of(call.args[index + 1])[0]
    if "#" in text[after:following]:
        following = after + len(text[after:following]) - len(text[after:following].lstrip(" \t\f"))
    return (Edit(start, following, ""),)


def keep_arguments(tree: Tree, call: cst.Call, kept: Sequence[cst.Arg]) -> Edits:
    """Remove all arguments except ``kept``; raises :class:`CannotEdit` for a call over several lines."""
    text = tree.text
    start, end = tree.range_of(call.args[0])[0], outer(tree, call.args[-1].value)[1]
    if "\n" in text[start:end] or "\r" in text[start:end]:
        raise CannotEdit("the arguments span lines")
    return (Edit(start, end, ", ".join(text[tree.range_of(arg)[0] : outer(tree, arg.value)[1]] for arg in kept)),)


def rename_callee(tree: Tree, call: cst.Call, new_dotted: str) -> Edits:
    """Replace the callee by ``new_dotted``; the arguments stay."""
    start, end = tree.range_of(call.func)
    if "#" in tree.text[start:end]:
        raise CannotEdit("a comment inside of the name")
    return replace(tree, call.func, new_dotted)


def rename_method(tree: Tree, call: cst.Call, new_attr: str) -> Edits:
    """Replace the method name; receiver and arguments stay."""
    return replace(tree, callee_of(call).attr, new_attr)


def call_at(node: cst.CSTNode) -> cst.Call:
    """Return ``node`` as a call; raises :class:`CannotEdit` for other nodes."""
    if not isinstance(node, cst.Call):
        raise CannotEdit("not a call")
    return node


def callee_of(call: cst.CSTNode) -> cst.Attribute:
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        raise CannotEdit("not a method call")
    return call.func


def append_method(tree: Tree, expression: cst.BaseExpression, suffix: str) -> Edits:
    """Append ``suffix``, such as ``".prefetch(2)"``, to an expression.

    In a chain with one call per line it gets its own line; operands of lower precedence get parentheses.
    """
    if isinstance(expression, cst.StarredElement):
        raise CannotEdit("not a value")
    if isinstance(expression, PRIMARIES):
        return checked(tree, expression, _appended(tree, expression, suffix))
    start, end = outer(tree, expression)
    if tree.is_parenthesised(expression) or isinstance(expression, _ATOMS):
        return checked(tree, expression, insert(end, suffix))
    return checked(tree, expression, insert(start, "("), insert(end, ")" + suffix))


def own_line_dot(tree: Tree, expression: cst.BaseExpression) -> int | None:
    """Return the offset of the dot of the last link of ``expression``, if it starts its line."""
    if isinstance(expression, cst.Call) and isinstance(expression.func, cst.Attribute):
        dot = dot_of(tree, expression.func)
        if starts_line(tree.text, dot):
            return dot
    return None


def _appended(tree: Tree, expression: cst.BaseExpression, suffix: str) -> Edit:
    """Return the insertion that appends ``suffix`` to a primary, inside its parentheses."""
    text, newline = tree.text, newline_of(tree)
    end = tree.range_of(expression)[1]
    dot = own_line_dot(tree, expression)
    if dot is None:
        return insert(end, suffix)
    indent = indent_at(text, dot)
    if continues(text, start_of_line(text, dot)):
        return insert(end, f" \\{newline}{indent}{suffix}")
    return insert(past_comment(text, end), newline + indent + suffix)
