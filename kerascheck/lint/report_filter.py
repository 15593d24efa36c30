"""Selects the findings of a run to report: not in a baseline, and on changed lines."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kerascheck.finding import UNREADABLE, FileError, Location
from kerascheck.project.config import ConfigError
from kerascheck.result import LeftOut, LintResult
from kerascheck.source.escape import escaped
from kerascheck.source.reading import display_path

if TYPE_CHECKING:
    from kerascheck.finding import Finding
    from kerascheck.lint.baseline import Baseline
    from kerascheck.lint.git_diff import ChangedLines
    from kerascheck.project.discovery import File
    from kerascheck.source import Source


class ReportFilter:
    """Removes findings that are not reported, from a result and from texts that fixes changed.

    Args:
        baseline: the baseline that the user names for all files. An unusable one raises :class:`ConfigError`.
        configured: whether baselines named in configuration files apply if the user names none.
        changed_lines: the changed lines; None: all lines count.
        tops: see :meth:`Baseline.gone`.

    Attributes:
        baselines: the paths of the baselines, unreadable ones too.
    """

    def __init__(
        self,
        baseline: str | None = None,
        *,
        configured: bool = True,
        changed_lines: ChangedLines | None = None,
        tops: Sequence[str] = (),
    ):
        self._baseline, self._configured, self._changed_lines, self._tops = baseline, configured, changed_lines, tops
        self._read: dict[str, Baseline] = {}
        self.baselines: set[str] = set()
        self._hidden: Counter[tuple[str, str, str]] = Counter()
        if baseline is not None:
            self._baseline_at(baseline)

    def read(self, file: File) -> None:
        """Read the baseline of a file before linting; raises :class:`ConfigError` if it is unusable."""
        if (path := self._baseline_for(file)) is not None:
            self._baseline_at(path)

    def apply(self, outcome: LintResult, files: Sequence[File]) -> None:
        """Remove the findings that are not reported from the result of linting ``files``.

        If the baseline of only some files is unusable, the result gets an error and none of their findings is reported:
        known findings cannot be distinguished from new ones.

        Raises:
            ConfigError: the baseline of all files is unusable.
        """
        gone = self._hide_known(outcome, files)
        remaining = self._wanted(outcome.findings, outcome.sources)
        on_changed = (
            remaining if self._changed_lines is None else self._changed_lines.touched(remaining, outcome.sources)
        )
        outcome.left_out = LeftOut(
            in_baseline=len(outcome.findings) - len(remaining),
            gone=gone,
            baselines=tuple(dict.fromkeys(map(os.path.basename, self._read))),
            unchanged=len(remaining) - len(on_changed),
            since=None if self._changed_lines is None else self._changed_lines.revision,
        )
        outcome.findings = on_changed
        if self._changed_lines is not None:
            outcome.tallied = self._changed_lines.touched(outcome.tallied, outcome.sources)

    def of_text(self, source: Source, findings: Sequence[Finding]) -> list[Finding]:
        """Select the findings to report in a text that fixes changed."""
        sources = {source.path: source}
        remaining = self._wanted(findings, sources)
        return remaining if self._changed_lines is None else self._changed_lines.touched(remaining, sources)

    def _baseline_for(self, file: File) -> str | None:
        return self._baseline or (file.settings.baseline if self._configured else None)

    def _baseline_at(self, path: str) -> Baseline:
        self.baselines.add(path)
        if path not in self._read:
            from kerascheck.lint.baseline import Baseline

            self._read[path] = Baseline(path)
        return self._read[path]

    def _hide_known(self, outcome: LintResult, files: Sequence[File]) -> int:
        """Note the findings that baselines hide; returns the number of entries whose finding is gone."""
        named: dict[str, list[File]] = {} if self._baseline is None else {self._baseline: []}
        for file in files:
            if (path := self._baseline_for(file)) is not None:
                named.setdefault(path, []).append(file)
        failed = {error.location.path for error in outcome.errors}
        gone = 0
        for path, theirs in named.items():
            paths = {file.path for file in theirs}
            try:
                baseline = self._baseline_at(path)
            except ConfigError as problem:
                if len(theirs) == len(files):
                    raise
                _leave_out(outcome, paths, path, problem)
                continue
            findings = [finding for finding in outcome.findings if finding.location.path in paths]
            self._hidden.update(
                _identity(each, outcome.sources) for each in baseline.hide(findings, outcome.sources, paths - failed)
            )
            gone += baseline.gone({file.path: file.settings for file in theirs if file.path not in failed}, self._tops)
        return gone

    def _wanted(self, findings: Iterable[Finding], sources: Mapping[str, Source]) -> list[Finding]:
        """Select the findings that no baseline hides."""
        if not self._hidden:
            return list(findings)
        left = self._hidden.copy()
        wanted = []
        for finding in findings:
            identity = _identity(finding, sources)
            if left[identity]:
                left[identity] -= 1
            else:
                wanted.append(finding)
        return wanted


def _leave_out(outcome: LintResult, paths: set[str], baseline: str, problem: ConfigError) -> None:
    """Replace the findings of the files at ``paths`` by an error about their baseline."""
    shown = display_path(baseline)
    reason = f"{str(problem).removeprefix(f'{escaped(shown)}: ')} (its files are not reported)"
    outcome.findings = [finding for finding in outcome.findings if finding.location.path not in paths]
    outcome.tallied = [finding for finding in outcome.tallied if finding.location.path not in paths]
    outcome.withheld |= paths
    outcome.files -= len(paths)
    outcome.errors.append(FileError(UNREADABLE, Location(shown, None, 1, 1, 1, 1), reason))


def _identity(finding: Finding, sources: Mapping[str, Source]) -> tuple[str, str, str]:
    from kerascheck.lint.baseline import fingerprint

    path = finding.location.path
    return path, finding.code, fingerprint(finding, sources.get(path))
