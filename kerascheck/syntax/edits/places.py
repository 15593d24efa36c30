"""Places in the text around a node, and what every builder of edits shares."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from kerascheck.finding import Applicability, Edit, Fix
from kerascheck.syntax.tree import Tree

Edits = tuple[Edit, ...]


Line = cst.SimpleStatementLine | cst.SimpleStatementSuite
"""What holds simple statements."""


Block = cst.Module | cst.IndentedBlock
"""What holds lines and compound statements."""


_TRIVIA = re.compile(r"(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*")


TAIL = re.compile(r"[ \t\f]*(#[^\r\n]*)?(?=[\r\n]|\Z)")


_SEMICOLON = re.compile(r"[ \t\f]*;")


NEWLINE = re.compile(r"\r\n?|\n")


BLANK_LINE = re.compile(r"[ \t\f]*(?:[\r\n]|\Z)")


_INDENT = re.compile(r"[ \t\f]*")


COMMENT_LINE = re.compile(r"[ \t\f]*#")


FIRST_LINES = re.compile(r"#!|[ \t\f]*#.*?coding[:=]")


class CannotEdit(Exception):
    """The form of the code allows no minimal edit."""


def make_fix(applicability: Applicability, message: str, build: Callable[[], Edits]) -> Fix | None:
    """The fix made of the edits that ``build`` returns; None where it raises CannotEdit or there is nothing to edit."""
    try:
        edits = build()
    except CannotEdit:
        return None
    return Fix(applicability, message, tuple(edits)) if edits else None


def outer(tree: Tree, node: cst.BaseExpression) -> tuple[int, int]:
    """The range of ``node`` with its own parentheses."""
    start, end = tree.range_of(node)
    if node.lpar:
        start, end = tree.range_of(node.lpar[0])[0], tree.range_of(node.rpar[-1])[1]
    return start, end


def past(pattern: re.Pattern[str], text: str, position: int) -> int:
    """The end of what matches at ``position``, which itself where nothing does."""
    found = pattern.match(text, position)
    return position if found is None else found.end()


def skip(text: str, position: int) -> int:
    return past(_TRIVIA, text, position)


def start_of_line(text: str, position: int) -> int:
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def next_line(text: str, position: int) -> int:
    """The start of the line after the one of ``position``, or the end of the text."""
    newline = NEWLINE.search(text, position)
    return newline.end() if newline else len(text)


def starts_line(text: str, position: int) -> bool:
    return not text[start_of_line(text, position) : position].strip(" \t\f")


def indent_at(text: str, position: int) -> str:
    start = start_of_line(text, position)
    return text[start : past(_INDENT, text, start)]


def continues(text: str, line_start: int) -> bool:
    """Whether the line before the one that starts here ends in a backslash."""
    return text[:line_start].rstrip("\r\n").endswith("\\")


def tail_at(text: str, position: int) -> re.Match[str] | None:
    """White space and comment up to the end of the line; None where code follows."""
    return TAIL.match(text, position)


def past_comment(text: str, position: int) -> int:
    """The end of the comment that ends the line, or ``position`` where there is none or code comes first."""
    tail = tail_at(text, position)
    return tail.end() if tail and tail.group(1) else position


def comments_above(text: str, line_start: int) -> int:
    """The start of the comment lines directly above the line that starts here."""
    while line_start:
        above = start_of_line(text, line_start - (2 if text[:line_start].endswith("\r\n") else 1))
        if not COMMENT_LINE.match(text, above):
            break
        line_start = above
    return line_start


def newline_of(tree: Tree) -> str:
    return tree.root.default_newline


def in_newlines_of(tree: Tree, text: str) -> str:
    return NEWLINE.sub(newline_of(tree), text)


def insert(position: int, content: str) -> Edit:
    return Edit(position, position, content)


def checked(tree: Tree, node: cst.CSTNode, *edits: Edit) -> Edits:
    """``edits``, if they may stand where ``node`` does: before Python 3.12 f-strings take few characters."""
    if any(isinstance(holder, cst.FormattedString) for holder in tree.ancestors(node)):
        if any(character in edit.content for edit in edits for character in "'\"\\#\r\n"):
            raise CannotEdit("inside of an f-string")
    return edits


def is_bare_generator(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.GeneratorExp) and not value.lpar


def start_of(tree: Tree, statement: cst.CSTNode) -> int:
    """Where a statement starts, decorators included."""
    start = tree.range_of(statement)[0]
    for decorator in getattr(statement, "decorators", ()):
        start = min(start, tree.range_of(decorator)[0])
    return start


def end_of_code(tree: Tree, statement: cst.CSTNode) -> int:
    """Where a statement ends, semicolon included."""
    end = tree.range_of(statement)[1]
    semicolon = _SEMICOLON.match(tree.text, end)
    return semicolon.end() if semicolon else end
