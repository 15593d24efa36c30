"""The command ``verify``: measure the fixes of a script on this machine."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kerascheck.cli import completers
from kerascheck.cli.options import folders_option
from kerascheck.cli.terminal import color_of
from kerascheck.cli.verify_options import VerifyOptions
from kerascheck.runtime.verify.running import (
    Progress,
    ScriptCommand,
    ends_on_signals,
    print_report,
    verify_here,
)

if TYPE_CHECKING:
    from kerascheck.runtime.verify.budget import TrainingSelector
    from kerascheck.runtime.verify.prepared import Prepared
    from kerascheck.runtime.verify.process import Script
    from kerascheck.runtime.verify.remote.target import Target
    from kerascheck.runtime.verify.result import Verification

_T = TypeVar("_T")
_MARK = "kerascheck verify"
_LEAST_EFFECT, _MOST_EFFECT = 0.01, 0.5


def _percent(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """A share from "5%" or "5"; between 1 and 50 %, for less is noise on every machine."""
    try:
        share = float(value.strip().removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not _LEAST_EFFECT <= share <= _MOST_EFFECT:
        raise click.BadParameter(
            f"{value!r} is no percentage between {_LEAST_EFFECT:.0%} and {_MOST_EFFECT:.0%}, such as 5%"
        )
    return share


def _training(context: click.Context, parameter: click.Parameter, value: str | None) -> TrainingSelector | None:
    """A training by its number, or by a line: "2", ":40", "train.py:40"."""
    from kerascheck.runtime.verify.budget import TrainingSelector

    if value is None:
        return None
    path, colon, number = value.rpartition(":")
    if not number.isascii() or not number.isdigit() or int(number) < 1:
        raise click.BadParameter(
            f"{value!r} is neither the number of a training, such as 2, nor a line, such as :40 or train.py:40"
        )
    if not colon:
        return TrainingSelector(number=int(number))
    return TrainingSelector(path=os.path.normpath(path) if path else None, line=int(number))


@click.command(
    short_help="Measure what each fix of a script is worth here.",
    cls=ScriptCommand,
    context_settings={"ignore_unknown_options": False},
    epilog="Exit codes: 0 nothing to win was confirmed, 1 a finding was confirmed, 2 the script could not be measured, "
    "or --apply could not write. "
    "Arguments of the script follow after '--'.",
)
@click.argument("script", required=False, type=click.Path())
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS...]", shell_complete=completers.path)
@click.option(
    "--rule", metavar="CODE|NAME", shell_complete=completers.rule,
    help="Run the slow.py of a rule instead of a script of yours.",
)  # fmt: skip
@click.option(
    "--select", multiple=True, metavar="RULES", shell_complete=completers.rules,
    help="Verify only findings of these rules.",
)  # fmt: skip
@click.option(
    "--ignore", multiple=True, metavar="RULES", shell_complete=completers.rules,
    help="Leave findings of these rules out.",
)  # fmt: skip
@folders_option
@click.option(
    "--budget", default=60.0, show_default=True, type=click.FloatRange(1), help="Seconds per variant at most, about."
)
@click.option(
    "--quick",
    is_flag=True,
    help="Two rounds of fresh processes: only large effects can be confirmed, the rest is inconclusive.",
)
@click.option("--steps", type=click.IntRange(1), help="Measured steps per variant at most.")
@click.option(
    "--no-effect",
    default="5%",
    show_default=True,
    metavar="PERCENT",
    callback=_percent,
    help="How little counts as no effect.",
)
@click.option(
    "--training", metavar="N|[FILE]:LINE", callback=_training,
    help="Measure in the Nth training only, or in the one at a line.  [each finding in the one that it concerns]",
)  # fmt: skip
@click.option("--start-limit", default=300.0, show_default=True, help="Seconds until the training must have begun.")
@click.option(
    "--python", default="", metavar="PATH", shell_complete=completers.path,
    help="Interpreter to run the script with.  [the project's, else this one; with --on: see docs/machines.md]",
)  # fmt: skip
@click.option(
    "--on",
    metavar="WHERE",
    help="Run it there: ssh://[user@]host[:port][/folder], slurm[:partition], ray or ray://host:port.",
)
@click.option(
    "--include", multiple=True, metavar="PATTERN",
    help="With --on: also upload files that git does not track, by patterns as in .gitignore; may be repeated. "
    "A file that looks like a secret needs its exact path.",
)  # fmt: skip
@click.option(
    "--apply", is_flag=True, help="Show the confirmed fixes as a patch, and write them into the files after a question."
)
@click.option("--yes", is_flag=True, help="With --apply: write without asking. With --on: upload without asking.")
@click.option(
    "--scaling",
    is_flag=True,
    help="Compare one GPU with all of them instead, for a script with a distribution strategy.",
)
@click.option("--again", is_flag=True, help="With a list: measure what has a row in its results too.")
@click.option(
    "--jobs", default=1, show_default=True, type=click.IntRange(1), help="With a list on slurm or ray: jobs at once."
)
@click.option("--output-format", type=click.Choice(["text", "json", "html"]), default="text", show_default=True)
@click.option("--output-file", type=click.Path(dir_okay=False, writable=True), help="Write the report there.")
@click.option("--no-memory", is_flag=True, help="Do not keep the evidence in .kerascheck/evidence.json.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def verify(script: str | None, arguments: tuple[str, ...], **given: Any) -> int:
    """Run SCRIPT as written and as repaired, and say what each repair is worth on this machine.

    The script is executed, several times, up to the middle of its training; only --apply changes it on disk.
    A SCRIPT that ends in .txt is a list of scripts, one a line with its arguments: each gets a row, and its results are kept beside it.
    """
    from kerascheck.project.config import ConfigError
    from kerascheck.runtime.verify.findings import NotAScript
    from kerascheck.runtime.verify.many import SUFFIX, NotAList

    options = VerifyOptions(**given)
    if (script is None) == (options.rule is None):
        raise click.UsageError("name a script, or a rule with --rule")
    if options.apply or options.yes:
        from kerascheck.cli.verify_apply import refuse_contradictions

        refuse_contradictions(script, options)
    if sys.platform == "win32":
        raise click.ClickException("verify needs signals that Windows does not have; use WSL")
    target = _target(options.on)
    python = options.python or (_interpreter(script) if target is None else target.python)
    options = replace(options, target=target, python=python)
    _check_include(options)
    try:
        with ends_on_signals():
            if script is not None and script.endswith(SUFFIX):
                from kerascheck.cli.verify_many import verify_many

                return verify_many(script, arguments, options)
            if options.scaling:
                if script is None:
                    raise click.UsageError("--scaling takes a script")
                return _scaling(script, arguments, options)
            prepared = _prepared(script, arguments, options)
            result = _measured(prepared, options)
    except (NotAScript, NotAList, ConfigError) as problem:
        raise click.ClickException(str(problem)) from None
    except OSError as problem:
        raise click.ClickException(f"no process could be started: {problem}") from None
    if result is None:
        return 2
    if not options.no_memory and options.rule is None:
        from kerascheck.runtime.verify import memory

        memory.remember(result)
    _write(result, options)
    return _apply(prepared, result, options) if options.apply else result.exit_code


def _prepared(script: str | None, arguments: tuple[str, ...], options: VerifyOptions) -> Prepared:
    from kerascheck.runtime.verify.prepared import prepare

    spec = None
    if options.rule:
        from kerascheck.catalog import registry
        from kerascheck.catalog.rule import Rule

        spec = registry.find(options.rule)
        if spec.kind is not Rule:
            raise click.UsageError(f"{spec.code} {spec.name} is not about scripts: there is nothing to run")
        script = str(spec.folder / "slow.py")
    assert script is not None, "there is a script where there is no rule"
    return prepare(script, arguments, options.configuration(spec), python=options.python, spec=spec)


def _measured(prepared: Prepared, options: VerifyOptions) -> Verification | None:
    """The verification of a script, here or on the target; None, with the reason said, where that was not possible."""
    if options.target is not None:
        return _elsewhere(prepared, options.target, options)
    _announce(prepared.run, prepared.command, len(prepared.repairs), options)
    with Progress() as progress:
        return verify_here(prepared, options.limits, progress)


def _apply(prepared: Prepared, result: Verification, options: VerifyOptions) -> int:
    from kerascheck.cli.verify_apply import apply_confirmed

    def measure(combined: Prepared) -> Verification | None:
        # The upload of the same script to the same target was agreed to before.
        try:
            with ends_on_signals():
                return _measured(combined, replace(options, yes=True))
        except OSError as problem:
            click.echo(f"no process could be started: {problem}", err=True)
            return None

    return apply_confirmed(prepared, result, options, measure)


def _scaling(script: str, arguments: tuple[str, ...], options: VerifyOptions) -> int:
    """Compare one GPU with all of them; the exit code."""
    import json

    from kerascheck.runtime.verify import scaling
    from kerascheck.runtime.verify.prepared import prepare

    if options.output_format == "html":
        raise click.UsageError("--scaling has no HTML report")
    try:
        names = [] if options.target else scaling.here()
    except scaling.TooFewGpus as problem:
        raise click.ClickException(str(problem)) from None
    prepared = prepare(script, arguments, options.configuration(), python=options.python)
    if options.target is not None:
        from kerascheck.runtime.verify.remote.run import measure_scaling

        result = _there(prepared, options.target, options, partial(measure_scaling, command=prepared.command))
        if result is None:
            return 2
    else:
        click.echo(
            click.style(
                f"{_MARK} EXECUTES YOUR SCRIPT on 1 and on {len(names)} GPUs: {prepared.command}. Ctrl-C stops everything.",
                bold=True,
            ),
            err=True,
        )
        with Progress() as progress:
            result = scaling.measure(prepared.run, names, prepared.command, options.limits, progress.show)
    print_report(
        json.dumps(result.as_dict(), indent=2)
        if options.output_format == "json"
        else "\n".join(scaling.render(result)),
        options.output_file,
    )
    return 2 if result.ratio is None else 0


def _target(on: str | None) -> Target | None:
    """The machine that ``--on`` names, or None for this one."""
    from kerascheck.runtime.verify.remote.target import BadTarget, parse

    try:
        return parse(on) if on else None
    except BadTarget as problem:
        raise click.UsageError(f"--on {problem}") from None


def _interpreter(script: str | None) -> str:
    """The interpreter of a run on this machine where the command line names none: that of the script's project."""
    from kerascheck.runtime.verify.interpreter import of_project

    if script is None:
        return sys.executable
    python, found_by = of_project(script)
    if found_by is not None:
        click.echo(f"{_MARK}: with {python} ({found_by}); --python names another one", err=True)
    return python


