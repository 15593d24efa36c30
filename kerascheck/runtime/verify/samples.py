"""Samples of the profiler in the measured process, see :mod:`kerascheck.runtime.verify.messages`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ThreadSample:
    """Number of samples of one line in a thread other than the main one."""

    path: str | None
    """None if no frame of the script was on the stack; then ``function`` is a library's."""
    line: int | None
    function: str
    library: str | None
    """Package that the line called into."""
    count: int


@dataclass(frozen=True, slots=True)
class MainSample:
    """Number of samples of one line in the main thread."""

    kind: str
    """Activity: "tracing", "input", "callback", "between epochs", "executing" or "python"."""
    path: str | None
    line: int | None
    function: str
    library: str | None
    count: int

    @property
    def in_thread(self) -> ThreadSample:
        """The sample without its activity."""
        return ThreadSample(self.path, self.line, self.function, self.library, self.count)


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of the profiler."""

    total: int = 0
    """Number of samples; each covers all threads."""
    main: tuple[MainSample, ...] = ()
    """Busiest lines first."""
    others: tuple[ThreadSample, ...] = ()


@dataclass(frozen=True, slots=True)
class FitStart:
    """From the call of ``fit`` to the end of its first step."""

    seconds: float | None = None
    total: int = 0
    """Samples taken meanwhile."""
    main: tuple[MainSample, ...] = ()
    """Samples at the innermost line of the script, so tracing counts for the traced line."""


@dataclass(frozen=True, slots=True)
class TimelineSegment:
    """A run of equal samples of the main thread; times are moments of the process clock."""

    start: float
    end: float
    kind: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The main thread during the newest sampled steps."""

    main: tuple[TimelineSegment, ...] = ()
    steps: tuple[float, ...] = ()
    """Moments at which steps ended."""
