"""Calls that may hang or crash, in a child process with a deadline.

A driver library can abort the process that loads it. A process that waits in the kernel for a driver cannot even be killed:
nothing here waits for its end, and its output goes to a file, because a pipe would block too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress

import kerascheck

_SECONDS_TO_DIE = 2.0
"""Maximum wait for a killed process; after that it is left to the kernel."""
_CALL = """\
import json, sys
paths, module, function, *arguments = map(json.loads, sys.argv[1:])
sys.path += paths
from importlib import import_module
getattr(import_module(module), function)(*arguments)
"""


class DidNotAnswer(Exception):
    """A process exceeded its deadline and was killed."""


def call(module: str, function: str, *arguments: object) -> list[str]:
    """Return the command that calls a function of kerascheck in a new process, with JSON arguments.

    The process finds installed packages, but imports nothing from the working directory.
    """
    here = os.path.realpath(os.getcwd())
    paths = [path for path in sys.path if path and os.path.realpath(path) != here]
    paths.append(os.path.dirname(os.path.dirname(os.path.abspath(kerascheck.__file__))))
    words = [json.dumps(word) for word in (paths, module, function, *arguments)]
    return [sys.executable, "-I", "-S", "-B", "-c", _CALL, *words]


def output_of(command: Sequence[str], seconds: float) -> tuple[str, int]:
    """Return the output of a command, errors included, and its exit code, negative for a signal.

    Raises:
        DidNotAnswer: it did not end within ``seconds``.
        OSError: it cannot be started.
    """
    with tempfile.TemporaryFile() as sink:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise DidNotAnswer from None
        finally:
            kill(process)
        sink.seek(0)
        return sink.read().decode("utf-8", "replace"), code


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process group by its leader; give up on a process that does not die."""
    with suppress(OSError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_SECONDS_TO_DIE)
