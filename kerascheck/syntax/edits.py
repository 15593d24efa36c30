"""Builders of minimal edits: from a place in the tree to ``Edit`` by position.

No statement is generated anew, so formatting and comments of everything else stay.
Every builder returns the edits in the order in which they are to be listed in a
:class:`~kerascheck.finding.Fix`; a fix may join those of several builders. Where the
form of the code allows no such edit they raise :class:`CannotEdit`, so that a fix is
never built from a part of its edits; :func:`make_fix` turns that into "no fix".
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from kerascheck.finding import Applicability, Edit, Fix
from kerascheck.knowledge.callables import COMPAT_V1, COMPAT_V2
from kerascheck.knowledge.namespaces import KERAS, OF_KERAS, TENSORFLOW
from kerascheck.syntax.names import canonical
from kerascheck.syntax.tree import Tree

Edits = tuple[Edit, ...]
Line = cst.SimpleStatementLine | cst.SimpleStatementSuite
"""What holds simple statements."""
Block = cst.Module | cst.IndentedBlock
"""What holds lines and compound statements."""

_TRIVIA = re.compile(r"(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*")
_TAIL = re.compile(r"[ \t\f]*(#[^\r\n]*)?(?=[\r\n]|\Z)")
_SEMICOLON = re.compile(r"[ \t\f]*;")
_NEWLINE = re.compile(r"\r\n?|\n")
_BLANK_LINE = re.compile(r"[ \t\f]*(?:[\r\n]|\Z)")
_INDENT = re.compile(r"[ \t\f]*")
_COMMENT_LINE = re.compile(r"[ \t\f]*#")
_FIRST_LINES = re.compile(r"#!|[ \t\f]*#.*?coding[:=]")

_OPERAND_OF = (
    cst.Attribute, cst.Subscript, cst.Call, cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation,
    cst.Comparison, cst.ComparisonTarget, cst.Await, cst.IfExp, cst.StarredElement, cst.StarredDictElement,
    cst.CompFor, cst.CompIf, cst.NamedExpr, cst.FormattedStringExpression, cst.Decorator,
)  # fmt: skip
_PRIMARIES = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
_ATOMS = (
    *_PRIMARIES, cst.BaseString, cst.List, cst.Dict, cst.Set, cst.ListComp, cst.SetComp, cst.DictComp, cst.Ellipsis,
)  # fmt: skip


class CannotEdit(Exception):
    """The form of the code allows no minimal edit."""


def make_fix(applicability: Applicability, message: str, build: Callable[[], Edits]) -> Fix | None:
    """The fix made of the edits that ``build`` returns; None where it raises CannotEdit or there is nothing to edit."""
    try:
        edits = build()
    except CannotEdit:
        return None
    return Fix(applicability, message, tuple(edits)) if edits else None


# Places in the text.


def _outer(tree: Tree, node: cst.BaseExpression) -> tuple[int, int]:
    """The range of ``node`` with its own parentheses."""
    start, end = tree.range_of(node)
    if node.lpar:
        start, end = tree.range_of(node.lpar[0])[0], tree.range_of(node.rpar[-1])[1]
    return start, end


def _past(pattern: re.Pattern[str], text: str, position: int) -> int:
    """The end of what matches at ``position``, which itself where nothing does."""
    found = pattern.match(text, position)
    return position if found is None else found.end()


def _skip(text: str, position: int) -> int:
    return _past(_TRIVIA, text, position)


def _line_start(text: str, position: int) -> int:
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def _next_line(text: str, position: int) -> int:
    """The start of the line after the one of ``position``, or the end of the text."""
    newline = _NEWLINE.search(text, position)
    return newline.end() if newline else len(text)


def _starts_line(text: str, position: int) -> bool:
    return not text[_line_start(text, position) : position].strip(" \t\f")


def _indent(text: str, position: int) -> str:
    start = _line_start(text, position)
    return text[start : _past(_INDENT, text, start)]


def _is_continued(text: str, line_start: int) -> bool:
    """Whether the line before the one that starts here ends in a backslash."""
    return text[:line_start].rstrip("\r\n").endswith("\\")


def _tail(text: str, position: int) -> re.Match[str] | None:
    """White space and comment up to the end of the line; None where code follows."""
    return _TAIL.match(text, position)


def _past_comment(text: str, position: int) -> int:
    """The end of the comment that ends the line, or ``position`` where there is none or code comes first."""
    tail = _tail(text, position)
    return tail.end() if tail and tail.group(1) else position


def _comments_above(text: str, line_start: int) -> int:
    """The start of the comment lines directly above the line that starts here."""
    while line_start:
        above = _line_start(text, line_start - (2 if text[:line_start].endswith("\r\n") else 1))
        if not _COMMENT_LINE.match(text, above):
            break
        line_start = above
    return line_start


def _newline(tree: Tree) -> str:
    return tree.root.default_newline


def _in_newlines_of(tree: Tree, text: str) -> str:
    return _NEWLINE.sub(_newline(tree), text)


def _insert(position: int, content: str) -> Edit:
    return Edit(position, position, content)


def _checked(tree: Tree, node: cst.CSTNode, *edits: Edit) -> Edits:
    """``edits``, if they may stand where ``node`` does: before Python 3.12 f-strings take few characters."""
    if any(isinstance(holder, cst.FormattedString) for holder in tree.ancestors(node)):
        if any(character in edit.content for edit in edits for character in "'\"\\#\r\n"):
            raise CannotEdit("inside of an f-string")
    return edits


def _is_bare_generator(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.GeneratorExp) and not value.lpar


# Expressions.


def _needs_parentheses(tree: Tree, node: cst.CSTNode, text: str) -> bool:
    try:
        # In parentheses, because a walrus or a generator is no expression without.
        new = cst.parse_expression(f"({text})")
    except cst.ParserSyntaxError:
        new = None
    if new is None or not new.lpar:
        # Not an expression: it replaces something else, such as a name with a star.
        return False
    if len(new.lpar) > 1 or isinstance(new, _ATOMS):
        return False
    parent = tree.parents.get(node)
    if isinstance(new, cst.BaseNumber):
        return isinstance(parent, cst.Attribute)
    is_loose = isinstance(new, (cst.Tuple, cst.NamedExpr, cst.Yield, cst.GeneratorExp))
    return is_loose or isinstance(parent, _OPERAND_OF)


def replace(tree: Tree, node: cst.CSTNode, text: str) -> Edits:
    """Write ``text`` instead of ``node``; parentheses around it stay, and are added where ``text`` needs them."""
    start, end = tree.range_of(node)
    if isinstance(node, cst.BaseExpression):
        if not node.lpar and _needs_parentheses(tree, node, text):
            text = f"({text})"
        # return"a", not(b)if"c"else d: the old text needed no space around it.
        if start and _is_word(tree.text[start - 1]) and (_is_word(text[0]) or text[0] in "'\""):
            text = " " + text
        if _is_word(tree.text[end : end + 1]) and _is_word(text[-1]):
            text += " "
    return _checked(tree, node, Edit(start, end, text))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _call_brackets(tree: Tree, call: cst.Call) -> tuple[int, int]:
    """The places of the opening and the closing parenthesis of the arguments."""
    return _skip(tree.text, _outer(tree, call.func)[1]), tree.range_of(call)[1] - 1


def _comma(tree: Tree, arg: cst.Arg) -> int | None:
    """The place of the comma after an argument."""
    return tree.range_of(arg.comma)[0] if isinstance(arg.comma, cst.Comma) else None


def add_keyword(tree: Tree, call: cst.Call, name: str, value: str) -> Edits:
    """Pass one more keyword argument, as the last; on a line of its own where the last argument stands so.

    Raises:
        CannotEdit: the call passes ``name`` already.
    """
    if any(arg.keyword is not None and arg.keyword.value == name for arg in call.args):
        raise CannotEdit(f"{name} is there already")
    text, newline, keyword = tree.text, _newline(tree), f"{name}={value}"
    opening, closing = _call_brackets(tree, call)
    if not call.args:
        comment = text.rfind("#", opening, closing)
        if comment < 0:
            return _checked(tree, call, Edit(opening + 1, closing, keyword))
        # A comment ends its line, so the closing parenthesis starts one.
        indent = _indent(text, comment) if _starts_line(text, comment) else _indent(text, closing) + "    "
        return _checked(tree, call, _insert(_line_start(text, closing), f"{indent}{keyword},{newline}"))
    last = call.args[-1]
    start, end = tree.range_of(last)[0], _outer(tree, last.value)[1]
    if _is_bare_generator(last.value):
        return _checked(tree, call, _insert(tree.range_of(last.value)[0], "("), _insert(end, f"), {keyword}"))
    if _starts_line(text, start):
        line = newline + _indent(text, start) + keyword
        if _starts_line(text, closing):
            comma = _comma(tree, last)
            if comma is not None:
                return _checked(tree, call, _insert(_past_comment(text, comma + 1), line + ","))
            place = _past_comment(text, end)
            if place > end:
                return _checked(tree, call, _insert(end, ","), _insert(place, line))
            return _checked(tree, call, _insert(end, "," + line))
        # What a comment behind the call is about stays on its line.
        is_commented = _past_comment(text, closing + 1) > closing + 1
        if (
            len(call.args) > 1
            and not is_commented
            and all(_starts_line(text, tree.range_of(arg)[0]) for arg in call.args[1:])
        ):
            return _checked(tree, call, _insert(end, "," + line))
    return _checked(tree, call, _insert(end, f", {keyword}"))


def set_argument_value(tree: Tree, arg: cst.Arg, text: str) -> Edits:
    """Write ``text`` as the value of an argument; keyword and stars stay."""
    return replace(tree, arg.value, text)


def remove_argument(tree: Tree, call: cst.Call, arg: cst.Arg) -> Edits:
    """Drop an argument with its comma; an argument alone on its lines goes with them and their comment."""
    text = tree.text
    index = next(i for i, other in enumerate(call.args) if other is arg)
    is_last = index == len(call.args) - 1
    opening, closing = _call_brackets(tree, call)
    start, end = tree.range_of(arg)[0], _outer(tree, arg.value)[1]
    comma = _comma(tree, arg)
    after = end if comma is None else comma + 1
    if len(call.args) == 1 and "#" not in text[opening:start] + text[after:closing]:
        return (Edit(opening + 1, closing, ""),)
    previous_end = 0
    comma_before: Edits = ()
    if index:
        previous = call.args[index - 1]
        previous_end, place = _outer(tree, previous.value)[1], _comma(tree, previous)
        if is_last and comma is None and place is not None:
            comma_before = (Edit(place, place + 1, ""),)
    if _starts_line(text, start) and _tail(text, after):
        return (*comma_before, Edit(_line_start(text, start), _next_line(text, after), ""))
    if is_last and index and "#" not in text[previous_end:start]:
        return (Edit(previous_end, end, ""),)
    if is_last:
        return (*comma_before, Edit(start, after, ""))
    following = tree.range_of(call.args[index + 1])[0]
    if "#" in text[after:following]:
        following = after + len(text[after:following]) - len(text[after:following].lstrip(" \t\f"))
    return (Edit(start, following, ""),)


def keep_arguments(tree: Tree, call: cst.Call, kept: Sequence[cst.Arg]) -> Edits:
    """Drop all arguments but ``kept``; raises :class:`CannotEdit` for a call over several lines."""
    text = tree.text
    start, end = tree.range_of(call.args[0])[0], _outer(tree, call.args[-1].value)[1]
    if "\n" in text[start:end] or "\r" in text[start:end]:
        raise CannotEdit("the arguments span lines")
    return (Edit(start, end, ", ".join(text[tree.range_of(arg)[0] : _outer(tree, arg.value)[1]] for arg in kept)),)


def rename_callee(tree: Tree, call: cst.Call, new_dotted: str) -> Edits:
    """Call ``new_dotted`` instead; the arguments stay."""
    start, end = tree.range_of(call.func)
    if "#" in tree.text[start:end]:
        raise CannotEdit("a comment inside of the name")
    return replace(tree, call.func, new_dotted)


def rename_method(tree: Tree, call: cst.Call, new_attr: str) -> Edits:
    """Call the method ``new_attr`` of the same object."""
    return replace(tree, _attribute(call).attr, new_attr)


def call_at(node: cst.CSTNode) -> cst.Call:
    """The call that a node is; raises :class:`CannotEdit` for all else."""
    if not isinstance(node, cst.Call):
        raise CannotEdit("not a call")
    return node


def _attribute(call: cst.CSTNode) -> cst.Attribute:
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        raise CannotEdit("not a method call")
    return call.func


def append_method(tree: Tree, expression: cst.BaseExpression, suffix: str) -> Edits:
    """Append ``suffix``, such as ``".prefetch(2)"``, to an expression.

    In a chain with one call per line it gets its own line; an operand of lower precedence is parenthesised.
    """
    if isinstance(expression, cst.StarredElement):
        raise CannotEdit("not a value")
    if isinstance(expression, _PRIMARIES):
        return _checked(tree, expression, _appended(tree, expression, suffix))
    start, end = _outer(tree, expression)
    if expression.lpar or isinstance(expression, _ATOMS):
        return _checked(tree, expression, _insert(end, suffix))
    return _checked(tree, expression, _insert(start, "("), _insert(end, ")" + suffix))


def _own_line_dot(tree: Tree, expression: cst.BaseExpression) -> int | None:
    """The place of the dot of the link that ends ``expression``, if it starts its line."""
    if isinstance(expression, cst.Call) and isinstance(expression.func, cst.Attribute):
        dot = tree.range_of(expression.func.dot)[0]
        if _starts_line(tree.text, dot):
            return dot
    return None


def _appended(tree: Tree, expression: cst.BaseExpression, suffix: str) -> Edit:
    """The insertion that appends ``suffix`` to a primary, inside of its parentheses."""
    text, newline = tree.text, _newline(tree)
    end = tree.range_of(expression)[1]
    dot = _own_line_dot(tree, expression)
    if dot is None:
        return _insert(end, suffix)
    indent = _indent(text, dot)
    if _is_continued(text, _line_start(text, dot)):
        return _insert(end, f" \\{newline}{indent}{suffix}")
    return _insert(_past_comment(text, end), newline + indent + suffix)


# Chains.


def _links(call: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """``call`` and what it is called on, outermost first."""
    yield call
    while isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
        call = call.func.value
        yield call


def _small_statement(tree: Tree, node: cst.CSTNode) -> cst.BaseSmallStatement:
    for holder in (node, *tree.ancestors(node)):
        if isinstance(holder, cst.BaseSmallStatement):
            return holder
    raise CannotEdit("not in a simple statement")


def _line_of(tree: Tree, small: cst.CSTNode) -> Line:
    line = tree.parents[small]
    if not isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
        raise CannotEdit("not a simple statement")
    return line


def _block_of(tree: Tree, statement: cst.CSTNode) -> Block:
    block = tree.parents[statement]
    if not isinstance(block, (cst.Module, cst.IndentedBlock)):
        raise CannotEdit("not a statement of a block")
    return block


def _position_in_block(tree: Tree, small: cst.BaseSmallStatement) -> tuple[cst.CSTNode, int, int]:
    """The block of a simple statement, and its place there: number of the line, number in the line."""
    line = _line_of(tree, small)
    inner = next(i for i, other in enumerate(line.body) if other is small)
    if isinstance(line, cst.SimpleStatementSuite):
        return line, 0, inner
    block = _block_of(tree, line)
    return block, next(i for i, other in enumerate(block.body) if other is line), inner


def _assigned(small: cst.BaseSmallStatement) -> tuple[str, cst.BaseExpression] | tuple[None, None]:
    """The one variable that a statement sets, and to what."""
    if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name):
        return small.targets[0].target.value, small.value
    return None, None


def _is_alone(tree: Tree, small: cst.BaseSmallStatement) -> bool:
    line = tree.parents[small]
    return isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1


def _is_name(node: cst.CSTNode, name: str | None) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _swapped(text: str, one: tuple[int, int], two: tuple[int, int]) -> Edits:
    return (Edit(*one, text[slice(*two)]), Edit(*two, text[slice(*one)]))


def swap_calls(tree: Tree, inner: cst.Call, outer: cst.Call) -> Edits:
    """``X.inner(a).outer(b)`` becomes ``X.outer(b).inner(a)``; comments of calls on their own lines go with them.

    The calls are links of one chain, or stand in two adjacent statements ``x = X.inner(a)`` and
    ``... x.outer(b)``.
    """
    text = tree.text
    one, two = _attribute(inner), _attribute(outer)
    starts = [tree.range_of(one.attr)[0], tree.range_of(two.attr)[0]]
    ends = [tree.range_of(inner)[1], tree.range_of(outer)[1]]
    headings: Edits = ()
    if any(link is inner for link in list(_links(outer))[1:]):
        dots = [tree.range_of(one.dot)[0], tree.range_of(two.dot)[0]]
        if all(_starts_line(text, dot) for dot in dots):
            lines = [_comments_above(text, _line_start(text, dot)) for dot in dots]
            starts = [line + len(_indent(text, line)) for line in lines]
    else:
        headings = _swapped_headings(tree, inner, outer)
    if all(_tail(text, end) for end in ends):
        ends = [_past_comment(text, end) for end in ends]
    return tuple(sorted(headings + _swapped(text, (starts[0], ends[0]), (starts[1], ends[1]))))


def _swapped_headings(tree: Tree, inner: cst.Call, outer: cst.Call) -> Edits:
    """Swap the comments above two adjacent statements, if both have some; otherwise they may head the whole block."""
    first, second = _small_statement(tree, inner), _small_statement(tree, outer)
    block, line, place = _position_in_block(tree, first)
    other_block, other_line, other_place = _position_in_block(tree, second)
    follows = (other_line, other_place) == (line, place + 1) or (
        other_line == line + 1 and other_place == 0 and place == len(_line_of(tree, first).body) - 1
    )
    name, value = _assigned(first)
    if block is not other_block or not follows or name is None or value is not inner:
        raise CannotEdit("not adjacent statements")
    if not _is_name(_attribute(outer).value, name):
        raise CannotEdit("the second call is not on the result of the first")
    ranges = []
    for small in (first, second):
        start = _line_start(tree.text, tree.range_of(small)[0])
        ranges.append((_comments_above(tree.text, start), start))
    has_own = line != other_line and all(start < end for start, end in ranges)
    return _swapped(tree.text, *ranges) if has_own else ()


@dataclass(frozen=True, slots=True)
class _Cut:
    """A link taken out of its chain."""

    edit: Edit
    link: str
    """``.name(...)``"""
    above: str
    """Its comment lines with indentation and newlines; only where its own lines go."""
    beside: str
    """The comment after it; only where its own lines go."""


def _cut_link(tree: Tree, call: cst.Call, keep_comments: bool) -> _Cut:
    text, attribute = tree.text, _attribute(call)
    dot, end = tree.range_of(attribute.dot)[0], tree.range_of(call)[1]
    receiver_end = _outer(tree, attribute.value)[1]
    link = text[dot:end]
    line = _line_start(text, dot)
    if "\\" in text[receiver_end:dot] or not _starts_line(text, dot):
        start = dot if "#" in text[receiver_end:dot] else receiver_end
        return _Cut(Edit(start, end, ""), link, "", "")
    tail = _tail(text, end)
    if tail is None:
        start = dot if "#" in text[receiver_end:dot] else receiver_end
        return _Cut(Edit(start, end, ""), link, "", "")
    if keep_comments:
        if tail.group(1):
            return _Cut(Edit(dot, tail.start(1), ""), link, "", "")
        return _Cut(Edit(line, _next_line(text, end), ""), link, "", "")
    start = _comments_above(text, line)
    return _Cut(Edit(start, _next_line(text, end), ""), link, text[start:line], tail.group(1) or "")


def _moved_link(tree: Tree, call: cst.Call, after: cst.BaseExpression) -> Edits:
    """Cut the link of ``call`` and append it to ``after``."""
    text, newline = tree.text, _newline(tree)
    end = tree.range_of(after)[1] if isinstance(after, _PRIMARIES) else _outer(tree, after)[1]
    following = _skip(text, end)
    if text[following : following + 1] == "." and _starts_line(text, following):
        # The head of a chain: what comes next says how links are laid out.
        dot: int | None = following
        is_continued = "\\" in text[end:following]
    else:
        dot = _own_line_dot(tree, after)
        is_continued = dot is not None and _is_continued(text, _line_start(text, dot))
    indent = None if dot is None else _indent(text, dot)
    if indent is None or is_continued:
        cut = _cut_link(tree, call, keep_comments=True)
        content = cut.link if indent is None else f" \\{newline}{indent}{cut.link}"
        if indent is None and not isinstance(after, _PRIMARIES):
            insertions = append_method(tree, after, cut.link)
        else:
            insertions = (_insert(end, content),)
        return tuple(sorted((*insertions, cut.edit)))
    cut = _cut_link(tree, call, keep_comments=False)
    above = "".join(f"{newline}{indent}{line.strip()}" for line in cut.above.splitlines())
    if _tail(text, end):
        beside = f"  {cut.beside}" if cut.beside else ""
        content = f"{above}{newline}{indent}{cut.link}{beside}"
    else:
        # Code follows, which a comment beside the link would swallow.
        beside = f"{newline}{indent}{cut.beside}" if cut.beside else ""
        content = f"{above}{beside}{newline}{indent}{cut.link}"
    return tuple(sorted((_insert(_past_comment(text, end), content), cut.edit)))


def move_call(tree: Tree, call: cst.Call, after: cst.BaseExpression) -> Edits:
    """Take the link ``.name(...)`` of ``call`` out of its chain and put it right after ``after``.

    ``after`` is a link of the same chain or what the chain starts from; or it stands in
    another statement of the same block. A whole statement ``x = x.name(...)`` moves as a
    statement, comments included, behind a statement that assigns ``after`` to ``x``; otherwise its link moves.
    Nothing is returned where ``call`` follows ``after`` already.
    """
    link = _attribute(call)
    if link.value is after:
        return ()
    if any(other is after for other in _links(call)) or any(other is call for other in _links(after)):
        return _checked(tree, call, *_moved_link(tree, call, after))
    source, target = _small_statement(tree, call), _small_statement(tree, after)
    if source is target:
        raise CannotEdit("another chain of the same statement")
    if _position_in_block(tree, source)[0] is not _position_in_block(tree, target)[0]:
        raise CannotEdit("another block")
    name, value = _assigned(source)
    if name is None or value is not call or not _is_name(link.value, name):
        return _moved_link(tree, call, after)
    other_name, other_value = _assigned(target)
    if other_name == name and other_value is after and _is_alone(tree, source) and _is_alone(tree, target):
        return _move_line(tree, _line_of(tree, source), _line_of(tree, target))
    suffix = tree.text[tree.range_of(link.dot)[0] : tree.range_of(call)[1]]
    return tuple(sorted((*append_method(tree, after, suffix), *delete_statement(tree, source))))


def _move_line(tree: Tree, line: Line, after: Line) -> Edits:
    start, end = _lines_of(tree, line)
    start = _comments_above(tree.text, start)
    content = tree.text[start:end]
    place = _lines_of(tree, after)[1]
    if not _NEWLINE.search(tree.text[:place][-1:]):
        content = _newline(tree) + content.rstrip("\r\n")
    elif not _NEWLINE.search(content[-1:]):
        content += _newline(tree)
    return tuple(sorted((_insert(place, content), Edit(start, end, ""))))


@dataclass(frozen=True, slots=True)
class Slot:
    """What is to stand where a link of a chain is.

    Attributes:
        link: the link whose text comes here.
        text: that text, from the name of the method on, where it is to be another.
        added: links behind it, such as ".cache()".
    """

    link: cst.Call
    text: str | None = None
    added: tuple[str, ...] = ()


def arrange_links(tree: Tree, links: Sequence[cst.Call], slots: Sequence[Slot]) -> Edits:
    """Give a run of links of one chain, which may go over several statements of a block, another order.

    Comments go with links on their own lines where all have such lines.

    Args:
        links: adjacent links as they are, in the order in which they act.
        slots: for each of their places what is to stand there.

    Raises:
        CannotEdit: something between the statements uses or changes what they use.
    """
    _check_links(tree, links, [slot for link, slot in zip(links, slots) if slot.link is not link])
    text, pieces = tree.text, {link: link_range(tree, link) for link in links}
    own_lines = (
        all(_starts_line(text, tree.range_of(_attribute(link).dot)[0]) for link in links)
        and len({id(_small_statement(tree, link)) for link in links}) == 1
    )
    with_comments = all(_tail(text, tree.range_of(link)[1]) for link in links)
    result: list[Edit] = []
    for link, slot in zip(links, slots):
        (start, end), (new_start, new_end) = pieces[link], pieces[slot.link]
        above = beside = ""
        if own_lines:
            lines = [_line_start(text, tree.range_of(_attribute(each).dot)[0]) for each in (link, slot.link)]
            heads = [_comments_above(text, line) + len(_indent(text, _comments_above(text, line))) for line in lines]
            above, start = text[heads[1] : new_start], heads[0]
        if with_comments:
            beside, end = text[new_end : _past_comment(text, new_end)], _past_comment(text, end)
        own = slot.text if slot.text is not None else text[new_start:new_end]
        if own_lines and slot.added:
            if _is_continued(text, lines[0]):
                raise CannotEdit("lines that end in a backslash")
            indent = _newline(tree) + _indent(text, tree.range_of(_attribute(link).dot)[0])
            content = above + own + beside + "".join(indent + more for more in slot.added)
        else:
            content = above + own + "".join(slot.added) + beside
        if content != text[start:end]:
            result += _checked(tree, link, Edit(start, end, content))
    return tuple(sorted(result))


def link_range(tree: Tree, link: cst.Call) -> tuple[int, int]:
    """The range of a link from the name of its method on."""
    return tree.range_of(_attribute(link).attr)[0], tree.range_of(link)[1]


def _check_links(tree: Tree, links: Sequence[cst.Call], moved: Sequence[Slot]) -> None:
    """Raise where links do not follow each other, or a statement between theirs has to do with what they use."""
    statements: dict[cst.BaseSmallStatement, None] = {}
    for before, link in zip(links, links[1:]):
        first, second = _small_statement(tree, before), _small_statement(tree, link)
        statements |= {first: None, second: None}
        if first is second:
            if not any(inner is before for inner in _links(link)):
                raise CannotEdit("not one chain")
            continue
        name, value = _assigned(first)
        *_, head = _links(link)
        if value is None or not any(inner is before for inner in _links(value)) or not _is_name(head, name):
            raise CannotEdit("not one chain")
    if len(statements) < 2:
        return
    lines = [_line_of(tree, statement) for statement in statements]
    blocks = {id(block): block for block in (_block_of(tree, line) for line in lines)}
    if len(blocks) != 1 or any(len(line.body) != 1 for line in lines):
        raise CannotEdit("not statements of one block")
    (block,) = blocks.values()
    names = {_assigned(statement)[0] for statement in statements} - {None}
    places = [index for index, line in enumerate(block.body) if line in lines]
    between = [line for line in block.body[places[0] : places[-1] + 1] if line not in lines]
    used = {
        node.value
        for slot in moved
        for arg in slot.link.args
        for node in (arg, *tree.descendants(arg))
        if isinstance(node, cst.Name)
    }
    mentioned = {node.value for line in between for node in tree.descendants(line) if isinstance(node, cst.Name)}
    if used & names or mentioned & (names | used):
        raise CannotEdit("what stands between uses or changes what they use")


# Statements.


def assign_back(tree: Tree, statement: cst.CSTNode, name: str) -> Edits:
    """``ds.shuffle(10)`` becomes ``ds = ds.shuffle(10)``; ``statement`` is the expression statement or its line."""
    if isinstance(statement, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) and len(statement.body) == 1:
        statement = statement.body[0]
    if not isinstance(statement, cst.Expr):
        raise CannotEdit("not an expression statement")
    return (_insert(_outer(tree, statement.value)[0], f"{name} = "),)


def _start_of(tree: Tree, statement: cst.CSTNode) -> int:
    """Where a statement starts, decorators included."""
    start = tree.range_of(statement)[0]
    for decorator in getattr(statement, "decorators", ()):
        start = min(start, tree.range_of(decorator)[0])
    return start


def _end_of_code(tree: Tree, statement: cst.CSTNode) -> int:
    """Where a statement ends, semicolon included."""
    end = tree.range_of(statement)[1]
    semicolon = _SEMICOLON.match(tree.text, end)
    return semicolon.end() if semicolon else end


def _lines_of(tree: Tree, statement: cst.CSTNode) -> tuple[int, int]:
    """The whole lines of a statement, comment and newline included.

    Raises:
        CannotEdit: it shares a line with other code.
    """
    start, end = _start_of(tree, statement), _end_of_code(tree, statement)
    if not _starts_line(tree.text, start) or not _tail(tree.text, end):
        raise CannotEdit("shares a line")
    return _line_start(tree.text, start), _next_line(tree.text, end)


def delete_statement(tree: Tree, node: cst.CSTNode) -> Edits:
    """Delete a statement: its whole lines with the comment beside it; ``pass`` where a block would be empty.

    Comment lines above it stay. ``node`` is a simple or a compound statement, or the line of simple ones.
    """
    return _deleted(tree, [node])


def _deleted(tree: Tree, nodes: Iterable[cst.CSTNode]) -> Edits:
    lines: dict[cst.CSTNode, None] = {}
    parts: dict[Line, list[cst.BaseSmallStatement]] = {}
    for node in nodes:
        if isinstance(node, cst.BaseSmallStatement):
            parts.setdefault(_line_of(tree, node), []).append(node)
        elif isinstance(node, cst.SimpleStatementSuite):
            parts[node] = list(node.body)
        else:
            lines[node] = None
    edits: list[Edit] = []
    for holder, chosen in parts.items():
        if len(chosen) < len(holder.body):
            edits += _deleted_parts(tree, holder, chosen)
        elif isinstance(holder, cst.SimpleStatementSuite):
            edits.append(Edit(tree.range_of(chosen[0])[0], tree.range_of(chosen[-1])[1], "pass"))
        else:
            lines[holder] = None
    for line in lines:
        block = _block_of(tree, line)
        start, end = _lines_of(tree, line)
        if (
            isinstance(block, cst.IndentedBlock)
            and line is block.body[0]
            and all(other in lines for other in block.body)
        ):
            start, end = _start_of(tree, line), _past(_TAIL, tree.text, _end_of_code(tree, line))
            edits.append(Edit(start, end, "pass"))
        else:
            edits.append(Edit(start, end, ""))
    return tuple(sorted(edits))


def _deleted_parts(tree: Tree, line: Line, chosen: Sequence[cst.BaseSmallStatement]) -> Iterator[Edit]:
    """Delete some of the statements of ``a; b; c``, each with one semicolon."""
    body = line.body
    kept_before = body[0]
    for index, part in enumerate(body):
        if not any(part is one for one in chosen):
            kept_before = part
        elif any(other not in chosen for other in body[index + 1 :]):
            yield Edit(tree.range_of(part)[0], tree.range_of(body[index + 1])[0], "")
        else:
            yield Edit(tree.range_of(kept_before)[1], tree.range_of(body[-1])[1], "")
            return


def add_decorator(tree: Tree, function: cst.FunctionDef, decorator: str) -> Edits:
    """Add a decorator line such as ``@tf.function`` below those that the function has."""
    start = tree.range_of(function)[0]
    place = _line_start(tree.text, start)
    return (_insert(place, tree.text[place:start] + decorator + _newline(tree)),)


def _place_before(tree: Tree, statement: cst.CSTNode) -> tuple[int, str]:
    """Where lines before ``statement`` go, and their indentation."""
    if isinstance(tree.parents.get(statement), cst.If) or not _starts_line(tree.text, _start_of(tree, statement)):
        raise CannotEdit("not at the start of a line")
    start = _start_of(tree, statement)
    line = _line_start(tree.text, start)
    # The first comment of a file is about the file: its licence, its encoding.
    place = _comments_above(tree.text, line)
    return (place or line), tree.text[line:start]


def move_statements(
    tree: Tree,
    statements: Sequence[cst.CSTNode],
    *,
    before: cst.CSTNode | None = None,
    after_imports: bool = False,
) -> Edits:
    """Cut statements and paste them, in the order of the text, before another one or after the imports.

    Comment lines directly above a statement, and the one beside it, go with it; lines are indented
    as the new place asks, but for those inside of strings. Exactly one of ``before`` and
    ``after_imports`` is given. Nothing is returned where the statements stand there already.
    """
    if (before is None) is not after_imports:
        raise ValueError("give either before or after_imports")
    text, newline = tree.text, _newline(tree)
    indent = ""
    if before is not None:
        if isinstance(before, cst.BaseSmallStatement) and _is_alone(tree, before):
            before = tree.parents[before]
        place, indent = _place_before(tree, before)
    pieces, ranges = [], []
    for statement in sorted(statements, key=lambda node: _start_of(tree, node)):
        if isinstance(statement, cst.BaseSmallStatement) and _is_alone(tree, statement):
            statement = tree.parents[statement]
        piece, piece_range = _piece(tree, statement, indent)
        pieces.append(piece)
        ranges.append(piece_range)
    content = "".join(piece + newline for piece in pieces)
    if before is None:
        (insertion,) = insert_after_imports(tree, content)
        place = insertion.start
    else:
        insertion = _insert(place, content)
    start, end = ranges[0][0], ranges[-1][1]
    is_one_run = all(not text[one[1] : two[0]].strip() for one, two in zip(ranges, ranges[1:]))
    if is_one_run and start <= place <= end:
        return ()
    if is_one_run and not (text[end:place] if place > end else text[place:start]).strip():
        return ()
    # The comments above go too, which deleting a statement leaves.
    edits = []
    for edit in _deleted(tree, statements):
        above = next((piece for piece in ranges if piece[0] < edit.start < piece[1]), None)
        if above is not None and not edit.content and _line_start(text, edit.start) == edit.start:
            edit = Edit(above[0], edit.end, "")
        edits.append(edit)
    return tuple(sorted((insertion, *edits)))


def _piece(tree: Tree, statement: cst.CSTNode, indent: str) -> tuple[str, tuple[int, int]]:
    """A statement with its comments, indented by ``indent``, without its last newline; and the range it has now."""
    text = tree.text
    start, end = _start_of(tree, statement), _end_of_code(tree, statement)
    if isinstance(statement, cst.BaseSmallStatement):
        end = tree.range_of(statement)[1]
        old = _indent(text, start)
        return _reindented(tree, statement, start, end, old, indent), (start, end)
    start, end = _lines_of(tree, statement)
    old = _indent(text, start)
    start = _comments_above(text, start)
    if start == 0 and _COMMENT_LINE.match(text):
        start = _line_start(text, _start_of(tree, statement))
    body = _reindented(tree, statement, start + len(_indent(text, start)), end, old, indent)
    return body.rstrip("\r\n"), (start, end)


def _reindented(tree: Tree, statement: cst.CSTNode, start: int, end: int, old: str, new: str) -> str:
    strings = [
        tree.range_of(node)
        for node in tree.descendants(statement)
        if isinstance(node, (cst.SimpleString, cst.FormattedString))
    ]
    parts, position = [new], start
    while position < end:
        following = min(_next_line(tree.text, position), end)
        line = tree.text[position:following]
        in_string = any(first < position < last for first, last in strings)
        if position > start and not in_string and line.startswith(old) and line.strip():
            line = new + line[len(old) :]
        parts.append(line)
        position = following
    return "".join(parts)


# Imports.

_SET_UP_ROOTS = frozenset("os sys warnings logging matplotlib mpl plt print site locale faulthandler".split())


def _dotted(node: cst.CSTNode | None) -> str | None:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    return ".".join((node.value, *reversed(parts)))


def _root_name(node: cst.CSTNode) -> str | None:
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else None


def _is_import(small: cst.CSTNode) -> bool:
    return isinstance(small, (cst.Import, cst.ImportFrom))


def _is_set_up(small: cst.CSTNode) -> bool:
    """Whether a statement may stand between imports: settings, constants, messages."""
    if isinstance(small, (cst.Pass, cst.Assert, cst.Del, cst.Raise)):
        return True
    if isinstance(small, cst.Expr):
        return isinstance(small.value, cst.BaseString) or (
            isinstance(small.value, cst.Call) and _root_name(small.value) in _SET_UP_ROOTS
        )
    if isinstance(small, cst.Assign):
        if isinstance(small.value, (cst.BaseString, cst.BaseNumber)) or _dotted(small.value) in (
            "None",
            "True",
            "False",
        ):
            return True
        targets = [target.target for target in small.targets]
        return all(
            (isinstance(target, cst.Name) and target.value.startswith("__"))
            or (not isinstance(target, cst.Name) and _root_name(target) in _SET_UP_ROOTS)
            for target in targets
        )
    return False


def _kind(tree: Tree, statement: cst.CSTNode) -> str | None:
    """The word "import" for a statement that belongs to the import block, "set-up" for one that may stand in it, or None."""
    if isinstance(statement, cst.SimpleStatementLine):
        smalls: list[cst.CSTNode] = list(statement.body)
    elif isinstance(statement, (cst.Try, cst.If, cst.With)):
        if isinstance(statement, cst.If) and "__name__" in tree.text[slice(*tree.range_of(statement.test))]:
            return None
        smalls = []
        for node in tree.descendants(statement):
            if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.For, cst.While)):
                return None
            if isinstance(node, cst.BaseSmallStatement):
                smalls.append(node)
    else:
        return None
    if any(_is_import(small) for small in smalls):
        return "import"
    return "set-up" if all(_is_set_up(small) for small in smalls) else None


def _imported_names(statement: cst.Import | cst.ImportFrom) -> Iterator[tuple[str, str | None]]:
    """The names that an import binds, each with the dotted name it stands for (None for relative imports)."""
    return ((name, dotted) for _, name, dotted in _import_aliases(statement))


def imports_as_written(tree: Tree) -> Iterator[tuple[cst.ImportAlias, str, str]]:
    """What the ``from ... import`` of a module bind, each with the name and the dotted name as in :func:`names_as_written`."""
    for statement in tree.imports:
        if isinstance(statement, cst.ImportFrom):
            for alias, name, dotted in _import_aliases(statement):
                if dotted is not None:
                    yield alias, name, dotted.removeprefix(TENSORFLOW) if dotted.startswith(OF_KERAS) else dotted


def _import_aliases(statement: cst.Import | cst.ImportFrom) -> Iterator[tuple[cst.ImportAlias, str, str | None]]:
    if isinstance(statement.names, cst.ImportStar):
        return
    base = ""
    if isinstance(statement, cst.ImportFrom):
        base = (_dotted(statement.module) or "") + "."
    for alias in statement.names:
        dotted = base + alias.evaluated_name
        if alias.evaluated_alias is not None:
            name = alias.evaluated_alias
        elif base:
            name = dotted[len(base) :]
        else:
            name = dotted = dotted.partition(".")[0]
        yield alias, name, None if getattr(statement, "relative", ()) else dotted


def _is_docstring(statement: cst.CSTNode) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )


def _last_import(tree: Tree, text: str) -> int | None:
    """The index in the module of the statement after which ``text`` may stand; None where it starts the file."""
    body = tree.root.body
    last = None
    for index, statement in enumerate(body):
        kind = "import" if index == 0 and _is_docstring(statement) else _kind(tree, statement)
        if kind is None:
            break
        if kind == "import":
            last = index
    # What the text uses may be imported further down.
    used = set(re.findall(r"(?<![\w.])[^\W\d]\w*", text))
    bound: dict[str, int] = {}
    for index, statement in enumerate(body):
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if isinstance(small, (cst.Import, cst.ImportFrom)):
                for name, _ in _imported_names(small):
                    bound.setdefault(name, index)
    later = [index for name, index in bound.items() if name in used]
    return max((index for index in (last, *later) if index is not None), default=None)


def _header_end(tree: Tree) -> int:
    """Where the first statement of a file without imports and docstring may stand: below the comments about the file."""
    text, position = tree.text, 0
    while _FIRST_LINES.match(text, position):
        position = _next_line(text, position)
    end = position
    while _COMMENT_LINE.match(text, end):
        end = _next_line(text, end)
    # Comments directly above code belong to that code.
    if end > position and end < len(text) and not _BLANK_LINE.match(text, end):
        return position
    while end < len(text) and _BLANK_LINE.match(text, end):
        end = _next_line(text, end)
    return end


def insert_after_imports(tree: Tree, text: str) -> Edits:
    """Insert lines below the import block: docstring, imports, and settings between imports.

    One blank line comes before; those that follow stay. Imports join the block without a
    blank line. ``text`` goes below a later import of the module where it uses what that
    binds. List the edits of :func:`spelling` before these, so that the import comes first.
    """
    newline = _newline(tree)
    block = _in_newlines_of(tree, text.strip("\r\n")) + newline
    is_import = all(re.match(r"import\b|from\b", line) for line in block.splitlines() if line.strip())
    last = _last_import(tree, text)
    if last is None:
        place, before, joins = _header_end(tree), "", False
    else:
        statement = tree.root.body[last]
        place = _next_line(tree.text, _end_of_code(tree, statement))
        joins = is_import and not _is_docstring(statement)
        before = "" if joins else newline
    if place and _NEWLINE.fullmatch(tree.text[place - 1]) is None:
        before += newline
    is_free = place == len(tree.text) or _BLANK_LINE.match(tree.text, place)
    return (_insert(place, before + block + ("" if joins or is_free else newline)),)


@dataclass(frozen=True, slots=True)
class _Bindings:
    imports: dict[str, str]
    """Names that module-level imports bind and nothing rebinds, with the dotted name as written."""
    taken: frozenset[str]
    """Every name that means something else somewhere in the file."""
    local: dict[str, str]
    """Names that only imports inside of functions bind, with the last dotted name."""
    sources: frozenset[str]
    """All dotted names that are imported anywhere."""


_bindings_of: weakref.WeakKeyDictionary[Tree, _Bindings] = weakref.WeakKeyDictionary()


def _bindings(tree: Tree) -> _Bindings:
    found = _bindings_of.get(tree)
    if found is None:
        found = _bindings_of[tree] = _find_bindings(tree)
    return found


def _find_bindings(tree: Tree) -> _Bindings:
    imports: dict[str, str] = {}
    elsewhere: list[tuple[str, str | None]] = []
    sources = set()
    for statement in tree.imports:
        holders = list(tree.ancestors(statement))
        is_local = any(isinstance(holder, (cst.FunctionDef, cst.ClassDef)) for holder in holders)
        is_typing = any(
            isinstance(holder, cst.If) and (_dotted(holder.test) or "").endswith("TYPE_CHECKING") for holder in holders
        )
        if isinstance(statement, cst.ImportFrom) and isinstance(statement.names, cst.ImportStar):
            sources.add(_dotted(statement.module) or "")
        elif isinstance(statement, cst.Import):
            sources.update(alias.evaluated_name for alias in statement.names)
        for name, dotted in _imported_names(statement):
            sources.add(dotted or "")
            if is_local or is_typing or dotted is None or name in imports:
                elsewhere.append((name, dotted))
            else:
                imports[name] = dotted
    taken = set(_bound_names(tree))
    local = {
        name: dotted for name, dotted in elsewhere if dotted is not None and name not in imports and name not in taken
    }
    for name, dotted in elsewhere:
        if dotted is None or name not in imports or _meaning(imports[name]) != _meaning(dotted):
            taken.add(name)
    usable = {name: dotted for name, dotted in imports.items() if name not in taken}
    return _Bindings(usable, frozenset(taken | set(imports)), local, frozenset(sources))


def _meaning(dotted: str) -> str:
    # Inside of TensorFlow 1's name space the names that fixes use are the same.
    name, _, rest = dotted.partition(COMPAT_V1)
    return canonical("tensorflow" + rest) if not name and dotted != rest else canonical(dotted)


def _bound_names(tree: Tree) -> Iterator[str]:
    """Names that anything but an import binds, in any scope but that of a class."""
    for node in tree.descendants(tree.root):
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            if not _is_in_class(tree, node):
                yield node.name.value
        elif isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
            if not _is_in_class(tree, node) and not _is_missing_import(tree, node):
                yield from _target_names(node.target)
        elif isinstance(node, (cst.For, cst.CompFor, cst.NamedExpr)):
            yield from _target_names(node.target)
        elif isinstance(node, cst.Del):
            yield from _target_names(node.target)
        elif isinstance(node, cst.AsName):
            if not isinstance(tree.parents[node], cst.ImportAlias):
                yield from _target_names(node.name)
        elif isinstance(node, cst.Param):
            yield node.name.value
        elif isinstance(node, (cst.MatchAs, cst.MatchStar)) and node.name is not None:
            yield node.name.value
        elif isinstance(node, cst.MatchMapping) and node.rest is not None:
            yield node.rest.value


def _is_in_class(tree: Tree, node: cst.CSTNode) -> bool:
    for holder in tree.ancestors(node):
        if isinstance(holder, (cst.FunctionDef, cst.ClassDef)):
            return isinstance(holder, cst.ClassDef)
    return False


def _is_missing_import(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether this is the ``tf = None`` of a script that runs without TensorFlow."""
    value = getattr(tree.parents[node], "value", None)
    return _dotted(value) == "None" and any(isinstance(holder, cst.ExceptHandler) for holder in tree.ancestors(node))


