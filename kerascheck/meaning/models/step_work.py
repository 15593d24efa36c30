"""Amount of work in a training step: weights, layers, inputs, time steps, state and arguments."""

from __future__ import annotations

import enum
from collections.abc import Collection
from math import inf, prod

from kerascheck.interpreter.layer_shapes import example_size
from kerascheck.interpreter.values import ExternalInstance, constant
from kerascheck.knowledge.classes import MODEL, SEQUENTIAL
from kerascheck.knowledge.layers import (
    BIDIRECTIONAL,
    CATEGORY_ENCODING,
    CENTER_CROP,
    EMBEDDING,
    LAMBDA,
    OF_DENSE_MODELS,
    RECURRENT,
    Work,
    layers_where,
)
from kerascheck.meaning.models.models import Layer, Model

LIGHT_LAYERS = frozenset({SEQUENTIAL, MODEL, EMBEDDING, LAMBDA, *OF_DENSE_MODELS, *RECURRENT}) | layers_where(
    lambda layer: layer.work is Work.POOLS_ALL and layer.axes == 1
)
"""Layers that, if small, take little longer than their launch: dense ones, and recurrent ones with few time steps."""

LAYERS_OF_SMALL_MODELS = (
    LIGHT_LAYERS
    | {CATEGORY_ENCODING, CENTER_CROP, BIDIRECTIONAL}
    | layers_where(
        lambda layer: (
            layer.axes in (1, 2) and layer.work in (Work.MOVES, Work.EACH, Work.POOLS, Work.POOLS_ALL, Work.CONVOLVES)
        )
    )
)
"""The same, with convolutions and pooling over series and images."""


class LongStep(enum.Enum):
    """The reason why a step of a model may take longer than the code around it."""

    UNKNOWN_SIZE = enum.auto()
    """Its number of parameters is unknown."""
    MANY_PARAMETERS = enum.auto()
    """It has many parameters."""
    HEAVY_LAYERS = enum.auto()
    """It has layers that take long even with few parameters."""


def long_step(model: Model, parameters: int, layers: Collection[str]) -> LongStep | None:
    """The reason why a step of a model may take long; None within these parameters and layers."""
    if not model.most_parameters:
        return LongStep.UNKNOWN_SIZE
    if model.most_parameters > parameters:
        return LongStep.MANY_PARAMETERS
    return None if model.consists_of(layers) else LongStep.HEAVY_LAYERS


def input_numbers(model: Model) -> int:
    """Number of values in one example of a model's inputs, counting those of known shape."""
    return sum(prod(size or 1 for size in shape[1:]) for shape in model.inputs if shape)


def largest_array(model: Model) -> float:
    """Number of values in a model's largest input that is not a table row; infinite if a shape is unknown.

    The number of weights already covers the columns of a table.
    """
    return max((example_size(shape) for shape in model.inputs if shape is None or len(shape) != 2), default=0)


def recurrent_steps(model: Model) -> float:
    """The time steps of all recurrent layers of a model, each an iteration; infinite if unknown."""
    recurrent = (layer for layer in model.layers if layer.name in RECURRENT)
    return sum(layer.shape[1] or inf if layer.shape and len(layer.shape) > 1 else inf for layer in recurrent)


def goes_both_ways(model: Model) -> bool:
    """Whether a layer of a model processes its time steps in both directions."""
    return any(layer.name == BIDIRECTIONAL for layer in model.layers)


def is_dense(model: Model) -> bool:
    """Whether no layer of a model convolves or processes time steps."""
    return not any("Conv" in (layer.name or "") or _is_recurrent(layer) for layer in model.layers)


def keeps_state(model: Model) -> bool:
    """Whether a recurrent layer keeps its state between batches, which fixes the contents of a batch."""
    return any(map(_is_stateful, model.layers))


def accumulates_gradients(model: Model) -> bool:
    """Whether the optimizer of a model accumulates gradients over several batches, by an argument of Keras 3."""
    optimizers = (compiled.given("optimizer") for compiled in model.compiles)
    return any(
        isinstance(optimizer, ExternalInstance)
        and optimizer.call is not None
        and optimizer.call.keyword("gradient_accumulation_steps") is not None
        for optimizer in optimizers
    )


def _is_recurrent(layer: Layer) -> bool:
    return layer.name == BIDIRECTIONAL or layer.name in RECURRENT


def _is_stateful(layer: Layer) -> bool:
    stateful = layer.made.keyword("stateful") if layer.made is not None and _is_recurrent(layer) else None
    return stateful is not None and constant(stateful, True) is not False
