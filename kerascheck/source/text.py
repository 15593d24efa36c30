"""The text of one file, and the mapping of its offsets to lines and columns."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from dataclasses import dataclass, replace

from kerascheck.finding import Location
from kerascheck.source.data import without_long_data

NEWLINE = re.compile(r"\r\n?|\n")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Unreadable(ValueError):
    """A file whose bytes cannot be decoded to code; ``line`` and ``column`` are 1-based."""

    def __init__(self, message: str, line: int = 1, column: int = 1):
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


@dataclass(frozen=True)
class Cell:
    """The part ``text[start:end]`` of a notebook's text that belongs to one code cell."""

    index: int
    """Counted from 0 over cells of every type, as notebook programs do."""
    start: int
    end: int
    is_closed: bool = False
    """Whether a newline was added at its end, so that the next cell begins a line."""


@dataclass(frozen=True)
class Source:
    """The code of one file.

    Attributes:
        path: for display: relative to the working directory if it lies inside.
        text: the decoded code, newlines unchanged; for notebooks all code cells in order, with non-Python code blanked out in place.
        encoding: the codec that converts ``text`` back to the bytes of the file, without the mark.
        bom: whether the file starts with a UTF-8 byte order mark.
        cells: the cells of a notebook; None for scripts.
        commands: the shell and IPython commands of a notebook, or of a script exported from one, one per line. This includes commands
            that the text of a notebook tells the reader to run for TensorBoard.
        piped: whether the source is a named pipe, which cannot be written to.
        original: the text with commands, of the same length as ``text``; None if nothing was blanked out.
        is_lossy: whether the codec converts ``text`` to other bytes than those of the file, as "unicode_escape" does.
    """

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    cells: tuple[Cell, ...] | None = None
    commands: str = ""
    piped: bool = False
    original: str | None = None
    is_lossy: bool = False

    @property
    def written(self) -> str:
        """The text with its commands, as in the file."""
        return self.text if self.original is None else self.original

    @functools.cached_property
    def without_data(self) -> str:
        """The text without its long data, offsets unchanged: see :func:`without_long_data`."""
        if self.cells is None:
            return without_long_data(self.text)
        pieces: list[str] = []
        done = 0
        for cell in self.cells:
            pieces += (self.text[done : cell.start], without_long_data(self.text[cell.start : cell.end]))
            done = cell.end
        return "".join(pieces)

    @functools.cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset of each line."""
        return (0, *(match.end() for match in NEWLINE.finditer(self.text)))

    @functools.cached_property
    def _cell_starts(self) -> list[int]:
        return [cell.start for cell in self.cells or ()]

    @functools.cached_property
    def _cells_by_index(self) -> dict[int | None, Cell]:
        return {cell.index: cell for cell in self.cells or ()}

    def line_of(self, offset: int) -> int:
        """Return the 1-based line of ``offset``."""
        return bisect_right(self.line_starts, offset)

    def cell_at(self, offset: int) -> Cell | None:
        """Return the notebook cell at ``offset``; None in scripts and in notebooks without code."""
        position = bisect_right(self._cell_starts, offset)
        return self.cells[max(position - 1, 0)] if self.cells else None

    def cells_around(self, start: int, end: int) -> list[Cell]:
        """Return the cells around ``text[start:end]``: two for an empty range at the border of two cells."""
        position = bisect_right(self._cell_starts, start)
        near = (self.cells or ())[max(position - 2, 0) : position]
        return [cell for cell in near if end <= cell.end]

    def cell(self, index: int | None) -> Cell | None:
        """Return the code cell with an index of the notebook."""
        return self._cells_by_index.get(index)

    def locate(self, start: int, end: int) -> Location:
        """Return the location of ``text[start:end]``: 1-based, cell-relative in notebooks, end exclusive."""
        cell = self.cell_at(start)
        before = self.line_of(cell.start) - 1 if cell else 0
        line, end_line = self.line_of(start), self.line_of(end)
        return Location(
            self.path,
            cell.index if cell else None,
            line - before,
            start - self.line_starts[line - 1] + 1,
            end_line - before,
            end - self.line_starts[end_line - 1] + 1,
        )

    def lines_above(self, cell: int | None) -> int:
        """Return the number of lines above the cell with an index; 0 in scripts."""
        own = self.cell(cell)
        return self.line_of(own.start) - 1 if own else 0

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a 1-based line and column, clamped to the text."""
        starts = self.line_starts
        start = starts[min(max(line, 1), len(starts)) - 1]
        return min(start + max(column - 1, 0), len(self.text))

    def line_text(self, offset: int) -> str:
        """Return the line at ``offset``, without its newline."""
        start = self.line_starts[self.line_of(offset) - 1]
        end = NEWLINE.search(self.text, start)
        return self.text[start : end.start() if end else len(self.text)]

    def with_text(self, text: str) -> Source:
        """Return the script with another text, without blanked-out commands."""
        return replace(self, text=text, original=None)

    def survives(self) -> bool:
        """Whether the encoding can encode the text and decode it to the same text."""
        try:
            return self.written.encode(self.encoding).decode(self.encoding) == self.written
        except UnicodeError:
            return False

    def encode(self) -> bytes:
        """Encode the text of a script; raises UnicodeError if the encoding lacks a character."""
        return (BYTE_ORDER_MARK if self.bom else b"") + self.written.encode(self.encoding)
