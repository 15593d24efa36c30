"""What all safe fixes of a buffer make of it, as edits."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import commonprefix
from typing import TYPE_CHECKING

from kerascheck.finding import Applicability, Edit, Finding
from kerascheck.fix import compose
from kerascheck.source import Source

if TYPE_CHECKING:
    from kerascheck.narrow import Narrowing
    from kerascheck.outcome import Outcome
    from kerascheck.source.discovery import File


def is_safe(finding: Finding) -> bool:
    """Whether all safe fixes include the one of a finding."""
    return is_offered(finding) and finding.fix is not None and finding.fix.applicability is Applicability.SAFE


def is_offered(finding: Finding) -> bool:
    """Whether the fix of a finding can be made."""
    return finding.fix is not None and bool(finding.fix.edits) and not finding.fix.withheld


def safe_edits(
    source: Source, file: File, outcome: Outcome, unsaved: Sequence[Source], narrowing: Narrowing
) -> tuple[Edit, ...]:
    """The edits of ``source`` that apply its safe fixes: until nothing changes in a script, those that fit together in a notebook.

    Args:
        outcome: what linting it gave, and ``narrowing`` left.
        unsaved: sources to use instead of what is on disk.
    """
    from kerascheck import engine

    if source.cells is not None:
        _, applied = compose(source.text, [each.fix for each in outcome.findings if each.fix and is_safe(each)])
        return tuple(sorted({edit for fix in applied for edit in fix.edits}))
    if not any(map(is_safe, outcome.findings)):
        return ()
    fixed = engine.fix(source, file, outcome, unsafe=False, unsaved=unsaved, narrowed=narrowing.of_text)
    return _between(source.text, fixed.text)


def _between(before: str, after: str) -> tuple[Edit, ...]:
    """One edit that turns a text into another, as short as it can be."""
    if before == after:
        return ()
    start = len(commonprefix((before, after)))
    tail = len(commonprefix((before[start:][::-1], after[start:][::-1])))
    return (Edit(start, len(before) - tail, after[start : len(after) - tail]),)
