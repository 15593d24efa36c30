"""Batching relative to an operation: before or after it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import UNKNOWN, Constant, DatasetOp
from kerascheck.knowledge.datasets import BATCHING, BATCHING_SOURCES
from kerascheck.meaning.data.mapped_functions import facts_of
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.data.stages import COMBINING
from kerascheck.syntax.written import last_name

_SORTS = ("sort", "sorted", "argsort", "sort_values")


def _may_follow_batch(stage: DatasetOp) -> bool:
    if stage.name == "map":
        return (facts := facts_of(stage)) is not None and facts.elementwise
    return stage.name in ("shuffle", "cache", "repeat")


def next_batch(module: Module, op: Operation) -> DatasetOp | None:
    """The ``batch`` after an operation with only neutral operations between; None if there is none.

    Neutral operations are shuffle, cache, repeat, and maps that work on batches like on elements. If the operation
    feeds training, so does the batch.
    """
    found = [batch for stage in op.stages for batch in _batches_behind(module, op, stage, set())]
    return found[0] if found and None not in found else None


def _batches_behind(
    module: Module, op: Operation, stage: DatasetOp, seen: set[DatasetOp]
) -> Iterator[DatasetOp | None]:
    """The batches on all paths after a stage; None for a path with a map over single elements before them."""
    for child in module.once(Pipelines).children(stage):
        if child in seen or op.feeds_training and not module.once(Pipelines).trains_on(child):
            continue
        seen.add(child)
        if child.name == "batch":
            yield child
        elif _may_follow_batch(child):
            yield from _batches_behind(module, op, child, seen)
        elif child.name == "map":
            yield None


def batches_before(stage: DatasetOp, across: Collection[str]) -> list[DatasetOp]:
    """The operations that made the batches of a stage, one for each combined dataset.

    Only operations named in ``across`` may be between. Empty if one of the datasets may not consist of batches.
    """
    for before in stage.upstream():
        if before is stage:
            continue
        if before.name in BATCHING:
            return [before]
        if before.name in COMBINING:
            each = [[made] if made.name in BATCHING else batches_before(made, across) for made in before.inputs]
            return [batch for batches in each for batch in batches] if all(each) else []
        if before.name not in across:
            break
    return []


def sorts_by_length(stage: DatasetOp) -> bool:
    """Whether a module on the path of a dataset sorts by length, as for padding texts."""
    return any(
        isinstance(node, cst.Call)
        and last_name(node.func) in _SORTS
        and any(isinstance(inner, cst.Name) and "len" in inner.value.lower() for inner in module.tree.descendants(node))
        for module in {each.module for each in stage.upstream()}
        for node in module.tree.descendants(module.tree.root)
    )


def is_batched(stage: DatasetOp) -> bool | None:
    """Whether the elements of a dataset are batches; None if unknown."""
    for current in stage.upstream():
        if current.name in BATCHING:
            return True
        if current.name in ("unbatch", "flat_map", "interleave", "apply", "parameter", "window", "group_by_window"):
            return None
        if current.is_source:
            if current.name in BATCHING_SOURCES:
                size = current.given("batch_size")
                return None if size is UNKNOWN else not (isinstance(size, Constant) and size.value is None)
            return None if current.name == "parameter" else False
    return None
