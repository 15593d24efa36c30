"""Models: their layers, shapes and number types."""

from __future__ import annotations

from kerascheck.interpreter.layer_shapes import numbers
from kerascheck.meaning.models.models import layer_place, may_mask, steps_into, takes_tables
from kerascheck.meaning.models.precision import (
    HALF_POLICIES,
    float16_models,
    full_precision_trainings,
    scales_loss,
    train_step_of,
)
from kerascheck.meaning.program.program import makes_layer, policy_set_by

__all__ = [
    "HALF_POLICIES",
    "float16_models",
    "full_precision_trainings",
    "layer_place",
    "makes_layer",
    "may_mask",
    "numbers",
    "policy_set_by",
    "scales_loss",
    "steps_into",
    "takes_tables",
    "train_step_of",
]
