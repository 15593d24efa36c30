"""Differences between the epochs of a dataset - random draws and orders - and caches that freeze them."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import UNKNOWN, DatasetOp, constant
from kerascheck.knowledge.datasets import FOLDERS, LIST_FILES
from kerascheck.meaning.data.batching import is_batched
from kerascheck.meaning.data.mapped_functions import facts_of
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.data.stages import is_cut_short

_ORDERING = FOLDERS | {"shuffle"}


def is_random_before(stage: DatasetOp) -> bool:
    """Whether an operation or one before it may return other elements in each epoch, apart from their order."""
    return any(not facts.deterministic for facts in filter(None, map(facts_of, stage.upstream())))


def last_deterministic(module: Module, stage: DatasetOp) -> DatasetOp:
    """The last map or filter after a stage that returns the same in every epoch, which is the place for a cache."""
    while True:
        children = module.once(Pipelines).children(stage)
        if (
            len(children) != 1
            or children[0].name not in ("map", "filter")
            or (facts := facts_of(children[0])) is None
            or not facts.deterministic
        ):
            return stage
        stage = children[0]


def is_reshuffled(stage: DatasetOp) -> bool:
    """Whether an operation changes the order in every epoch.

    A shuffle, ``list_files`` and the folder readers of Keras do, unless the code forbids it. Source:
    ``image_dataset_from_directory`` and similar functions call ``shuffle(buffer_size, seed=seed)`` before they read
    (Keras 3.15), even with a seed.
    """
    if stage.name == "shuffle":
        again = stage.given("reshuffle_each_iteration")
        return again is not UNKNOWN and constant(again, True) is not False
    if stage.name in FOLDERS:
        shuffled = stage.given("shuffle")
        return shuffled is None or constant(shuffled, False) is True
    return stage.name == LIST_FILES and constant(stage.given("shuffle"), True) is not False


class Unfrozen(enum.Enum):
    """Reasons why a cache freezes nothing that should differ between epochs."""

    NOTHING_RANDOM = enum.auto()
    """Nothing before it is random."""
    NOTHING_SEEN = enum.auto()
    """Nothing before it is seen to be random, but a function, or the source, is not visible."""
    BATCHES_SHUFFLED_LATER = enum.auto()
    """Only an order before it is random; it keeps the examples of each batch, and a later shuffle mixes the batches."""
    SHUFFLED_LATER = enum.auto()
    """Only an order before it is random, and a later shuffle changes the order again."""
    FEW_ELEMENTS = enum.auto()
    """It keeps a handful of elements, for an inspection of the data or a benchmark."""
    HELD_OUT = enum.auto()
    """A later skip holds examples out, which stay separate only if their order stays the same."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """Randomness that a cache freezes to that of the first epoch.

    Attributes:
        cache: the cache.
        random: the first operation of its chain that draws or shuffles; without one, a folder whose order of reading
            differs between epochs.
    """

    cache: DatasetOp
    random: DatasetOp

    @property
    def is_folder(self) -> bool:
        """Whether the cache freezes only the order of a folder."""
        return self.random.name in FOLDERS


def frozen_by(module: Module, op: Operation) -> Iterator[Frozen | Unfrozen]:
    """The randomness that a cache freezes, for each path that runs it."""
    for cache in op.stages:
        behind = [each.name for each in module.once(Pipelines).downstream(cache)]
        # A shuffle after the cache makes the first order irrelevant.
        passed = _ORDERING if "shuffle" in behind else frozenset()
        varying = [stage for stage in cache.upstream() if stage is not cache and _differs_in_each_epoch(stage)]
        random = [stage for stage in varying if stage.name not in passed]
        if not random:
            yield _why_unfrozen(cache, varying)
            continue
        if is_cut_short(cache):
            yield Unfrozen.FEW_ELEMENTS
            continue
        drawing = [stage for stage in random if stage.name not in FOLDERS]
        is_split = bool(drawing) and drawing[-1].name == "shuffle" and "skip" in behind
        yield Unfrozen.HELD_OUT if is_split else Frozen(cache, drawing[-1] if drawing else random[0])


def _why_unfrozen(cache: DatasetOp, varying: list[DatasetOp]) -> Unfrozen:
    if varying:
        is_mixed = any(stage.name == "shuffle" for stage in varying)
        return Unfrozen.BATCHES_SHUFFLED_LATER if is_batched(cache) and not is_mixed else Unfrozen.SHUFFLED_LATER
    return Unfrozen.NOTHING_RANDOM if all(map(_is_visible, cache.upstream())) else Unfrozen.NOTHING_SEEN


def _is_visible(stage: DatasetOp) -> bool:
    if stage.name in ("parameter", "apply"):
        return False
    facts = stage.facts
    return facts.known if facts is not None else stage.name not in ("map", "filter", "interleave", "flat_map")


def _differs_in_each_epoch(stage: DatasetOp) -> bool:
    if stage.name in _ORDERING:
        return is_reshuffled(stage)
    return (facts := facts_of(stage)) is not None and facts.randomness is not None