def _target_names(target: cst.CSTNode) -> Iterator[str]:
    stack = [target]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Name):
            yield node.value
        elif isinstance(node, (cst.Tuple, cst.List)):
            stack += [element.value for element in node.elements]


def names_as_written(tree: Tree, ending: Collection[str]) -> Iterator[tuple[cst.CSTNode, str]]:
    """Names and attributes of what an import binds, each with its dotted name as the library of that import spells it.

    Unlike :func:`kerascheck.syntax.names.canonical` this keeps old spellings apart. Only ``tensorflow.keras`` becomes
    ``keras``, and ``tensorflow.compat.v2`` ``tensorflow``. A name that imports bind to different things, such as TensorFlow 1 and 2, is left out.

    Args:
        ending: what the wanted dotted names end in, or what stands anywhere in the dotted name that an import binds.
    """
    sources: dict[str, set[str | None]] = {}
    for statement in tree.imports:
        for name, dotted in _imported_names(statement):
            sources.setdefault(name, set()).add(dotted)
    wanted = {
        name
        for name, meanings in sources.items()
        if any(not set(ending).isdisjoint((dotted or "").split(".")) for dotted in meanings)
    } | set(ending)
    usable: dict[str, str] | None = None
    stars = {
        dotted.removeprefix(TENSORFLOW) for statement in tree.imports
        if isinstance(statement, cst.ImportFrom) and isinstance(statement.names, cst.ImportStar) and (dotted := _dotted(statement.module))
    }  # fmt: skip
    for node, parent in tree.parents.items():
        if type(node) is cst.Name:
            last = node.value
        elif type(node) is cst.Attribute:
            last = node.attr.value
        else:
            continue
        if last not in wanted:
            continue
        if isinstance(parent, (cst.ImportAlias, cst.ImportFrom, cst.AsName)):
            continue
        root, _, rest = (_dotted(node) or "").partition(".")
        if root not in sources:
            # A bare name that nothing else binds may come with all names of a module of Keras.
            is_value = not isinstance(parent, (cst.Attribute, cst.Arg)) or parent.value is node
            if stars and isinstance(node, cst.Name) and is_value and root not in _bindings(tree).taken:
                yield from ((node, f"{star}.{root}") for star in sorted(stars) if star.startswith(KERAS))
            continue
        if usable is None:
            bindings = _bindings(tree)
            usable = {
                name: dotted for name, dotted in (bindings.local | bindings.imports).items() if len(sources[name]) == 1
            }
        is_member = isinstance(parent, cst.Attribute) and parent.attr is node
        if root in usable and not is_member and not (isinstance(parent, cst.Arg) and parent.keyword is node):
            dotted = (usable[root] + ("." + rest if rest else "")).replace(COMPAT_V2, "tensorflow", 1)
            yield node, dotted.removeprefix(TENSORFLOW) if dotted.startswith(OF_KERAS) else dotted


