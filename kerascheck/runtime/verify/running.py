"""Helpers of the commands that run scripts: progress, signals, output of reports."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches

import click

from kerascheck.runtime.verify import gpu
from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.compare import compare
from kerascheck.runtime.verify.files import write_whole
from kerascheck.runtime.verify.machine_class import machine
from kerascheck.runtime.verify.prepared import Prepared
from kerascheck.runtime.verify.result import Verification


def verify_here(prepared: Prepared, budget: Budget, progress: Progress) -> Verification:
    """The verification of a script on this machine."""
    with gpu.Sampler() as sampler:
        comparison = compare(prepared.run, prepared.variants, budget, progress.show)
    watched = sampler.summary()
    return prepared.result(gpu.doubted(comparison, watched, sampler.failure), machine(), watched)


def print_report(text: str, output_file: str | None, color: bool | None = False) -> None:
    """Write a report to a file, or to standard output without one; ``color`` as click knows it."""
    if output_file:
        write_whole(output_file, click.unstyle(text) + "\n")
    else:
        click.echo(text, color=color)


@contextmanager
def ends_on_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into exceptions, so that all started processes are ended."""

    def stop(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    previous = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class Progress:
    """A progress line on a terminal's standard error, removed at the end."""

    def __init__(self, active: bool = True) -> None:
        self._active = active and sys.stderr.isatty()
        self._end = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, text: str, seconds_left: float) -> None:
        """Show the current activity and the estimated seconds left."""
        if not self._active:
            return
        left = f"{max(1, round(seconds_left / 60))} min" if seconds_left > 90 else f"{max(1, round(seconds_left))} s"
        started = time.strftime("%H:%M:%S")
        click.echo(f"\r\033[K{started}  {text[:100]}, about {left} left", nl=False, err=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._active:
            click.echo("\r\033[K", nl=False, err=True)


class ScriptCommand(click.Command):
    """A command that runs a script. Options that it does not know may belong to the script."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse like click; the UsageError for unknown options says where the script's own options go."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as problem:
            script = next((each for each in given if not each.startswith("-")), "SCRIPT")
            nearest = get_close_matches(problem.option_name, problem.possibilities or (), 1)
            meant = f" (did you mean {nearest[0]}?)" if nearest else ""
            raise click.UsageError(
                f"{problem.option_name} is no option of {ctx.command_path}{meant}: put the script's own arguments after --, as "
                f"in '{ctx.command_path} {script} -- {problem.option_name} ...'",
                ctx,
            ) from None
