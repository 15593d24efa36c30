"""The options of ``check`` as a typed record, and the option decorators that several commands share."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from kerascheck.cli import ARGUMENTS, completers

_Command = TypeVar("_Command", bound=Callable[..., Any])

SEVERITIES = ("info", "warning", "error")
MACHINE_FORMATS = {
    "json": ("json", "render"),
    "json-lines": ("json", "render_lines"),
    "sarif": ("sarif", "render"),
    "github": ("github", "render"),
    "gitlab": ("gitlab", "render"),
    "junit": ("junit", "render"),
    "azure": ("azure", "render"),
    "grouped": ("grouped", "render"),
    "pylint": ("pylint", "render"),
    "rdjson": ("rdjson", "render"),
}
"""By output format for other programs, the module of kerascheck.report that writes it, and its function."""
_NUMBER = re.compile(r"[0-9]{1,9}")


# --- option decorators that several commands share ------------------------------------------------------


def _use_rules(context: click.Context, parameter: click.Parameter, folders: tuple[str, ...]) -> None:
    # The import is slow, and most runs name no folder.
    if folders or "kerascheck.catalog.registry" in sys.modules:
        from kerascheck.catalog import registry

        registry.use_folders(folders)


folders_option = click.option(
    "--rules", "rule_folders", multiple=True, metavar="DIR", expose_value=False, is_eager=True, callback=_use_rules,
    shell_complete=completers.folder, help="Run the rules of this folder too; their code is executed.",
)  # fmt: skip
"""For commands that run or explain rules. No configuration can name such a folder, since its code is executed."""


def cache_option(text: str) -> Callable[[_Command], _Command]:
    """The option ``--cache-dir`` with a help text."""
    return click.option(
        "--cache-dir",
        type=click.Path(file_okay=False),
        envvar="KERASCHECK_CACHE_DIR",
        show_envvar=True,
        metavar="DIR",
        help=text,
    )


# --- the options of ``check`` -------------------------------------------------------------------------------


@dataclass(frozen=True)
class CheckOptions:
    """The options of ``check``, named as click names them."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    extend_ignore: tuple[str, ...]
    min_severity: str | None
    fail_on: str | None
    pedantic: bool
    gate: str
    exit_zero: bool
    per_file_ignores: Mapping[str, list[str]]
    """Rules by path pattern."""
    fix: bool
    fix_only: bool
    """Fix, and report only what cannot be read."""
    exit_non_zero_on_fix: bool
    unsafe_fixes: bool
    diff: bool
    add_noqa: bool
    ignore_noqa: bool
    baseline: str | None
    no_baseline: bool
    write_baseline: str | None
    diff_base: str | None
    output_format: str | None
    """None if none is named, which means "text"."""
    sort: str
    """Order of the text report: "severity" or "path"."""
    output_file: str | None
    watch: bool
    statistics: bool
    target_tensorflow: str | None
    this_machine: bool
    exclude: tuple[str, ...]
    extend_exclude: tuple[str, ...]
    force_exclude: bool
    include_tests: bool
    shard: tuple[int, int] | None
    """The number of the part to report on, counted from 1, and the number of parts."""
    config: tuple[str, ...]
    """Configuration files and settings in TOML; see :attr:`config_file` and :attr:`config_tables`."""
    isolated: bool
    cache_dir: str | None
    no_cache: bool
    stdin_filename: str | None
    explain_silence: str | None
    show_files: bool
    show_settings: bool
    color: str
    verbose: bool
    quiet: bool

    @property
    def by_name(self) -> Mapping[str, Any]:
        """The values by name, for :func:`kerascheck.project.config.overrides_from`."""
        return vars(self)

    @property
    def config_tables(self) -> tuple[str, ...]:
        """The settings in TOML that ``--config`` states."""
        return tuple(value for value in self.config if "=" in value and not os.path.exists(value))

    @property
    def config_file(self) -> str | None:
        """The configuration file that ``--config`` names."""
        return next((value for value in self.config if value not in self.config_tables), None)

    @property
    def is_for_machines(self) -> bool:
        """Whether another program reads the report."""
        return self.output_format in MACHINE_FORMATS

    @property
    def is_about_rules_only(self) -> bool:
        """Whether the table of --statistics replaces the report: nothing else asks for the report."""
        return self.statistics and self.output_format is None and self.output_file is None

    def refuse_contradictions(self, paths: Sequence[str]) -> None:
        """Raise UsageError for options that exclude each other, and for empty file names."""
        for name in ("output_file", "write_baseline", "baseline", "config"):
            if self.by_name[name] == "" or name == "config" and "" in self.config:
                # As from an unset variable in a script.
                raise click.UsageError(f"{written(name)} names no file: it is empty")
        files = [value for value in self.config if value not in self.config_tables]
        if len(files) > 1:
            raise click.UsageError(f"--config names several files, {', '.join(files)}; one file can 'extend' another")
        if files and self.isolated:
            raise click.UsageError(f"--isolated cannot be combined with --config {files[0]}")
        if "-" in paths and len(paths) > 1:
            raise click.UsageError("'-' cannot be combined with other paths")
        if self.diff and self.is_for_machines:
            raise click.UsageError(f"--diff cannot be combined with --output-format {self.output_format}")
        for name, others in _CONTRADICTIONS.items():
            for other in others if self.by_name[name] else ():
                if other == "-" and "-" in paths:
                    raise click.UsageError(f"{written(name)} cannot be combined with '-'")
                if self.by_name.get(other):
                    raise click.UsageError(f"{written(name)} cannot be combined with {written(other)}")


