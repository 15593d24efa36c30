"""Trainings: their steps, batches and callbacks, and how often they are repeated."""

from __future__ import annotations

from kerascheck.meaning.data.fitted_data import example_shape, least_examples, trained_examples
from kerascheck.meaning.models.models import batching
from kerascheck.meaning.training.callbacks import every_batch, may_act_on_batches
from kerascheck.meaning.training.predictions import evaluated_batches, repeated_predictions
from kerascheck.meaning.training.repeated_training import made_in_loop, repetitions
from kerascheck.meaning.training.steps import eager_steps, environment_loop, is_acted_on, steps_environment
from kerascheck.meaning.training.tapes import tape_of, tapes_of

__all__ = [
    "batching",
    "eager_steps",
    "environment_loop",
    "evaluated_batches",
    "every_batch",
    "example_shape",
    "is_acted_on",
    "least_examples",
    "made_in_loop",
    "may_act_on_batches",
    "repeated_predictions",
    "repetitions",
    "steps_environment",
    "tape_of",
    "tapes_of",
    "trained_examples",
]
