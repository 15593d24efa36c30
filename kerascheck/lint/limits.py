"""Time and memory limits for checking one file, in a process that only checks files.

The system ends a process that exceeds its processor time, since libcst's parser cannot be interrupted.
A process that exceeds its memory raises MemoryError, or libcst aborts it.
Systems without such limits, such as Windows, set none.
"""

from __future__ import annotations

import signal

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SECONDS = 2.0
"""Processor time for any file, in seconds."""
SECONDS_PER_LINE = 0.001
"""Additional processor time per line of the file and of the files it imports, in seconds."""
MEGABYTES = 450
"""Memory that a file may add to the process, in MiB."""
TIME_SIGNAL = getattr(signal, "SIGPROF", None)
"""The signal that ends a process at its time limit."""


class Unlimited:
    """No limits, for a process that also does other work."""

    def begin(self) -> None:
        """Start the limits of the next file."""

    def extend(self, text: str, share: float = 1.0) -> None:
        """Add time for the lines of ``text``, scaled by ``share``: the text of the file or of an import."""

    def end(self) -> None:
        """Lift the limits of the file; may be called more than once."""


class Limits(Unlimited):
    """The limits of each file in turn; create it in the main thread of the limited process."""

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
    """The bytes that Linux counts against ``RLIMIT_DATA``; None on other systems."""
    try:
        with open("/proc/self/status", "rb") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith(b"VmData:"))
    except (OSError, StopIteration):
        return None
