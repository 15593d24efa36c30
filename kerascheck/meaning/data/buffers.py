"""Datasets that prepare elements in advance, and the runtime's treatment of the others."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from kerascheck.interpreter.values import UNKNOWN, Constant, DatasetOp
from kerascheck.knowledge.datasets import ASYNCHRONOUS_LAST, PREFETCHED_SOURCES
from kerascheck.meaning.data.stages import COMBINING

# These compute nothing, so a buffer before them is as good as one after them.
PASSING = ("repeat", "take", "skip", "with_options", "enumerate", "shard", "distribute")


class TailBuffering(enum.Enum):
    """How the runtime buffers a dataset whose last operation prepares nothing in advance."""

    ADDS_WHERE_USED = enum.auto()
    """Adds a prefetch, wherever the dataset is used."""
    LEAVES_UNSEEN = enum.auto()
    """Adds none, and the use of the dataset is not visible."""
    LEAVES_IN_FUNCTION = enum.auto()
    """Adds none: the loop is part of a tf.function."""
    MAKES_PARALLEL = enum.auto()
    """Makes the map parallel, which runs ahead."""
    FUSES = enum.auto()
    """Makes the map and the batch one operation, which runs ahead."""
    LEAVES = enum.auto()
    """Adds none in this version."""
    SWITCHED_OFF = enum.auto()
    """Adds none, because of the options."""
    ADDS = enum.auto()
    """Adds a prefetch."""

    @property
    def repairs(self) -> bool:
        """Whether the runtime buffers the dataset itself, so nothing is lost."""
        return self in (
            TailBuffering.ADDS_WHERE_USED,
            TailBuffering.MAKES_PARALLEL,
            TailBuffering.FUSES,
            TailBuffering.ADDS,
        )


@dataclass(frozen=True, slots=True)
class Unbuffered:
    """A dataset without a buffer at its end.

    Attributes:
        last: its last operation.
        early: a prefetch further up the chain, if any.
        runtime: how the runtime buffers it here.
        costs: whether it certainly costs time here.
    """

    last: DatasetOp
    early: DatasetOp | None
    runtime: TailBuffering
    costs: bool


def last_computation(stage: DatasetOp) -> DatasetOp:
    """The last operation up to a stage that computes something."""
    while stage.name in PASSING and stage.input is not None:
        stage = stage.input
    return stage


def runs_ahead(stage: DatasetOp) -> bool | None:
    """Whether a dataset ending in this stage prepares elements in advance; None if unknown."""
    name = stage.name
    if name in ASYNCHRONOUS_LAST or name in PREFETCHED_SOURCES:
        return True
    if name in ("apply", "parameter"):
        return None
    if name in COMBINING and stage.inputs:
        each = [runs_ahead(last_computation(other)) for other in stage.inputs]
        return None if None in each else all(each)
    if name in ("map", "interleave", "batch") and (given := stage.parallelism) is not None:
        return None if given is UNKNOWN else not (isinstance(given, Constant) and given.value in (1, None))
    if name in ("with_options", "assert_cardinality", "ignore_errors") and stage.input is not None:
        return runs_ahead(stage.input)
    if name == "batch" and stage.input is not None and stage.input.name == "map":
        # map(parallel).batch becomes MapAndBatch, which runs ahead.
        return runs_ahead(stage.input)
    return False
