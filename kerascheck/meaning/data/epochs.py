"""What a dataset gives otherwise in each epoch: random draws and orders."""

from __future__ import annotations

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import UNKNOWN, Stage, constant
from kerascheck.knowledge.datasets import FOLDERS, LIST_FILES
from kerascheck.meaning.data.mapped_functions import facts_of
from kerascheck.meaning.data.pipelines import Pipelines


def is_random_before(stage: Stage) -> bool:
    """Whether an operation, or one before it in the chain, may give other elements in every epoch than in the last; their order does not count."""
    return any(not facts.deterministic for facts in filter(None, map(facts_of, stage.upstream())))


def last_deterministic(module: Module, stage: Stage) -> Stage:
    """The last of the maps and filters behind a stage that certainly give the same in every epoch: where a cache belongs."""
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


def is_reshuffled(stage: Stage) -> bool:
    """Whether an operation gives another order in every epoch, as a shuffle, ``list_files`` and the folders of Keras do where nothing forbids it.

    Source: ``image_dataset_from_directory`` and its kin call ``shuffle(buffer_size, seed=seed)`` before they read (Keras 3.15), with a seed, too.
    """
    if stage.name == "shuffle":
        again = stage.given("reshuffle_each_iteration")
        return again is not UNKNOWN and constant(again, True) is not False
    if stage.name in FOLDERS:
        shuffled = stage.given("shuffle")
        return shuffled is None or constant(shuffled, False) is True
    return stage.name == LIST_FILES and constant(stage.given("shuffle"), True) is not False
