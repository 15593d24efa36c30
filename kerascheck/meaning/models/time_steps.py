"""The axis of time steps: how many go into a layer, and which of them a mask leaves out."""

from __future__ import annotations

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, constant
from kerascheck.knowledge.layers import EMBEDDING, MASKING
from kerascheck.meaning.models.building import models_of
from kerascheck.meaning.models.models import Layer


def time_steps_into(module: Module, made: Call) -> set[int | None]:
    """How many time steps go into the layer that a call makes, in each place of a model; None among them where that is not known."""
    return {layer.shape[1] if layer.shape and len(layer.shape) > 1 else None for layer in _placed(module, made)}


def lacks_time_axis(module: Module, made: Call) -> bool:
    """Whether no axis of time steps goes into the layer that a call makes in some place: there a recurrent one raises a ValueError."""
    return any(layer.shape is not None and len(layer.shape) == 2 for layer in _placed(module, made))


def may_mask(module: Module) -> bool:
    """Whether something in the program may hand a mask to its recurrent layers."""
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
