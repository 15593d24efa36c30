"""Silence what a run found: a comment on the line of each finding (``--add-noqa``)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from kerascheck import registry
from kerascheck.finding import Finding
from kerascheck.rule import CommentsRule
from kerascheck.source.python import without_warnings
from kerascheck.source.requirements import kind_of
from kerascheck.source.suppress import suppression
from kerascheck.source.suppression import suppressions

if TYPE_CHECKING:
    from kerascheck.outcome import Outcome
    from kerascheck.source import Source


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


def commented(outcome: Outcome) -> Iterator[Commented]:
    """Every file that has findings, sorted by path."""
    for path, findings in groupby(outcome.findings, lambda finding: finding.location.path):
        yield _commented(outcome.sources[path], list(findings))


def _commented(source: Source, findings: list[Finding]) -> Commented:
    if refused := _refused(source):
        return Commented(source, source.text, [], [(finding, refused) for finding in findings])
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
    return Commented(source, changed.text, silenced[::-1], left[::-1])


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
