"""Elements that a dataset computes and then skips."""

from __future__ import annotations

from dataclasses import dataclass

from kerascheck.interpreter.array_shapes import batch_size
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import DatasetOp, constant
from kerascheck.knowledge.datasets import BATCHING
from kerascheck.meaning.data.mapped_functions import facts_of
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.syntax.tree import alike

# Behind a map, these request all of its results again in each epoch. A cache would keep them.
_PASSES_ON = frozenset({*BATCHING, "map", "prefetch", "with_options", "enumerate", "shuffle", "take", "filter"})


@dataclass(frozen=True, slots=True)
class SkippedWork:
    """A skip that discards results of a map which reads, decodes or parses, or runs Python.

    Attributes:
        skip: the skip.
        work: the first such map before it.
        count: the number of elements that it discards; None if unknown.
        is_split: whether a ``take`` of as many elements continues from the same dataset.
    """

    skip: DatasetOp
    work: DatasetOp
    count: int | None
    is_split: bool


def skipped_work(module: Module, op: Operation) -> SkippedWork | None:
    """The work that a skip discards on one of its paths; None if a cache keeps the results, or if there is none."""
    if op.followed_by(module.once(Pipelines), "cache", "snapshot"):
        return None
    for skip in op.stages:
        work, count = None, constant(skip.given("count"))
        for stage in skip.upstream():
            if stage is skip:
                continue
            if stage.maybe or stage.name not in _PASSES_ON:
                break
            if stage.name in BATCHING and work is None:
                size = constant(batch_size(stage))
                count = count * size if type(count) is int and type(size) is int else None
            facts = facts_of(stage) if stage.name == "map" else None
            if facts is not None and (facts.reading is not None or facts.python_function is not None):
                work = stage
        if work is not None and not any(skip.path.conditions(within=work.path)):
            return SkippedWork(skip, work, count if type(count) is int else None, _is_split(module, skip))
    return None


def _is_split(module: Module, skip: DatasetOp) -> bool:
    """Whether a ``take`` gets the elements that a skip leaves out."""
    if skip.input is None or skip.call is None or (number := skip.call.written("count")) is None:
        return False
    return any(
        other.name == "take"
        and other.module is skip.module
        and other.call is not None
        and (taken := other.call.written("count")) is not None
        and alike(taken.value, number.value)
        for other in module.once(Pipelines).children(skip.input)
    )
