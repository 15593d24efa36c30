"""The command ``doctor``: check whether this machine lets Keras train fast."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from kerascheck.cli import completers
from kerascheck.cli.terminal import color_of
from kerascheck.runtime.doctor.look import TIME_LIMIT

if TYPE_CHECKING:
    from kerascheck.runtime.doctor.snapshot import Demand, Snapshot


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of ``doctor``, named as click names them."""

    python: str | None
    script: str | None
    output_format: str
    save_snapshot: str | None
    snapshot: str | None
    time_limit: float
    """Seconds for the imports of TensorFlow and Keras."""
    color: str


@click.command(
    short_help="Check whether this machine lets Keras train fast.",
    epilog="Exit codes: 0 no problem (advice does not count), 1 a problem, 2 the machine could not be looked at.",
)
@click.option("--python", metavar="PATH", shell_complete=completers.path, help="Interpreter that trains.  [this one]")
@click.option(
    "--script", metavar="FILE", shell_complete=completers.path,
    help="Also check what this script asks of the machine. It is read, not run.",
)  # fmt: skip
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--save-snapshot",
    metavar="FILE",
    shell_complete=completers.path,
    help="Write what was seen there, for a bug report. It holds no names and no paths.",
)
@click.option(
    "--snapshot", metavar="FILE", shell_complete=completers.path, help="Check a saved snapshot instead of this machine."
)
@click.option(
    "--time-limit",
    default=TIME_LIMIT,
    show_default=True,
    type=click.FloatRange(1),
    help="Seconds for the imports of TensorFlow and Keras. The NVIDIA driver gets 20 at most.",
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def doctor(**given: Any) -> int:
    """Check whether this machine lets Keras train fast: GPU, driver, TensorFlow, cores, memory.

    It imports TensorFlow and Keras in a process of its own, and changes nothing.
    """
    from kerascheck.runtime.doctor import Status, diagnose

    options = _Options(**given)
    if options.snapshot and options.python:
        raise click.UsageError("--snapshot and --python exclude each other: a snapshot says what its interpreter had")
    script = _demands(options.script) if options.script else None
    snapshot = _saved(options.snapshot, script) if options.snapshot else _live(options, script)
    if options.save_snapshot:
        _write(options.save_snapshot, snapshot.to_json())
    results = diagnose(snapshot)
    if options.output_format == "json":
        import json

        document = {"results": [result.as_dict() for result in results], "snapshot": json.loads(snapshot.to_json())}
        click.echo(json.dumps(document, indent=2))
    else:
        from kerascheck.report.text import terminal_columns
        from kerascheck.runtime.doctor import report

        color = color_of(options.color)
        for line in report.render(results, snapshot, click.style, terminal_columns(), script=options.script):
            click.echo(line, color=color)
    return int(any(result.status is Status.PROBLEM for result in results))


def _live(options: _Options, script: tuple[Demand, ...] | None) -> Snapshot:
    from kerascheck.runtime.doctor import take_snapshot

    python = options.python or sys.executable
    shown = sys.stderr.isatty()
    if shown:
        click.echo("Looking at the machine, and importing TensorFlow and Keras ...", nl=False, err=True)
    try:
        snapshot = take_snapshot(python, script=script, time_limit=options.time_limit)
    finally:
        if shown:
            click.echo("\r\033[K", nl=False, err=True)
    looked = snapshot.python
    if looked is not None and looked.version is None:
        raise click.ClickException(
            f"--python {python}: {looked.failure}; name the interpreter that trains, such as .venv/bin/python"
        )
    return snapshot


def _saved(path: str, script: tuple[Demand, ...] | None) -> Snapshot:

    from kerascheck.runtime.doctor.snapshot import InvalidSnapshot, Snapshot

    try:
        with open(path, encoding="utf-8") as file:
            snapshot = Snapshot.from_json(file.read())
    except OSError as problem:
        raise click.ClickException(f"{path}: {problem.strerror or problem}") from None
    except (InvalidSnapshot, UnicodeDecodeError) as problem:
        raise click.ClickException(f"{path}: {problem}; --save-snapshot writes one") from None
    return snapshot if script is None else replace(snapshot, script=script)


def _demands(path: str) -> tuple[Demand, ...]:
    from kerascheck.project.config import ConfigError
    from kerascheck.runtime.doctor.script import demands
    from kerascheck.source import Unreadable

    try:
        return demands(path)
    except (OSError, Unreadable, ValueError, ConfigError) as problem:
        raise click.ClickException(f"{path}: {getattr(problem, 'strerror', None) or problem}") from None


def _write(path: str, text: str) -> None:
    from kerascheck.runtime.verify.files import write_whole

    try:
        write_whole(path, text)
    except OSError as problem:
        raise click.ClickException(f"{path}: cannot be written: {problem.strerror or problem}") from None
