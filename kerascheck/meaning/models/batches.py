"""Batch sizes of training steps."""

from __future__ import annotations

from dataclasses import dataclass

from kerascheck.interpreter.array_shapes import batch_size
from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.values import Call, Constant, Dataset, Value, constant, datasets_in
from kerascheck.knowledge.datasets import BATCHING, BATCHING_SOURCES

_CHANGES_BATCHES = frozenset({"unbatch", "rebatch", "flat_map", "interleave", "window"})


@dataclass(frozen=True, slots=True)
class Batching:
    """The number of examples in a training step.

    Attributes:
        size: the number.
        place: the argument or dataset operation that sets it; the ``fit`` call for the default.
        is_default: whether the code uses the default.
    """

    size: int
    place: CodeLocation
    is_default: bool = False


def batches_of(fit: Call) -> Batching | None:
    """The batches that a call of ``fit`` trains on; None if their size is unknown."""
    given = fit.given("batch_size") if "batch_size" in fit.signature else None
    if given is not None and not (isinstance(given, Constant) and given.value is None):
        node = fit.written("batch_size")
        return _batching(given, CodeLocation(fit.module, node or fit.node))
    found = list(datasets_in(fit.given("x")))
    if len(found) == 1 and (batch := batching_of(found[0])) is not None:
        return batch
    # Only arrays have separate labels.
    return (
        Batching(32, CodeLocation(fit.module, fit.node), is_default=True)
        if not found and fit.attribute == "fit" and fit.given("y") is not None
        else None
    )


def batching_of(dataset: Dataset) -> Batching | None:
    """The last batching on the way to a dataset; None if its size is unknown."""
    for stage in dataset.stage.upstream():
        if stage.maybe or stage.name in _CHANGES_BATCHES:
            return None
        if stage.name in BATCHING:
            return _batching(batch_size(stage), CodeLocation(stage.module, stage.node))
        if stage.name in BATCHING_SOURCES:
            size = stage.given("batch_size")
            return _batching(
                Constant(BATCHING_SOURCES[stage.name]) if size is None else size, CodeLocation(stage.module, stage.node)
            )
    return None


def _batching(size: Value | None, place: CodeLocation) -> Batching | None:
    number = constant(size)
    return Batching(number, place) if type(number) is int and number > 0 else None
