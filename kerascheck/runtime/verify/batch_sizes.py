"""Timings of a training's step at several batch sizes, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass

ALIKE = 0.9
"""Share of the best examples per second from which a size counts as equally good: one run is not more exact."""
_WORTH_SHRINKING = 0.75  # share of the best examples per second below which a smaller batch is worth its longer epochs


@dataclass(frozen=True, slots=True)
class SizeTiming:
    """Steps on one batch of this many rows, repeated in memory."""

    rows: int
    seconds: float
    """Median seconds per step, without tracing and compilation."""
    peak_bytes: int | None
    """Peak memory meanwhile, of the GPU or else of the process; None if it is unknown."""

    @property
    def rate(self) -> float:
        """Examples per second."""
        return self.rows / self.seconds


@dataclass(frozen=True, slots=True)
class BatchSizes:
    """Timings at doubled batch sizes."""

    own: int | None = None
    """Rows of the script's own batch."""
    timings: tuple[SizeTiming, ...] = ()
    """Smallest size first."""
    stopped: str | None = None
    """"no gain", "out of memory", "half of memory", "time", "epoch", "failed" or "unknown batch"; None if the process
    ended or hung at the next size."""
    detail: str | None = None
    """Error or reason of "failed" and "unknown batch", for display."""
    other_load: float | None = None
    """Share of the machine that other programs used meanwhile, 0 to 1."""
    on_gpu: bool = False
    """Whether ``peak_bytes`` is memory of the GPU."""

    @property
    def at_own(self) -> SizeTiming | None:
        """The timing of the script's own size; None if it did not run."""
        return next((timing for timing in self.timings if timing.rows == self.own), None)

    @property
    def chosen(self) -> SizeTiming | None:
        """The smallest size that is about as fast as the best one; None without timings.

        The script's own size takes precedence if it is also about as fast, or a smaller one is hardly faster.
        """
        best = max((timing.rate for timing in self.timings), default=0.0)
        found, own = next((timing for timing in self.timings if timing.rate >= ALIKE * best), None), self.at_own
        if found is None or own is None:
            return found
        return own if own.rate >= (_WORTH_SHRINKING if found.rows < own.rows else ALIKE) * best else found

    @property
    def still_grows(self) -> bool:
        """Whether the largest size that ran is the chosen one, so that a larger one may be faster."""
        return self.stopped != "no gain" and len(self.timings) > 1 and self.chosen is self.timings[-1]


NOT_REACHED = BatchSizes(stopped="unknown batch", detail="an earlier measurement did not end")
"""For runs that end or hang before their first size."""
