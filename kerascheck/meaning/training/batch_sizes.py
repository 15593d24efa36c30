"""Reasons for a batch size, and the steps that a larger one saves."""

from __future__ import annotations

from math import ceil

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call
from kerascheck.meaning.data.fitted_data import least_examples, trained_examples
from kerascheck.meaning.data.games import environment_loop
from kerascheck.meaning.models.batches import Batching
from kerascheck.meaning.training.callbacks import may_act_on_batches

_NOTICED = 20_000  # steps


def is_free_to_grow(module: Module, fit: Call, batch: Batching) -> bool:
    """Whether, according to the visible code, only learning quality limits the batch size of a ``fit``."""
    # Keras then divides the arrays by it (keras/src/trainers/data_adapters/array_data_adapter.py).
    if batch.is_default and fit.given("steps_per_epoch") is not None:
        return False
    if may_act_on_batches(fit, unknown=False):
        return False
    # A game may produce one row per step, which a larger batch does not change.
    return least_examples(fit) is not None or environment_loop(module, fit.path) is None


def saved_steps(fit: Call, batch: Batching, size: int) -> int | None:
    """Steps per epoch that a larger batch size saves in ``fit``; None if the number of examples is unknown."""
    count = trained_examples(fit)
    return None if count is None else ceil(count / batch.size) - ceil(count / size)


def is_worth_acting(saved: int | None, epochs: int | None) -> bool:
    """Whether a training certainly saves so many steps that one notices.

    Args:
        saved: steps per epoch; None if unknown.
        epochs: None if unknown.

    Returns:
        True from :data:`_NOTICED` steps on, which take Keras some 20 s (0.7 to 1.5 ms a step on 2 CPU cores, Keras 3.15).
    """
    return saved is not None and epochs is not None and saved * epochs >= _NOTICED
