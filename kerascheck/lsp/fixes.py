"""Safe fixes of a buffer, converted to edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os.path import commonprefix
from typing import TYPE_CHECKING

from kerascheck.finding import Applicability, Edit, Finding
from kerascheck.source import Source
from kerascheck.source.notebook import codes_of

if TYPE_CHECKING:
    from kerascheck.lint.report_filter import ReportFilter
    from kerascheck.project.discovery import File
    from kerascheck.result import LintResult


def is_safe(finding: Finding) -> bool:
    """Whether the fix of a finding is offered and safe."""
    return is_offered(finding) and finding.fix is not None and finding.fix.applicability is Applicability.SAFE


def is_offered(finding: Finding) -> bool:
    """Whether a finding has a fix to offer."""
    return finding.fix is not None and bool(finding.fix.edits) and not finding.fix.withheld


def safe_edits(
    source: Source, file: File, outcome: LintResult, unsaved: Sequence[Source], report_filter: ReportFilter
) -> tuple[Edit, ...]:
    """The edits that apply the safe fixes of ``source`` as ``--fix`` does: until nothing changes and every cell parses.

    Args:
        outcome: the result of linting it, after ``report_filter``.
        unsaved: sources that replace files on disk.
    """
    from kerascheck.lint import fixing

    if not any(map(is_safe, outcome.findings)):
        return ()
    fixed = fixing.fix(source, file, outcome, unsafe=False, unsaved=unsaved, keep_reported=report_filter.of_text).source
    if source.cells is None:
        return tuple(_between(source.written, fixed.written))
    before, after = codes_of(source), codes_of(fixed)
    return tuple(
        edit for cell in source.cells for edit in _between(before[cell.index], after[cell.index], offset=cell.start)
    )


def _between(before: str, after: str, offset: int = 0) -> Iterator[Edit]:
    """Yield the shortest single edit that turns a text into another; nothing if they are equal.

    Args:
        offset: the start of the text in its source.
    """
    if before == after:
        return
    if before.endswith("\n") and after.endswith("\n"):
        # An insertion after the last newline would belong to the next cell.
        before, after = before[:-1], after[:-1]
    start = len(commonprefix((before, after)))
    tail = len(commonprefix((before[start:][::-1], after[start:][::-1])))
    yield Edit(offset + start, offset + len(before) - tail, after[start : len(after) - tail])
