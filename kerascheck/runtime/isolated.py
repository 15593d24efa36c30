"""Processes of kerascheck beside a process of the user, such as the kernel of a notebook or a training."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import kerascheck

_FOLDERS = "import sys\nsys.path += [path for path in sys.argv[1:] if path not in sys.path]\n"


def spawn(program: str, *, stdin: int, stderr: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Run a Python program that may import what this process can; its output is a pipe.

    Args:
        program: code for ``python -c``.
        stdin: as for :class:`subprocess.Popen`.
        stderr: the same.

    Raises:
        OSError: no process can be started.
    """
    home = str(Path(kerascheck.__file__).resolve().parent.parent)
    # Isolated (-I), with the folders of this process at the end: a types.py of the user would shadow Python's.
    command = [sys.executable, "-I", "-X", "utf8", "-c", _FOLDERS + program, home, *filter(None, sys.path)]
    environment = {**os.environ, "COLUMNS": "80"}
    # A session of its own: Ctrl-C, and the interrupt of a cell, go to all processes of the user's group.
    return subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=environment, start_new_session=True
    )


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that :func:`spawn` started, with its children."""
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
