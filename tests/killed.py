"""Kills runs at a chosen line of kerascheck, so that tests do not depend on timing."""

import mmap
import os
import signal
import struct
import sys


def lines_until_killed(run, module, kill_at=0):
    """Run a function in a fork, and kill it before it executes a line of one module.

    Args:
        run: a function without parameters.
        module: the end of the module's path.
        kill_at: the number of the executed line to kill at, from 1; 0: let the run end.

    Returns:
        The number of executed lines of the module, the last one included.
    """
    count = mmap.mmap(-1, 8)
    child = os.fork()
    if child == 0:
        try:
            sys.settrace(_tracer(count, module, kill_at))
            run()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert not kill_at or os.WTERMSIG(status) == signal.SIGKILL
    return struct.unpack("q", count[:])[0]


def moments(run, module, number):
    """Values of ``kill_at`` for :func:`lines_until_killed`, spread evenly over a run."""
    total = lines_until_killed(run, module)
    assert total >= number, f"the run executes {total} lines of {module}"
    return [1 + each * (total - 1) // (number - 1) for each in range(number)]


def _tracer(count, module, kill_at):
    def trace(frame, event, argument):
        if not frame.f_code.co_filename.endswith(module):
            return None
        if event == "line":
            begun = struct.unpack("q", count[:])[0] + 1
            count[:] = struct.pack("q", begun)
            if begun == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    return trace
