"""Single dataset operations and their inputs."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace

from kerascheck.interpreter.array_shapes import batch_size
from kerascheck.interpreter.values import Constant, DatasetOp, SequenceValue, constant
from kerascheck.knowledge.datasets import BATCHING

INSPECTED_ELEMENTS = 32
"""``take(k)`` of at most this many elements is an inspection of the data."""


COMBINING = frozenset({"zip", "concatenate", "sample_from_datasets", "choose_from_datasets"})
"""Operations that only pass on elements of several datasets."""


_KEEPS_ENDLESS = frozenset({*BATCHING, "map", "shuffle", "cache", "prefetch", "filter", "enumerate", "with_options"})


def is_endless(stage: DatasetOp) -> bool:
    """Whether a dataset certainly never ends: an unconditional ``repeat()`` that nothing after it cuts short."""
    for current in stage.upstream():
        if current.maybe:
            return False
        if current.name == "repeat":
            count = current.given("count")
            return count is None or isinstance(count, Constant) and count.value in (None, -1)
        if current.name not in _KEEPS_ENDLESS:
            return False
    return False


def is_cut_short(stage: DatasetOp) -> bool:
    """Whether a literal limits a stage to a handful of elements."""
    return stage.input is not None and gives_few_elements(stage.input)


def gives_few_elements(stage: DatasetOp, *, batches: bool = False) -> bool:
    """Whether only a handful of elements leaves a stage, according to a literal or a literal list.

    A batch counts as its elements, or as one if ``batches`` is set.
    """
    known = stage.module.once(_Amounts).of(stage)
    if known.unknown:
        return False
    counts = [known.taken_batches if batches else known.taken, known.listed]
    return min((count for count in counts if count is not None), default=INSPECTED_ELEMENTS + 1) <= INSPECTED_ELEMENTS


@dataclass(frozen=True, slots=True)
class _Amount:
    """The number of elements that leave a stage, from literals; fields are None if unknown."""

    listed: int | None = None
    """Elements of the literal list that it starts from."""
    in_each: int = 1
    """Number of source elements in one element of the stage."""
    taken: int | None = None
    """Number of source elements that the last ``take`` leaves."""
    taken_batches: int | None = None
    unknown: bool = False
    """The last ``take`` leaves an unknown number."""


class _Amounts:
    """The amounts of a module's stages, each inferred once from its predecessor.

    Walking back to the source each time would be quadratic in the length of a chain.
    """

    def __init__(self, module: object):
        self._known: dict[DatasetOp, _Amount] = {}

    def of(self, stage: DatasetOp) -> _Amount:
        way = list(itertools.takewhile(lambda each: each not in self._known, stage.upstream()))
        for each in reversed(way):
            before = _of_source(each) if each.input is None else self._known[each.input]
            self._known[each] = _after(each, before)
        return self._known[stage]


def _of_source(stage: DatasetOp) -> _Amount:
    written = stage.given("tensors") if stage.name.endswith(".from_tensor_slices") else None
    if not (isinstance(written, SequenceValue) and written.kind == "list" and not written.open):
        return _Amount()
    return _Amount(listed=len(written.items) if all(isinstance(item, Constant) for item in written.items) else None)


def _after(stage: DatasetOp, before: _Amount) -> _Amount:
    if stage.name == "repeat":
        return replace(before, listed=None)
    if stage.name == "take":
        count = constant(stage.given("count"))
        if not isinstance(count, int) or count < 0:
            return replace(before, unknown=True)
        return replace(before, taken=count * before.in_each, taken_batches=count, unknown=False)
    if stage.name in BATCHING:
        size = constant(batch_size(stage))
        return replace(before, in_each=before.in_each * size) if isinstance(size, int) else before
    return before


def nearest_before(stage: DatasetOp, name: str, across: Collection[str]) -> DatasetOp | None:
    """The last operation with this name before a stage; None if there is none.

    Only operations named in ``across`` may be between. With ``()`` it must be the operation directly before.
    """
    for before in stage.upstream():
        if before is stage:
            continue
        if before.name == name:
            return before
        if before.name not in across:
            break
    return None
