"""The commands ``verify`` and ``evidence``; registered by ``kerascheck.cli``."""

from __future__ import annotations

import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kerascheck.verify.compare import Budget, Chosen
    from kerascheck.verify.process import Script

_MARK = "kerascheck verify"
_LEAST_EFFECT, _MOST_EFFECT = 0.01, 0.5


def _percent(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """A share from "5%" or "5"; between 1 and 50 %, for less is noise on every machine."""
    try:
        share = float(value.strip().removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not _LEAST_EFFECT <= share <= _MOST_EFFECT:
        raise click.BadParameter(f"{value!r} is no percentage between {_LEAST_EFFECT:.0%} and {_MOST_EFFECT:.0%}, such as 5%")
    return share


def _training(context: click.Context, parameter: click.Parameter, value: str | None) -> Chosen | None:
    """A training by its number, or by a line: "2", ":40", "train.py:40"."""
    from kerascheck.verify.compare import Chosen

    if value is None:
        return None
    path, colon, number = value.rpartition(":")
    if not number.isascii() or not number.isdigit() or int(number) < 1:
        raise click.BadParameter(f"{value!r} is neither the number of a training, such as 2, nor a line, such as :40 or train.py:40")
    if not colon:
        return Chosen(number=int(number))
    return Chosen(path=os.path.normpath(path) if path else None, line=int(number))


@click.command(
    context_settings={"ignore_unknown_options": False},
    epilog="Exit codes: 0 nothing to win was confirmed, 1 a finding was confirmed, 2 the script could not be measured. "
    "Arguments of the script follow after '--'.",
)
@click.argument("script", required=False, type=click.Path())
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS...]")
@click.option("--rule", metavar="CODE|NAME", help="Run the slow.py of a rule instead of a script of yours.")
@click.option("--select", multiple=True, metavar="RULES", help="Verify only findings of these rules.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Leave findings of these rules out.")
@click.option("--budget", default=60.0, show_default=True, type=click.FloatRange(1), help="Seconds per variant, about.")
@click.option("--steps", type=click.IntRange(1), help="Measured steps per variant at most.")
@click.option("--no-effect", default="5%", show_default=True, metavar="PERCENT", callback=_percent, help="How little counts as no effect.")
@click.option(
    "--training", metavar="N|[FILE]:LINE", callback=_training,
    help="Measure in the Nth training only, or in the one at a line.  [each finding in the one that it concerns]",
)  # fmt: skip
@click.option("--start-limit", default=300.0, show_default=True, help="Seconds until the training must have begun.")
@click.option("--python", metavar="PATH", help="Interpreter to run the script with.  [this one; with --on: see docs/machines.md]")
@click.option("--on", metavar="WHERE", help="Run it there: ssh://[user@]host[:port][/folder], slurm[:partition], ray or ray://host:port.")
@click.option("--yes", is_flag=True, help="With --on: upload without asking.")
@click.option("--output-format", type=click.Choice(["text", "json", "html"]), default="text", show_default=True)
@click.option("--output-file", type=click.Path(dir_okay=False, writable=True), help="Write the report there.")
@click.option("--no-memory", is_flag=True, help="Do not keep the evidence in .kerascheck/evidence.json.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def verify(script: str | None, arguments: tuple[str, ...], **options: Any) -> int:
    """Run SCRIPT as written and as repaired, and say what each repair is worth on this machine.

    The script is executed, several times, up to the middle of its training; nothing of it is changed on disk.
    """
    from kerascheck.config import ConfigError
    from kerascheck.verify.findings import NotAScript

    if (script is None) == (options["rule"] is None):
        raise click.UsageError("name a script, or a rule with --rule")
    if sys.platform == "win32":
        raise click.ClickException("verify needs signals that Windows does not have; use WSL")
    options["target"] = _target(options)
    try:
        with ends_on_signals():
            result = _verify(script, arguments, options)
    except (NotAScript, ConfigError) as problem:
        raise click.ClickException(str(problem)) from None
    except OSError as problem:
        raise click.ClickException(f"no process could be started: {problem}") from None
    if result is None:
        return 2
    _write(result, options)
    return result.exit_code


def _verify(script: str | None, arguments: tuple[str, ...], options: dict[str, Any]):
    from kerascheck.config import Configuration, overrides_from
    from kerascheck.verify import gpu, memory
    from kerascheck.verify.compare import compare, machine
    from kerascheck.verify.findings import findings_of, repairs
    from kerascheck.verify.process import Script
    from kerascheck.verify.result import Verification

    selection = {"select": options["select"], "ignore": options["ignore"]}
    if options["rule"]:
        from kerascheck import registry

        room = registry.find(options["rule"])
        if room.reads != "python":
            raise click.UsageError(f"{room.code} {room.name} is not about scripts: there is nothing to run")
        script = str(room.folder / "slow.py")
        selection |= {"select": (room.rule.code,), "pedantic": True}
    linted = findings_of(script, Configuration(overrides_from(selection)))
    made = repairs(linted, every=options["rule"] is not None)
    if options["rule"] and not made:
        # Not every rule repairs by itself what its room shows repaired.
        from kerascheck.verify.evidence import room_variants
        from kerascheck.verify.findings import Repair

        made = [Repair(replace(variant, name=f"fast.py, {variant.name}"), ()) for variant in room_variants(room)]
    run = Script(
        linted.script,
        {path: source.text for path, source in linted.sources.items()},
        arguments,
        python=options["python"],
    )
    command = shlex.join(["python", os.path.relpath(linted.script), *arguments])
    variants = [repair.variant for repair in made]
    if options["target"]:
        measured = _elsewhere(run, variants, command, options)
        if measured is None:
            return None
        comparison, where, watched = measured
    else:
        _announce(run, command, len(made), options)
        with Progress() as progress, gpu.Sampler() as sampler:
            comparison = compare(run, variants, _budget(options), progress.show)
        where, watched = machine(), sampler.summary()
        gpu.doubted(comparison, watched)
    result = Verification(comparison, linted, {repair.variant.name: repair for repair in made}, where, command, watched)
    if not options["no_memory"] and options["rule"] is None:
        memory.remember(result)
    return result


def _target(options: dict[str, Any]):
    """Where ``--on`` says to run, or None for here; fills in the interpreter."""
    from kerascheck.verify.remote.target import BadTarget, parse

    try:
        target = parse(options["on"]) if options["on"] else None
    except BadTarget as problem:
        raise click.UsageError(f"--on {problem}") from None
    options["python"] = options["python"] or (target.python if target else sys.executable)
    return target


def _elsewhere(run: Script, variants: list, command: str, options: dict[str, Any]):
    """As ``compare``, on the target: the comparison, the machine and its GPUs; None, with the reason said, where that was not possible."""
    from kerascheck.verify.remote import pack, talk
    from kerascheck.verify.remote import run as remote

    target = options["target"]
    try:
        root = os.path.dirname(run.path) if options["rule"] else None
        upload = pack.of_project(run.path, run.sources, root)
        remote.agree(target, options["python"], [upload], [command], yes=options["yes"])
        with Progress() as progress:
            return remote.measure(target, options["python"], upload, run, variants, _budget(options), progress.show, {})
    except (pack.TooLarge, remote.NotAgreed, talk.Refused) as problem:
        click.echo(f"{target.label}: {problem}", err=True)
        return None


def _budget(options: dict[str, Any]) -> Budget:
    from kerascheck.verify.compare import Budget

    return Budget(options["budget"], options["steps"], options["start_limit"], no_effect=options["no_effect"], training=options["training"])


def _announce(run: Script, command: str, variants: int, options: dict[str, Any]) -> None:
    """Say, before anything happens, what will be executed."""
    minutes = (variants + 1) * options["budget"] / 60
    for line in (
        f"{_MARK} EXECUTES YOUR SCRIPT: {command}",
        f"  with {run.python}, in {os.getcwd()}, as written and in {variants} repaired variant{'s' * (variants != 1)}, "
        f"each several times, for about {max(1, round(minutes))} min in all",
        "  up to the middle of its training: what it does before that (files, network) it really does. Ctrl-C stops everything.",
    ):
        click.echo(click.style(line, bold=line.startswith(_MARK)), err=True)


def _write(result, options: dict[str, Any]) -> None:
    style, color = click.style, None if options["color"] == "auto" else options["color"] == "always"
    if options["color"] == "auto" and (os.environ.get("NO_COLOR") or options["output_file"]):
        color = False
    if options["output_format"] == "json":
        import json

        text = json.dumps(result.as_dict(), indent=2)
    elif options["output_format"] == "html":
        from kerascheck.verify import report_html

        text = report_html.render(result)
    else:
        from kerascheck.verify import report_text

        text = "\n".join(report_text.render(result, style))
    if options["output_file"]:
        from kerascheck.verify.files import write_whole

        write_whole(options["output_file"], click.unstyle(text) + "\n")
    else:
        click.echo(text, color=color)


@contextmanager
def ends_on_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into exceptions, so that every process that was started is ended."""

    def stop(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    previous = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class Progress:
    """One line on a terminal's standard error, gone at the end."""

    def __init__(self) -> None:
        self._active = sys.stderr.isatty()
        self._end = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, text: str, seconds_left: float) -> None:
        """What is being done, and about how many seconds remain."""
        if not self._active:
            return
        left = f"{max(1, round(seconds_left / 60))} min" if seconds_left > 90 else f"{max(1, round(seconds_left))} s"
        started = time.strftime("%H:%M:%S")
        click.echo(f"\r\033[K{started}  {text[:100]}, about {left} left", nl=False, err=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._active:
            click.echo("\r\033[K", nl=False, err=True)


@click.command(epilog="Exit codes: 0 measured, 2 there is no GPU to measure on.")
@click.argument("rules", nargs=-1, metavar="[CODE|NAME...]")
@click.option("--budget", default=60.0, show_default=True, type=click.FloatRange(1), help="Seconds per variant, about.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--update", type=click.Path(dir_okay=False), help="Put the rows into this table (JSON), keeping its others.")
@click.option("--gpu", "on_gpu", is_flag=True, help="Fill the GPU column: on TensorFlow, or else on JAX or PyTorch.")
@click.option("--again", is_flag=True, help="With --gpu and --update: measure what the table has from this card, driver and versions too.")
def evidence(rules: tuple[str, ...], budget: float, output_format: str, update: str | None, on_gpu: bool, again: bool) -> int:
    """Measure the examples of the rules: each slow.py against its fast.py, on this machine."""
    import json
    from pathlib import Path

    from kerascheck import registry
    from kerascheck.config import ConfigError
    from kerascheck.verify import evidence as table
    from kerascheck.verify import gpu_evidence
    from kerascheck.verify.compare import Budget
    from kerascheck.verify.files import write_whole

    try:
        rooms = [registry.find(rule) for rule in rules] or registry.rooms()
        engine = gpu_evidence.engine() if on_gpu else None
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None
    except gpu_evidence.NoGpu as problem:
        click.echo(f"kerascheck evidence --gpu: {problem}", err=True)
        return 2
    kept = table.read_table(Path(update)) if update else []
    if engine and not again:
        rooms = [room for room in rooms if not gpu_evidence.is_finished(room.code, kept, engine)]
    where = f" on {engine.card} with {engine.backend}" if engine else ""
    click.echo(f"kerascheck evidence executes the examples of {len(rooms)} rules{where}. Ctrl-C stops everything.", err=True)
    progress = Progress()

    def tell(row: dict[str, Any]) -> None:
        progress.clear()
        click.echo(f"{row['code']} {row['name']}: {'; '.join(table.for_rule(row['code'], [row]))}", err=True)
        if update:  # after every row: a table takes an hour, and may be interrupted
            path = Path(update)
            rows = table.merge(table.read_table(path), [row])
            write_whole(path, json.dumps({"rows": rows}, indent=1) + "\n")

    with ends_on_signals():
        if engine:
            rows = list(gpu_evidence.collect(rooms, engine, Budget(budget), progress.show, tell))
        else:
            rows = list(table.collect(rooms, Budget(budget), progress.show, tell))
    progress.clear()
    click.echo(json.dumps({"rows": rows}, indent=1) if output_format == "json" else "\n".join(table.render(rows)))
    return 0
