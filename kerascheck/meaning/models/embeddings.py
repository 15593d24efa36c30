"""Large embeddings whose optimizer updates all rows in each step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExternalInstance, Value, constant, options_of
from kerascheck.knowledge.classes import DENSE_OPTIMIZERS
from kerascheck.knowledge.layers import EMBEDDING
from kerascheck.knowledge.namespaces import OF_KERAS_OPTIMIZERS
from kerascheck.meaning.models.building import models_of


@dataclass(frozen=True, slots=True)
class DenseEmbedding:
    """An embedding that an optimizer updates as a whole.

    Attributes:
        made: the constructor call of the layer.
        compiled: the ``compile`` of its model.
        optimizer: the short name of the optimizer, such as "Adam".
        rows: the number of rows.
        numbers: rows times columns.
    """

    made: Call
    compiled: Call
    optimizer: str
    rows: int
    numbers: int


def dense_embeddings(module: Module, rows: int, numbers: int) -> Iterator[DenseEmbedding]:
    """The trained embeddings of more than ``rows`` rows and ``numbers`` numbers, each layer once."""
    seen = set()
    for model in module.once(models_of):
        compiled = model.compiles[0] if len(model.compiles) == 1 and model.fits else None
        optimizer = _dense_optimizer(compiled.given("optimizer")) if compiled is not None else None
        for layer in model.layers if optimizer is not None else ():
            made = layer.made
            if compiled is None or optimizer is None or made is None or layer.name != EMBEDDING or made.node in seen:
                continue
            count, width = constant(made.given("input_dim")), constant(made.given("output_dim"))
            if type(count) is not int or type(width) is not int or not _is_trained(layer.value, made):
                continue
            if count > rows and count * width >= numbers:
                seen.add(made.node)
                yield DenseEmbedding(made, compiled, optimizer, count, count * width)


def _dense_optimizer(value: Value | None) -> str | None:
    """The short name of an optimizer that updates all rows of an embedding; None for others and unknown ones."""
    options = options_of(value)
    option = options[0] if len(options) == 1 else None
    if isinstance(option, ExternalInstance) and option.name.startswith(OF_KERAS_OPTIMIZERS):
        short = option.name.rpartition(".")[2]
        return short if short in DENSE_OPTIMIZERS else None
    name = constant(option)
    return next((short for short in DENSE_OPTIMIZERS if isinstance(name, str) and short.lower() == name.lower()), None)


def _is_trained(layer: Value, made: Call) -> bool:
    """Whether an embedding certainly is trainable."""
    switched = isinstance(layer, ExternalInstance) and "trainable" in layer.attributes
    given = made.keyword("trainable")
    return not switched and (given is None or constant(given) is True) and made.keyword("lora_rank") is None
