"""What a program does as a whole: its loops, its devices, and what it measures."""

from __future__ import annotations

from kerascheck.interpreter.place import construction_of, seen_in
from kerascheck.meaning.program.clocks import (
    between,
    eager_work,
    executions,
    intervals,
    is_about_first_run,
    is_warm,
    is_warmed_up,
    measures_speed,
    unread_work,
)
from kerascheck.meaning.program.distribution import (
    eager_runs,
    given_models,
    unconditional_mirrors,
    unentered_scopes,
    unplaced_in_steps,
    unplaced_models,
    unplaced_optimizers,
    unscaled_batches,
)
from kerascheck.meaning.program.loops import SHORT_LOOP, turns, varies
from kerascheck.meaning.training.repeated_training import least_times, place_in

__all__ = [
    "SHORT_LOOP",
    "between",
    "construction_of",
    "eager_runs",
    "eager_work",
    "executions",
    "given_models",
    "intervals",
    "is_about_first_run",
    "is_warm",
    "is_warmed_up",
    "least_times",
    "measures_speed",
    "place_in",
    "seen_in",
    "turns",
    "unconditional_mirrors",
    "unentered_scopes",
    "unplaced_in_steps",
    "unplaced_models",
    "unplaced_optimizers",
    "unread_work",
    "unscaled_batches",
    "varies",
]
