"""Python text without comments, docstrings or strings.

Searches of whole texts use it, because comments and docstrings say nothing about a program's behaviour.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Python's own tokenizer takes twenty times as long, and stops at syntax errors.
STRING = (
    r"(?:'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''|'[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'"
    r'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""|"[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*")'
)
_STRINGS = re.compile(STRING, re.S)
_TOKEN = re.compile(rf"#[^\r\n]*|{STRING}", re.S)
_BRACKET = re.compile(r"[()\[\]{}]")
_PREFIXES = frozenset("rRuUbB")
_BLANKS = frozenset(" \t\f")
_LEAST_ROOM = 100 * " "
_ROOM = re.compile(f"{_LEAST_ROOM}+")
_STATEMENT = re.compile(rf"(?:[rRuUbB]{{0,2}}{STRING}(?:[ \t\f]|\\\r?\n)*)+(?=[;#\r\n]|\Z)", re.S)
_HEADER = re.compile(r"[ \t\f]*(?:(?:async|class|def|elif|else|except|finally|for|if|try|while|with)\b|\)).*:\Z", re.S)
_CHARACTERS = re.compile(r"[^\r\n]+")
# A string statement never follows one of these.
_IN_EXPRESSIONS = frozenset("([{=,+%")


def without_comments(text: str, *, expression: bool = False) -> str:
    """Blank out comments, docstrings and all other strings that are statements; all other text keeps its offsets.

    Text with syntax errors is read up to the last matching quote or bracket.

    Args:
        text: the text.
        expression: the text is part of a statement, so each string in it is a value.
    """
    if "#" not in text and "'" not in text and '"' not in text:
        return text
    pieces: list[str] = []
    # Code between strings and comments whose brackets are not counted yet, and its end.
    uncounted: list[str] = []
    done, counted, depth, comment_end = 0, 0, 0, 0
    for token in _TOKEN.finditer(text):
        start, end = token.span()
        if start < done:
            continue
        uncounted.append(text[counted:start])
        counted = end
        if text[start] == "#":
            comment_end = end
        elif expression or text[start - 1] in _IN_EXPRESSIONS and start:
            continue
        else:
            # Few strings are in a position where a statement may begin; only these require counting the brackets before.
            start, end = _statement_at(text, start, comment_end)
            if start == end:
                continue
            depth = _depth(depth, uncounted)
            uncounted = []
            if depth:
                continue
            counted = end
        pieces += (text[done:start], _blank(text[start:end]))
        done = end
    return "".join((*pieces, text[done:]))


def _blank(text: str) -> str:
    return _CHARACTERS.sub(lambda line: " " * len(line[0]), text) if "\n" in text or "\r" in text else " " * len(text)


def _depth(depth: int, pieces: Iterable[str]) -> int:
    """Return the bracket depth at the end of some code, given the depth at its beginning."""
    for piece in pieces:
        for bracket in _BRACKET.findall(piece):
            depth = depth + 1 if bracket in "([{" else max(depth - 1, 0)
    return depth


def _statement_at(text: str, quote: int, comment_end: int) -> tuple[int, int]:
    """Return the range of a string statement outside all brackets, with adjacent strings.

    The range is empty if the string is an expression.

    Args:
        text: the text.
        quote: the offset of its first quote, behind the prefix.
        comment_end: the end of the last comment before it.
    """
    start = quote
    while quote - start < 2 and text[start - 1 : start] in _PREFIXES:
        start -= 1
    before = start
    while text[before - 1 : before] in _BLANKS:
        before -= 1
    last = text[before - 1 : before]
    if last in ("\r", "\n", ""):
        newline = before - (2 if text.startswith("\r\n", before - 2) else 1)
        begins = newline <= comment_end or text[newline - 1] != "\\"
    else:
        begins = (
            last == ";"
            or last == ":"
            and _HEADER.match(text[max(text.rfind("\n", 0, before), text.rfind("\r", 0, before)) + 1 : before])
            is not None
        )
    statement = _STATEMENT.match(text, start) if begins else None
    return (start, statement.end()) if statement else (start, start)


def compact(code: str) -> str:
    """Remove empty lines, trailing white space and the blanks of long data.

    Searches use it, because long runs of white space slow them down.
    """
    shortened = _ROOM.sub(" ", code) if _LEAST_ROOM in code else code
    return "\n".join(line.rstrip() for line in shortened.splitlines() if line and not line.isspace())


def without_strings(code: str) -> str:
    """Return a text without comments, from :func:`without_comments`, with empty strings: names only."""
    return _STRINGS.sub(lambda string: string[0][0] * 2, code)
