"""Positions in the text: lines, white space, comments and newlines."""

from __future__ import annotations

import re

from kerascheck.syntax.tree import Tree
from kerascheck.syntax.whitespace import NEWLINE

TAIL = re.compile(r"[ \t\f]*(#[^\r\n]*)?(?=[\r\n]|\Z)")
BLANK_LINE = re.compile(r"[ \t\f]*(?:[\r\n]|\Z)")
_INDENT = re.compile(r"[ \t\f]*")
COMMENT_LINE = re.compile(r"[ \t\f]*#")
FIRST_LINES = re.compile(r"#!|[ \t\f]*#.*?coding[:=]")


def past(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return the end of the match at ``position``, or ``position`` without a match."""
    found = pattern.match(text, position)
    return position if found is None else found.end()


def start_of_line(text: str, position: int) -> int:
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def next_line(text: str, position: int) -> int:
    """Return the start of the line after the one at ``position``, or the end of the text."""
    newline = NEWLINE.search(text, position)
    return newline.end() if newline else len(text)


def starts_line(text: str, position: int) -> bool:
    return not text[start_of_line(text, position) : position].strip(" \t\f")


def indent_at(text: str, position: int) -> str:
    start = start_of_line(text, position)
    return text[start : past(_INDENT, text, start)]


def continues(text: str, line_start: int) -> bool:
    """Whether the previous line ends in a backslash."""
    return text[:line_start].rstrip("\r\n").endswith("\\")


def tail_at(text: str, position: int) -> re.Match[str] | None:
    """Match white space and a comment up to the end of the line; None if code follows."""
    return TAIL.match(text, position)


def past_comment(text: str, position: int) -> int:
    """Return the end of the trailing comment; ``position`` if there is none or code precedes it."""
    tail = tail_at(text, position)
    return tail.end() if tail and tail.group(1) else position


def comments_above(text: str, line_start: int) -> int:
    """Return the start of the comment lines directly above a line."""
    while line_start:
        above = start_of_line(text, line_start - (2 if text[:line_start].endswith("\r\n") else 1))
        if not COMMENT_LINE.match(text, above):
            break
        line_start = above
    return line_start


def newline_of(tree: Tree) -> str:
    return tree.newline


def in_newlines_of(tree: Tree, text: str) -> str:
    return NEWLINE.sub(newline_of(tree), text)
