"""The process that lints the cells of a kernel, and writes its reports."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from kerascheck.cli.options import CheckOptions, check_options, written
from kerascheck.finding import Applicability, Finding
from kerascheck.notebook.client import Answer, Key, Repair, Report
from kerascheck.source import Source, dependencies
from kerascheck.source.notebook import codes_of

if TYPE_CHECKING:
    from kerascheck.finding import Evidence
    from kerascheck.lint.report_filter import ReportFilter
    from kerascheck.lint.session import Session
    from kerascheck.project.config import Configuration
    from kerascheck.project.discovery import File
    from kerascheck.result import LintResult

_WIDTH = 80
"""Columns of a report."""
_OPTIONS = frozenset(
    (
        *("select", "ignore", "extend_select", "extend_ignore", "rule_folders", "min_severity", "pedantic"),
        *("target_tensorflow", "this_machine", "baseline", "no_baseline", "config", "isolated", "sort", "verbose"),
        *("quiet", "unsafe_fixes", "ignore_noqa"),
    )
)
"""The options of ``check`` that the magic accepts."""


def serve() -> None:
    """Answer the requests on standard input until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # Other output must not mix with the answers.
    os.dup2(2, 1)
    # Import it now so that the first request need not wait.
    import kerascheck.meaning.module  # noqa: F401
    from kerascheck.lint.pipeline import load
    from kerascheck.project.config import Settings

    load({Settings()})
    linter = Linter()
    try:
        while True:
            pickle.dump(linter.answer(pickle.load(sys.stdin.buffer)), answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return


def _options(arguments: Sequence[str]) -> CheckOptions:
    """Parse the arguments of the magic with the parser of ``check``; raises UsageError."""
    context = click.Command("%kerascheck", params=_parameters(), add_help_option=False).make_context(
        "%kerascheck", list(arguments)
    )
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name not in _OPTIONS:
            raise click.UsageError(f"{written(name)} is an option of 'kerascheck check', not of %kerascheck")
    options = CheckOptions(**context.params)
    options.refuse_contradictions(())
    return options


def _parameters() -> list[click.Parameter]:
    @click.command()
    @check_options
    def command(**_: Any) -> None: ...

    return command.params


# --- linting ------------------------------------------------------------------------------------------------


@dataclass
class _Linted:
    """The result of linting the cells."""

    source: Source
    options: CheckOptions
    file: File
    report_filter: ReportFilter
    outcome: LintResult
    evidence: dict[Finding, Evidence]


class Linter:
    """Answers requests, and keeps the session while the files that its results depend on do not change."""

    def __init__(self) -> None:
        self._key: tuple[str, tuple[str, ...]] | None = None
        self._kept: tuple[Configuration, Session] | None = None
        self._tracker = dependencies.DependencyTracker()

    def answer(self, request: Report | Repair) -> Answer:
        """Answer a request; wrong options and configurations give one line."""
        from kerascheck.project.config import ConfigError

        try:
            if os.path.isdir(request.folder):
                os.chdir(request.folder)
            options = _options(request.arguments)
            linted = self._lint(request, options)
            return _report(linted, request.known) if isinstance(request, Report) else _repair(linted)
        except click.ClickException as problem:
            return Answer(f"kerascheck: {problem.format_message()}", is_refusal=True)
        except ConfigError as problem:
            return Answer(f"kerascheck: {problem}", is_refusal=True)
        except Exception as problem:  # noqa: BLE001 - a fault costs this answer, not the process
            what = f"failed with {type(problem).__name__}: {str(problem)[:200]}; please report it"
            return Answer(f"kerascheck: {what}", is_refusal=True)

    def _lint(self, request: Report | Repair, options: CheckOptions) -> _Linted:
        """Lint the cells; raises ConfigError and ClickException."""
        from kerascheck.cli.check import report_filter_of
        from kerascheck.cli.print_report import show_confirmed
        from kerascheck.project.discovery import File
        from kerascheck.runtime.recall import recall

        source, key = request.source, (request.folder, request.arguments)
        kept = self._kept if self._key == key and self._is_current(source.path) else None
        if kept is None:
            self._kept, self._tracker = None, dependencies.DependencyTracker()
        with dependencies.tracking(self._tracker):
            configuration, session = kept or _session(options)
            file = File(source.path, configuration.for_file(source.path))
            outcome = session.lint(source)
            report_filter = report_filter_of(("-",), options)
            report_filter.apply(outcome, [file])
        self._key, self._kept = key, (configuration, session)
        # IPython may run code that Python cannot parse, such as an unknown magic.
        outcome.errors = [error for error in outcome.errors if error.location.cell is None]
        evidence = dict(recall(outcome, {file.path: file.settings.target_tensorflow}))
        show_confirmed(outcome, evidence)
        return _Linted(source, options, file, report_filter, outcome, evidence)

    def _is_current(self, path: str) -> bool:
        """Whether the files other than the notebook at ``path`` are as they were."""
        from kerascheck.catalog import registry

        # Rules of a folder may depend on anything.
        if registry.used_folders():
            return False
        own = os.path.realpath(path)
        # The path of a query about the content of a file is its last line.
        others = [dep for dep in self._tracker.dependencies if dep and dep.path.rpartition("\n")[2] != own]
        return not dependencies.Recheck().outdated(others)


def _session(options: CheckOptions) -> tuple[Configuration, Session]:
    from kerascheck.cli.check import configuration_of, overrides_of
    from kerascheck.lint.session import Session

    configuration = configuration_of(overrides_of(options), options)
    # One process: forking more costs more than they gain for one file.
    return configuration, Session(configuration, keep=False, jobs=1)


# --- the report ---------------------------------------------------------------------------------------------


def _report(linted: _Linted, known: Collection[Key] | None) -> Answer:
    outcome = linted.outcome
    outcome.sources.setdefault(linted.source.path, linted.source)
    keys = [_key(finding, linted.source) for finding in outcome.findings]
    if known is None:
        return Answer("\n".join(_lines(linted, outcome.findings)), tuple(keys))
    seen, new = Counter(known), []
    for finding, key in zip(outcome.findings, keys):
        seen[key] -= 1
        if seen[key] < 0:
            new.append(finding)
    return Answer("\n".join(_blocks(linted, new)).rstrip("\n"), tuple(keys))


def _key(finding: Finding, source: Source) -> Key:
    location = finding.location
    if location.path != source.path:
        return finding.code, f"{location.path}:{location.line}"
    line = location.line + source.lines_above(location.cell)
    return finding.code, source.line_text(source.line_starts[line - 1]).strip()


def _lines(linted: _Linted, findings: list[Finding]) -> Iterator[str]:
    from kerascheck.report import overview
    from kerascheck.report.text import wrapped

    yield from _blocks(linted, findings)
    if linted.options.quiet:
        return
    for line in (*overview.tallied(linted.outcome.tallied), *_closing(linted.source, findings)):
        yield from wrapped(line, _WIDTH)


def _blocks(linted: _Linted, findings: list[Finding]) -> Iterator[str]:
    from kerascheck.catalog import registry
    from kerascheck.cli.print_report import select_hints
    from kerascheck.report import no_fix, overview, text

    outcome = linted.outcome
    hints = select_hints(findings, linted.evidence, linted.options)
    shown = [finding for finding in findings if finding not in set(hints)]
    yield from text.render(
        shown,
        outcome.errors,
        outcome.sources,
        _plain,
        linted.evidence,
        _WIDTH,
        no_fix=no_fix.reasons(shown) if linted.options.verbose else {},
        errors_first=linted.options.sort == "severity",
        applied_by=lambda finding: _command(finding, linted.source),
    )
    specs = registry.rule_specs()
    yield from overview.hints(
        hints,
        {spec.code: spec.summary for spec in specs},
        _plain,
        _WIDTH,
        last={spec.code for spec in specs if not spec.speed},
    )


def _plain(text: str, **_: Any) -> str:
    return text


def _command(finding: Finding, source: Source) -> str | None:
    """The command that applies the fix of a finding; None if it applies to no single cell."""
    from kerascheck.report.text import NO_BREAK

    if finding.fix is None or finding.fix.withheld:
        return None
    if _cell_of(finding, source) is None:
        return "in the file: it changes several cells"
    unsafe = " --unsafe-fixes" * (finding.fix.applicability is Applicability.UNSAFE)
    return f"%kerascheck fix {finding.code}{unsafe}".replace(" ", NO_BREAK)


def _closing(source: Source, findings: Sequence[Finding]) -> Iterator[str]:
    """The lines about all findings, and how to take their fixes."""
    from kerascheck.report.common import count

    cells = count(len(source.cells or ()), "cell")
    if not findings:
        yield f"No problems found in {cells}."
        return
    fixable = [each for each in findings if each.fix and not each.fix.withheld and _cell_of(each, source) is not None]
    safe = sum(finding.fix is not None and finding.fix.applicability is Applicability.SAFE for finding in fixable)
    yield f"Found {count(len(findings), 'problem')} in {cells}; {safe} with a safe fix."
    if safe:
        yield "'%kerascheck fix' writes the first fixed cell below; run it, then repeat."


# --- fixes --------------------------------------------------------------------------------------------------


def _repair(linted: _Linted) -> Answer:
    """The new code of the first cell that a fix changes."""
    source, options = linted.source, linted.options
    cells = dict.fromkeys(_cell_of(finding, source) for finding in _fixable(linted.outcome.findings, linted))
    before = codes_of(source)
    for cell in sorted(cell for cell in cells if cell is not None):
        after = codes_of(_fixed(linted, cell))
        if after.get(cell, before[cell]) != before[cell]:
            return Answer(f"The next cell replaces cell {cell + 1}.", cell=cell, code=after[cell])
    unsafe = () if options.unsafe_fixes else _fixable(linted.outcome.findings, linted, unsafe=True)
    if any(_cell_of(finding, source) is not None for finding in unsafe):
        return Answer("No safe fix; '%kerascheck fix --unsafe-fixes' takes those that may change results.")
    return Answer("No fix for the cells that have run.")


def _fixed(linted: _Linted, cell: int) -> Source:
    """The notebook with the fixes of one cell."""
    from kerascheck.lint import fixing

    def of_the_cell(changed: Source, findings: Sequence[Finding]) -> list[Finding]:
        kept = linted.report_filter.of_text(changed, findings)
        return [finding for finding in kept if _cell_of(finding, changed) == cell]

    unsafe = linted.options.unsafe_fixes
    return fixing.fix(linted.source, linted.file, linted.outcome, unsafe=unsafe, keep_reported=of_the_cell).source


def _fixable(findings: Iterable[Finding], linted: _Linted, *, unsafe: bool = False) -> list[Finding]:
    """The findings with a fix that the options allow, or that ``--unsafe-fixes`` would allow."""
    from kerascheck.report.common import option

    allowed = ("--fix", "--fix --unsafe-fixes") if unsafe or linted.options.unsafe_fixes else ("--fix",)
    return [finding for finding in findings if option(finding) in allowed]


def _cell_of(finding: Finding, source: Source) -> int | None:
    """The index of the only cell that the fix of a finding changes."""
    if finding.fix is None or not finding.fix.edits or finding.location.path != source.path:
        return None
    own = source.cell(finding.location.cell)
    if own is None or any(edit.start < own.start or edit.end > own.end for edit in finding.fix.edits):
        return None
    return own.index
