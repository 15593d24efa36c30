"""What a text of Python holds beside its comments, docstrings and strings.

What a program does is not read off what is said about it: searches of whole texts look here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Python's own tokenizer takes twenty times as long, and stops where a text does not parse.
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
# What a string that is a statement never follows.
_IN_EXPRESSIONS = frozenset("([{=,+%")


def without_comments(text: str, *, expression: bool = False) -> str:
    """A text with its comments, its docstrings and all other strings that are statements blanked out; nothing else moves.

    A text that does not parse is read as far as its quotes and brackets match.

    Args:
        expression: the text is part of a statement, so that each string in it is a value.
    """
    if "#" not in text and "'" not in text and '"' not in text:
        return text
    pieces: list[str] = []
    # The code between strings and comments of which the brackets are not counted yet, and where it goes on.
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
            # Few strings stand where a statement may begin: only for these the brackets before them count.
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
    """In how many brackets the end of some code is, of which ``depth`` are open at its beginning."""
    for piece in pieces:
        for bracket in _BRACKET.findall(piece):
            depth = depth + 1 if bracket in "([{" else max(depth - 1, 0)
    return depth


def _statement_at(text: str, quote: int, comment_end: int) -> tuple[int, int]:
    """The range of the statement that a string outside of all brackets is, with those that follow it; empty where it is only a part of one.

    Args:
        quote: where it begins, behind its prefix.
        comment_end: where the last comment before it ends.
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
    """Code without its empty lines, white space at the ends of lines and the room of long data: for searches, which long runs of white space slow down."""
    shortened = _ROOM.sub(" ", code) if _LEAST_ROOM in code else code
    return "\n".join(line.rstrip() for line in shortened.splitlines() if line and not line.isspace())


def without_strings(code: str) -> str:
    """A text without comments, as :func:`without_comments` gives it, whose strings are empty: names only."""
    return _STRINGS.sub(lambda string: string[0][0] * 2, code)
