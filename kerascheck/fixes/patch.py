"""File changes as one patch for ``git apply`` and ``patch -p1``."""

from __future__ import annotations

import difflib
import io
import os
import re
from collections.abc import Mapping

_ESCAPES = {b"\t": b"\\t", b"\n": b"\\n", b"\r": b"\\r", b'"': b'\\"', b"\\": b"\\\\"}


def patch(
    changes: Mapping[str, tuple[bytes, bytes]], cells: Mapping[str, Mapping[int, tuple[str, str]]] | None = None
) -> tuple[str, bytes]:
    """Return one patch of several files.

    Args:
        changes: content before and after, by path. Links are resolved, so each target is patched once.
        cells: code of notebook cells before and after, by path and cell number. These parts are for reading:
            ``git apply`` excludes them with ``--exclude='*.ipynb:cell *'``.

    Returns:
        The absolute path of the folder to apply the patch in, and the patch. The folder is the root of the repository that
        holds all files: paths after ``diff --git`` are relative to it, wherever in it ``git apply`` runs. Without a repository it is the
        working directory, or, if some files lie outside of it, the folder that holds all files.
    """
    parts = {(os.path.realpath(path), 0): contents for path, contents in changes.items()}
    for path, codes in (cells or {}).items():
        parts.update({(os.path.realpath(path), cell): _encoded(*code) for cell, code in codes.items()})
    if not parts:
        return os.getcwd(), b""
    base = _base([path for path, _ in parts])
    return base, b"".join(
        _changed(os.path.relpath(path, base) + f":cell {cell}" * bool(cell), *contents)
        for (path, cell), contents in sorted(parts.items())
    )


def _encoded(before: str, after: str) -> tuple[bytes, bytes]:
    """Encode the code of a cell; its last line needs no newline."""
    end = "" if before.endswith("\n") or after.endswith("\n") else "\n"
    return (before + end).encode("utf-8", "replace"), (after + end).encode("utf-8", "replace")


def _base(paths: list[str]) -> str:
    common = folder = os.path.commonpath([os.path.dirname(path) for path in paths])
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            here = os.path.realpath(os.getcwd())
            return here if os.path.commonpath([common, here]) == here else common
        folder = parent
    return folder


def _changed(path: str, before: bytes, after: bytes) -> bytes:
    written = os.fsencode(path.replace(os.sep, "/"))
    old, new = _quoted(b"a/" + written), _quoted(b"b/" + written)
    # Without the tab, "patch" ends a name at its first space.
    end = b"\t" if b" " in written else b""
    lines = difflib.diff_bytes(difflib.unified_diff, _lines(before), _lines(after), old + end, new + end)
    return b"diff --git %s %s\n" % (old, new) + b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines
    )


def _lines(content: bytes) -> list[bytes]:
    # To git only this byte ends a line.
    return io.BytesIO(content).readlines()


def _quoted(name: bytes) -> bytes:
    """Quote a name as git does if it could be misread."""
    quoted = re.sub(rb'[\x00-\x1f\x7f"\\]', lambda match: _ESCAPES.get(match[0]) or b"\\%03o" % match[0][0], name)
    return name if quoted == name else b'"' + quoted + b'"'