def _check_include(options: VerifyOptions) -> None:
    """Raise UsageError for an ``--include`` that means nothing."""
    from kerascheck.source import patterns

    if options.include and not options.target:
        raise click.UsageError("--include is for --on: on this machine the script sees all files")
    for pattern in options.include:
        try:
            patterns.spec(pattern)
        except patterns.BadPattern as problem:
            raise click.UsageError(f"--include: {problem}") from None


def _elsewhere(prepared: Prepared, target: Target, options: VerifyOptions) -> Verification | None:
    """The verification of a script on the target; None, with the reason said, where that was not possible."""
    from kerascheck.runtime.verify.remote.run import measure

    measured = _there(prepared, target, options, partial(measure, variants=prepared.variants))
    return None if measured is None else prepared.result(*measured)


def _there(prepared: Prepared, target: Target, options: VerifyOptions, measure: Callable[..., _T]) -> _T | None:
    """What ``measure`` finds on the target, once the upload is agreed to; None, with the reason said, where that was not possible."""
    from kerascheck.runtime.verify.remote import pack, talk
    from kerascheck.runtime.verify.remote import run as remote

    try:
        root = os.path.dirname(prepared.run.path) if options.rule else None
        upload = pack.of_project(prepared.run.path, prepared.run.sources, root, options.include)
        remote.agree(target, options.python, [upload], [prepared.command], yes=options.yes)
        with Progress() as progress:
            return measure(target, options.python, upload, prepared.run, options.limits, progress.show)
    except (pack.TooLarge, pack.NeedsSecret, remote.NotAgreed, talk.Refused) as problem:
        click.echo(f"{target.label}: {problem}", err=True)
        return None


