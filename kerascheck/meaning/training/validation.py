"""Validations and evaluations that cost more than they have to, or never end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Constant,
    Dataset,
    SequenceValue,
    Value,
    datasets_in,
)
from kerascheck.meaning.data.fitted_data import epochs_of, known_examples, most_examples
from kerascheck.meaning.data.stages import is_endless
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.training.repeated_training import repeated_calls
from kerascheck.syntax.tree import alike

# The data of a method, and the parameter that limits its steps.
_LIMITS = {
    "fit": ("validation_data", "validation_steps"),
    "fit_generator": ("validation_data", "validation_steps"),
    "evaluate": ("x", "steps"),
    "predict": ("x", "steps"),
}


def endless_evaluations(module: Module) -> Iterator[tuple[Call, str]]:
    """The calls that evaluate an endless dataset without a number of steps, with the parameter that would give it."""
    for call in module.once(Program).model_calls(*_LIMITS):
        data, steps = _LIMITS[call.attribute or ""]
        if data not in call.signature or not _is_omitted(call, steps):
            continue
        given = call.given(data)
        if isinstance(given, Dataset) and is_endless(given.stage):
            yield call, steps


@dataclass(frozen=True, slots=True)
class LargeValidation:
    """A ``fit`` that validates on more examples than it trains on, in every epoch.

    Attributes:
        fit: the call.
        trained: the maximum number of examples that it trains on.
        validated: the number of examples that it validates on.
    """

    fit: Call
    trained: int
    validated: int


def large_validations(module: Module) -> Iterator[LargeValidation]:
    """The trainings whose validation certainly has more examples, and that validate on all of them in each epoch."""
    limits = ("steps_per_epoch", "validation_steps", "validation_freq")
    for fit in module.once(Program).model_calls("fit"):
        if not all(limit in fit.signature and _is_omitted(fit, limit) for limit in limits):
            continue
        trained, validated = most_examples(fit.given("x")), known_examples(_inputs_of(fit.given("validation_data")))
        if trained and validated and validated > trained:
            yield LargeValidation(fit, trained, validated)


def evaluations_of_training(module: Module) -> Iterator[tuple[Call, Call]]:
    """The evaluations of the training data after each ``fit`` of one epoch in a loop, each with the ``fit``."""
    fits = [each for each in repeated_calls(module, "fit") if each.is_same and epochs_of(each.call) == 1]
    for each in repeated_calls(module, "evaluate"):
        if not each.is_same or any(each.call.path.conditions(within=each.loop)):
            continue
        for fit in fits:
            if fit.loop is each.loop and fit.call.receiver is each.call.receiver and _is_same_data(fit.call, each.call):
                yield each.call, fit.call
                break


def _is_omitted(call: Call, parameter: str) -> bool:
    given = call.given(parameter)
    return given is None or isinstance(given, Constant) and given.value is None


def _inputs_of(data: Value | None) -> Value | None:
    """The inputs in ``validation_data``, which is a dataset, or a tuple of inputs, labels and weights."""
    if isinstance(data, SequenceValue) and data.kind == "tuple" and not data.open and data.items:
        return data.items[0]
    return data


def _is_same_data(fit: Call, evaluation: Call) -> bool:
    """Whether two calls get the same dataset or array."""
    one, other = fit.given("x"), evaluation.given("x")
    ends = [[dataset.stage.identity for dataset in datasets_in(value)] for value in (one, other)]
    if ends[0] or ends[1]:
        return ends[0] == ends[1]
    if one is not UNKNOWN and one is other:
        return True
    first, second = fit.written("x"), evaluation.written("x")
    return (
        first is not None
        and second is not None
        and isinstance(first.value, cst.Name)
        and alike(first.value, second.value)
        and fit.path.frame is evaluation.path.frame
    )
