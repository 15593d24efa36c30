"""White space, newlines and comments between the tokens of a program."""

from __future__ import annotations

import re

NEWLINE = re.compile(r"\r\n?|\n")
_TRIVIA = re.compile(r"(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*")


def skip(text: str, position: int) -> int:
    """Return the start of the next token inside brackets: past white space, newlines and comments."""
    found = _TRIVIA.match(text, position)
    return position if found is None else found.end()
