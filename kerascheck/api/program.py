"""Facts about a whole program: its loops, its devices, and its measurements.

Example:
    >>> program.most_iterations(call("for epoch in range(3): f(epoch)").path)
    3.0
"""

from __future__ import annotations

from kerascheck.interpreter.code_location import construction_of, place_in_module
from kerascheck.knowledge.runtime import Runtime
from kerascheck.meaning.program.clocks import (
    calls_between,
    compiled_runs,
    eager_work,
    is_warm,
    is_warmed_up,
    measured_intervals,
    measures_speed,
    unread_work,
)
from kerascheck.meaning.program.device_settings import LateSetting, late_settings
from kerascheck.meaning.program.device_start import initialising_call
from kerascheck.meaning.program.keras_2_uses import Keras2Use, OldUse, keras_2_uses
from kerascheck.meaning.program.loops import SHORT_LOOP, loop_that_changes, most_iterations
from kerascheck.meaning.program.old_names import Fate, OldName, old_names, session_configs
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.training.distribution import (
    eager_strategy_runs,
    given_models,
    unconditional_mirrors,
    unentered_scopes,
    unplaced_in_steps,
    unplaced_models,
    unplaced_optimizers,
    unscaled_batches,
)
from kerascheck.meaning.training.replicated_batches import replicated_batches

__all__ = [
    "SHORT_LOOP",
    "Fate",
    "Keras2Use",
    "LateSetting",
    "OldName",
    "OldUse",
    "Program",
    "Runtime",
    "calls_between",
    "compiled_runs",
    "construction_of",
    "eager_strategy_runs",
    "eager_work",
    "given_models",
    "initialising_call",
    "is_warm",
    "is_warmed_up",
    "keras_2_uses",
    "late_settings",
    "loop_that_changes",
    "measured_intervals",
    "measures_speed",
    "most_iterations",
    "old_names",
    "place_in_module",
    "replicated_batches",
    "session_configs",
    "unconditional_mirrors",
    "unentered_scopes",
    "unplaced_in_steps",
    "unplaced_models",
    "unplaced_optimizers",
    "unread_work",
    "unscaled_batches",
]
