"""Suppress the findings of a run with a comment on each of their lines (``--add-noqa``)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from kerascheck.catalog import registry
from kerascheck.catalog.rule import CommentsRule
from kerascheck.finding import Edit, Finding
from kerascheck.lint import fixing
from kerascheck.project.requirements import kind_of
from kerascheck.project.suppress import Suppressor
from kerascheck.source.python import without_warnings

if TYPE_CHECKING:
    from kerascheck.lint.report_filter import ReportFilter
    from kerascheck.project.discovery import File
    from kerascheck.result import LintResult
    from kerascheck.source import Source

_ROUNDS = 10
"""Most rounds per file; suppressing findings may uncover others."""
_NO_COMMENT = "no comment can stand on its lines"


@dataclass(frozen=True)
class Commented:
    """One file with comments that silence its findings; nothing is written yet.

    Attributes:
        text: the text with the comments; equal to that of ``source`` if none were added.
        silenced: the findings that the comments suppress.
        left: the other findings of the file, each with the reason.
    """

    source: Source
    text: str
    silenced: list[Finding]
    left: list[tuple[Finding, str]]


def commented(outcome: LintResult, files: Sequence[File], report_filter: ReportFilter) -> Iterator[Commented]:
    """Yield every file that has findings with comments added, sorted by path.

    Args:
        outcome: the result of linting ``files``, after ``report_filter``.
    """
    by_path = {file.path: file for file in files}
    for path, findings in groupby(outcome.findings, lambda finding: finding.location.path):
        file = by_path[path]

        def find(changed: Source, file: File = file) -> list[Finding]:
            return report_filter.of_text(changed, fixing.of_changed(changed, file, outcome))

        yield _commented(outcome.sources[path], list(findings), find)


def _commented(source: Source, findings: list[Finding], find: Callable[[Source], list[Finding]]) -> Commented:
    if refused := _refused(source):
        return Commented(source, source.text, [], [(finding, refused) for finding in findings])
    changed, silenced, left = _round(source, findings)
    done = list(silenced)
    for _ in range(_ROUNDS):
        if not silenced:
            break
        # A finding that joined several others hid them until now.
        changed, silenced, left = _round(changed, find(changed))
        done += silenced
    return Commented(source, changed.text, done, left)


def _round(source: Source, findings: list[Finding]) -> tuple[Source, list[Finding], list[tuple[Finding, str]]]:
    """Add comments for ``findings``; returns the new source, the suppressed findings, and the rest with reasons."""
    order = {id(finding): place for place, finding in enumerate(findings)}
    changed, silenced, left = source, [], []
    # From the end: a comment above a line of requirements moves the lines below it.
    waiting = findings[::-1]
    while waiting:
        apart, waiting = _apart(changed, waiting)
        changed, done, refused = _with_comments(changed, apart)
        silenced += done
        left += refused
    silenced.sort(key=lambda finding: order[id(finding)])
    left.sort(key=lambda pair: order[id(pair[0])])
    return changed, silenced, left


def _apart(source: Source, findings: list[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Split findings into some whose comments share no line, and the rest."""
    if kind_of(source.path) is not None:
        return findings[:1], findings[1:]
    taken: set[int] = set()
    apart: list[Finding] = []
    later: list[Finding] = []
    for finding in findings:
        lines = {finding.location.line, *finding.statement_lines}
        (apart if taken.isdisjoint(lines) else later).append(finding)
        taken |= lines
    return apart, later


def _with_comments(source: Source, findings: list[Finding]) -> tuple[Source, list[Finding], list[tuple[Finding, str]]]:
    """Add comments for findings that share no line; bisect to find a comment that breaks the code."""
    suppressor = Suppressor(source)
    silenced: list[Finding] = []
    left: list[tuple[Finding, str]] = []
    edits: list[tuple[Edit, Finding]] = []
    for finding in findings:
        if registry.find(finding.code).kind is CommentsRule:
            left.append((finding, "it is about a comment; correct that"))
        elif suppressor.is_silenced(finding):
            silenced.append(finding)
        elif (edit := suppressor.suppression(finding)) is None:
            left.append((finding, _NO_COMMENT))
        else:
            edits.append((edit, finding))
    commented = [finding for _, finding in edits]
    text = _edited(source.text, [edit for edit, _ in edits])
    if _means_the_same(source, text) and source.with_text(text).survives():
        return source.with_text(text) if edits else source, silenced + commented, left
    if len(commented) == 1:
        return source, silenced, [*left, (commented[0], _NO_COMMENT)]
    for half in (commented[: len(commented) // 2], commented[len(commented) // 2 :]):
        source, done, refused = _with_comments(source, half)
        silenced += done
        left += refused
    return source, silenced, left


def _edited(text: str, edits: Sequence[Edit]) -> str:
    pieces: list[str] = []
    start = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        pieces += (text[start : edit.start], edit.content)
        start = edit.end
    return "".join((*pieces, text[start:]))


def _refused(source: Source) -> str | None:
    if source.cells is not None:
        return "comments are not written into notebooks"
    if source.commands:
        return "it has IPython commands, so comments are not written into it"
    if source.is_lossy:
        return f"the encoding {source.encoding} would change the rest of the file"
    return "it is not a regular file" if source.piped else None


def _means_the_same(source: Source, text: str) -> bool:
    """Whether ``text`` has the same syntax tree; True if this Python cannot parse the source."""
    if kind_of(source.path) is not None or text == source.text:
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
