"""Runs that are killed at a chosen line of kerascheck, so that a test does not depend on the time that a run takes."""

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
        kill_at: which of the lines that are executed, from 1; 0 to let the run end.

    Returns:
        The number of lines of the module that were begun.
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
    """Numbers of lines for :func:`lines_until_killed`, spread over a run of a function."""
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
