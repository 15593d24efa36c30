"""The report of ``check``: printed or written to a file, for people or for other programs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from kerascheck.cli import terminal
from kerascheck.cli.options import MACHINE_FORMATS, CheckOptions, given_arguments
from kerascheck.report import common

if TYPE_CHECKING:
    from kerascheck.finding import Evidence, Finding
    from kerascheck.project.discovery import File
    from kerascheck.report.report import Report
    from kerascheck.result import LintResult

_PLAIN_PATH = re.compile(r"[^*?\[\]\\!#\s]+")
"""A path that is a pattern of .gitignore for itself alone."""


def print_report(
    outcome: LintResult,
    files: Sequence[File],
    options: CheckOptions,
    *,
    paths: Sequence[str] = (),
    err: bool = False,
    fixed: int = 0,
) -> int:
    """Print the result of linting; returns the exit code.

    Args:
        paths: the files and folders that the user names; none for standard input.
        err: whether to print on standard error.
        fixed: the number of findings that were fixed before.
    """
    from kerascheck.catalog.pages import addresses
    from kerascheck.runtime.recall import recall

    evidence = recall(outcome, {file.path: file.settings.target_tensorflow for file in files})
    show_confirmed(outcome, evidence)
    findings, errors = outcome.findings, outcome.errors
    errors.sort(key=lambda error: error.sort_key)
    failed = failing(findings, files, evidence, options)
    pages = addresses(findings, {file.path: file.settings.docs_url for file in files})
    summary = _summary(outcome, files, options, fixed)
    if options.is_for_machines:
        from kerascheck.report.report import Report

        report = Report(
            findings,
            errors,
            outcome.sources,
            outcome.files,
            evidence,
            failed,
            pages,
            outcome.tallied,
            outcome.left_out,
        )
        _print_for_machines(report, summary, options, err)
    else:
        if not terminal.takes_links(options.color, to_file=options.output_file is not None, err=err):
            pages = {}
        else:
            pages = {**_local_pages([each for each in findings if each not in pages], outcome, paths, options), **pages}
        _print_for_people(outcome, evidence, pages, summary, options, err)
    if errors:
        return 2
    return int((bool(failed) and not options.exit_zero) or (bool(fixed) and options.exit_non_zero_on_fix))


def _local_pages(
    findings: Sequence[Finding], outcome: LintResult, paths: Sequence[str], options: CheckOptions
) -> dict[Finding, str]:
    """The addresses of pages in the cache folder, for findings without a page on a site."""
    if not findings or not paths or options.no_cache or options.output_format == "concise":
        return {}
    from kerascheck.cache.folder import Folder, folder_for
    from kerascheck.cli.rule_pages import local_addresses

    folder = folder_for(paths, options.cache_dir or None)
    # A result of an earlier run is only valid for the same rules.
    return {} if folder is None else local_addresses(findings, Folder(folder), are_current=outcome.rules is not None)


def show_confirmed(outcome: LintResult, evidence: Mapping[Finding, Evidence]) -> None:
    """Turn tallied findings that ``verify`` has confirmed, here or elsewhere, into findings of the report."""
    confirmed = {each for each in outcome.tallied if each in evidence and evidence[each].status == "confirmed"}
    outcome.findings = sorted((*outcome.findings, *confirmed), key=lambda finding: finding.sort_key)
    outcome.tallied = [each for each in outcome.tallied if each not in confirmed]


def failing(
    findings: Sequence[Finding], files: Sequence[File], evidence: Mapping[Finding, Evidence], options: CheckOptions
) -> frozenset[Finding]:
    """Select the findings that make the exit code 1."""
    if options.gate == "confirmed":
        return frozenset(finding for finding, measured in evidence.items() if measured.confirmed)
    fail_on = {file.path: file.settings.fail_on for file in files}
    return frozenset(finding for finding in findings if finding.severity >= fail_on[finding.location.path])


def _summary(outcome: LintResult, files: Sequence[File], options: CheckOptions, fixed: int) -> str:
    """The line about the whole run."""
    failed = {error.location.path for error in outcome.errors}
    concerned = failed.union(finding.location.path for finding in outcome.findings)
    found = {file.path for file in files}
    return common.summary(
        outcome.findings,
        outcome.errors,
        outcome.files,
        fixed=fixed,
        unsafe=options.unsafe_fixes,
        left_out=outcome.left_out,
        clean=len(found - concerned - outcome.withheld),
        # Exclusions do not apply to files that are named explicitly.
        broken=_pattern_of(failed) if failed and failed < found and failed.isdisjoint(given_arguments()) else None,
    )


def _pattern_of(paths: Collection[str]) -> str:
    """The argument for --extend-exclude that leaves out some files."""
    from kerascheck.source.escape import shell_word

    (path, *others) = paths
    is_plain = not others and not os.path.isabs(path) and _PLAIN_PATH.fullmatch(path) is not None
    return shell_word(path) if is_plain else "PATTERN"


def _print_for_machines(report: Report, summary: str, options: CheckOptions, err: bool) -> None:
    from importlib import import_module

    module, function = MACHINE_FORMATS[options.output_format or ""]
    text = getattr(import_module(f"kerascheck.report.{module}"), function)(report)
    if options.output_file is None:
        if text:
            click.echo(text, err=err)
        return
    _write(options.output_file, f"{text}\n" if text else "")
    if not options.quiet:
        click.echo(summary, err=err)


def _write(path: str, text: str) -> None:
    from kerascheck.source.writing import write_output

    try:
        write_output(path, text.encode("utf-8", "backslashreplace"))
    except OSError as problem:
        raise click.ClickException(f"{path}: the report cannot be written: {problem.strerror or problem}") from None


def _print_for_people(
    outcome: LintResult,
    evidence: Mapping[Finding, Evidence],
    pages: Mapping[Finding, str],
    summary: str,
    options: CheckOptions,
    err: bool,
) -> None:
    """Print or write the full or the concise report; codes link to their ``pages``."""
    findings, color = outcome.findings, terminal.color_of(options.color)
    if options.is_about_rules_only:
        from kerascheck.report import concise

        lines: Iterable[str] = concise.render([], outcome.errors, outcome.sources)
        closing = [summary]
    elif options.output_format == "concise":
        from kerascheck.report import concise, overview

        lines = concise.render(findings, outcome.errors, outcome.sources, evidence)
        closing = [*overview.tallied(outcome.tallied), summary]
    else:
        lines, closing = _full_report(outcome, evidence, pages, summary, options)
    if options.output_file is None:
        for line in lines:
            click.echo(line, err=err, color=color)
    else:
        _write(options.output_file, "".join(f"{click.unstyle(line)}\n" for line in lines))
    if options.statistics:
        click.echo(common.statistics(findings, outcome.seconds), err=err)
    if not options.quiet and outcome.files:
        for line in closing if options.output_file is None else [summary]:
            click.echo(line, err=err, color=color)


def _full_report(
    outcome: LintResult,
    evidence: Mapping[Finding, Evidence],
    pages: Mapping[Finding, str],
    summary: str,
    options: CheckOptions,
) -> tuple[list[str], list[str]]:
    """The lines about findings, and the closing lines about the run."""
    from kerascheck.catalog import measured
    from kerascheck.report import no_fix, overview, text

    findings = outcome.findings
    hints = select_hints(findings, evidence, options)
    in_full = [finding for finding in findings if finding not in set(hints)]
    about = outcome.rules
    if about is None:
        from kerascheck.catalog import registry

        about = {spec.code: (spec.summary, spec.speed) for spec in registry.rule_specs()}
    summaries = {code: summary for code, (summary, _) in about.items()}
    last = {code for code, (_, speed) in about.items() if not speed}
    rules = overview.by_urgency(in_full, measured.gains())
    width = text.terminal_columns()
    lines = [
        *text.render(
            in_full,
            outcome.errors,
            outcome.sources,
            click.style,
            evidence,
            width,
            pages,
            no_fix=no_fix.reasons(in_full) if options.verbose else {},
            errors_first=options.sort == "severity",
        ),
        *overview.hints(hints, summaries, click.style, width, last=last, addresses=pages),
    ]
    closing = [*overview.start(rules, summaries, click.style, width)]
    for line in (*overview.tallied(outcome.tallied), summary):
        closing += text.wrapped(line, width)
    if command := overview.next_command(findings, rules, given_arguments(), width, fixing=options.fix):
        closing.append(command)
    return lines, closing


def select_hints(
    findings: Sequence[Finding], evidence: Mapping[Finding, Evidence], options: CheckOptions
) -> list[Finding]:
    """Select the findings to show in one line; none if the user asked for infos or for a rule."""
    from kerascheck.report import overview

    named = {word for words in options.select for word in words.replace(",", " ").split()} - {"ALL"}
    if options.verbose or options.min_severity == "info" or named:
        return []
    return [finding for finding in findings if overview.is_hint(finding, evidence)]
