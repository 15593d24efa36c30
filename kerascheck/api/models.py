"""Models: their layers, shapes and number types.

Example:
    >>> models.policy_set_by(call("keras.mixed_precision.set_global_policy('mixed_float16')"))
    'mixed_float16'
"""

from __future__ import annotations

from kerascheck.meaning.models.embeddings import DenseEmbedding, dense_embeddings
from kerascheck.meaning.models.frozen import FrozenNetwork, frozen_random_networks
from kerascheck.meaning.models.models import Layer, Model, layer_place, makes_layer
from kerascheck.meaning.models.pixels import WrongImages, wrong_images
from kerascheck.meaning.models.precision import (
    HALF_POLICIES,
    float16_models,
    full_precision_trainings,
    scales_loss,
    train_step_of,
)
from kerascheck.meaning.models.recurrent import (
    arguments_against_cudnn,
    cell_layer,
    is_alternative_to_cudnn,
    lacks_cudnn,
    shares_cell,
)
from kerascheck.meaning.models.step_work import (
    LAYERS_OF_SMALL_MODELS,
    LIGHT_LAYERS,
    LongStep,
    accumulates_gradients,
    goes_both_ways,
    input_numbers,
    is_dense,
    keeps_state,
    largest_array,
    long_step,
    recurrent_steps,
)
from kerascheck.meaning.models.time_steps import (
    NeedlessWrapper,
    lacks_time_axis,
    most_time_steps,
    needless_wrappers,
    unrolled_convolutions,
)
from kerascheck.meaning.program.policies import policy_at, policy_set_by

__all__ = [
    "HALF_POLICIES",
    "LAYERS_OF_SMALL_MODELS",
    "LIGHT_LAYERS",
    "DenseEmbedding",
    "FrozenNetwork",
    "Layer",
    "LongStep",
    "Model",
    "NeedlessWrapper",
    "WrongImages",
    "accumulates_gradients",
    "arguments_against_cudnn",
    "cell_layer",
    "dense_embeddings",
    "float16_models",
    "frozen_random_networks",
    "full_precision_trainings",
    "goes_both_ways",
    "input_numbers",
    "is_alternative_to_cudnn",
    "is_dense",
    "keeps_state",
    "lacks_cudnn",
    "lacks_time_axis",
    "largest_array",
    "layer_place",
    "long_step",
    "makes_layer",
    "most_time_steps",
    "needless_wrappers",
    "policy_at",
    "policy_set_by",
    "recurrent_steps",
    "scales_loss",
    "shares_cell",
    "train_step_of",
    "unrolled_convolutions",
    "wrong_images",
]
