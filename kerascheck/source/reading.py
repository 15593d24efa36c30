"""Reading of files and pipes."""

from __future__ import annotations

import codecs
import io
import os
import re
import tokenize
from dataclasses import replace
from typing import BinaryIO

from kerascheck.source import dependencies, notebook
from kerascheck.source.python import without_warnings
from kerascheck.source.text import BYTE_ORDER_MARK, NEWLINE, Source, Unreadable

# The end of a line is faster to find than its start.
_COMMAND = re.compile(r"\n[ \t]*[!%]{1,2}[ \t]*[A-Za-z]")

_EXACT = ("utf-8", "iso-8859-1", "ascii")
"""Encodings in which each text has exactly one byte sequence."""


def display_path(path: str | os.PathLike[str]) -> str:
    """Return ``path`` for display: relative to the working directory if it lies inside."""
    absolute, here = os.path.abspath(path), os.getcwd()
    return os.path.relpath(absolute, here) if absolute.startswith(os.path.join(here, "")) else absolute


read_bytes = dependencies.content


def read_stream(stream: BinaryIO) -> bytes:
    """Read all of a pipe or device; raises OSError if it yields too much."""
    data = stream.read(dependencies.LARGEST + 1)
    if len(data) > dependencies.LARGEST:
        raise dependencies.too_large()
    return data


def cannot_be_read(problem: OSError) -> Unreadable:
    """Convert an error to a message for users."""
    return Unreadable(f"cannot be read: {problem.strerror or problem}")


def read(path: str | os.PathLike[str]) -> Source:
    """Read a file from disk; raises :class:`Unreadable`."""
    try:
        data = read_bytes(path)
    except OSError as problem:
        raise cannot_be_read(problem) from None
    return decode(display_path(path), data)


def decode(path: str, data: bytes) -> Source:
    """Decode ``data``, as a notebook if ``path`` says so; raises :class:`Unreadable`."""
    if path.endswith(".ipynb"):
        return notebook.extract(path, data)
    bom = data.startswith(BYTE_ORDER_MARK)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as problem:
        encoding, detail = "utf-8", str(problem)
        if bom and detail.startswith("encoding problem"):
            raise Unreadable(
                "begins with the mark of UTF-8 and declares another encoding: correct the comment on its first lines"
            ) from None
        if "invalid or missing encoding" not in detail:
            raise Unreadable(f"cannot be decoded: {detail}") from None
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    body = data[len(BYTE_ORDER_MARK) :] if bom else data
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as problem:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise Unreadable("is UTF-16: save it as UTF-8") from None
        before = body[: problem.start]
        line_start = max(before.rfind(b"\n"), before.rfind(b"\r")) + 1
        advice = "declare its encoding" if encoding == "utf-8" else "correct the encoding"
        raise Unreadable(
            f"is not valid {encoding} (byte 0x{body[problem.start]:02x}): {advice} in a comment on the first line",
            len(NEWLINE.findall(before.decode("latin-1"))) + 1,
            problem.start - line_start + 1,
        ) from None
    except (LookupError, UnicodeError) as problem:
        raise Unreadable(f"cannot be decoded: {problem}") from None
    return from_text(path, text, encoding, bom, is_lossy=not _round_trips(text, encoding, body))


def _round_trips(text: str, encoding: str, body: bytes) -> bool:
    if encoding in _EXACT:
        return True
    try:
        return text.encode(encoding) == body
    except UnicodeError:
        return False


def from_text(path: str, text: str, encoding: str = "utf-8", bom: bool = False, *, is_lossy: bool = False) -> Source:
    """Create the source of a script from its text; raises :class:`Unreadable`."""
    source = Source(path, text, encoding, bom, is_lossy=is_lossy)
    if (null := text.find("\0")) >= 0:
        place = source.locate(null, null)
        raise Unreadable("contains a null byte: not Python source", place.line, place.column)
    return _without_commands(source)


def _without_commands(source: Source) -> Source:
    """Blank out the commands of a script exported from a notebook; other scripts stay unchanged."""
    if not _COMMAND.search(f"\n{source.text}") or _parses(source.text):
        return source
    text = notebook.blank(source.text)
    if not _parses(text):
        return source
    return replace(source, text=text, commands=notebook.commands_in(source.text, text), original=source.text)


def _parses(text: str) -> bool:
    try:
        without_warnings(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
