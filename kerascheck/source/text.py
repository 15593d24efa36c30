"""One file as text, and the way from offsets in it back to lines and columns."""

from __future__ import annotations

import ast
import errno
import functools
import io
import os
import re
import stat
import tokenize
import warnings
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import BinaryIO

from kerascheck.finding import Location
from kerascheck.source.data import without_long_data

_COMMAND = re.compile(r"^[ \t]*[!%]{1,2}[ \t]*[A-Za-z]", re.M)
_NEWLINE = re.compile(r"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"
_LARGEST = 64 << 20
"""Bytes of the largest file that is read: notebooks hold their pictures."""


class Unreadable(ValueError):
    """A file whose bytes cannot be turned into code; ``line`` and ``column`` are 1-based."""

    def __init__(self, message: str, line: int = 1, column: int = 1):
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


@dataclass(frozen=True)
class Cell:
    """The part ``text[start:end]`` of a notebook's text that one code cell gave."""

    index: int
    """Counted from 0 over the cells of every type, as notebook programs do."""
    start: int
    end: int


@dataclass(frozen=True)
class Source:
    """The code of one file.

    Attributes:
        path: as shown to the user: relative to the working directory where it lies inside.
        text: the decoded code, newlines unchanged; for notebooks all code cells in order,
            with what is not Python blanked out without moving anything else.
        encoding: the codec that turns ``text`` back into the bytes of the file, without the mark.
        bom: whether the file starts with a UTF-8 byte order mark.
        cells: the cells of a notebook; None for scripts.
        commands: the lines of a notebook, or of a script exported from one, that are commands to the shell or to IPython, also those that
            the text of a notebook tells the reader to run for TensorBoard, one below the other.
        piped: whether it came from a pipe that was named, into which nothing can be written.
    """

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    cells: tuple[Cell, ...] | None = None
    commands: str = ""
    piped: bool = False

    @property
    def is_rewritable(self) -> bool:
        """Whether ``text`` is all that a file holds, so that another can be written in its place."""
        return self.cells is None and not self.commands and not self.piped

    @functools.cached_property
    def without_data(self) -> str:
        """The text without its long data, with everything else in its place: see :func:`without_long_data`."""
        if self.cells is None:
            return without_long_data(self.text)
        pieces, done = [], 0
        for cell in self.cells:
            pieces += (self.text[done : cell.start], without_long_data(self.text[cell.start : cell.end]))
            done = cell.end
        return "".join(pieces)

    @functools.cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset of every line's first character."""
        return (0, *(match.end() for match in _NEWLINE.finditer(self.text)))

    @functools.cached_property
    def _cell_starts(self) -> list[int]:
        return [cell.start for cell in self.cells or ()]

    def line_of(self, offset: int) -> int:
        """The 1-based line of the text that holds ``offset``."""
        return bisect_right(self.line_starts, offset)

    def cell_at(self, offset: int) -> Cell | None:
        """The notebook cell that holds ``offset``; None in scripts and in notebooks without code."""
        position = bisect_right(self._cell_starts, offset)
        return self.cells[max(position - 1, 0)] if self.cells else None

    def locate(self, start: int, end: int) -> Location:
        """The place of ``text[start:end]``: 1-based, cell-relative in notebooks, end exclusive."""
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

    def offset(self, line: int, column: int) -> int:
        """The offset of a 1-based line and column of the text, moved inside the text where it lies outside."""
        starts = self.line_starts
        start = starts[min(max(line, 1), len(starts)) - 1]
        return min(start + max(column - 1, 0), len(self.text))

    def line_text(self, offset: int) -> str:
        """The line that holds ``offset``, without its newline."""
        start = self.line_starts[self.line_of(offset) - 1]
        end = _NEWLINE.search(self.text, start)
        return self.text[start : end.start() if end else len(self.text)]

    def without(self, cell: Cell) -> Source:
        """The same notebook with one cell blanked out, and what stands above it for its sake; nothing else moves."""
        from kerascheck.source.notebook import header_for

        start = cell.start - len(header_for(self.text[cell.start : cell.end]))
        blank = re.sub(r"[^\r\n]", " ", self.text[start : cell.end])
        return replace(self, text=self.text[:start] + blank + self.text[cell.end :])

    def with_text(self, text: str) -> Source:
        """The same script with another text."""
        return replace(self, text=text)

    def encode(self) -> bytes:
        """The bytes of a script with this text; raises UnicodeEncodeError where its encoding lacks a character."""
        return (_BOM if self.bom else b"") + self.text.encode(self.encoding)


def display_path(path: str | os.PathLike[str]) -> str:
    """``path`` as shown to the user: relative to the working directory where it lies inside."""
    absolute, here = os.path.abspath(path), os.getcwd()
    return os.path.relpath(absolute, here) if absolute.startswith(os.path.join(here, "")) else absolute


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: it cannot be read, is too large, or is no regular file: pipes and devices
            may never end, or never begin.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    if status.st_size > _LARGEST:
        raise _too_large()
    with open(path, "rb") as file:
        return file.read()


def read_stream(stream: BinaryIO) -> bytes:
    """All that a pipe or a device gives; raises OSError where it gives too much."""
    data = stream.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise _too_large()
    return data


def _too_large() -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {_LARGEST >> 20} MB")


def cannot_be_read(problem: OSError) -> Unreadable:
    """The same for users."""
    return Unreadable(f"cannot be read: {problem.strerror or problem}")


def read(path: str | os.PathLike[str]) -> Source:
    """The source of a file on disk; raises :class:`Unreadable`."""
    try:
        data = read_bytes(path)
    except OSError as problem:
        raise cannot_be_read(problem) from None
    return decode(display_path(path), data)


def decode(path: str, data: bytes) -> Source:
    """The source that ``data`` holds, a notebook where ``path`` says so; raises :class:`Unreadable`."""
    if path.endswith(".ipynb"):
        from kerascheck.source import notebook

        text, cells, commands = notebook.extract(data)
        return Source(path, text, cells=cells, commands=commands)
    bom = data.startswith(_BOM)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as problem:
        encoding, detail = "utf-8", str(problem)
        if "invalid or missing encoding" not in detail:
            raise Unreadable(f"cannot be decoded: {detail}") from None
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    body = data[len(_BOM) :] if bom else data
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as problem:
        before = body[: problem.start]
        line_start = max(before.rfind(b"\n"), before.rfind(b"\r")) + 1
        raise Unreadable(
            f"is not valid {encoding} (byte 0x{body[problem.start]:02x}): declare its encoding in a comment on the first line",
            len(_NEWLINE.findall(before.decode("latin-1"))) + 1,
            problem.start - line_start + 1,
        ) from None
    except (LookupError, UnicodeError) as problem:
        raise Unreadable(f"cannot be decoded: {problem}") from None
    source = Source(path, text, encoding, bom)
    if (null := text.find("\0")) >= 0:
        place = source.locate(null, null)
        raise Unreadable("contains a null byte: not Python source", place.line, place.column)
    return _without_commands(source)


def _without_commands(source: Source) -> Source:
    """A script that was exported from a notebook with its commands, as that would give it; any other as it is."""
    if not _COMMAND.search(source.text) or _parses(source.text):
        return source
    from kerascheck.source import notebook

    text = notebook.blank(source.text)
    return replace(source, text=text, commands=notebook.commands_in(source.text, text)) if _parses(text) else source


def _parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
