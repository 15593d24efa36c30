"""What the fixes of a run make of its files, one file after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kerascheck import engine
from kerascheck.fix import Fixed
from kerascheck.outcome import Outcome
from kerascheck.source import Source
from kerascheck.source.discovery import File


@dataclass(frozen=True, slots=True)
class Repair:
    """One file with its fixes applied; nothing is written yet.

    Attributes:
        source: the file as it was linted.
        fixed: what was applied, and what is left.
        before, after: the bytes of the file.
    """

    source: Source
    fixed: Fixed
    before: bytes
    after: bytes

    def take(self, outcome: Outcome) -> None:
        """Put what is left in the place of what the run found in the file."""
        path = self.source.path
        outcome.sources[path] = self.source.with_text(self.fixed.text)
        outcome.findings = [finding for finding in outcome.findings if finding.location.path != path]
        # A fix that was refused would be refused again: it is not offered.
        outcome.findings += (
            replace(each, fix=None) if each in self.fixed.skipped else each for each in self.fixed.remaining
        )
        outcome.findings.sort(key=lambda finding: finding.sort_key)


def repairs(files: Sequence[File], outcome: Outcome, *, unsafe: bool) -> Iterator[Repair]:
    """The repairs of all scripts that fixes change, sorted by path.

    Each is made when it is asked for: a file that was written in between counts as it is then for those that import it.

    Args:
        outcome: what linting ``files`` gave.
        unsafe: whether fixes count that may change results.
    """
    by_path = {file.path: file for file in files}
    for path in sorted({finding.location.path for finding in outcome.findings if finding.fix is not None}):
        source = outcome.sources[path]
        if not source.is_rewritable:
            continue
        fixed = engine.fix(source, by_path[path], outcome, unsafe=unsafe)
        if fixed.text != source.text:
            yield Repair(source, fixed, source.encode(), source.with_text(fixed.text).encode())
