"""The command ``check``, which is the default command: lint files, notebooks and folders."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from kerascheck.cli import completers, terminal
from kerascheck.cli.options import CheckOptions, SectionedCommand, check_options, written

if TYPE_CHECKING:
    from kerascheck.cache.memo import Memo
    from kerascheck.cache.runs import Linted, Run
    from kerascheck.finding import FileError
    from kerascheck.lint.report_filter import ReportFilter
    from kerascheck.project.config import Configuration, Overrides, Settings
    from kerascheck.project.discovery import Discovered
    from kerascheck.source import Source


@click.command(cls=SectionedCommand, short_help="Lint files, notebooks and folders: the default command.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completers.path)
@check_options
def check(paths: tuple[str, ...], **given: Any) -> int:
    """Lint files, notebooks and folders ('.' if none is named, '-' for standard input).

    Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or configuration, or a
    file that cannot be read or parsed.
    """
    from kerascheck.project.config import ConfigError, did_you_mean
    from kerascheck.project.discovery import MissingPath

    given["fix"] |= given["fix_only"]
    paths, options = paths or (".",), CheckOptions(**given)
    options.refuse_contradictions(paths)
    if options.unsafe_fixes and not (options.fix or options.diff or options.quiet):
        terminal.warn("--unsafe-fixes applies nothing by itself; add --fix or --diff")
    try:
        return _check(paths, options)
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None
    except MissingPath as problem:
        # The user may have meant a command.
        context = click.get_current_context().find_root()
        commands = context.command.list_commands(context) if isinstance(context.command, click.Group) else []
        hint = did_you_mean(problem.path, commands) if problem.path == paths[0] else ""
        raise click.ClickException(f"{problem}{hint}") from None


def _check(paths: Sequence[str], options: CheckOptions) -> int:
    """Do what the options ask for; returns the exit code."""
    overrides = overrides_of(options)
    configuration = configuration_of(overrides, options)
    if options.config_file is not None:
        configuration.for_folder(os.getcwd())
    if options.show_settings:
        first = (options.stdin_filename or "stdin.py") if paths[0] == "-" else paths[0]
        return _show_settings(first, configuration, options)
    if options.show_files:
        return _show_files(paths, configuration, options)
    if options.explain_silence:
        return _explain_silence(paths, configuration, options.explain_silence)
    if tuple(paths) == ("-",):
        return _check_stdin(configuration, options)
    if options.watch:
        return _watch(paths, overrides, options)
    run = _run_of(paths, overrides, options)
    return _check_files(paths, configuration, run, report_filter_of(paths, options), options)


# --- settings ---------------------------------------------------------------------------------------------


def overrides_of(options: CheckOptions) -> Overrides:
    """The settings of the command line; raises ConfigError."""
    from dataclasses import replace

    from kerascheck.project.config import CONFIG_OPTION, Selection, from_table, overrides_from, table_of_option

    tables = tuple(map(table_of_option, options.config_tables))
    for table in tables:
        _validate(from_table(table, CONFIG_OPTION))
    overrides = replace(overrides_from(options.by_name), tables=tables)
    if options.ignore_noqa:
        overrides = replace(overrides, values={**overrides.values, "obeys_comments": False})
    if options.this_machine:
        overrides = _for_this_machine(overrides)
    if overrides.selection != Selection():
        from kerascheck.catalog import registry

        registry.validate_selection(overrides.selection)
    return overrides


def _for_this_machine(overrides: Overrides) -> Overrides:
    from dataclasses import replace

    from kerascheck.runtime.doctor import machine_for_linter, take_snapshot

    machine = machine_for_linter(take_snapshot(None))
    if machine is None:
        terminal.warn("--this-machine: what its GPU gains by is not known; 'kerascheck doctor' says more")
    return replace(overrides, values={**overrides.values, "machine": machine})


def configuration_of(overrides: Overrides, options: CheckOptions) -> Configuration:
    from kerascheck.project.config import Configuration

    return Configuration(overrides, isolated=options.isolated, file=options.config_file, validate=_validate)


def _validate(settings: Settings) -> None:
    """Raise ConfigError for settings that name an unknown rule."""
    from kerascheck.project.config import Selection

    # Most configurations name no rule, and the import of the registry is slow.
    safety = settings.extend_safe_fixes or settings.extend_unsafe_fixes
    if settings.selections[-1] != Selection() or settings.per_file_ignores or safety:
        from kerascheck.catalog import registry

        registry.validate(settings)


def report_filter_of(paths: Sequence[str], options: CheckOptions) -> ReportFilter:
    from kerascheck.lint.report_filter import ReportFilter

    changed_lines = None
    if options.diff_base is not None:
        from kerascheck.lint.git_diff import ChangedLines

        named = paths if "-" not in paths else [os.path.dirname(options.stdin_filename or "") or "."]
        changed_lines = ChangedLines(options.diff_base, named)
    # A finding that is gone from the files of one shard may be in those of another.
    tops = () if options.shard or "-" in paths else paths
    return ReportFilter(options.baseline, configured=not options.no_baseline, changed_lines=changed_lines, tops=tops)


# --- linting files ------------------------------------------------------------------------------------------


def _run_of(paths: Sequence[str], overrides: Overrides, options: CheckOptions) -> Run | None:
    """The cached run of this command line; None if it may not use the cache."""
    # Edits depend on the current content, times are measured, and code of --rules may depend on anything.
    uses_no_cache = options.no_cache or options.fix or options.diff or options.add_noqa or options.statistics
    if uses_no_cache or _has_named_rules():
        return None
    from kerascheck.cache.folder import Folder, folder_for
    from kerascheck.cache.runs import Run

    folder = folder_for(paths, options.cache_dir or None)
    return None if folder is None else Run(Folder(folder), paths, _cache_key(overrides, options))


def _cache_key(overrides: Overrides, options: CheckOptions) -> list[Any]:
    """The input to the findings that is not on disk."""
    key = [repr(overrides), options.isolated, options.force_exclude, options.shard]
    if options.config_file is not None:
        key += [os.path.abspath(options.config_file), os.getcwd()]
    return key


def _has_named_rules() -> bool:
    registry = sys.modules.get("kerascheck.catalog.registry")
    return registry is not None and bool(registry.used_folders())


def _linted(paths: Sequence[str], configuration: Configuration, run: Run | None, options: CheckOptions) -> Linted:
    """The result of linting, from the cache if that is valid."""
    if run is None:
        return _lint(paths, configuration, options)
    if (known := run.recall()) is not None:
        return known
    with run.recording() as memo:
        linted = _lint(paths, configuration, options, run, memo)
    if not run.keep(linted, memo) and options.cache_dir:
        terminal.warn(f"--cache-dir {options.cache_dir}: nothing can be written there")
    return linted


def _lint(
    paths: Sequence[str],
    configuration: Configuration,
    options: CheckOptions,
    run: Run | None = None,
    memo: Memo | None = None,
) -> Linted:
    from kerascheck.cache.runs import Linted
    from kerascheck.lint import pipeline
    from kerascheck.project.discovery import discover

    def discover_all() -> Discovered:
        return discover(paths, configuration, force_exclude=options.force_exclude)

    found = discover_all() if run is None or memo is None else run.discovered(memo, configuration, discover_all)
    files = found.files
    if options.shard:
        number, total = options.shard
        # Consecutive files: those of a folder tend to import each other.
        files = files[(number - 1) * len(files) // total : number * len(files) // total]
    progress = terminal.Progress(is_quiet=options.quiet)
    outcome = pipeline.lint(
        found.files, configuration, part=files if options.shard else None, memo=memo, progress=progress.show
    )
    progress.clear()
    return Linted(found, files, outcome)


def _check_files(
    paths: Sequence[str],
    configuration: Configuration,
    run: Run | None,
    report_filter: ReportFilter,
    options: CheckOptions,
) -> int:
    from kerascheck.cli import edit_files
    from kerascheck.cli.print_report import print_report

    linted = _linted(paths, configuration, run, options)
    found, files, outcome = linted.found, linted.files, linted.outcome
    _print_notes(paths, found, options)
    if options.shard is None or options.shard[0] == 1:
        outcome.errors += (_unreadable(path, reason) for path, reason in found.unreadable)
    edit_files.refuse_to_overwrite(
        [file.path for file in found.files] + [path for path, _ in found.unreadable], options
    )
    if options.write_baseline:
        return edit_files.write_baseline(options.write_baseline, outcome, files, options)
    report_filter.apply(outcome, files)
    if options.add_noqa:
        return edit_files.add_noqa(files, outcome, report_filter, options)
    if options.diff:
        return edit_files.print_diff(files, outcome, report_filter, options)
    fixed = edit_files.fix(files, outcome, report_filter, options) if options.fix else 0
    if options.fix_only:
        outcome.findings, outcome.tallied = [], []
    return print_report(outcome, files, options, paths=paths, fixed=fixed)


def _print_notes(paths: Sequence[str], found: Discovered, options: CheckOptions) -> None:
    """Print the notes about discovery on standard error."""
    from kerascheck.report.common import count

    if not found.files and not found.unreadable and not options.quiet:
        left_out = found.tests_left_out
        tests = f" ({count(left_out, 'test file')} left out: see include-tests)" if left_out else ""
        terminal.warn(f"no Python files found under {', '.join(paths)}{tests}")
    for note in found.notes:
        terminal.warn(note)
    if options.verbose:
        for path in found.irregular:
            click.echo(terminal.escaped(f"{path}: skipped: not a regular file"), err=True)


def _unreadable(path: str, reason: str) -> FileError:
    from kerascheck.finding import UNREADABLE, FileError, Location

    return FileError(UNREADABLE, Location(path, None, 1, 1, 1, 1), reason)


def _watch(paths: Sequence[str], overrides: Overrides, options: CheckOptions) -> int:
    """Lint, and again after every change; returns the exit code."""
    from kerascheck.cache.folder import InMemory
    from kerascheck.cache.runs import Run
    from kerascheck.cli.watch import watch
    from kerascheck.project.config import ConfigError
    from kerascheck.project.discovery import MissingPath

    memory = InMemory()

    def lint(change: str | None) -> tuple[Any, set[str]]:
        if sys.stdout.isatty() and not terminal.is_dumb():
            click.clear()
        say(change)
        configuration = configuration_of(overrides, options)
        run = _run_of(paths, overrides, options) or Run(memory, paths, _cache_key(overrides, options))
        baselines = set() if options.baseline is None else {options.baseline}
        try:
            report_filter = report_filter_of(paths, options)
            try:
                _check_files(paths, configuration, run, report_filter, options)
            finally:
                baselines |= report_filter.baselines
        except (ConfigError, MissingPath, click.ClickException) as problem:
            if change is None:
                raise
            terminal.complain(problem.format_message() if isinstance(problem, click.ClickException) else str(problem))
        sys.stdout.flush()
        return run.dependencies, baselines

    def say(text: str | None) -> None:
        if text is not None and not options.quiet:
            click.echo(terminal.escaped(text), err=True)

    watch(lint, say)
    if sys.stderr.isatty():
        # The terminal wrote ^C.
        click.echo(err=True)
    return 0


# --- linting standard input ---------------------------------------------------------------------------------


def _check_stdin(configuration: Configuration, options: CheckOptions) -> int:
    from kerascheck.cli import edit_files
    from kerascheck.cli.print_report import print_report
    from kerascheck.finding import FileError
    from kerascheck.lint.session import Session
    from kerascheck.project.discovery import File
    from kerascheck.result import LintResult
    from kerascheck.source import display_path

    if sys.stdin is None:
        raise click.ClickException("standard input is closed")
    name = options.stdin_filename
    edit_files.refuse_to_overwrite([name] if name else [], options)
    file = File(display_path(name) if name else "-", configuration.for_file(name or "stdin.py"))
    data, source = _read_stdin(file.path, name)
    if isinstance(source, FileError):
        outcome = LintResult(errors=[source], files=1)
    else:
        outcome = Session(configuration).lint(source)
    report_filter = report_filter_of(("-",), options)
    report_filter.apply(outcome, [file])
    if options.diff:
        return edit_files.print_diff([file], outcome, report_filter, options, data)
    if not options.fix:
        return print_report(outcome, [file], options)
    data, fixed = edit_files.fix_data(file, data, outcome, report_filter, options)
    if options.fix_only:
        outcome.findings, outcome.tallied = [], []
    # The code goes to the next program, the report to people.
    click.echo(data, nl=False)
    return print_report(outcome, [file], options, err=True, fixed=fixed)


def _read_stdin(path: str, name: str | None) -> tuple[bytes, Source | FileError]:
    """Read standard input; returns its bytes, and the source or an error."""
    from kerascheck.finding import UNREADABLE, FileError, Location
    from kerascheck.source import Unreadable, decode
    from kerascheck.source.notebook import extract, looks_like_one
    from kerascheck.source.reading import cannot_be_read, read_stream

    data = b""
    try:
        data = read_stream(sys.stdin.buffer)
        return data, extract(path, data) if name is None and looks_like_one(data) else decode(path, data)
    except (Unreadable, OSError) as given_up:
        problem = cannot_be_read(given_up) if isinstance(given_up, OSError) else given_up
        place = Location(path, None, problem.line, problem.column, problem.line, problem.column)
        return data, FileError(UNREADABLE, place, problem.message)


# --- answers without linting --------------------------------------------------------------------------------


def _show_settings(path: str, configuration: Configuration, options: CheckOptions) -> int:
    from kerascheck.cli import show_settings
    from kerascheck.lint.analyze_file import with_large_stack

    option = next((written(name) for name in ("baseline", "no_baseline") if options.by_name[name]), None)
    baseline = (option, options.baseline and os.path.abspath(options.baseline))
    try:
        for line in with_large_stack(lambda: list(show_settings.lines(path, configuration, baseline))):
            click.echo(terminal.escaped(line))
    except ValueError as problem:
        raise click.ClickException(f"{path}: {problem}") from None
    return 0


def _show_files(paths: Sequence[str], configuration: Configuration, options: CheckOptions) -> int:
    from kerascheck.project.discovery import discover

    found = discover(paths, configuration, force_exclude=options.force_exclude)
    for file in found.files:
        click.echo(terminal.escaped(file.path))
    for path, reason in found.unreadable:
        click.echo(terminal.escaped(f"{path}: {reason}"), err=True)
    return 2 if found.unreadable else 0


def _explain_silence(paths: Sequence[str], configuration: Configuration, place: str) -> int:
    from kerascheck.catalog import registry
    from kerascheck.cli import explain_silence
    from kerascheck.lint.analyze_file import with_large_stack
    from kerascheck.project.discovery import File
    from kerascheck.report.text import terminal_columns, wrapped
    from kerascheck.source import Unreadable, read

    cell, _, line = place.rpartition(":")
    if len(paths) != 1 or not os.path.isfile(paths[0]) or not line.isdecimal() or not (cell.isdecimal() or not cell):
        raise click.UsageError(
            "--explain-silence takes a line (CELL:LINE in a notebook) of one file: kerascheck train.py --explain-silence 12"
        )
    file = File(paths[0], configuration.for_file(paths[0]))
    registry.validate(file.settings)
    try:
        source = read(paths[0])
        head, *explanations = with_large_stack(
            lambda: list(explain_silence.explain(source, file, int(line), int(cell) if cell else None))
        )
        click.echo(terminal.escaped(head))
        for text in explanations:
            for part in wrapped(text, terminal_columns(), "  ", "      "):
                click.echo(part)
    except (Unreadable, ValueError) as problem:
        raise click.ClickException(f"{paths[0]}: {problem}") from None
    return 0
