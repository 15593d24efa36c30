"""Silence what a run found: a comment on the line of each finding (``--add-noqa``)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from kerascheck import engine, registry
from kerascheck.finding import Finding
from kerascheck.rule import CommentsRule
from kerascheck.source.python import without_warnings
from kerascheck.source.requirements import kind_of
from kerascheck.source.suppress import suppression
from kerascheck.source.suppression import suppressions

if TYPE_CHECKING:
    from kerascheck.narrow import Narrowing
    from kerascheck.outcome import Outcome
    from kerascheck.source import Source
    from kerascheck.source.discovery import File

_ROUNDS = 10
"""How often comments uncover other findings, at most."""


@dataclass(frozen=True)
class Commented:
    """One file with comments that silence its findings; nothing is written yet.

    Attributes:
        text: the text with the comments; equal to that of ``source`` where there are none to add.
        silenced: the findings that they silence.
        left: the other findings of the file, with the reason.
    """

    source: Source
    text: str
    silenced: list[Finding]
    left: list[tuple[Finding, str]]


def commented(outcome: Outcome, files: Sequence[File], narrowing: Narrowing) -> Iterator[Commented]:
    """Every file that has findings, sorted by path.

    Args:
        outcome: the result of linting ``files``, as ``narrowing`` left it.
    """
    by_path = {file.path: file for file in files}
    for path, findings in groupby(outcome.findings, lambda finding: finding.location.path):
        file = by_path[path]

        def find(changed: Source, file: File = file) -> list[Finding]:
            return narrowing.of_text(changed, engine.of_changed(changed, file, outcome))

        yield _commented(outcome.sources[path], list(findings), find)


def _commented(source: Source, findings: list[Finding], find: Callable[[Source], list[Finding]]) -> Commented:
    if refused := _refused(source):
        return Commented(source, source.text, [], [(finding, refused) for finding in findings])
    changed, silenced, left = _round(source, findings)
    done = list(silenced)
    for _ in range(_ROUNDS):
        if not silenced:
            break
        # A finding that joined several hid the others.
        changed, silenced, left = _round(changed, find(changed))
        done += silenced
    return Commented(source, changed.text, done, left)


def _round(source: Source, findings: list[Finding]) -> tuple[Source, list[Finding], list[tuple[Finding, str]]]:
    """The source with comments for some findings, those that they silence, and the others with the reasons."""
    changed, silenced, left = source, [], []
    # From the end: a comment above a line of requirements moves the lines below it.
    for finding in reversed(findings):
        if registry.find(finding.code).kind is CommentsRule:
            left.append((finding, "it is about a comment; correct that"))
            continue
        if _is_silenced(changed, finding):
            silenced.append(finding)
            continue
        edit = suppression(changed, finding)
        text = "" if edit is None else changed.text[: edit.start] + edit.content + changed.text[edit.end :]
        if edit is None or not _means_the_same(changed, text) or not changed.with_text(text).survives():
            left.append((finding, "no comment can stand on its lines"))
            continue
        changed = changed.with_text(text)
        silenced.append(finding)
    return changed, silenced[::-1], left[::-1]


def _refused(source: Source) -> str | None:
    if source.cells is not None:
        return "comments are not written into notebooks"
    if source.commands:
        return "it has IPython commands, so comments are not written into it"
    if source.is_lossy:
        return f"the encoding {source.encoding} would change the rest of the file"
    return "it is not a regular file" if source.piped else None


def _is_silenced(source: Source, finding: Finding) -> bool:
    """Whether the comment for another finding of the rule serves for this one, too."""
    lines = {finding.location.line, *finding.statement_lines}
    return bool(suppressions(source).silencing(finding.code, finding.name, lines))


def _means_the_same(source: Source, text: str) -> bool:
    """Whether Python reads the same program from ``text``; a file that this Python does not read is not judged."""
    if kind_of(source.path) is not None:
        return True
    try:
        before = _dump(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    try:
        return _dump(text) == before
    except SyntaxError:
        return False


def _dump(text: str) -> str:
    return ast.dump(without_warnings(text))
