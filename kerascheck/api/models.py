"""Models: their layers, shapes and number types.

Example:
    >>> models.policy_set_by(call("keras.mixed_precision.set_global_policy('mixed_float16')"))
    'mixed_float16'
"""

from __future__ import annotations

from kerascheck.interpreter.layer_shapes import example_size
from kerascheck.meaning.models.models import Layer, Model, lacks_time_axis, layer_place, may_mask, time_steps_into
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
    "Layer",
    "Model",
    "example_size",
    "float16_models",
    "full_precision_trainings",
    "lacks_time_axis",
    "layer_place",
    "makes_layer",
    "may_mask",
    "policy_set_by",
    "scales_loss",
    "time_steps_into",
    "train_step_of",
]
