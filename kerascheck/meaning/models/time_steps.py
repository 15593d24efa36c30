"""The time axis: time steps per layer, and masks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExternalInstance, constant
from kerascheck.knowledge.classes import MODEL, SEQUENTIAL
from kerascheck.knowledge.layers import CONVOLUTIONS, EMBEDDING, MASKING, TIME_DISTRIBUTED, layers_where
from kerascheck.knowledge.namespaces import OF_KERAS_APPLICATIONS
from kerascheck.meaning.data.fitted_data import example_shape
from kerascheck.meaning.models.building import models_of
from kerascheck.meaning.models.models import Layer
from kerascheck.meaning.program.program import Program

# These layers need no wrapper.
_ON_LAST_AXIS = layers_where(lambda layer: layer.on_last_axis)


def most_time_steps(module: Module, made: Call) -> float:
    """The maximum number of time steps that a constructed layer gets at any of its positions; infinite if unknown."""
    shapes = [layer.shape for layer in _placed(module, made)]
    return max((shape[1] or inf if shape and len(shape) > 1 else inf for shape in shapes), default=inf)


def lacks_time_axis(module: Module, made: Call) -> bool:
    """Whether a constructed layer gets no time axis at one of its positions.

    A recurrent layer raises a ValueError there.
    """
    return any(layer.shape is not None and len(layer.shape) == 2 for layer in _placed(module, made))


def may_mask(module: Module) -> bool:
    """Whether the program may pass a mask to its recurrent layers."""
    for call in module.run.calls:
        masks = (
            call.given("mask_zero")
            if call.name == EMBEDDING
            else call.keyword("mask")
            if call.attribute == "__call__"
            else None
        )
        if call.name == MASKING or masks is not None and constant(masks, True) not in (None, False):
            return True
    return False


def _placed(module: Module, made: Call) -> list[Layer]:
    return [
        layer
        for model in module.once(models_of)
        for layer in model.layers
        if layer.made is not None and layer.made.node is made.node
    ]


@dataclass(frozen=True, slots=True)
class NeedlessWrapper:
    """A TimeDistributed around a layer that works only on the last axis, and so handles all time steps together.

    Attributes:
        call: the constructor call.
        layer: the layer inside.
        most_steps: the maximum number of time steps that it gets; infinite if unknown.
        steps_known: whether Keras knows this number at each position.
    """

    call: Call
    layer: ExternalInstance
    most_steps: float
    steps_known: bool


def needless_wrappers(module: Module) -> Iterator[NeedlessWrapper]:
    """The TimeDistributed layers that their inner layer does not need, except those over a single time step."""
    for call in module.once(Program).calls(TIME_DISTRIBUTED):
        layer = call.given("layer")
        if not isinstance(layer, ExternalInstance) or layer.name not in _ON_LAST_AXIS or layer.call is None:
            continue
        most = most_time_steps(module, call)
        if most == 1 or {"axis", "noise_shape"} & set(layer.call.arguments.keywords):
            continue
        # If the graph leaves the number open, the shape of the batches may determine it.
        yield NeedlessWrapper(call, layer, most, most < inf or _is_fitted_on_arrays(module, call))


def unrolled_convolutions(module: Module, least: int) -> Iterator[tuple[Call, int]]:
    """The TimeDistributed convolutions or models with at least this many time steps, with the number."""
    seen = set()
    for layer in (layer for model in module.once(models_of) for layer in model.layers):
        if layer.name != TIME_DISTRIBUTED or layer.made is None or not layer.shape or len(layer.shape) < 2:
            continue
        steps = layer.shape[1]
        if steps is not None and steps >= least and layer.made.node not in seen and _is_convolutional(layer.made):
            seen.add(layer.made.node)
            yield layer.made, steps


def _is_fitted_on_arrays(module: Module, made: Call) -> bool:
    """Whether a model with a layer is fitted on arrays of a known shape, whose batches have a known length."""
    return any(
        example_shape(fit)
        for model in module.once(models_of)
        if any(layer.made is not None and layer.made.node is made.node for layer in model.layers)
        for fit in model.fits
    )


def _is_convolutional(wrapper: Call) -> bool:
    inner = wrapper.given("layer")
    return isinstance(inner, ExternalInstance) and (
        inner.name in (SEQUENTIAL, MODEL, *CONVOLUTIONS) or inner.name.startswith(OF_KERAS_APPLICATIONS)
    )
