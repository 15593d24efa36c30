"""Shuffle buffers that contain more than raw examples: whole batches, or decoded images."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import libcst as cst

from kerascheck.interpreter.array_shapes import batch_size
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import DatasetOp, ExternalInstance, constant
from kerascheck.knowledge.datasets import BATCHING, BATCHING_SOURCES, LIST_FILES
from kerascheck.knowledge.namespaces import TENSORFLOW_DATASETS
from kerascheck.meaning.data.batching import batches_before, sorts_by_length
from kerascheck.meaning.data.epochs import is_reshuffled
from kerascheck.meaning.data.mapped_functions import facts_of
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.data.stages import COMBINING

# Up to this many steps, such as those of a transition, may form one example.
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
        batches: the operations that made them, one for each combined dataset.
    """

    shuffle: DatasetOp
    batches: list[DatasetOp]

    @property
    def _sources(self) -> list[DatasetOp]:
        return [stage for batch in self.batches for stage in batch.upstream()]

    @property
    def mixes_files(self) -> bool:
        """Whether files are listed in a different order in each epoch."""
        return any(stage.name == LIST_FILES and is_reshuffled(stage) for stage in self._sources)

    @property
    def mixes_examples_by_file(self) -> bool:
        """Whether TensorFlow Datasets reads its files in a different order in each epoch."""
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
        """Whether a batch may be one example, such as the two steps of a transition.

        That is so if a later operation combines it, or its size is a small literal.
        """
        size = constant(batch_size(self.batches[0]))
        return self.batches[0] not in self.shuffle.inputs or isinstance(size, int) and size <= _FEW


def shuffled_batches(op: Operation) -> ShuffledBatches | None:
    """The finished batches that a shuffle mixes; None if elements were shuffled before, or batches have one element."""
    found = (ShuffledBatches(stage, _batches_before(stage)) for stage in op.stages)
    return next((each for each in found if each.batches), None)


class Unmixed(enum.Enum):
    """Reasons why a shuffle mixes no batches that another order would improve."""

    NO_BATCHES = enum.auto()
    """No operation before it is seen to make batches."""
    SHUFFLED_BEFORE = enum.auto()
    """An earlier shuffle mixes the examples."""
    SOURCE_BATCHES = enum.auto()
    """The source makes the batches itself."""
    NOTHING_GAINED = enum.auto()
    """The batches have one element, or neighbours of equal length."""


def unmixed(op: Operation) -> Unmixed:
    """Why :func:`shuffled_batches` found nothing for a shuffle."""
    before = [each for stage in op.stages for each in stage.upstream() if each is not stage]
    if any(each.name == "shuffle" for each in before):
        return Unmixed.SHUFFLED_BEFORE
    if any(each.name in BATCHING_SOURCES for each in before):
        return Unmixed.SOURCE_BATCHES
    return (
        Unmixed.NOTHING_GAINED
        if any(batches_before(stage, _KEEPS_BATCHES) for stage in op.stages)
        else Unmixed.NO_BATCHES
    )


def is_batched_again(module: Module, op: Operation) -> bool:
    """Whether the elements of an operation are combined again later: earlier batches are then the examples."""
    pipelines = module.once(Pipelines)
    return any(child.name in _BATCHES_AGAIN for stage in op.stages for child in pipelines.downstream(stage))


def _batches_before(shuffle: DatasetOp) -> list[DatasetOp]:
    batches = batches_before(shuffle, _KEEPS_BATCHES)
    if any(
        constant(batch_size(batch)) == 1 or any(stage.name == "shuffle" for stage in batch.upstream())
        for batch in batches
    ):
        return []
    # Padding is minimal between neighbours of equal length, so mixing them gains nothing.
    return [] if any(batch.name == "padded_batch" and sorts_by_length(batch) for batch in batches) else batches


@dataclass(frozen=True, slots=True)
class ShuffledImages:
    """Decoded images in the buffer of a shuffle.

    Attributes:
        shuffle: the shuffle.
        count: the number of images that it holds; None for a computed number.
        decoding: the map that decodes them.
        pixels: the pixels of each image, from a later literal; None if there is none.
        is_joined: whether other datasets are combined with them before the shuffle.
        is_cut: whether elements are dropped or taken in between, in which case an earlier shuffle would select others.
    """

    shuffle: DatasetOp
    count: int | None
    decoding: DatasetOp
    pixels: int | None
    is_joined: bool
    is_cut: bool
    augmenting: DatasetOp | None = None
    """The random map that makes them from images that a cache in memory holds; None without such a cache."""


def shuffled_images(op: Operation, many: int) -> Iterator[ShuffledImages]:
    """The decoded images in a shuffle, on each path to it.

    Yields nothing if its size is a named number, or if ``take`` leaves fewer than ``many``.
    """
    count = constant(op.given("buffer_size"))
    if not isinstance(count, int) and not _computes_size(op):
        return
    for stage in op.stages:
        found = _decoding(stage.input, many)
        if found is not None:
            decoding, pixels, is_joined = found
            between = takewhile(lambda each: each is not decoding, stage.upstream())
            is_cut = any(each.name in _CUTTING for each in between)
            augmenting = _augmenting(stage, decoding)
            yield ShuffledImages(stage, count, decoding, pixels, is_joined, is_cut, augmenting)


def _augmenting(shuffle: DatasetOp, decoding: DatasetOp) -> DatasetOp | None:
    """The first random map after the last cache between a map that decodes and a shuffle."""
    between = [*takewhile(lambda each: each is not decoding, shuffle.upstream())]
    after_cache = [*takewhile(lambda each: each.name != "cache", between)]
    return next(filter(_draws, reversed(after_cache)), None) if len(after_cache) < len(between) else None


def _draws(stage: DatasetOp) -> bool:
    return stage.name == "map" and (facts := facts_of(stage)) is not None and facts.randomness is not None


def _is_in_memory(stage: DatasetOp) -> bool:
    return stage.name == "cache" and not stage.maybe and stage.given("filename") is None


def _computes_size(op: Operation) -> bool:
    """Whether a buffer size is computed from the data, or is an expression at the call.

    Any other name is a number chosen elsewhere.
    """
    given = op.given("buffer_size")
    written = op.call.written("buffer_size") if op.call is not None else None
    is_counted = isinstance(given, ExternalInstance) and (given.name == "builtins.len" or ".cardinality" in given.name)
    is_calculated = written is not None and isinstance(written.value, (cst.Call, cst.BinaryOperation))
    return constant(given) is None and (is_counted or is_calculated)


def _decoding(
    stage: DatasetOp | None, many: int, pixels: int | None = None, joined: bool = False
) -> tuple[DatasetOp, int | None, bool] | None:
    """The last map up to a stage that decodes images, with ``pixels`` and ``is_joined``; None if there is none."""
    draws = False
    while stage is not None:
        if stage.name in COMBINING:
            each = (_decoding(part, many, pixels, True) for part in stage.inputs)
            return next(filter(None, each), None)
        draws = draws or _draws(stage)
        if draws and not joined and _is_in_memory(stage):
            # A random map makes copies of the cached images.
            stage = stage.input
            continue
        taken = constant(stage.given("count")) if stage.name == "take" else None
        if stage.name not in _ELEMENT_BY_ELEMENT + _CUTTING or isinstance(taken, int) and taken < many:
            return None
        if stage.name == "map" and (facts := facts_of(stage)) is not None:
            pixels = pixels or facts.pixels
            if facts.decodes_images:
                return stage, pixels, joined
        stage = stage.input
    return None