def _is_public(dotted: str) -> bool:
    return not re.search(r"\b(python|contrib|src|_api)\b", dotted)


def _spelled(bindings: _Bindings, wanted: str) -> str | None:
    """The shortest way to write ``wanted`` with what the file imports."""
    has_keras = any(re.match(r"(tf_)?keras\b", source) for source in bindings.sources)
    best: tuple[int, str] | None = None
    for name, dotted in bindings.imports.items():
        meaning = _meaning(dotted)
        if not _is_public(dotted):
            continue
        if meaning == wanted:
            rest = ""
        elif wanted.startswith(meaning + "."):
            rest = wanted[len(meaning) :]
        elif meaning == "tensorflow" and wanted.startswith(KERAS) and not has_keras:
            rest = "." + wanted
        else:
            continue
        if best is None or rest.count(".") < best[0]:
            best = (rest.count("."), name + rest)
    return None if best is None else best[1]


def _imports_for(bindings: _Bindings, root: str) -> Iterator[tuple[str, str]]:
    """Imports of a library with the names that they bind, the usual one first."""
    if root == "tensorflow":
        yield "tf", "import tensorflow as tf"
    elif root == "numpy":
        yield "np", "import numpy as np"
    elif root == "keras" and any(re.match(r"tf_keras\b", source) for source in bindings.sources):
        yield "keras", "import tf_keras as keras"
        return
    elif root == "keras" and not any(re.match(r"keras\b", source) for source in bindings.sources):
        # tf.keras and keras are two libraries up to TensorFlow 2.15: stay with the one in use.
        if any(re.match(r"tensorflow\b", source) for source in bindings.sources):
            yield "keras", "from tensorflow import keras"
            return
    yield root, f"import {root}"


def spelling(tree: Tree, dotted: str) -> tuple[str, Edits]:
    """How this file writes a canonical dotted name such as ``tensorflow.data.AUTOTUNE``.

    Names count as usable where imports of the module bind them and nothing else in the
    file binds them, in whatever scope.

    Returns:
        The expression, and the edit that adds an import where nothing binds the name.

    Raises:
        CannotEdit: every name under which it could be imported means something else.
    """
    wanted = canonical(dotted)
    bindings = _bindings(tree)
    text = _spelled(bindings, wanted)
    if text is not None:
        return text, ()
    root, _, rest = wanted.partition(".")
    for name, statement in _imports_for(bindings, root):
        if name not in bindings.taken:
            return (f"{name}.{rest}" if rest else name), insert_after_imports(tree, statement)
    raise CannotEdit(f"no name is free for {root}")
