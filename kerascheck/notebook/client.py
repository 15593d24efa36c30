"""The kernel's side of the process that lints.

The kernel imports no linter: linting forks, needs a deep stack and sets signals, which a kernel with threads and a GPU
must not do. An interrupt ends the process, and the next request starts another.
"""

from __future__ import annotations

import pickle
import subprocess
from dataclasses import dataclass

from kerascheck.runtime import isolated
from kerascheck.source import Source

_SERVE = "from kerascheck.notebook.linter import serve\nserve()\n"
_DOCTOR = "sys.argv[1:] = ['doctor', '--color', 'never']\nfrom kerascheck.cli.main import main\nmain()\n"

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
            self._process = isolated.spawn(_SERVE, stdin=subprocess.PIPE)
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
            isolated.end(process)


def doctor_report() -> str:
    """Return the report of ``kerascheck doctor`` about this kernel's interpreter and machine."""
    process = isolated.spawn(_DOCTOR, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        return process.communicate()[0].decode("utf-8", "replace")
    finally:
        isolated.end(process)
