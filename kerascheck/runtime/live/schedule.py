"""Order of the measurements in a training: slices of steps, each of one mode."""

from __future__ import annotations

import enum
import statistics
import time
from dataclasses import dataclass, field


class Mode(enum.Enum):
    """What is measured in a step."""

    TIMED = "timed"
    """Nothing but its time."""
    SPLIT = "split"
    """Its batch is read first; then the step runs and is waited for."""
    SAMPLED = "sampled"
    """As :attr:`SPLIT`, while a profiler samples the Python threads."""


@dataclass(slots=True)
class Tally:
    """The steps of one mode. Times are in seconds."""

    seconds: float = 0.0
    """Of all steps together."""
    callbacks: float = 0.0
    """Inside callbacks, in all steps together."""
    calls: list[float] = field(default_factory=list)
    """Inside each step; without reading its batch where that is timed."""
    fetches: list[float] = field(default_factory=list)
    """Reading the batch of each step."""

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.calls)

    @property
    def step_seconds(self) -> float:
        """Mean seconds per step; 0 without steps."""
        return self.seconds / len(self.calls) if self.calls else 0.0

    @property
    def callback_seconds(self) -> float:
        """Mean seconds in callbacks per step; 0 without steps."""
        return self.callbacks / len(self.calls) if self.calls else 0.0


def usual_and_excess(values: list[float]) -> tuple[float, float]:
    """The median, and how much the mean exceeds it; zeros for no values."""
    if not values:
        return 0.0, 0.0
    usual = statistics.median(values)
    return usual, max(0.0, statistics.fmean(values) - usual)


_SECONDS = {Mode.TIMED: 2.0, Mode.SPLIT: 1.0, Mode.SAMPLED: 1.5}
"""Seconds after which a mode has enough steps ..."""
_STEPS = {Mode.TIMED: 8, Mode.SPLIT: 4, Mode.SAMPLED: 4}
"""... if it has at least this many."""
_FEWEST = {Mode.TIMED: 3, Mode.SPLIT: 2, Mode.SAMPLED: 0}
"""Steps without which nothing can be said."""
_MOST_STEPS = 2000
"""Steps of one mode that are always enough."""
_SLICE_SECONDS = 0.1
_SLICE_STEPS = 3


@dataclass(slots=True)
class Schedule:
    """Chooses the mode of each step, so that a change of the machine's load affects all modes."""

    can_split: bool
    tallies: dict[Mode, Tally] = field(default_factory=lambda: {mode: Tally() for mode in Mode})
    mode: Mode = Mode.TIMED
    _slice_start: float = 0.0
    _slice_steps: int = 0

    def __post_init__(self) -> None:
        self._slice_start = time.perf_counter()

    def step_ended(self, seconds: float, call: float, fetch: float, callbacks: float, *, counts: bool) -> None:
        """Record a step; ``counts``: whether it is typical, unlike the first step of an epoch."""
        # The first step of a slice still depends on the mode before it.
        if counts and self._slice_steps:
            tally = self.tallies[self.mode]
            tally.seconds += seconds
            tally.callbacks += callbacks
            tally.calls.append(call)
            tally.fetches.append(fetch)
        self._slice_steps += 1

    def next_mode(self) -> Mode | None:
        """The mode of the next step; None if all modes have enough steps."""
        now = time.perf_counter()
        if self._slice_steps <= _SLICE_STEPS or now - self._slice_start < _SLICE_SECONDS:
            return self.mode
        wanted = min(self._modes, key=self._progress)
        if self._progress(wanted) >= 1.0:
            return None
        if wanted is not self.mode:
            self.mode, self._slice_start, self._slice_steps = wanted, now, 0
        return self.mode

    @property
    def is_usable(self) -> bool:
        """Whether enough steps were measured to say where a step goes."""
        return all(self.tallies[mode].steps >= _FEWEST[mode] for mode in self._modes)

    @property
    def _modes(self) -> list[Mode]:
        return [mode for mode in Mode if self.can_split or mode is not Mode.SPLIT]

    def _progress(self, mode: Mode) -> float:
        """Share of the needed measurements of a mode that is done."""
        tally = self.tallies[mode]
        done = min(tally.seconds / _SECONDS[mode], tally.steps / _STEPS[mode])
        return max(done, tally.steps / _MOST_STEPS)
