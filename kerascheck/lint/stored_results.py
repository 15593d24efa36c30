"""The results of single files in the memo of a run."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from kerascheck.cache.memo import Memo
from kerascheck.cache.written import Damaged, write
from kerascheck.cache.written import read as read_back
from kerascheck.finding import FileError, Finding
from kerascheck.lint.analyze_file import FileResult
from kerascheck.lint.triage import Candidate
from kerascheck.project.discovery import File
from kerascheck.project.suppression import Directive
from kerascheck.source import Unreadable, dependencies, read

_Stored = tuple[list[Finding], list[FileError], tuple[Directive, ...], list[tuple[Directive, str]], list[str]]
"""Findings, errors, directives, the codes that they suppressed, and the paths of sources."""


def key_of(file: File, noqa: bool) -> str:
    """The key of a result in the memo."""
    return f"check {file.path} {noqa} {dependencies.digest(repr(file.settings).encode('utf-8', 'surrogateescape'))}"


def to_json(result: FileResult) -> Any:
    """The result in a form that the memo can store."""
    silenced = sorted(result.silenced, key=lambda each: (each[0].path, each[0].start, each[1]))
    return write((result.findings, result.errors, result.directives, silenced, tuple(result.sources)))


def recall(candidates: Sequence[Candidate], noqa: bool, memo: Memo | None) -> tuple[list[FileResult], list[Candidate]]:
    """Take results from the memo; returns them and the files without a valid result."""
    if memo is None:
        return [], list(candidates)
    found, others = [], []
    read_once = functools.cache(read)
    for file, size in candidates:
        known = memo.recall(key_of(file, noqa)) if file.content is None else None
        try:
            if known is None:
                raise Damaged
            findings, errors, directives, silenced, paths = read_back(_Stored, known)
            sources = {path: read_once(path) for path in paths}
        except (Damaged, Unreadable):
            others.append((file, size))
            continue
        found.append(FileResult(file.path, findings, errors, sources, {}, directives, set(silenced), ()))
    return found, others
