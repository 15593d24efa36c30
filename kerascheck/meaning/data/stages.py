"""Single dataset operations and their inputs."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace

from kerascheck.interpreter.array_shapes import batch_size
from kerascheck.interpreter.values import Constant, DatasetOp, SequenceValue, constant
from kerascheck.knowledge.datasets import BATCHING

INSPECTED_ELEMENTS = 32
"""``take(k)`` of at most so many elements is a look at the data."""


COMBINING = frozenset({"zip", "concatenate", "sample_from_datasets", "choose_from_datasets"})
"""Operations that only pass elements on, from several datasets."""


def is_cut_short(stage: DatasetOp) -> bool:
    """Whether a literal limits a stage to a handful of elements."""
    return stage.input is not None and gives_few_elements(stage.input)


def gives_few_elements(stage: DatasetOp, *, batches: bool = False) -> bool:
    """Whether only a handful of elements leaves a stage, by a literal or a literal list.

    A batch counts as its elements, or for ``batches`` as one.
    """
    known = stage.module.once(_Amounts).of(stage)
    if known.unknown:
        return False
    told = [known.taken_batches if batches else known.taken, known.listed]
    return min((count for count in told if count is not None), default=INSPECTED_ELEMENTS + 1) <= INSPECTED_ELEMENTS


@dataclass(frozen=True, slots=True)
class _Amount:
    """The elements that leave a stage, by literals; None without them."""

    listed: int | None = None
    """Elements of the literal list that it starts from."""
    in_each: int = 1
    """Elements of the source in one of its elements."""
    taken: int | None = None
    """Elements of the source that the last ``take`` leaves."""
    taken_batches: int | None = None
    unknown: bool = False
    """The last ``take`` leaves as many as nobody knows."""


class _Amounts:
    """The amounts of a module's stages, each inferred once from the one before.

    Walks back to the source are quadratic in a long chain.
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
    """The last operation of this name before a stage; None without one.

    Only operations named in ``across`` may be between. With no names, ``()``, the operation directly before.
    """
    for before in stage.upstream():
        if before is stage:
            continue
        if before.name == name:
            return before
        if before.name not in across:
            break
    return None