def _announce(run: Script, command: str, variants: int, options: VerifyOptions) -> None:
    """Say, before anything happens, what will be executed."""
    minutes = (variants + 1) * options.budget / 60
    also = f" and in {variants} repaired variant{'s' * (variants != 1)}, each several times" if variants else ""
    for line in (
        f"{_MARK} EXECUTES YOUR SCRIPT: {command}",
        f"  with {run.python}, in {os.getcwd()},",
        f"  as written{also}, for about {max(1, round(minutes))} min at most,",
        "  up to the middle of its training: what it does before that (files, network)",
        "  it really does. Ctrl-C stops everything.",
    ):
        click.echo(click.style(line, bold=line.startswith(_MARK)), err=True)


def _write(result: Verification, options: VerifyOptions) -> None:
    style, color = click.style, color_of(options.color, to_file=bool(options.output_file))
    if options.output_format == "json":
        import json

        text = json.dumps(result.as_dict(), indent=2)
    elif options.output_format == "html":
        from kerascheck.runtime.verify import report_html

        text = report_html.render(result)
    else:
        from kerascheck.report.text import terminal_columns
        from kerascheck.runtime.verify import report_text

        lines = report_text.render(result, style)
        width = 0 if options.output_file else terminal_columns(otherwise=0)
        text = "\n".join(report_text.fitted(lines, width) if width else lines)
    print_report(text, options.output_file, color)
