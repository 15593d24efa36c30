"""Lints the code of a running training in another process, which the training does not wait for.

The process gets a script's path, or the text of a notebook's cells, and returns a pickled :class:`Linted`. A pickle is
safe here: both processes are ours, and share the installation.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from kerascheck.runtime import isolated

if TYPE_CHECKING:
    from kerascheck.project.config import Configuration
    from kerascheck.runtime.verify.findings import Linted
    from kerascheck.source import Source

_PROGRAM = "from kerascheck.runtime.live import linting\nlinting.main()\n"
_SECONDS = 60.0  # maximum for linting


class NotLinted(Exception):
    """The code of the training could not be linted; ``str()`` says why, for display."""


class Linting:
    """A process that lints the code of a training.

    Args:
        code: the path of a script, whose local imports are linted too, or the cells of a notebook.
    """

    def __init__(self, code: str | Source) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._failure = ""
        try:
            self._process = isolated.spawn(_PROGRAM, stdin=subprocess.PIPE)
            assert self._process.stdin is not None, "it is a pipe"
            self._process.stdin.write(pickle.dumps(code))
            self._process.stdin.close()
            self._process.stdin = None
        except OSError as problem:
            self._failure = f"no process could be started to lint the code: {problem}"

    @property
    def is_over(self) -> bool:
        """Whether the process has written its answer; then :meth:`result` does not wait for the linter."""
        if self._process is None or self._process.stdout is None:
            return True
        import select

        if sys.platform == "win32":  # no select() for pipes
            return self._process.poll() is not None
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def result(self) -> Linted:
        """Wait for the result, at most a minute.

        Raises:
            NotLinted: the code could not be linted.
        """
        if self._process is None:
            raise NotLinted(self._failure)
        try:
            answer, _ = self._process.communicate(timeout=_SECONDS)
            found = pickle.loads(answer)
        except subprocess.TimeoutExpired:
            raise NotLinted(f"linting the code took more than {_SECONDS:.0f} s") from None
        except (EOFError, pickle.UnpicklingError):
            raise NotLinted("the process that lints the code ended without an answer") from None
        finally:
            self.close()
        if isinstance(found, str):
            raise NotLinted(found)
        linted: Linted = found
        return linted

    def close(self) -> None:
        """End the process if it still runs."""
        if self._process is not None:
            isolated.end(self._process)


def main() -> None:
    """Read what to lint from standard input, and write the result or the reason of a failure to standard output."""
    from kerascheck.project.config import ConfigError, Configuration
    from kerascheck.runtime.verify.findings import NotAScript, findings_of

    if hasattr(os, "nice"):
        os.nice(10)  # the training comes first
    code = pickle.loads(sys.stdin.buffer.read())
    found: Linted | str
    try:
        found = findings_of(code, Configuration()) if isinstance(code, str) else _of_cells(code, Configuration())
    except (NotAScript, ConfigError) as problem:
        found = str(problem)
    with contextlib.suppress(BrokenPipeError):  # the training has ended
        sys.stdout.buffer.write(pickle.dumps(found))
        sys.stdout.buffer.flush()


def _of_cells(source: Source, configuration: Configuration) -> Linted:
    """Lint the cells of a notebook; modules beside it are linted by the run of a script only."""
    from kerascheck.lint.session import Session
    from kerascheck.runtime.verify.findings import Linted, measurable

    path = os.path.abspath(source.path)
    outcome = Session(configuration, jobs=1).lint(source)
    # A kernel runs commands too, so none is left out.
    return Linted(path, {path: replace(source, commands="")}, measurable(outcome, {path}))
