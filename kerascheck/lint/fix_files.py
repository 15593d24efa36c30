"""Apply the fixes of a run to its files, one file at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kerascheck.finding import UNREADABLE, FileError, Location
from kerascheck.fixes.apply import Fixed
from kerascheck.lint import fixing
from kerascheck.lint.analyze_file import without_collector
from kerascheck.lint.report_filter import ReportFilter
from kerascheck.project.discovery import File
from kerascheck.result import LintResult
from kerascheck.source import Source, Unreadable
from kerascheck.source.notebook import codes_of, extract
from kerascheck.source.notebook_file import NotRewritable, rewritten
from kerascheck.source.reading import cannot_be_read, read_bytes


@dataclass(frozen=True, slots=True)
class Repair:
    """One file with its fixes applied; nothing is written yet.

    Attributes:
        source: the file as it was linted.
        fixed: the applied fixes and the remaining findings.
        before, after: the bytes of the file.
        cells: the code of changed notebook cells before and after, by cell number; empty for other files.
    """

    source: Source
    fixed: Fixed[Source]
    before: bytes
    after: bytes
    cells: Mapping[int, tuple[str, str]]

    def take(self, outcome: LintResult) -> None:
        """Replace the findings of the file in ``outcome`` by the remaining ones."""
        path = self.source.path
        outcome.sources[path] = self.fixed.source
        outcome.findings = [finding for finding in outcome.findings if finding.location.path != path]
        outcome.findings += self.fixed.remaining
        outcome.findings.sort(key=lambda finding: finding.sort_key)
        _drop(self.fixed, outcome)


def _drop(fixed: Fixed[Source], outcome: LintResult) -> None:
    """Remove the skipped fixes from the findings: they would be skipped again."""
    skipped = {finding.sort_key for finding in fixed.skipped}
    outcome.findings = [replace(each, fix=None) if each.sort_key in skipped else each for each in outcome.findings]


def repairs(
    files: Sequence[File],
    outcome: LintResult,
    *,
    unsafe: bool,
    report_filter: ReportFilter,
    given: bytes | None = None,
) -> Iterator[Repair]:
    """Yield the repair of each file that fixes change, sorted by path.

    Each repair is computed on demand, so it sees files that the caller has written meanwhile.
    Adds errors for files that cannot be repaired to ``outcome``, and skipped fixes to its ``skipped``.

    Args:
        outcome: the result of linting ``files``.
        unsafe: whether to apply fixes that may change results.
        report_filter: the filter that was applied to ``outcome``.
        given: the bytes of the only file, if they are not on disk.
    """
    by_path = {file.path: file for file in files}
    for path in sorted({finding.location.path for finding in outcome.findings if finding.fix is not None}):
        source = outcome.sources[path]
        if source.piped:
            continue
        fixed = fixing.fix(source, by_path[path], outcome, unsafe=unsafe, keep_reported=report_filter.of_text)
        outcome.skipped |= fixed.skipped
        if fixed.text == source.text:
            _drop(fixed, outcome)
            continue
        try:
            yield repair_of(source, fixed, given)
        except (NotRewritable, Unreadable, OSError) as problem:
            what = cannot_be_read(problem).message if isinstance(problem, OSError) else str(problem)
            outcome.errors.append(FileError(UNREADABLE, Location(path, None, 1, 1, 1, 1), what))


def repair_of(source: Source, fixed: Fixed[Source], given: bytes | None = None) -> Repair:
    """The file with its fixes applied; ``given``: the bytes of a notebook that is not on disk.

    Raises:
        NotRewritable, Unreadable, OSError: a notebook cannot be read or rewritten.
    """
    if source.cells is None:
        return Repair(source, fixed, source.encode(), fixed.source.encode(), {})
    return _of_notebook(source, fixed, read_bytes(source.path) if given is None else given)


@without_collector()
def _of_notebook(source: Source, fixed: Fixed[Source], before: bytes) -> Repair:
    """Raises NotRewritable, :class:`Unreadable`, and OSError."""
    old, new = codes_of(source), codes_of(fixed.source)
    if codes_of(extract(source.path, before)) != old:
        raise NotRewritable("changed while it was linted: run it again")
    changed = {index: (old[index], code) for index, code in new.items() if code != old[index]}
    after = rewritten(before, {index: code for index, (_, code) in changed.items()})
    return Repair(source, fixed, before, after, {index + 1: codes for index, codes in changed.items()})
