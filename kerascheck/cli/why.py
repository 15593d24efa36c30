"""The command ``why``: explain why a training is slow."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from kerascheck.cli import completers
from kerascheck.cli.options import folders_option
from kerascheck.cli.terminal import color_of
from kerascheck.runtime.verify.interpreter import of_project
from kerascheck.runtime.verify.running import Progress, ScriptCommand, ends_on_signals, print_report

if TYPE_CHECKING:
    from kerascheck.runtime.doctor import Snapshot
    from kerascheck.runtime.verify.gpu_summary import GpuSummary
    from kerascheck.runtime.verify.messages import TrainingFacts
    from kerascheck.runtime.verify.process import Script
    from kerascheck.runtime.verify.verdict import Verdict
    from kerascheck.runtime.why.explain import WhyResult

_NARROWEST, _WIDEST = 60, 120


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of ``why``, named as click names them."""

    prove: bool
    batch_sizes: bool
    profile: str | None
    """Folder of a recorded profile to read; nothing is executed."""
    training: int
    """Number of the training, from 1."""
    python: str | None
    start_limit: float
    """Seconds until the training must have begun."""
    budget: float
    """Seconds that ``prove`` may measure, about."""
    output_format: str
    summary: bool
    output_file: str | None
    color: str


@click.command(
    cls=ScriptCommand,
    short_help="Say why a training is slow, and what to do first.",
    epilog="Exit codes: 0 the training was looked at, 2 the script could not be run or does not train. "
    "Arguments of the script follow after '--'.",
)
@click.argument("script", type=click.Path())
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS...]", shell_complete=completers.path)
@folders_option
@click.option(
    "--prove", is_flag=True, help="Run the script with and without the first recommendation, and measure what it wins."
)
@click.option("--batch-sizes", is_flag=True, help="Also time steps at other batch sizes, up to a minute.")
@click.option(
    "--profile",
    type=click.Path(),
    metavar="DIR",
    help="Read a profile that TensorFlow or JAX recorded, and execute nothing.",
)
@click.option(
    "--training", default=1, type=click.IntRange(1), help="Which training of the script to look at.  [the first]"
)
@click.option(
    "--python", metavar="PATH", shell_complete=completers.path,
    help="Interpreter to run the script with.  [the project's, else this one]",
)  # fmt: skip
@click.option("--start-limit", default=300.0, show_default=True, help="Seconds until the training must have begun.")
@click.option(
    "--budget",
    default=60.0,
    show_default=True,
    type=click.FloatRange(1),
    help="Seconds that --prove may measure, about.",
)
@click.option("--output-format", type=click.Choice(["text", "json", "html"]), default="text", show_default=True)
@click.option("--summary", is_flag=True, help="Print ten lines for an issue or a chat, without paths and code.")
@click.option("--output-file", type=click.Path(dir_okay=False, writable=True), help="Write the answer there.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def why(script: str, arguments: tuple[str, ...], **given: Any) -> int:
    """Say why the training of SCRIPT is slow, and what to do first.

    The script is executed once, up to the middle of its training. That takes 10 to 30
    seconds more than it needs to begin its training.
    """
    from kerascheck.project.config import ConfigError
    from kerascheck.runtime.verify.findings import NotAScript
    from kerascheck.runtime.why.profile_files import NoProfile

    if sys.platform == "win32":
        raise click.ClickException("why needs signals that Windows does not have; use WSL")
    try:
        with ends_on_signals():
            options = _Options(**given)
            return (
                _why(script, arguments, options) if options.profile is None else _recorded(script, arguments, options)
            )
    except (NotAScript, ConfigError, NoProfile) as problem:
        raise click.ClickException(str(problem)) from None
    except OSError as problem:
        raise click.ClickException(f"no process could be started: {problem}") from None


def _why(script: str, arguments: tuple[str, ...], options: _Options) -> int:
    from kerascheck.project.config import Configuration
    from kerascheck.runtime.verify import gpu
    from kerascheck.runtime.verify.findings import findings_of, read_script
    from kerascheck.runtime.verify.process import Script
    from kerascheck.runtime.why.explain import explain_training

    if options.summary and options.output_format != "text":
        raise click.UsageError("--summary is text: leave out --output-format")
    if options.summary and options.batch_sizes:
        raise click.UsageError("--summary shows no batch sizes: leave out one of the two")
    path, texts = read_script(script)
    python, found_by = (options.python, None) if options.python is not None else of_project(path)
    command = shlex.join(["python", os.path.relpath(path), *arguments])
    for line in (
        click.style(f"kerascheck why EXECUTES YOUR SCRIPT: {command}", bold=True),
        "  once, up to the middle of its training: 10 to 30 s of it. Ctrl-C stops it.",
        *(["  Then its step runs at other batch sizes, up to a minute."] if options.batch_sizes else ()),
        *([f"  with {python} ({found_by}); --python names another one."] if found_by else ()),
    ):
        click.echo(line, err=True)
    run = Script(path, texts, arguments, python=python)
    with Progress() as progress, gpu.Sampler() as sampler:
        progress.show("running the script up to the middle of its training", 90 if options.batch_sizes else 30)
        answer = explain_training(
            run,
            lambda: findings_of(script, Configuration()),
            lambda run: problems(run.facts, python),
            training=options.training - 1,
            batch_sizes=options.batch_sizes,
            start_limit=options.start_limit,
        )
    if sampler.failure is not None:
        click.echo(f"kerascheck why: {sampler.failure}", err=True)
    proofs = _proofs(answer, run, options) if options.prove and options.output_format != "text" else []
    _write(answer, sampler.summary(), script, arguments, options, proofs)
    if answer.failure is not None:
        return 2
    if options.prove and options.output_format == "text":
        _prove(answer, run, options)
    return 0


def _recorded(script: str, arguments: tuple[str, ...], options: _Options) -> int:
    """Explain the steps of a recorded profile."""
    from kerascheck.project.config import Configuration
    from kerascheck.runtime.verify.findings import findings_of, read_script
    from kerascheck.runtime.why.recorded import explain_profile

    if options.prove or options.batch_sizes or options.training != 1 or arguments:
        raise click.UsageError("--profile executes nothing: leave out --prove, --batch-sizes, --training and arguments")
    assert options.profile is not None
    path, _ = read_script(script)
    python = options.python or of_project(path)[0]
    click.echo(click.style(f"kerascheck why reads {options.profile} and executes nothing.", bold=True), err=True)
    with Progress() as progress:
        progress.show("reading the profile", 10)
        answer = explain_profile(options.profile, python, lambda: findings_of(script, Configuration()))
    _write(answer, None, script, arguments, options, [])
    return 0


def problems(
    facts: TrainingFacts, python: str, take: Callable[[str | None], Snapshot] | None = None
) -> list[tuple[str, str]]:
    """List problems of the machine with their remedies, first of all a GPU that the run did not use.

    Args:
        facts: of the run.
        python: the interpreter of the script.
        take: takes a snapshot with an interpreter, or (None) without one; None: of this machine.
    """
    from kerascheck.runtime.doctor import Status, diagnose, take_snapshot

    take = take or take_snapshot
    snapshot = take(None)
    unused = bool(snapshot.gpus) and not facts.gpus
    if unused:
        snapshot = take(python)  # only the framework knows why, and to import it takes seconds
    found = [(result.seen, result.todo) for result in diagnose(snapshot) if result.status is Status.PROBLEM]
    if unused and not found:
        found.append(
            (f"this machine has {snapshot.gpus[0].name}, which the script does not use", "run kerascheck doctor")
        )
    return [(seen.rstrip("."), todo.rstrip(".")) for seen, todo in found]


def _write(
    answer: WhyResult,
    used: GpuSummary | None,
    script: str,
    arguments: tuple[str, ...],
    options: _Options,
    proofs: Sequence[Verdict],
) -> None:
    from kerascheck.runtime.why import report_text

    color = color_of(options.color, to_file=bool(options.output_file))
    if options.output_format == "json":
        import json

        from kerascheck.runtime.why import json_report

        text = json.dumps(json_report.report(answer, used, proofs if options.prove else None), indent=2)
    elif options.output_format == "html":
        from kerascheck.runtime.why import report_html

        text = report_html.render(answer, used, proofs)
    elif answer.diagnosis is None:
        text = "\n".join(report_text.failed(answer, click.style))
    else:
        from kerascheck.report.text import terminal_columns
        from kerascheck.runtime.why import summary

        if options.summary:
            click.echo("\n".join(summary.lines(answer.diagnosis)))
            return
        width = min(_WIDEST, max(_NARROWEST, terminal_columns()))
        lines = [
            *report_text.render(answer.diagnosis, width, click.style, used),
            *(
                report_text.next_command(answer.diagnosis, script, arguments, options.prove)
                if options.profile is None
                else ()
            ),
        ]
        text = "\n".join(lines)
    print_report(text, options.output_file, color)


def _prove(answer: WhyResult, run: Script, options: _Options) -> None:
    """Measure the first recommendation that has a fix, and say what came out."""
    from kerascheck.runtime.why import report_text

    proofs = _proofs(answer, run, options)
    if not proofs:
        click.echo("The recommendations have no fix that kerascheck can apply: there is nothing to prove.")
    for verdict in proofs:
        click.echo("\n".join(report_text.proof(verdict, click.style)))


def _proofs(answer: WhyResult, run: Script, options: _Options) -> Sequence[Verdict]:
    """Measure the first recommendation with a fix; empty where none has one."""
    from kerascheck.runtime.verify.budget import Budget
    from kerascheck.runtime.verify.compare import compare
    from kerascheck.runtime.verify.findings import repairs
    from kerascheck.runtime.why import report_text

    finding = report_text.provable(answer.diagnosis) if answer.diagnosis is not None else None
    if finding is None:
        return []
    made = repairs(replace(answer.linted, findings=[finding]))
    with Progress() as progress:
        comparison = compare(
            run, [repair.variant for repair in made], Budget(options.budget), progress.show, ceilings=False
        )
    return comparison.verdicts
