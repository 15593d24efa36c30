"""Settings of a comparison: how long to measure, and in which training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kerascheck.finding import NO_EFFECT
from kerascheck.runtime.verify.stats import MAX_ROUNDS

_USUAL_ROUNDS = 6
_USUAL_SECONDS = 60.0  # per variant; more time allows proportionally more rounds

Progress = Callable[[str, float], None]
"""Receives the current activity and about how many seconds are left."""


@dataclass(frozen=True, slots=True)
class TrainingSelector:
    """A training of a script, by its number or by a line of it."""

    number: int | None = None
    """From 1, in the order of the first steps; loops of predictions do not count."""
    path: str | None = None
    """End of the path of the file of ``line``; None: any file."""
    line: int | None = None

    @property
    def label(self) -> str:
        """Name for people."""
        return f"training {self.number}" if self.number else f"the training at line {self.line}"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a comparison."""

    seconds: float = 60.0
    """Per variant, start-up included."""
    steps: int | None = None
    """Most measured steps per variant, except for the dozen that any verdict needs; None: as the seconds allow."""
    start_limit: float = 300.0
    """Seconds until the training of a script must have warmed up."""
    block_limit: float = 120.0
    """Seconds without progress after which a script counts as hanging."""
    no_effect: float = NO_EFFECT
    """How far from 1 the interval of a ratio may reach for "no effect": 0.05 is 5 %."""
    rounds: int | None = None
    """Most rounds of fresh processes; None: as the seconds allow."""
    training: TrainingSelector | None = None
    """Measure in this training only; None: each variant in the training that it concerns."""

    @property
    def most_rounds(self) -> int:
        """Most rounds of fresh processes."""
        return self.rounds or min(MAX_ROUNDS, max(_USUAL_ROUNDS, round(_USUAL_ROUNDS * self.seconds / _USUAL_SECONDS)))
