"""What the buffer of a shuffle holds where it holds more than examples as they are read: whole batches, decoded images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import libcst as cst

from kerascheck.interpreter.array_shapes import batch_size
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import DatasetOp, ExternalInstance, constant
from kerascheck.knowledge.datasets import BATCHING, LIST_FILES
from kerascheck.knowledge.namespaces import TENSORFLOW_DATASETS
from kerascheck.meaning.data.batching import batches_before, sorts_by_length
from kerascheck.meaning.data.epochs import is_reshuffled
from kerascheck.meaning.data.mapped_functions import facts_of
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.data.stages import COMBINING

# As many steps of a transition, say, may be put together to be one example.
_FEW = 4
_KEEPS_BATCHES = (
    "map",
    "filter",
    "cache",
    "prefetch",
    "repeat",
    "take",
    "skip",
    "shard",
    "enumerate",
    "with_options",
    "ignore_errors",
)
_BATCHES_AGAIN = frozenset(
    {*BATCHING, "unbatch", "rebatch", "flat_map", "interleave", "window", "group_by_window", "apply"}
)
_ELEMENT_BY_ELEMENT = ("map", "filter", "prefetch", "with_options", "enumerate", "ignore_errors", "repeat")
_CUTTING = ("take", "skip")


@dataclass(frozen=True, slots=True)
class ShuffledBatches:
    """Finished batches that a shuffle mixes.

    Attributes:
        shuffle: the shuffle.
        batches: the operations that made them, one for each dataset that is put together.
    """

    shuffle: DatasetOp
    batches: list[DatasetOp]

    @property
    def _sources(self) -> list[DatasetOp]:
        return [stage for batch in self.batches for stage in batch.upstream()]

    @property
    def mixes_files(self) -> bool:
        """Whether files are listed in another order in each epoch."""
        return any(stage.name == LIST_FILES and is_reshuffled(stage) for stage in self._sources)

    @property
    def mixes_examples_by_file(self) -> bool:
        """Whether TensorFlow Datasets reads its files in another order in each epoch."""
        return any(
            stage.name.startswith(TENSORFLOW_DATASETS) and constant(stage.given("shuffle_files")) is True
            for stage in self._sources
        )

    @property
    def are_generated(self) -> bool:
        """Whether the examples come from a generator, which may mix them by itself."""
        return any(stage.name.endswith("from_generator") for stage in self._sources)

    @property
    def may_be_examples(self) -> bool:
        """Whether what a batch puts together may be one example, such as the two steps of a transition: something is made of it, or it is a literal few."""
        size = constant(batch_size(self.batches[0]))
        return self.batches[0] not in self.shuffle.inputs or isinstance(size, int) and size <= _FEW


def shuffled_batches(op: Operation) -> ShuffledBatches | None:
    """The finished batches that a shuffle mixes; None where elements were shuffled before, or a batch is one element."""
    found = (ShuffledBatches(stage, _batches_before(stage)) for stage in op.stages)
    return next((each for each in found if each.batches), None)


def is_batched_again(module: Module, op: Operation) -> bool:
    """Whether what an operation gives is put together otherwise behind it: batches that come before are then the examples."""
    pipelines = module.once(Pipelines)
    return any(child.name in _BATCHES_AGAIN for stage in op.stages for child in pipelines.downstream(stage))


def _batches_before(shuffle: DatasetOp) -> list[DatasetOp]:
    batches = batches_before(shuffle, _KEEPS_BATCHES)
    if any(
        constant(batch_size(batch)) == 1 or any(stage.name == "shuffle" for stage in batch.upstream())
        for batch in batches
    ):
        return []
    # Padding is least where neighbours are of one length: then to mix them is no gain.
    return [] if any(batch.name == "padded_batch" and sorts_by_length(batch) for batch in batches) else batches


@dataclass(frozen=True, slots=True)
class ShuffledImages:
    """Decoded images in the buffer of a shuffle.

    Attributes:
        shuffle: the shuffle.
        count: how many it holds; None where that is computed.
        decoding: the map that decodes them.
        pixels: how many pixels each has, as a later literal says; None where none does.
        is_joined: whether other datasets are put beside them before they are shuffled.
        is_cut: whether some are left out or taken between: before that, a shuffle deals out others.
    """

    shuffle: DatasetOp
    count: int | None
    decoding: DatasetOp
    pixels: int | None
    is_joined: bool
    is_cut: bool


def shuffled_images(op: Operation, many: int) -> Iterator[ShuffledImages]:
    """The decoded images that a shuffle holds, on each way to it; none where its size is a name for a number, or ``take`` leaves fewer than ``many``."""
    count = constant(op.given("buffer_size"))
    if not isinstance(count, int) and not _computes_size(op):
        return
    for stage in op.stages:
        found = _decoding(stage.input, many)
        if found is not None:
            decoding, pixels, is_joined = found
            between = takewhile(lambda each: each is not decoding, stage.upstream())
            is_cut = any(each.name in _CUTTING for each in between)
            yield ShuffledImages(stage, count, decoding, pixels, is_joined, is_cut)


def _computes_size(op: Operation) -> bool:
    """Whether the size of a buffer is that of the data, or calculated where it stands; any other name for it is a number that somebody chose elsewhere."""
    given = op.given("buffer_size")
    written = op.call.written("buffer_size") if op.call is not None else None
    is_counted = isinstance(given, ExternalInstance) and (given.name == "builtins.len" or ".cardinality" in given.name)
    is_calculated = written is not None and isinstance(written.value, (cst.Call, cst.BinaryOperation))
    return constant(given) is None and (is_counted or is_calculated)


def _decoding(
    stage: DatasetOp | None, many: int, pixels: int | None = None, joined: bool = False
) -> tuple[DatasetOp, int | None, bool] | None:
    """The last map up to a stage that decodes images, with ``pixels`` and ``is_joined`` of its images; None where no map does."""
    while stage is not None:
        if stage.name in COMBINING:
            each = (_decoding(part, many, pixels, True) for part in stage.inputs)
            return next(filter(None, each), None)
        taken = constant(stage.given("count")) if stage.name == "take" else None
        if stage.name not in _ELEMENT_BY_ELEMENT + _CUTTING or isinstance(taken, int) and taken < many:
            return None
        if stage.name == "map" and (facts := facts_of(stage)) is not None:
            pixels = pixels or facts.pixels
            if facts.decodes_images:
                return stage, pixels, joined
        stage = stage.input
    return None
