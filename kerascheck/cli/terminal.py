"""Messages, colours, links and progress on the terminal."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import click

_PROGRESS_AFTER_SECONDS = 1.0


def escaped(text: str) -> str:
    """Escape the control characters of file names and of messages that quote them."""
    from kerascheck.source.escape import escaped

    return escaped(text)


def complain(message: str) -> None:
    """Print an error of the command line."""
    write_error(f"kerascheck: error: {escaped(' '.join(message.split()))}\n")


def warn(message: str) -> None:
    """Print a warning."""
    click.echo(f"warning: {escaped(message)}", err=True)


def write_error(text: str) -> None:
    """Write on standard error; drops the text if that fails."""
    try:
        click.echo(text, nl=False, err=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Drop the buffered output of a stream: Python flushes it at exit, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_dumb() -> bool:
    """Whether the terminal declares that it knows no control sequences."""
    return os.environ.get("TERM") == "dumb"


def color_of(choice: str, *, to_file: bool = False) -> bool | None:
    """The colour argument of click for an option ``--color``; None leaves the decision to click."""
    if choice != "auto":
        return choice == "always"
    if to_file or os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR", "0") not in ("", "0") else None


def takes_links(color: str, *, to_file: bool, err: bool) -> bool:
    """Whether the output goes to a terminal with colours: files and pipes get no links."""
    stream = sys.stderr if err else sys.stdout
    return not to_file and stream.isatty() and not is_dumb() and color_of(color) is not False


class Progress:
    """A line with the number of checked files, on a terminal's standard error, once a run takes long.

    Args:
        is_quiet: whether to show nothing.
    """

    def __init__(self, *, is_quiet: bool):
        import time

        self._clock = time.monotonic
        self._started = self._clock()
        self._active = sys.stderr.isatty() and not is_quiet
        self._shown = False

    def show(self, done: int, total: int) -> None:
        """Update the line."""
        if self._active and self._clock() - self._started > _PROGRESS_AFTER_SECONDS:
            click.echo(f"\r{done}/{total} files", nl=False, err=True)
            self._shown = True

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            click.echo("\r" + " " * 40 + "\r", nl=False, err=True)
