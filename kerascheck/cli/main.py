"""The commands. Nothing but click is imported before a command runs: ``--version`` must stay quick."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

import kerascheck
from kerascheck.cli import completion

if TYPE_CHECKING:
    from kerascheck.cache.memo import Memo
    from kerascheck.cache.runs import Linted, Run
    from kerascheck.finding import Evidence, FileError, Finding
    from kerascheck.lint.fix_files import Repair
    from kerascheck.lint.report_filter import ReportFilter
    from kerascheck.project.config import Configuration, Overrides, Settings
    from kerascheck.project.discovery import Discovered, File
    from kerascheck.report.report import Report
    from kerascheck.result import LintResult

_Command = TypeVar("_Command", bound=Callable[..., Any])

SEVERITIES = ("info", "warning", "error")
_FOR_PROGRAMS = {
    "json": ("json", "render"),
    "json-lines": ("json", "render_lines"),
    "sarif": ("sarif", "render"),
    "github": ("github", "render"),
    "gitlab": ("gitlab", "render"),
    "junit": ("junit", "render"),
}
"""By output format, the module of kerascheck.report that writes it, and its function."""
_PROGRESS_AFTER_SECONDS = 1.0
_NUMBER = re.compile(r"[0-9]{1,9}")
_PLAIN_PATH = re.compile(r"[^*?\[\]\\!#\s]+")
"""A path that is no pattern of .gitignore but itself."""


_ARGUMENTS = "kerascheck.arguments"
_RUNNING_COMMANDS = {
    "why": "kerascheck.cli.why",
    "verify": "kerascheck.cli.verify",
    "evidence": "kerascheck.cli.verify",
    "doctor": "kerascheck.cli.doctor",
    "server": "kerascheck.cli.server",
}
"""Commands that run something or go on running, with the modules that have them."""


class _Commands(click.Group):
    """A group whose default command is ``check``: ``kerascheck src`` means ``kerascheck check src``.

    The commands that run scripts are imported when they are asked for.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_RUNNING_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _RUNNING_COMMANDS:
            from importlib import import_module

            command: click.Command = getattr(import_module(_RUNNING_COMMANDS[cmd_name]), cmd_name)
            return command
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = tuple(args)
        if not args:
            args = ["--help"]
        elif args[0] not in self.list_commands(ctx) and args[0] not in ("--help", "-h", "--version"):
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="'kerascheck PATH...' is short for 'kerascheck check PATH...'; 'kerascheck check --help' lists its options.",
)
@click.version_option(kerascheck.__version__, prog_name="kerascheck", message="%(prog)s %(version)s")
def cli() -> None:
    """Find what keeps the accelerator waiting in Keras training code, and rewrite it."""


def _use_rules(context: click.Context, parameter: click.Parameter, folders: tuple[str, ...]) -> None:
    # Most runs have none, and need not know the rules.
    if folders or "kerascheck.catalog.registry" in sys.modules:
        from kerascheck.catalog import registry

        registry.use_folders(folders)


folders_option = click.option(
    "--rules", "rule_folders", multiple=True, metavar="DIR", expose_value=False, is_eager=True, callback=_use_rules,
    shell_complete=completion.folder, help="Run the rules of this folder too; their code is executed.",
)  # fmt: skip
"""For commands that run rules, or tell of them. No configuration can name such a folder."""


def _cache_option(text: str) -> Callable[[_Command], _Command]:
    return click.option(
        "--cache-dir",
        type=click.Path(file_okay=False),
        envvar="KERASCHECK_CACHE_DIR",
        show_envvar=True,
        metavar="DIR",
        help=text,
    )


