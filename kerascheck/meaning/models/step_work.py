"""What decides how long a training step of a model takes, beside its weights: inputs, time steps, state and arguments."""

from __future__ import annotations

from math import inf, prod

from kerascheck.interpreter.layer_shapes import example_size
from kerascheck.interpreter.values import Made, constant
from kerascheck.knowledge.layers import BIDIRECTIONAL, RECURRENT
from kerascheck.meaning.models.models import Layer, Model


def input_numbers(model: Model) -> int:
    """How many numbers go into a model with one example, as far as the shapes of its inputs tell."""
    return sum(prod(size or 1 for size in shape[1:]) for shape in model.inputs if shape)


def largest_array(model: Model) -> float:
    """How many numbers the largest input of a model holds that is no row of a table; infinite where a shape is not known.

    How many columns a table has, the number of weights tells.
    """
    return max((example_size(shape) for shape in model.inputs if shape is None or len(shape) != 2), default=0)


def recurrent_steps(model: Model) -> float:
    """How many time steps all recurrent layers of a model make, each of them an iteration; infinite where that is not known."""
    recurrent = (layer for layer in model.layers if layer.name in RECURRENT)
    return sum(layer.shape[1] or inf if layer.shape and len(layer.shape) > 1 else inf for layer in recurrent)


def goes_both_ways(model: Model) -> bool:
    """Whether a layer of a model goes through its time steps in both directions."""
    return any(layer.name == BIDIRECTIONAL for layer in model.layers)


def is_dense(model: Model) -> bool:
    """Whether none of the layers of a model convolves or goes through time steps."""
    return not any("Conv" in (layer.name or "") or _is_recurrent(layer) for layer in model.layers)


def keeps_state(model: Model) -> bool:
    """Whether a recurrent layer of a model goes on where the batch before ended, which fixes what a batch holds."""
    return any(map(_is_stateful, model.layers))


def accumulates_gradients(model: Model) -> bool:
    """Whether the optimizer of a model adds up the gradients of several batches, by an argument of Keras 3."""
    optimizers = (compiled.given("optimizer") for compiled in model.compiles)
    return any(
        isinstance(optimizer, Made)
        and optimizer.call is not None
        and optimizer.call.keyword("gradient_accumulation_steps") is not None
        for optimizer in optimizers
    )


def _is_recurrent(layer: Layer) -> bool:
    return layer.name == BIDIRECTIONAL or layer.name in RECURRENT


def _is_stateful(layer: Layer) -> bool:
    stateful = layer.made.keyword("stateful") if layer.made is not None and _is_recurrent(layer) else None
    return stateful is not None and constant(stateful, True) is not False