_CONTRADICTIONS = {
    "diff": ("output_file",),
    "baseline": ("no_baseline",),
    "add_noqa": ("-", "fix", "diff", "output_file", "ignore_noqa"),
    "write_baseline": ("-", "fix", "diff", "add_noqa", "output_file", "shard", "diff_base", "baseline", "no_baseline"),
    "watch": ("-", "fix", "diff", "add_noqa", "write_baseline", "statistics", "show_settings", "explain_silence"),
}
"""By option, the options that it excludes; ``-`` is standard input."""


def written(name: str) -> str:
    """An option as the user writes it."""
    return f"--{name.replace('_', '-')}"


def _shard(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    number, _, total = value.partition("/")
    if not (_NUMBER.fullmatch(number) and _NUMBER.fullmatch(total) and 1 <= int(number) <= int(total)):
        raise click.BadParameter(f"'{value}' is no part of a whole; write K/N with K from 1 to N, such as 3/8")
    return int(number), int(total)


def _per_file(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for value in values:
        pattern, colon, rules = value.rpartition(":")
        if not colon or not pattern or not rules:
            raise click.BadParameter(f"'{value}' is no PATTERN:RULES, such as 'experiments/*:KC101,KC103'")
        found.setdefault(pattern, []).extend(rules.replace(",", " ").split())
    return found


def _rules_option(name: str, text: str) -> Callable[[_Command], _Command]:
    return click.option(name, multiple=True, metavar="RULES", shell_complete=completers.rules, help=text)


_SECTIONS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "Rules": (
        _rules_option("--select", "Run only these rules: codes, prefixes (KC1), names or ALL, separated by commas."),
        _rules_option("--ignore", "Leave these rules out."),
        _rules_option("--extend-select", "Run these rules too."),
        _rules_option("--extend-ignore", "Leave these rules out too."),
        click.option(
            "--per-file-ignores",
            multiple=True,
            metavar="PATTERN:RULES",
            callback=_per_file,
            help="Leave these rules out in some files; repeat it for other patterns.",
        ),
        folders_option,
        click.option(
            "--min-severity", type=click.Choice(SEVERITIES), help="Report findings from this severity up.  [info]"
        ),
        click.option(
            "--pedantic", is_flag=True, help="Report what costs nothing too, such as what the runtime repairs."
        ),
        click.option("--target-tensorflow", metavar="VERSION", help="TensorFlow that the code runs on, such as 2.15."),
        click.option(
            "--this-machine",
            is_flag=True,
            help="Judge for the GPU of this machine: mixed precision only where it gains.",
        ),
    ),
    "Fixes": (
        click.option("--fix", is_flag=True, help="Apply fixes that keep the behaviour."),
        click.option("--fix-only", is_flag=True, help="Apply fixes, report no findings, and exit with 0."),
        click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if --fix has changed something."),
        click.option(
            "--unsafe-fixes", is_flag=True, help="Let --fix and --diff take fixes that may change results too."
        ),
        click.option(
            "--diff",
            is_flag=True,
            help="Print what --fix would change as a patch; write nothing, exit with 1 for changes.",
        ),
    ),
    "Findings that are already there": (
        click.option("--baseline", metavar="FILE", help="Leave out the findings that this file has."),
        click.option("--no-baseline", is_flag=True, help="Use no baseline that a configuration file names."),
        click.option("--write-baseline", metavar="FILE", help="Write all findings into this file; report none."),
        click.option(
            "--diff-base",
            metavar="REV",
            help="Report only findings on lines that have changed since this revision of git.",
        ),
        click.option(
            "--add-noqa", is_flag=True, help="Write '# kerascheck: ignore[...]' on the line of every finding."
        ),
        click.option("--ignore-noqa", is_flag=True, help="Report findings that comments suppress too."),
    ),
    "Files": (
        click.option(
            "--exclude",
            multiple=True,
            metavar="PATTERN",
            shell_complete=completers.path,
            help="Leave out these paths instead of the default ones.",
        ),
        click.option(
            "--extend-exclude",
            multiple=True,
            metavar="PATTERN",
            shell_complete=completers.path,
            help="Leave out these paths too.",
        ),
        click.option(
            "--force-exclude", is_flag=True, help="Leave out excluded and test files even if named explicitly."
        ),
        click.option("--include-tests", is_flag=True, help="Lint test files found in folders too."),
        click.option(
            "--stdin-filename",
            metavar="NAME",
            shell_complete=completers.path,
            help="Path to assume for code read from standard input ('-').",
        ),
        click.option(
            "--shard",
            metavar="K/N",
            callback=_shard,
            help="Report on the K-th of N parts of the files: the N jobs of a CI matrix together report on all files.",
        ),
        click.option("--show-files", is_flag=True, help="Print the files that would be linted, and exit."),
    ),
    "Report": (
        click.option(
            "--output-format",
            type=click.Choice(["text", "concise", *MACHINE_FORMATS]),
            metavar="FORMAT",
            help=f"How findings are printed: text, concise, {', '.join(MACHINE_FORMATS)}.  [text]",
        ),
        click.option(
            "--sort",
            type=click.Choice(["severity", "path"]),
            default="severity",
            show_default=True,
            help="Order of the text report: errors first, or by place.",
        ),
        click.option(
            "-o",
            "--output-file",
            type=click.Path(dir_okay=False),
            metavar="FILE",
            help="Write the report there; print the summary only.",
        ),
        click.option(
            "--statistics",
            is_flag=True,
            help="Print findings and time per rule instead of the report; after it with -o or --output-format text, concise.",
        ),
        click.option(
            "--explain-silence",
            metavar="LINE",
            help="Tell why rules say nothing about this line of the one file named (CELL:LINE in a notebook).",
        ),
        click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True),
        click.option(
            "-v",
            "--verbose",
            is_flag=True,
            help="Show findings of severity info in full too, say why there is no fix, and name what was skipped.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Print findings and errors only."),
    ),
    "Exit code": (
        click.option("--fail-on", type=click.Choice(SEVERITIES), help="Exit with 1 from this severity up.  [warning]"),
        click.option(
            "--gate",
            type=click.Choice(["all", "confirmed"]),
            default="all",
            show_default=True,
            help="'confirmed': exit with 1 only for findings, of any severity, that 'kerascheck verify' confirmed on this machine.",
        ),
        click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found."),
    ),
    "Configuration": (
        click.option(
            "--config",
            multiple=True,
            metavar="FILE|SETTING",
            shell_complete=completers.path,
            help="Read this configuration file instead of the nearest of each file; or override a setting: 'key = value' in TOML.",
        ),
        click.option("--isolated", is_flag=True, help="Read no configuration file."),
        click.option(
            "--show-settings",
            is_flag=True,
            help="Print the settings of the first path, and where each is stated, and exit.",
        ),
    ),
    "Miscellaneous": (
        cache_option("Keep results there.  [.kerascheck/cache of the project]"),
        click.option("--no-cache", is_flag=True, help="Neither use nor keep results of other runs."),
        click.option("--watch", is_flag=True, help="Lint again whenever something changes, until Ctrl-C."),
    ),
}
"""The options by the section of ``--help`` that lists them, in its order."""
_SECTION_OF: dict[str | None, str] = {}
"""By the name of an option, its section."""


def check_options(command: _Command) -> _Command:
    """Decorate a command with the options of :class:`CheckOptions`."""
    for section, options in reversed(_SECTIONS.items()):
        for option in reversed(options):
            command = option(command)
            _SECTION_OF[command.__click_params__[-1].name] = section  # type: ignore[attr-defined]
    return command


class SectionedCommand(click.Command):
    """A command whose ``--help`` lists the options of :func:`check_options` in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, and the options without one at the end."""
        listed: dict[str, list[tuple[str, str]]] = {section: [] for section in _SECTIONS}
        for parameter in self.get_params(ctx):
            # The usage line names the paths.
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                listed[_SECTION_OF.get(parameter.name, "Miscellaneous")].append(record)
        for section, records in listed.items():
            with formatter.section(section):
                formatter.write_dl(records)


def given_arguments() -> list[str]:
    """The arguments of this run that another run can repeat."""
    given = click.get_current_context().meta[ARGUMENTS]
    return [each for each in given[given[:1] == ("check",) :] if each != "--watch"]
