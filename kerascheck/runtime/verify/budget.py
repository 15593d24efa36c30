"""Settings of a comparison: time limits and the selected training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kerascheck.finding import NO_EFFECT
from kerascheck.runtime.verify.stats import MAX_ROUNDS

_USUAL_ROUNDS = 6
_USUAL_SECONDS = 60.0  # per variant; more time allows proportionally more rounds

Progress = Callable[[str, float], None]
"""Receives the current activity and the estimated seconds left."""


@dataclass(frozen=True, slots=True)
class TrainingSelector:
    """Selects a training of a script by its number or by one of its lines."""

    number: int | None = None
    """Number from 1, in the order of the first steps; prediction loops do not count."""
    path: str | None = None
    """End of the path of the file that contains ``line``; None: any file."""
    line: int | None = None

    @property
    def label(self) -> str:
        """Name for display."""
        return f"training {self.number}" if self.number else f"the training at line {self.line}"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a comparison."""

    seconds: float = 60.0
    """Seconds per variant, including start-up."""
    steps: int | None = None
    """Maximum measured steps per variant, except for the dozen that any verdict needs; None: limited by time only."""
    start_limit: float = 300.0
    """Maximum seconds until the training of a script has warmed up."""
    block_limit: float = 120.0
    """Seconds without progress after which a script counts as hanging."""
    no_effect: float = NO_EFFECT
    """Maximum distance from 1 of a ratio's interval for "no effect": 0.05 is 5 %."""
    rounds: int | None = None
    """Maximum rounds of fresh processes; None: limited by time only."""
    training: TrainingSelector | None = None
    """Measure only this training; None: measure each variant in the training that uses its lines."""

    @property
    def most_rounds(self) -> int:
        """Maximum rounds of fresh processes."""
        return self.rounds or min(MAX_ROUNDS, max(_USUAL_ROUNDS, round(_USUAL_ROUNDS * self.seconds / _USUAL_SECONDS)))