def _shard(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    number, _, total = value.partition("/")
    if not (_NUMBER.fullmatch(number) and _NUMBER.fullmatch(total) and 1 <= int(number) <= int(total)):
        raise click.BadParameter(f"'{value}' is no part of a whole; write K/N with K from 1 to N, such as 3/8")
    return int(number), int(total)


def _rules_option(name: str, text: str) -> Callable[[_Command], _Command]:
    return click.option(name, multiple=True, metavar="RULES", shell_complete=completion.rules, help=text)


@cli.command(short_help="Lint files, notebooks and folders: the default command.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completion.path)
@_rules_option("--select", "Run only these rules: codes, prefixes (KC1), names or ALL, separated by commas.")
@_rules_option("--ignore", "Leave these rules out.")
@_rules_option("--extend-select", "Run these rules too.")
@_rules_option("--extend-ignore", "Leave these rules out too.")
@folders_option
@click.option("--min-severity", type=click.Choice(SEVERITIES), help="Report findings from this severity up.  [info]")
@click.option("--fail-on", type=click.Choice(SEVERITIES), help="Exit with 1 from this severity up.  [warning]")
@click.option("--pedantic", is_flag=True, help="Report what costs nothing too, such as what the runtime repairs.")
@click.option(
    "--gate", type=click.Choice(["all", "confirmed"]), default="all", show_default=True,
    help="'confirmed': exit with 1 only for findings, of any severity, that 'kerascheck verify' confirmed on this machine.",
)  # fmt: skip
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option("--fix", is_flag=True, help="Apply fixes that keep the behaviour.")
@click.option("--unsafe-fixes", is_flag=True, help="Let --fix and --diff take fixes that may change results too.")
@click.option(
    "--diff", is_flag=True, help="Print what --fix would change as a patch; write nothing, exit with 1 for changes."
)
@click.option("--add-noqa", is_flag=True, help="Write '# kerascheck: ignore[...]' on the line of every finding.")
@click.option("--baseline", metavar="FILE", help="Leave out the findings that this file has.")
@click.option("--no-baseline", is_flag=True, help="Use no baseline that a configuration file names.")
@click.option("--write-baseline", metavar="FILE", help="Write all findings into this file; report none.")
@click.option(
    "--diff-base", metavar="REV", help="Report only findings on lines that have changed since this revision of git."
)
@click.option(
    "--output-format", type=click.Choice(["text", "concise", *_FOR_PROGRAMS]), default="text", show_default=True,
    help="How findings are printed.",
)  # fmt: skip
@click.option(
    "-o",
    "--output-file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the report there; print the summary only.",
)
@click.option("--watch", is_flag=True, help="Lint again whenever something changes, until Ctrl-C.")
@click.option("--statistics", is_flag=True, help="Add findings and time per rule.")
@click.option("--target-tensorflow", metavar="VERSION", help="TensorFlow that the code runs on, such as 2.15.")
@click.option(
    "--this-machine", is_flag=True, help="Judge for the GPU of this machine: mixed precision only where it gains."
)
@click.option(
    "--exclude", multiple=True, metavar="PATTERN", shell_complete=completion.path,
    help="Leave out these paths instead of the default ones.",
)  # fmt: skip
@click.option(
    "--extend-exclude",
    multiple=True,
    metavar="PATTERN",
    shell_complete=completion.path,
    help="Leave out these paths too.",
)
@click.option("--force-exclude", is_flag=True, help="Leave out excluded and test files even if named explicitly.")
@click.option("--include-tests", is_flag=True, help="Lint test files found in folders too.")
@click.option(
    "--shard", metavar="K/N", callback=_shard,
    help="Report on the K-th of N parts of the files: in a CI matrix, the N reports together are the whole one.",
)  # fmt: skip
@click.option(
    "--config", metavar="FILE", shell_complete=completion.path,
    help="Read this configuration file instead of the nearest of each file.",
)  # fmt: skip
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@_cache_option("Keep results there.  [.kerascheck/cache of the project]")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep results of other runs.")
@click.option(
    "--stdin-filename", metavar="NAME", shell_complete=completion.path,
    help="Path to assume for code read from standard input ('-').",
)  # fmt: skip
@click.option(
    "--explain-silence",
    metavar="LINE",
    help="Tell why rules say nothing about this line of the one file named (CELL:LINE in a notebook).",
)
@click.option("--show-files", is_flag=True, help="Print the files that would be linted, and exit.")
@click.option(
    "--show-settings", is_flag=True, help="Print the settings of the first path, and where each is stated, and exit."
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
@click.option(
    "-v", "--verbose", is_flag=True, help="Show findings of severity info in full too, and name what was skipped."
)
@click.option("-q", "--quiet", is_flag=True, help="Print findings and errors only.")
def check(paths: tuple[str, ...], **options: Any) -> int:
    """Lint files, notebooks and folders ('.' if none is named, '-' for standard input).

    Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or configuration, or a
    file that cannot be read or parsed.
    """
    from kerascheck.project.config import ConfigError, Selection, did_you_mean, overrides_from
    from kerascheck.project.discovery import MissingPath

    paths = paths or (".",)
    _refuse_contradictions(paths, options)
    if options["unsafe_fixes"] and not (options["fix"] or options["diff"] or options["quiet"]):
        _warn("--unsafe-fixes applies nothing by itself; add --fix or --diff")
    try:
        overrides = overrides_from(options)
        if options["this_machine"]:
            overrides = _for_this_machine(overrides)
        if overrides.selection != Selection():
            from kerascheck.catalog import registry

            registry.validate_selection(overrides.selection)
        configuration = _configuration(overrides, options)
        if options["config"]:
            configuration.for_folder(os.getcwd())
        if options["show_settings"]:
            first = (options["stdin_filename"] or "stdin.py") if paths[0] == "-" else paths[0]
            return _show_settings(first, configuration, options)
        if options["show_files"]:
            return _show_files(paths, configuration, options)
        if options["explain_silence"]:
            return _explain_silence(paths, configuration, options["explain_silence"])
        if paths == ("-",):
            return _check_stdin(configuration, options)
        if options["watch"]:
            return _watch(paths, overrides, options)
        run = _run_of(paths, overrides, options)
        return _check_files(paths, configuration, run, _report_filter(paths, options), options)
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None
    except MissingPath as problem:
        # What is no file may be meant as a command.
        meant = (
            did_you_mean(problem.path, cli.list_commands(click.get_current_context()))
            if problem.path == paths[0]
            else ""
        )
        raise click.ClickException(f"{problem}{meant}") from None


_CONTRADICTIONS = {
    "diff": ("output_file",),
    "isolated": ("config",),
    "baseline": ("no_baseline",),
    "add_noqa": ("-", "fix", "diff", "output_file"),
    "write_baseline": ("-", "fix", "diff", "add_noqa", "output_file", "shard", "diff_base", "baseline", "no_baseline"),
    "watch": ("-", "fix", "diff", "add_noqa", "write_baseline", "statistics", "show_settings", "explain_silence"),
}
"""By option, what else the user cannot mean; ``-`` is standard input."""


def _refuse_contradictions(paths: Sequence[str], options: dict[str, Any]) -> None:
    """Raise UsageError for what does not go together, and for files without a name."""
    for name in ("output_file", "write_baseline", "baseline", "config"):
        if options[name] == "":
            # As from an unset variable in a script.
            raise click.UsageError(f"{_written(name)} names no file: it is empty")
    if "-" in paths and len(paths) > 1:
        raise click.UsageError("'-' cannot be combined with other paths")
    if options["diff"] and options["output_format"] in _FOR_PROGRAMS:
        raise click.UsageError(f"--diff cannot be combined with --output-format {options['output_format']}")
    for name, others in _CONTRADICTIONS.items():
        for other in others if options[name] else ():
            if other == "-" and "-" in paths:
                raise click.UsageError(f"{_written(name)} cannot be combined with '-'")
            if options.get(other):
                raise click.UsageError(f"{_written(name)} cannot be combined with {_written(other)}")


def _refuse_to_overwrite(linted: Iterable[str], options: dict[str, Any]) -> None:
    """Raise UsageError where the report would replace what is linted."""
    output = options["output_file"]
    if output is None or not os.path.isfile(output):
        return
    status = os.stat(output)
    for path in linted:
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(path), status):
                raise click.UsageError(f"--output-file {output} would replace a file that is linted; name another one")


def _written(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _for_this_machine(overrides: Overrides) -> Overrides:
    from dataclasses import replace

    from kerascheck.runtime.doctor import machine_for_linter, take_snapshot

    machine = machine_for_linter(take_snapshot(None))
    if machine is None:
        _warn("--this-machine: what its GPU gains by is not known; 'kerascheck doctor' says more")
    return replace(overrides, values={**overrides.values, "machine": machine})


def _configuration(overrides: Overrides, options: dict[str, Any]) -> Configuration:
    from kerascheck.project.config import Configuration, Selection

    def validate(settings: Settings) -> None:
        # Most configurations name no rule, and the registry is not loaded yet.
        if settings.selections[0] != Selection() or settings.per_file_ignores:
            from kerascheck.catalog import registry

            registry.validate(settings)

    return Configuration(overrides, isolated=options["isolated"], file=options["config"], validate=validate)


def _run_of(paths: Sequence[str], overrides: Overrides, options: dict[str, Any]) -> Run | None:
    """This run as the cache knows it; None where it is to find everything itself."""
    # What is written into files follows from what is there now, times are measured, and code that --rules names may import any other.
    if any(options[name] for name in ("no_cache", "fix", "diff", "add_noqa", "statistics")) or _has_named_rules():
        return None
    from kerascheck.cache.folder import Folder, folder_for
    from kerascheck.cache.runs import Run

    folder = folder_for(paths, options["cache_dir"] or None)
    return None if folder is None else Run(Folder(folder), paths, _deciding(overrides, options))


def _deciding(overrides: Overrides, options: dict[str, Any]) -> list[Any]:
    """What decides about findings beside what is on disk."""
    deciding = [repr(overrides), *(options[name] for name in ("isolated", "force_exclude", "shard"))]
    if options["config"]:
        deciding += [os.path.abspath(options["config"]), os.getcwd()]
    return deciding


def _has_named_rules() -> bool:
    registry = sys.modules.get("kerascheck.catalog.registry")
    return registry is not None and bool(registry.used_folders())


def _linted(paths: Sequence[str], configuration: Configuration, run: Run | None, options: dict[str, Any]) -> Linted:
    """What there is to report, from an earlier run where that found the same."""
    known = None if run is None else run.recall()
    if known is not None:
        return known
    if run is None:
        return _lint(paths, configuration, options)
    with run.recording() as memo:
        linted = _lint(paths, configuration, options, run, memo)
    if not run.keep(linted, memo) and options["cache_dir"]:
        _warn(f"--cache-dir {options['cache_dir']}: nothing can be written there")
    return linted


def _lint(
    paths: Sequence[str],
    configuration: Configuration,
    options: dict[str, Any],
    run: Run | None = None,
    memo: Memo | None = None,
) -> Linted:
    from kerascheck.cache.runs import Linted
    from kerascheck.lint import pipeline
    from kerascheck.project.discovery import discover

    def discover_all() -> Discovered:
        return discover(paths, configuration, force_exclude=options["force_exclude"])

    found = discover_all() if run is None or memo is None else run.discovered(memo, configuration, discover_all)
    files = found.files
    if options["shard"]:
        number, total = options["shard"]
        # Files of a folder, which tend to import each other, stay together.
        files = files[(number - 1) * len(files) // total : number * len(files) // total]
    progress = _Progress(options)
    outcome = pipeline.lint(
        found.files, configuration, part=files if options["shard"] else None, memo=memo, progress=progress.show
    )
    progress.clear()
    return Linted(found, files, outcome)


def _check_files(
    paths: Sequence[str],
    configuration: Configuration,
    run: Run | None,
    report_filter: ReportFilter,
    options: dict[str, Any],
) -> int:
    from kerascheck.finding import UNREADABLE, FileError, Location
    from kerascheck.report.common import count

    linted = _linted(paths, configuration, run, options)
    found, files, outcome = linted.found, linted.files, linted.outcome
    if not found.files and not found.unreadable and not options["quiet"]:
        left_out = found.tests_left_out
        tests = f" ({count(left_out, 'test file')} left out: see include-tests)" if left_out else ""
        _warn(f"no Python files found under {', '.join(paths)}{tests}")
    for note in found.notes:
        _warn(note)
    if options["verbose"]:
        for path in found.irregular:
            click.echo(_escaped(f"{path}: skipped: not a regular file"), err=True)
    for path, reason in found.unreadable if (options["shard"] or (1, 1))[0] == 1 else ():
        outcome.errors.append(FileError(UNREADABLE, Location(path, None, 1, 1, 1, 1), reason))
    _refuse_to_overwrite([file.path for file in found.files] + [path for path, _ in found.unreadable], options)
    if options["write_baseline"]:
        return _write_baseline(outcome, files, options)
    report_filter.apply(outcome, files)
    if options["add_noqa"]:
        return _add_noqa(files, outcome, report_filter, options)
    if options["diff"]:
        return _diff(files, outcome, report_filter, options)
    fixed = _fix(files, outcome, report_filter, options) if options["fix"] else 0
    return _report(outcome, files, options, fixed=fixed)


def _watch(paths: Sequence[str], overrides: Overrides, options: dict[str, Any]) -> int:
    """Lint, and again with every change; the exit code of the run."""
    from kerascheck.cache.folder import InMemory
    from kerascheck.cache.runs import Run
    from kerascheck.cli.watch import watch
    from kerascheck.project.config import ConfigError
    from kerascheck.project.discovery import MissingPath

    memory = InMemory()

    def lint(what: str | None) -> tuple[Any, set[str]]:
        if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            click.clear()
        say(what)
        configuration = _configuration(overrides, options)
        run = _run_of(paths, overrides, options) or Run(memory, paths, _deciding(overrides, options))
        baselines = {options["baseline"]} - {None}
        try:
            report_filter = _report_filter(paths, options)
            try:
                _check_files(paths, configuration, run, report_filter, options)
            finally:
                baselines |= report_filter.baselines
        except (ConfigError, MissingPath, click.ClickException) as problem:
            if what is None:
                raise
            _complain(problem.format_message() if isinstance(problem, click.ClickException) else str(problem))
        sys.stdout.flush()
        return run.dependencies, baselines

    def say(text: str | None) -> None:
        if text is not None and not options["quiet"]:
            click.echo(_escaped(text), err=True)

    watch(lint, say)
    if sys.stderr.isatty():
        # The terminal wrote ^C.
        click.echo(err=True)
    return 0


def _report_filter(paths: Sequence[str], options: dict[str, Any]) -> ReportFilter:
    from kerascheck.lint.report_filter import ReportFilter

    changed_lines = None
    if options["diff_base"] is not None:
        from kerascheck.lint.git_diff import ChangedLines

        named = paths if "-" not in paths else [os.path.dirname(options["stdin_filename"] or "") or "."]
        changed_lines = ChangedLines(options["diff_base"], named)
    # What is gone from the files of one shard may be in those of another.
    tops = () if options["shard"] or "-" in paths else paths
    return ReportFilter(
        options["baseline"], configured=not options["no_baseline"], changed_lines=changed_lines, tops=tops
    )


def _write_baseline(outcome: LintResult, files: Sequence[File], options: dict[str, Any]) -> int:
    """Write what was found into a file; the exit code of the run."""
    from kerascheck.lint import baseline
    from kerascheck.report import common, concise, overview, text

    path, findings = options["write_baseline"], outcome.findings
    try:
        baseline.write(path, findings, outcome.sources)
    except OSError as problem:
        raise click.ClickException(f"{path}: the baseline cannot be written: {problem.strerror or problem}") from None
    for line in concise.render([], outcome.errors, outcome.sources):
        click.echo(line, err=True)
    if not options["quiet"]:
        places = common.count(len({finding.location.path for finding in findings}), "file")
        click.echo(f"Wrote {common.count(len(findings), 'finding')} of {places} to {_escaped(path)}.")
        if any(file.settings.baseline is None for file in files):
            click.echo(overview.with_baseline(_arguments(), text.terminal_columns()))
    return 2 if outcome.errors else 0


def _show_settings(path: str, configuration: Configuration, options: dict[str, Any]) -> int:
    from kerascheck.cli import show_settings
    from kerascheck.lint.analyze_file import with_large_stack

    option = next((name for name in ("baseline", "no_baseline") if options[name]), None)
    baseline = (option and _written(option), options["baseline"] and os.path.abspath(options["baseline"]))
    try:
        for line in with_large_stack(lambda: list(show_settings.lines(path, configuration, baseline))):
            click.echo(_escaped(line))
    except ValueError as problem:
        raise click.ClickException(f"{path}: {problem}") from None
    return 0


def _show_files(paths: Sequence[str], configuration: Configuration, options: dict[str, Any]) -> int:
    from kerascheck.project.discovery import discover

    found = discover(paths, configuration, force_exclude=options["force_exclude"])
    for file in found.files:
        click.echo(_escaped(file.path))
    for path, reason in found.unreadable:
        click.echo(_escaped(f"{path}: {reason}"), err=True)
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
        head, *said = with_large_stack(
            lambda: list(explain_silence.explain(source, file, int(line), int(cell) if cell else None))
        )
        click.echo(_escaped(head))
        for text in said:
            for part in wrapped(text, terminal_columns(), "  ", "      "):
                click.echo(part)
    except (Unreadable, ValueError) as problem:
        raise click.ClickException(f"{paths[0]}: {problem}") from None
    return 0


def _check_stdin(configuration: Configuration, options: dict[str, Any]) -> int:
    from kerascheck.finding import UNREADABLE, FileError, Location
    from kerascheck.lint import pipeline
    from kerascheck.project.discovery import File
    from kerascheck.result import LintResult
    from kerascheck.source import Unreadable, decode, display_path
    from kerascheck.source.notebook import extract, looks_like_one
    from kerascheck.source.reading import cannot_be_read, read_stream

    if sys.stdin is None:
        raise click.ClickException("standard input is closed")
    name = options["stdin_filename"]
    _refuse_to_overwrite([name] if name else [], options)
    path = display_path(name) if name else "-"
    settings = configuration.for_file(name or "stdin.py")
    file = File(path, settings)
    data = b""
    try:
        data = read_stream(sys.stdin.buffer)
        source = extract(path, data) if name is None and looks_like_one(data) else decode(path, data)
    except (Unreadable, OSError) as given_up:
        problem = cannot_be_read(given_up) if isinstance(given_up, OSError) else given_up
        place = Location(path, None, problem.line, problem.column, problem.line, problem.column)
        outcome = LintResult(errors=[FileError(UNREADABLE, place, problem.message)], files=1)
    else:
        outcome = pipeline.Session(configuration).lint(source)
    report_filter = _report_filter(("-",), options)
    report_filter.apply(outcome, [file])
    if options["diff"]:
        return _diff([file], outcome, report_filter, options, data)
    if not options["fix"]:
        return _report(outcome, [file], options)
    from kerascheck.lint.fix_files import repairs

    made = list(repairs([file], outcome, unsafe=options["unsafe_fixes"], report_filter=report_filter, given=data))
    for repair in made:
        data = repair.after
        _took(repair, outcome, options)
    _tell_skipped(outcome, options)
    # The code goes where the next program reads it, the report to people.
    click.echo(data, nl=False)
    return _report(outcome, [file], options, err=True, fixed=sum(len(repair.fixed.applied) for repair in made))


def _fix(files: Sequence[File], outcome: LintResult, report_filter: ReportFilter, options: dict[str, Any]) -> int:
    """Write every file that fixes change; how many findings that repaired."""
    from kerascheck.lint.fix_files import repairs
    from kerascheck.source.writing import write_atomically

    applied = 0
    for repair in repairs(files, outcome, unsafe=options["unsafe_fixes"], report_filter=report_filter):
        path = repair.source.path
        try:
            write_atomically(path, repair.after)
        except OSError as problem:
            outcome.errors.append(_cannot_be_written(path, problem))
            continue
        _took(repair, outcome, options)
        applied += len(repair.fixed.applied)
    _tell_skipped(outcome, options)
    return applied


def _add_noqa(files: Sequence[File], outcome: LintResult, report_filter: ReportFilter, options: dict[str, Any]) -> int:
    """Silence every finding by a comment in its file; the exit code of the run, for what is left."""
    from kerascheck.lint.add_noqa import commented
    from kerascheck.report import common, concise
    from kerascheck.source.writing import write_atomically

    silenced, changed, left = 0, 0, []
    for made in commented(outcome, files, report_filter):
        if made.silenced:
            path = made.source.path
            try:
                write_atomically(path, made.source.with_text(made.text).encode())
            except OSError as problem:
                outcome.errors.append(_cannot_be_written(path, problem))
                continue
            silenced, changed = silenced + len(made.silenced), changed + 1
        left += [finding for finding, _ in made.left]
        for line in common.not_silenced(made.left):
            click.echo(line, err=True)
    for line in concise.render([], outcome.errors, outcome.sources):
        click.echo(line, err=True)
    if not options["quiet"]:
        click.echo(f"Silenced {common.count(silenced, 'finding')} in {common.count(changed, 'file')}.")
    if outcome.errors:
        return 2
    return int(bool(_failing(left, files, {}, options)) and not options["exit_zero"])


def _cannot_be_written(path: str, problem: OSError) -> FileError:
    from kerascheck.finding import UNREADABLE, FileError, Location

    place = Location(path, None, 1, 1, 1, 1)
    return FileError(UNREADABLE, place, f"cannot be written: {problem.strerror or problem}")


def _took(repair: Repair, outcome: LintResult, options: dict[str, Any]) -> None:
    """Say what was repaired, and go on with what is left."""
    from kerascheck.report import common

    repair.take(outcome)
    if not options["quiet"]:
        click.echo(common.fixed(repair.source.path, repair.fixed.applied), err=True)


def _tell_skipped(outcome: LintResult, options: dict[str, Any]) -> None:
    """Say which fixes were dropped, and why."""
    from kerascheck.report import common

    for line in common.skipped(outcome.skipped) if not options["quiet"] else ():
        click.echo(line, err=True)


def _diff(
    files: Sequence[File],
    outcome: LintResult,
    report_filter: ReportFilter,
    options: dict[str, Any],
    given: bytes | None = None,
) -> int:
    """Print what --fix would change as one patch; the exit code of the run."""
    from kerascheck.fixes.patch import patch
    from kerascheck.lint.fix_files import repairs
    from kerascheck.report import common, concise

    made = list(repairs(files, outcome, unsafe=options["unsafe_fixes"], report_filter=report_filter, given=given))
    folder, text = patch(
        {repair.source.path: (repair.before, repair.after) for repair in made if not repair.cells},
        {repair.source.path: repair.cells for repair in made},
    )
    click.echo(text, nl=False)
    for line in concise.render([], outcome.errors, outcome.sources):
        click.echo(line, err=True)
    _tell_skipped(outcome, options)
    if not options["quiet"]:
        repaired = sum(len(repair.fixed.applied) for repair in made)
        click.echo(common.would_fix(repaired, len(made), outcome.findings, unsafe=options["unsafe_fixes"]), err=True)
        if made and folder != os.path.realpath(os.getcwd()):
            click.echo(_escaped(f"The paths of the patch count from another folder; apply it in {folder}"), err=True)
    return 2 if outcome.errors else int(bool(made) and not options["exit_zero"])


def _report(
    outcome: LintResult, files: Sequence[File], options: dict[str, Any], *, err: bool = False, fixed: int = 0
) -> int:
    """Print the outcome, after ``fixed`` findings were repaired; the exit code of the run."""
    from kerascheck.catalog.pages import addresses
    from kerascheck.runtime.recall import recall

    findings, errors = outcome.findings, outcome.errors
    errors.sort(key=lambda error: error.sort_key)
    evidence = recall(outcome, {file.path: file.settings.target_tensorflow for file in files})
    failing = _failing(findings, files, evidence, options)
    pages = addresses(findings, {file.path: file.settings.docs_url for file in files})
    if options["output_format"] in _FOR_PROGRAMS:
        from kerascheck.report.report import Report

        report = Report(findings, errors, outcome.sources, outcome.files, evidence, failing, pages, outcome.left_out)
        _for_programs(report, _summary(outcome, files, options, fixed), options, err)
    else:
        summary = _summary(outcome, files, options, fixed)
        _lines(outcome, evidence, pages if _takes_links(options, err) else {}, summary, options, err)
    if errors:
        return 2
    return int(bool(failing) and not options["exit_zero"])


def _failing(
    findings: Sequence[Finding], files: Sequence[File], evidence: Mapping[Finding, Evidence], options: dict[str, Any]
) -> frozenset[Finding]:
    """The findings that make the exit code 1."""
    if options["gate"] == "confirmed":
        return frozenset(finding for finding, measured in evidence.items() if measured.confirmed)
    fail_on = {file.path: file.settings.fail_on for file in files}
    return frozenset(finding for finding in findings if finding.severity >= fail_on[finding.location.path])


def _summary(outcome: LintResult, files: Sequence[File], options: dict[str, Any], fixed: int) -> str:
    """The line about the whole run."""
    from kerascheck.report import common

    failed = {error.location.path for error in outcome.errors}
    concerned = failed.union(finding.location.path for finding in outcome.findings)
    found = {file.path for file in files}
    return common.summary(
        outcome.findings,
        outcome.errors,
        outcome.files,
        fixed=fixed,
        unsafe=options["unsafe_fixes"],
        left_out=outcome.left_out,
        clean=len(found - concerned - outcome.withheld),
        # A file that is named is linted whatever leaves it out.
        broken=_pattern_of(failed) if failed and failed < found and failed.isdisjoint(_arguments()) else None,
    )


def _pattern_of(paths: Collection[str]) -> str:
    """What --extend-exclude takes to leave out some files."""
    from kerascheck.source.escape import shell_word

    (path, *others) = paths
    is_plain = not others and not os.path.isabs(path) and _PLAIN_PATH.fullmatch(path) is not None
    return shell_word(path) if is_plain else "PATTERN"


def _for_programs(report: Report, summary: str, options: dict[str, Any], err: bool) -> None:
    from importlib import import_module

    module, function = _FOR_PROGRAMS[options["output_format"]]
    text = getattr(import_module(f"kerascheck.report.{module}"), function)(report)
    if options["output_file"] is None:
        if text:
            click.echo(text, err=err)
        return
    _write_report(options["output_file"], f"{text}\n" if text else "")
    if not options["quiet"]:
        click.echo(summary, err=err)


def _write_report(path: str, text: str) -> None:
    from kerascheck.source.writing import write_output

    try:
        write_output(path, text.encode("utf-8", "backslashreplace"))
    except OSError as problem:
        raise click.ClickException(f"{path}: the report cannot be written: {problem.strerror or problem}") from None


def _lines(
    outcome: LintResult,
    evidence: Mapping[Finding, Evidence],
    pages: Mapping[Finding, str],
    summary: str,
    options: dict[str, Any],
    err: bool,
) -> None:
    """Print or write the report for people, or the concise one; codes are links to their ``pages``."""
    from kerascheck.report import common

    findings, errors = outcome.findings, outcome.errors
    if options["output_format"] == "concise":
        from kerascheck.report import concise

        lines: Iterable[str] = concise.render(findings, errors, outcome.sources, evidence)
        closing = [summary]
    else:
        lines, closing = _for_people(outcome, evidence, pages, summary, options)
    if options["output_file"] is None:
        for line in lines:
            click.echo(line, err=err, color=color_of(options["color"]))
    else:
        _write_report(options["output_file"], "".join(f"{click.unstyle(line)}\n" for line in lines))
    if options["statistics"]:
        click.echo(common.statistics(findings, outcome.seconds), err=err)
    if not options["quiet"] and outcome.files:
        for line in closing if options["output_file"] is None else [summary]:
            click.echo(line, err=err, color=color_of(options["color"]))


def _for_people(
    outcome: LintResult,
    evidence: Mapping[Finding, Evidence],
    pages: Mapping[Finding, str],
    summary: str,
    options: dict[str, Any],
) -> tuple[list[str], list[str]]:
    """The lines of the default report about findings, and those about the whole run."""
    from kerascheck.catalog import measured
    from kerascheck.report import overview, text

    findings = outcome.findings
    # Who asks for infos, or for a rule, wants to read them.
    named = {word for words in options["select"] for word in words.replace(",", " ").split()} - {"ALL"}
    brief = not (options["verbose"] or options["min_severity"] == "info" or named)
    hints = [finding for finding in findings if brief and overview.is_hint(finding, evidence)]
    in_full = [finding for finding in findings if finding not in set(hints)]
    about = outcome.rules
    if about is None:
        from kerascheck.catalog import registry

        about = {spec.code: (spec.summary, spec.speed) for spec in registry.rule_specs()}
    summaries = {code: summary for code, (summary, _) in about.items()}
    rules = overview.by_urgency(in_full, measured.gains())
    width = text.terminal_columns()
    lines = [
        *text.render(in_full, outcome.errors, outcome.sources, click.style, evidence, width, pages),
        *overview.hints(
            hints,
            summaries,
            click.style,
            width,
            last={code for code, (_, speed) in about.items() if not speed},
            addresses=pages,
        ),
    ]
    closing = [*overview.start(rules, summaries, click.style, width), *text.wrapped(summary, width)]
    if command := overview.next_command(findings, rules, _arguments(), width, fixing=options["fix"]):
        closing.append(command)
    return lines, closing


def _arguments() -> list[str]:
    """Those of this run, as another one can have them."""
    given = click.get_current_context().meta[_ARGUMENTS]
    return [each for each in given[given[:1] == ("check",) :] if each != "--watch"]


def color_of(choice: str, *, to_file: bool = False) -> bool | None:
    """What click wants to know of colors, by the option ``--color``: None leaves it to whether the output is a terminal."""
    if choice != "auto":
        return choice == "always"
    if to_file or os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR", "0") not in ("", "0") else None


def _takes_links(options: dict[str, Any], err: bool) -> bool:
    """Whether the report goes to a terminal, in color: files and pipes get no links."""
    stream = sys.stderr if err else sys.stdout
    is_terminal = options["output_file"] is None and stream.isatty() and os.environ.get("TERM") != "dumb"
    return is_terminal and color_of(options["color"]) is not False


class _Progress:
    """A line on a terminal's standard error while a run takes long."""

    def __init__(self, options: dict[str, Any]):
        import time

        self._clock = time.monotonic
        self._started = self._clock()
        self._active = sys.stderr.isatty() and not options["quiet"]
        self._shown = False

    def show(self, done: int, total: int) -> None:
        if self._active and self._clock() - self._started > _PROGRESS_AFTER_SECONDS:
            click.echo(f"\r{done}/{total} files", nl=False, err=True)
            self._shown = True

    def clear(self) -> None:
        if self._shown:
            click.echo("\r" + " " * 40 + "\r", nl=False, err=True)


@cli.command(short_help="Explain a rule, or list all of them.")
@click.argument("name", required=False, metavar="[CODE|NAME]", shell_complete=completion.rule)
@click.option("--all", "every", is_flag=True, help="Explain every rule.")
@folders_option
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rule(name: str | None, every: bool, output_format: str) -> int:
    """Explain a rule: what it costs, what the runtime does by itself, what to write. Lists the rules without a name."""
    from kerascheck.catalog import registry
    from kerascheck.project.config import ConfigError
    from kerascheck.report import rule_page

    if name and every:
        raise click.UsageError("name a rule or give --all, not both")
    try:
        specs = [registry.find(name)] if name else registry.rule_specs()
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None
    if output_format == "json":
        click.echo(rule_page.as_json(specs, single=name is not None))
    elif name or every:
        from kerascheck.report.text import terminal_columns

        page, width = "\n\n".join(map(rule_page.as_text, specs)), terminal_columns(otherwise=0)
        click.echo(rule_page.fitted(page, width) if width else page)
    else:
        click.echo(rule_page.as_list(specs))
    return 0


@cli.command(short_help="Remove the results that are kept for the next run.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completion.path)
@_cache_option("The folder that results were kept in.  [.kerascheck/cache of the project]")
def clean(paths: tuple[str, ...], cache_dir: str | None) -> int:
    """Remove the results that checking PATH ('.' if none is named) has kept; what 'verify' measured stays."""
    from kerascheck.cache.folder import Folder, folder_for

    folder = folder_for(paths or (".",), cache_dir or None)
    try:
        size = Folder(folder).remove() if folder is not None else 0
    except OSError as problem:
        raise click.ClickException(f"{problem.filename}: cannot be removed: {problem.strerror}") from None
    kept = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
    click.echo(f"Removed {kept} from {_escaped(folder or '')}." if size else "Nothing is kept.")
    return 0


@cli.command("config", short_help="List the settings, or describe one.")
@click.argument("key", required=False, shell_complete=completion.setting)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def config_command(key: str | None, output_format: str) -> int:
    """List the settings of configuration files, or describe KEY: what it takes, its default and its option."""
    from kerascheck.cli import list_settings
    from kerascheck.project.config import ConfigError
    from kerascheck.report.text import terminal_columns

    options = {name for parameter in check.params for name in parameter.opts}
    try:
        settings = list_settings.described(key, options)
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None
    if output_format == "json":
        import json

        click.echo(json.dumps(settings, indent=2, ensure_ascii=False))
    else:
        for line in list_settings.lines(settings, min(terminal_columns(), 120)):
            click.echo(line)
    return 0


@cli.command("new-rule", short_help="Write the folder of a new rule.")
@click.argument("place", metavar="FAMILY/NAME")
@click.option("--rules", "folder", metavar="DIR", help="Write it into this folder of your own, not into kerascheck.")
def new_rule_command(place: str, folder: str | None) -> int:
    """Write the folder of a new rule, such as layers/print-in-step, to be filled in."""
    from kerascheck.cli.new_rule import new_rule

    try:
        for line in new_rule(place, folder):
            click.echo(_escaped(line))
    except OSError as problem:
        raise click.ClickException(f"{problem.filename} cannot be written: {problem.strerror}") from None
    return 0


@cli.command(
    "completion",
    short_help="Print the completion script for bash, zsh or fish.",
    epilog='bash: eval "$(kerascheck completion bash)" in ~/.bashrc; zsh: the same in ~/.zshrc, behind compinit;'
    " fish: kerascheck completion fish > ~/.config/fish/completions/kerascheck.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> int:
    """Print the script by which a shell completes commands, options, rules and paths."""
    from kerascheck.cli.shells import script

    click.echo(script(cli, shell), nl=False)
    return 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    if sys.stderr is None:
        # Otherwise the next file that is opened gets its number, and what libraries write there.
        sys.stderr = open(os.devnull, "w")
    if sys.stdout is None:
        _complain("standard output is closed")
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        # A path or a line of code may hold what the terminal's encoding lacks.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if completion.VARIABLE in os.environ:
        from kerascheck.cli import shells

        shells.register()
    try:
        code = cli.main(arguments, prog_name="kerascheck", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as problem:
        _complain(problem.format_message())
        code = 2
    except click.Abort:
        code = 130
    except BrokenPipeError:
        # The reader has seen enough, as in 'kerascheck . | head'.
        _discard(sys.stdout)
        code = 141
    except Exception as problem:  # noqa: BLE001 - Python would end with 1, which means findings
        if isinstance(problem, FileNotFoundError) and problem.filename is None:
            # Python names no file where it asks for the working folder; writing fails for other reasons.
            _complain("the folder that it runs in does not exist any more: change to another one")
        elif isinstance(problem, OSError) and problem.filename is None:
            _discard(sys.stdout)
            _complain(f"the output cannot be written: {problem.strerror or problem}")
        elif _is_about_settings(problem):
            _complain(str(problem))
        else:
            import traceback

            _write_error(traceback.format_exc())
            _complain("this is a fault of kerascheck: please report it with the lines above")
        code = 2
    sys.exit(code)


def _is_about_settings(problem: Exception) -> bool:
    from kerascheck.project.config import ConfigError

    return isinstance(problem, ConfigError)


def _complain(message: str) -> None:
    _write_error(f"kerascheck: error: {_escaped(' '.join(message.split()))}\n")


def _escaped(text: str) -> str:
    """What is printed of names and of messages that quote them."""
    from kerascheck.source.escape import escaped

    return escaped(text)


def _warn(message: str) -> None:
    click.echo(f"warning: {_escaped(message)}", err=True)


def _write_error(text: str) -> None:
    """Write on standard error, where that can be written."""
    try:
        click.echo(text, nl=False, err=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Let what is still to be written to a stream vanish: Python writes it when it ends, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
