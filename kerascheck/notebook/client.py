"""The kernel's side of the process that lints.

The kernel imports no linter: linting forks, needs a deep stack and sets signals, which a kernel with threads and a GPU
must not do. An interrupt ends the process, and the next request starts another.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import kerascheck
from kerascheck.source import Source

_PROGRAM = """\
import sys
sys.path += [path for path in sys.argv[1:] if path not in sys.path]
"""
"""Appends the kernel's folders, so that no file of the user shadows a module of Python."""
_SERVE = f"{_PROGRAM}from kerascheck.notebook.linter import serve\nserve()\n"
_DOCTOR = f"{_PROGRAM}sys.argv[1:] = ['doctor', '--color', 'never']\nfrom kerascheck.cli.main import main\nmain()\n"

Key = tuple[str, str]
"""What two findings of successive reports have in common: the code, and the text of the line."""


@dataclass(frozen=True)
class Report:
    """Request for the report about the cells; the answer is an :class:`Answer`."""

    folder: str
    """The working folder of the kernel."""
    source: Source
    arguments: tuple[str, ...]
    """Options of ``check``."""
    known: tuple[Key, ...] | None = None
    """Report only findings beyond these, without a summary; None: report all."""


@dataclass(frozen=True)
class Repair:
    """Request for the next cell to fix; the answer is an :class:`Answer`."""

    folder: str
    source: Source
    arguments: tuple[str, ...]
    """Options of ``check``; ``--unsafe-fixes`` too."""


@dataclass(frozen=True)
class Answer:
    """The text to print; for a :class:`Repair`, also the new code of a cell."""

    text: str
    keys: tuple[Key, ...] = ()
    """Of all findings, reported or not."""
    cell: int | None = None
    """The index of the cell to replace."""
    code: str = ""
    is_refusal: bool = False
    """Whether the request could not be answered; the text says why."""


class LinterFailed(RuntimeError):
    """The process that lints ended without an answer."""


class LintProcess:
    """The process that lints; it starts at the first request unless :meth:`start` was called."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process and its imports unless it is running."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = _spawn(_SERVE, stdin=subprocess.PIPE)
        return self._process

    def ask(self, request: Report | Repair) -> Answer:
        """Return the answer to a request; raises :class:`LinterFailed`."""
        try:
            process = self.start()
            assert process.stdin is not None and process.stdout is not None, "the process has pipes"
            pickle.dump(request, process.stdin)
            process.stdin.flush()
            answer = pickle.load(process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as problem:
            self.close()
            raise LinterFailed(str(problem)) from None
        except BaseException:
            # After an interrupt, the pipes hold the rest of a request or of an answer.
            self.close()
            raise
        assert isinstance(answer, Answer), "every request has one type of answer"
        return answer

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)


def doctor_report() -> str:
    """Return the report of ``kerascheck doctor`` about this kernel's interpreter and machine."""
    process = _spawn(_DOCTOR, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        return process.communicate()[0].decode("utf-8", "replace")
    finally:
        _end(process)


def _spawn(program: str, *, stdin: int, stderr: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    home = str(Path(kerascheck.__file__).resolve().parent.parent)
    # Isolated (-I): the folder of the notebook may have a types.py, which would shadow Python's.
    command = [sys.executable, "-I", "-X", "utf8", "-c", program, home, *filter(None, sys.path)]
    environment = {**os.environ, "COLUMNS": "80"}
    # A session of its own: the interrupt of a cell goes to all processes of the kernel's group.
    return subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=environment, start_new_session=True
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with its children."""
    if process.poll() is None:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                # The rest of a request that nobody reads.
                pass
