"""The layout of a text: offsets, line starts, continued lines."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from kerascheck.syntax.whitespace import NEWLINE

CONTINUATION = re.compile(r"\\\r?\n|\\\r")

Location = tuple[int, int, int, int]
"""Line (1-based) and column (in bytes) of the start and of the end."""


class UnsupportedSyntax(ValueError):
    """Syntax that the conversion does not support: libcst has to parse the program."""


class Layout:
    """Conversion of positions between Python's parser and character offsets.

    Attributes:
        text: the program.
        starts: the offsets of its line starts.

    Raises:
        UnsupportedSyntax: a character may belong to a name that Python's parser normalises.
    """

    def __init__(self, text: str):
        self.text = text
        self.starts = [0, *(match.end() for match in NEWLINE.finditer(text))]
        self._is_ascii = text.isascii()
        if not self._is_ascii and any(map(_normalizes_to_ascii, set(text))):
            raise UnsupportedSyntax
        self._has_semicolons, self._has_continuations = ";" in text, CONTINUATION.search(text) is not None

    def offset(self, line: int, column: int) -> int:
        """Return the character offset of a 1-based line and a column in bytes."""
        start = self.starts[line - 1]
        if self._is_ascii:
            return start + column
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        part = self.text[start:end]
        return start + (column if part.isascii() else len(part.encode()[:column].decode()))

    def range_of(self, place: Location) -> tuple[int, int]:
        """Return the range in characters of a location."""
        return self.offset(*place[:2]), self.offset(*place[2:])

    def source_of(self, node: Any) -> str:
        start = self.offset(node.lineno, node.col_offset)
        return self.text[start : self.offset(node.end_lineno, node.end_col_offset)]

    def is_on_one_line(self, before: Any, node: Any) -> bool:
        if not self._has_semicolons:
            return False
        end, start = self.offset(before.end_lineno, before.end_col_offset), self.offset(node.lineno, node.col_offset)
        between = self.text[end:start]
        # A semicolon may also end the line.
        return "#" not in between and NEWLINE.search(CONTINUATION.sub("", between)) is None

    def begins_line(self, node: Any) -> bool:
        """Whether a statement starts its line, instead of following a colon."""
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
            # The backslash may belong to a comment.
            raise UnsupportedSyntax
        return False


def location_of(node: Any) -> Location:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _normalizes_to_ascii(character: str) -> bool:
    """Whether Python normalises a character of a name to an ASCII one."""
    return (
        not character.isascii()
        and f"a{character}".isidentifier()
        and unicodedata.normalize("NFKC", character).isascii()
    )
