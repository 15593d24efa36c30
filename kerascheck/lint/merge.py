"""Merge the results of single files into the result of a run."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kerascheck.catalog import registry
from kerascheck.catalog.registry import RuleSpec
from kerascheck.catalog.rule import CommentsRule, Silence
from kerascheck.finding import UNREADABLE, Applicability, FileError, Finding, Fix, Location, Severity, SortKey
from kerascheck.lint.analyze_file import FileResult, fault_of, is_left_out, is_shown, placed
from kerascheck.project.config import Settings
from kerascheck.project.discovery import File
from kerascheck.project.suppression import Comments, Directive, Suppressions
from kerascheck.result import LintResult

_MOST_ENTRIES = 500
"""Most codes in a comment for which each is examined: the time is quadratic in their number."""


def merge(files: Sequence[File], results: Iterable[FileResult], *, are_all: bool = True) -> LintResult:
    """Merge results: each finding once, only in requested files, under the settings of its file.

    Args:
        files: the requested files.
        are_all: whether no further results follow. Otherwise rules about comments are not run, since a later check may
            find what a comment suppresses.
    """
    # Between findings of equal weight the first path wins, whichever check ended first.
    results = sorted(results, key=lambda result: result.path)
    about_comments = _check_comments(files, results) if are_all else {}
    outcome, requested = LintResult(files=len(files)), _RequestedFiles(files)
    best: dict[SortKey, Finding] = {}
    for result in results:
        outcome.errors += result.errors
        for code, seconds in result.seconds.items():
            outcome.seconds[code] = outcome.seconds.get(code, 0.0) + seconds
        for found in (*result.findings, *about_comments.get(result.path, ())):
            finding = requested.adapted(found)
            if finding is None:
                continue
            path = finding.location.path
            outcome.sources[path] = result.sources[found.location.path]
            if result.path != path:
                outcome.checked_from.setdefault(path, set()).add(result.path)
            known = best.get(finding.sort_key)
            best[finding.sort_key] = finding if known is None else _joined(known, finding)
        for error in result.errors:
            if error.location.path in result.sources:
                outcome.sources.setdefault(error.location.path, result.sources[error.location.path])
    # One check may report a finding that another check joined with others.
    covered = {key for finding in best.values() for key in finding.covers if key != finding.sort_key}
    for finding in sorted(
        (finding for key, finding in best.items() if key not in covered), key=lambda finding: finding.sort_key
    ):
        (outcome.findings if requested.shows(finding) else outcome.tallied).append(finding)
    outcome.errors.sort(key=lambda error: (error.sort_key, error.message))
    outcome.is_certain = all(result.follows_from is not None for result in results)
    return outcome


class _RequestedFiles:
    """The files on which a run reports."""

    def __init__(self, files: Sequence[File]):
        self._by_path = {file.path: file for file in files}
        self._real = functools.cache(lambda: {os.path.realpath(path): path for path in self._by_path})

    def adapted(self, finding: Finding) -> Finding | None:
        """Apply the settings of its file to a finding; None if they exclude it or the file is not requested."""
        path = finding.location.path
        if path not in self._by_path:
            # A file reached through an import may have another name.
            path = self._real().get(os.path.realpath(path), path)
            if path not in self._by_path:
                return None
            finding = replace(finding, location=replace(finding.location, path=path))
        settings = self._by_path[path].settings
        if not _wanted(finding, settings):
            return None
        fix = None if finding.fix is None else _as_configured(finding, finding.fix, settings)
        return finding if fix is finding.fix else replace(finding, fix=fix)

    def shows(self, finding: Finding) -> bool:
        """Whether the report has a finding of its own for this one; otherwise, one line for the run counts it."""
        settings = self._by_path[finding.location.path].settings
        return is_shown(finding, finding.code, settings)


def _as_configured(finding: Finding, fix: Fix, settings: Settings) -> Fix:
    """The fix of a finding with the applicability that the settings want; what is unproven stays so."""
    if finding.code in registry.fixed_on_request(settings.selections):
        return replace(fix, applicability=Applicability.ON_REQUEST)
    if registry.ignored_by(settings.extend_unsafe_fixes, finding.code, finding.name):
        if fix.applicability is not Applicability.SAFE:
            return fix
        return replace(fix, applicability=Applicability.UNSAFE, distrusted=True)
    if registry.ignored_by(settings.extend_safe_fixes, finding.code, finding.name):
        return replace(fix, applicability=Applicability.SAFE)
    return fix


def _wanted(finding: Finding, settings: Settings) -> bool:
    """Whether the settings of its file include a finding."""
    if (
        finding.severity < settings.min_severity
        or finding.tally is None
        and not is_shown(finding, finding.code, settings)
    ):
        return False
    if not any(spec.code == finding.code for spec in registry.enabled(settings.selections)):
        return False
    return not is_left_out(settings, finding.location.path, finding.code, finding.name)


def _joined(one: Finding, other: Finding) -> Finding:
    """Join two findings at one location: keep the weightier one, with a safe fix only if both checks prove it."""
    kept, left = (one, other) if _weight(one) >= _weight(other) else (other, one)
    if kept.fix is None or left.fix is None or not left.fix.unproven or kept.fix.unproven == left.fix.unproven:
        return kept
    unproven = tuple(dict.fromkeys((*kept.fix.unproven, *left.fix.unproven)))
    applicability = Applicability.UNSAFE if kept.fix.applicability is Applicability.SAFE else kept.fix.applicability
    return replace(kept, fix=replace(kept.fix, applicability=applicability, unproven=unproven))


def _weight(finding: Finding) -> tuple[int, Severity, bool, bool, str, str]:
    """The sort key that decides which of two findings at one location to keep, whichever check ended first."""
    return (
        len(finding.covers),
        finding.severity,
        not finding.pedantic,
        finding.fix is not None,
        finding.because or "",
        finding.message,
    )


# --- comments about comments --------------------------------------------------------------------------------


def _check_comments(files: Sequence[File], results: Sequence[FileResult]) -> dict[str, list[Finding]]:
    """The findings of rules about comments by file; every check that a comment may suppress must have ended."""
    silenced: dict[tuple[str, int], set[str]] = {}
    for result in results:
        for directive, code in result.silenced:
            silenced.setdefault((os.path.realpath(directive.path), directive.start), set()).add(code)
    settings = {file.path: file.settings for file in files}
    found: dict[str, list[Finding]] = {}
    for result in results:
        if result.directives and result.path in settings:
            directives = tuple(_short_directives(result))
            specs = registry.enabled(settings[result.path].selections)
            real = os.path.realpath(result.path)
            comments = Comments(
                result.sources[result.path],
                directives,
                {each: frozenset(silenced.get((real, each.start), ())) for each in directives},
                frozenset(spec.code for spec in specs),
                registry.rule_specs(),
            )
            if findings := list(_findings_about(comments, directives, specs, result)):
                found.setdefault(result.path, []).extend(findings)
    return found


def _short_directives(result: FileResult) -> Iterator[Directive]:
    """The directives of a file; each one with too many entries becomes an error instead."""
    source = result.sources[result.path]
    for each in result.directives:
        if len(each.entries) <= _MOST_ENTRIES:
            yield each
            continue
        message = f"this comment has {len(each.entries)} codes: which of them silence nothing is not looked for"
        result.errors.append(FileError(UNREADABLE, source.locate(each.start, each.end), message))


def _findings_about(
    comments: Comments, directives: Sequence[Directive], specs: Iterable[RuleSpec], result: FileResult
) -> Iterator[Finding]:
    """Run the rules about comments on one file."""
    written = Suppressions(each for each in directives if each.entries)
    for spec in specs:
        if spec.kind is not CommentsRule:
            continue
        try:
            for diagnosis in spec.rule_as(CommentsRule).check(comments):
                if isinstance(diagnosis, Silence):
                    continue
                finding, lines = placed(spec, diagnosis)
                # A comment without codes does not suppress findings about itself.
                if not written.silencing(spec.code, spec.name, lines):
                    yield finding
        except Exception as problem:  # noqa: BLE001 - a fault of one rule costs that rule, not the run
            result.errors.append(fault_of(spec, result.sources[result.path], problem))


# --- errors ---------------------------------------------------------------------------------------------------


def once_per_folder(errors: Iterable[FileError]) -> list[FileError]:
    """Replace the errors of all files of a folder that vanished during the run by one."""
    found: dict[FileError, None] = {}
    for error in errors:
        gone, folder = "", error.location.path
        while error.code == UNREADABLE and (folder := os.path.dirname(folder)) and not os.path.lexists(folder):
            gone = folder
        found[_vanished(gone) if gone else error] = None
    return list(found)


def _vanished(folder: str) -> FileError:
    return FileError(UNREADABLE, Location(folder, None, 1, 1, 1, 1), "vanished while it was linted")
