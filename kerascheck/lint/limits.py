"""What checking one file may cost, in a process that exists for checking files.

A process that computes for too long is ended by the system, since libcst's parser cannot be
interrupted; one that needs too much memory raises MemoryError, or is ended by libcst.
Where the system knows no such bounds, as on Windows, there are none.
"""

from __future__ import annotations

import signal

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SECONDS = 2.0
"""Processor time for any file."""
SECONDS_PER_LINE = 0.001
"""More of it for every line of the file and of those that it imports."""
MEGABYTES = 450
"""Memory beyond what the process has when it begins with the file."""
TIME_SIGNAL = getattr(signal, "SIGPROF", None)
"""What ends a process whose time is over."""


class Unlimited:
    """No bounds, for a process that does other things as well."""

    def begin(self) -> None:
        """The next file begins."""

    def extend(self, text: str, share: float = 1.0) -> None:
        """The file, or one that it imports, consists of ``text``, of whose lines a share counts."""

    def end(self) -> None:
        """The file is done; may be called again."""


class Limits(Unlimited):
    """The bounds for one file after the other; to be made in the main thread of the process that they are for."""

    def __init__(self) -> None:
        if TIME_SIGNAL is not None:
            signal.signal(TIME_SIGNAL, signal.SIG_DFL)
        self._hard = resource.getrlimit(resource.RLIMIT_DATA)[1] if resource is not None else 0

    def begin(self) -> None:
        _set_timer(SECONDS)
        held = _data_bytes()
        if held is not None:
            allowed = held + (MEGABYTES << 20)
            hard = self._hard
            resource.setrlimit(
                resource.RLIMIT_DATA, (allowed if hard == resource.RLIM_INFINITY else min(allowed, hard), hard)
            )

    def extend(self, text: str, share: float = 1.0) -> None:
        if TIME_SIGNAL is not None:
            _set_timer(signal.getitimer(signal.ITIMER_PROF)[0] + share * text.count("\n") * SECONDS_PER_LINE)

    def end(self) -> None:
        _set_timer(0)
        if resource is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (self._hard, self._hard))


def _set_timer(seconds: float) -> None:
    if TIME_SIGNAL is not None:
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _data_bytes() -> int | None:
    """The memory that the system counts against ``RLIMIT_DATA``, on Linux; None elsewhere."""
    try:
        with open("/proc/self/status", "rb") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith(b"VmData:"))
    except (OSError, StopIteration):
        return None
