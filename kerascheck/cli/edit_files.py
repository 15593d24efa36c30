"""The modes of ``check`` that write files: ``--fix``, ``--diff``, ``--add-noqa`` and ``--write-baseline``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from kerascheck.cli import terminal
from kerascheck.cli.options import CheckOptions, given_arguments
from kerascheck.cli.print_report import failing
from kerascheck.report import common, concise

if TYPE_CHECKING:
    from kerascheck.finding import FileError
    from kerascheck.lint.fix_files import Repair
    from kerascheck.lint.report_filter import ReportFilter
    from kerascheck.project.discovery import File
    from kerascheck.result import LintResult


def refuse_to_overwrite(linted: Iterable[str], options: CheckOptions) -> None:
    """Raise UsageError if the report would replace a linted file."""
    output = options.output_file
    if output is None or not os.path.isfile(output):
        return
    status = os.stat(output)
    for path in linted:
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(path), status):
                raise click.UsageError(f"--output-file {output} would replace a file that is linted; name another one")


def fix(files: Sequence[File], outcome: LintResult, report_filter: ReportFilter, options: CheckOptions) -> int:
    """Apply fixes to the files on disk; returns the number of fixed findings."""
    from kerascheck.lint.fix_files import repairs
    from kerascheck.source.writing import write_atomically

    applied = 0
    for repair in repairs(files, outcome, unsafe=options.unsafe_fixes, report_filter=report_filter):
        path = repair.source.path
        try:
            write_atomically(path, repair.after)
        except OSError as problem:
            outcome.errors.append(_not_writable(path, problem))
            continue
        _record(repair, outcome, options)
        applied += len(repair.fixed.applied)
    _print_skipped(outcome, options)
    return applied


def fix_data(
    file: File, data: bytes, outcome: LintResult, report_filter: ReportFilter, options: CheckOptions
) -> tuple[bytes, int]:
    """Apply fixes to the content of standard input; returns the new content and the number of fixed findings."""
    from kerascheck.lint.fix_files import repairs

    made = list(repairs([file], outcome, unsafe=options.unsafe_fixes, report_filter=report_filter, given=data))
    for repair in made:
        data = repair.after
        _record(repair, outcome, options)
    _print_skipped(outcome, options)
    return data, sum(len(repair.fixed.applied) for repair in made)


def print_diff(
    files: Sequence[File],
    outcome: LintResult,
    report_filter: ReportFilter,
    options: CheckOptions,
    given: bytes | None = None,
) -> int:
    """Print the changes that --fix would make as one patch; returns the exit code."""
    from kerascheck.fixes.patch import patch
    from kerascheck.lint.fix_files import repairs

    made = list(repairs(files, outcome, unsafe=options.unsafe_fixes, report_filter=report_filter, given=given))
    folder, text = patch(
        {repair.source.path: (repair.before, repair.after) for repair in made if not repair.cells},
        {repair.source.path: repair.cells for repair in made},
    )
    click.echo(text, nl=False)
    _print_errors(outcome)
    _print_skipped(outcome, options)
    if not options.quiet:
        repaired = sum(len(repair.fixed.applied) for repair in made)
        click.echo(common.would_fix(repaired, len(made), outcome.findings, unsafe=options.unsafe_fixes), err=True)
        if made and folder != os.path.realpath(os.getcwd()):
            note = f"The paths of the patch count from another folder; apply it in {folder}"
            click.echo(terminal.escaped(note), err=True)
    return 2 if outcome.errors else int(bool(made) and not options.exit_zero)


def add_noqa(files: Sequence[File], outcome: LintResult, report_filter: ReportFilter, options: CheckOptions) -> int:
    """Suppress every finding by a comment in its file; returns the exit code, which counts the findings left."""
    from kerascheck.lint.add_noqa import commented
    from kerascheck.source.writing import write_atomically

    silenced, changed, left = 0, 0, []
    for made in commented(outcome, files, report_filter):
        if made.silenced:
            path = made.source.path
            try:
                write_atomically(path, made.source.with_text(made.text).encode())
            except OSError as problem:
                outcome.errors.append(_not_writable(path, problem))
                continue
            silenced, changed = silenced + len(made.silenced), changed + 1
        left += [finding for finding, _ in made.left]
        for line in common.not_silenced(made.left):
            click.echo(line, err=True)
    _print_errors(outcome)
    if not options.quiet:
        click.echo(f"Silenced {common.count(silenced, 'finding')} in {common.count(changed, 'file')}.")
    if outcome.errors:
        return 2
    return int(bool(failing(left, files, {}, options)) and not options.exit_zero)


def write_baseline(path: str, outcome: LintResult, files: Sequence[File], options: CheckOptions) -> int:
    """Write the findings into a baseline; returns the exit code."""
    from kerascheck.lint import baseline
    from kerascheck.report import overview, text

    findings = outcome.findings
    try:
        baseline.write(path, findings, outcome.sources)
    except OSError as problem:
        raise click.ClickException(f"{path}: the baseline cannot be written: {problem.strerror or problem}") from None
    _print_errors(outcome)
    if not options.quiet:
        places = common.count(len({finding.location.path for finding in findings}), "file")
        click.echo(f"Wrote {common.count(len(findings), 'finding')} of {places} to {terminal.escaped(path)}.")
        if any(file.settings.baseline is None for file in files):
            click.echo(overview.with_baseline(given_arguments(), text.terminal_columns()))
    return 2 if outcome.errors else 0


def _not_writable(path: str, problem: OSError) -> FileError:
    from kerascheck.finding import UNREADABLE, FileError, Location

    place = Location(path, None, 1, 1, 1, 1)
    return FileError(UNREADABLE, place, f"cannot be written: {problem.strerror or problem}")


def _record(repair: Repair, outcome: LintResult, options: CheckOptions) -> None:
    """Print the fixed findings of a file, and keep the others in the result."""
    repair.take(outcome)
    if not options.quiet:
        click.echo(common.fixed(repair.source.path, repair.fixed.applied), err=True)


def _print_skipped(outcome: LintResult, options: CheckOptions) -> None:
    """Print the dropped fixes with the reasons."""
    for line in common.skipped(outcome.skipped) if not options.quiet else ():
        click.echo(line, err=True)


def _print_errors(outcome: LintResult) -> None:
    for line in concise.render([], outcome.errors, outcome.sources):
        click.echo(line, err=True)
