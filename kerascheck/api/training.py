"""Trainings: their steps, batches, callbacks and repetitions.

Example:
    >>> training.batches_of(call("keras.Sequential().fit(x, batch_size=8)")).size
    8
"""

from __future__ import annotations

from kerascheck.meaning.data.fitted_data import (
    epochs_of,
    steps_of_epoch,
    trained_examples,
)
from kerascheck.meaning.data.games import environment_loop, steps_environment
from kerascheck.meaning.models.batches import batches_of
from kerascheck.meaning.program.tapes import tape_of, tapes_of
from kerascheck.meaning.training.batch_sizes import is_free_to_grow, is_worth_acting, saved_steps
from kerascheck.meaning.training.callbacks import (
    FrequentSave,
    calls_of_every_batch,
    frequent_saves,
    may_act_on_batches,
    needless_recordings,
)
from kerascheck.meaning.training.calls_per_step import StepCall, array_copies, garbage_collections, weight_copies
from kerascheck.meaning.training.comparisons import compared_fits
from kerascheck.meaning.training.costly_metrics import CostlyMetric, costly_metrics
from kerascheck.meaning.training.portions import SHORT_FIT, Portion, is_at_end_of_game, portion_of
from kerascheck.meaning.training.predictions import evaluated_batches, repeated_predictions
from kerascheck.meaning.training.read_results import ReadResults, results_read_back
from kerascheck.meaning.training.repeated_training import RebuiltModel, rebuilt_models, repeated_calls
from kerascheck.meaning.training.serial_reads import SerialRead, serial_reads
from kerascheck.meaning.training.step_counts import Miscount, MiscountedSteps, miscounted_steps
from kerascheck.meaning.training.steps import eager_steps
from kerascheck.meaning.training.validation import (
    LargeValidation,
    endless_evaluations,
    evaluations_of_training,
    large_validations,
)

__all__ = [
    "SHORT_FIT",
    "CostlyMetric",
    "FrequentSave",
    "LargeValidation",
    "Miscount",
    "MiscountedSteps",
    "Portion",
    "ReadResults",
    "RebuiltModel",
    "SerialRead",
    "StepCall",
    "array_copies",
    "batches_of",
    "calls_of_every_batch",
    "compared_fits",
    "costly_metrics",
    "eager_steps",
    "endless_evaluations",
    "environment_loop",
    "epochs_of",
    "evaluated_batches",
    "evaluations_of_training",
    "frequent_saves",
    "garbage_collections",
    "is_at_end_of_game",
    "is_free_to_grow",
    "is_worth_acting",
    "large_validations",
    "may_act_on_batches",
    "miscounted_steps",
    "needless_recordings",
    "portion_of",
    "rebuilt_models",
    "repeated_calls",
    "repeated_predictions",
    "results_read_back",
    "saved_steps",
    "serial_reads",
    "steps_environment",
    "steps_of_epoch",
    "tape_of",
    "tapes_of",
    "trained_examples",
    "weight_copies",
]
