"""Single dataset operations and what leads to them."""

from __future__ import annotations

from collections.abc import Collection

from kerascheck.interpreter.array_shapes import batch_size
from kerascheck.interpreter.values import Const, Group, Stage, constant
from kerascheck.knowledge.datasets import BATCHING

INSPECTED_ELEMENTS = 32
"""``take(k)`` of at most so many elements is a look at the data."""


COMBINING = frozenset({"zip", "concatenate", "sample_from_datasets", "choose_from_datasets"})
"""Operations that only hand elements on, out of several datasets."""


def is_cut_short(stage: Stage) -> bool:
    """Whether only a handful of elements gets to a stage, as a literal says."""
    return stage.input is not None and gives_few_elements(stage.input)


def gives_few_elements(stage: Stage, *, batches: bool = False) -> bool:
    """Whether only a handful of elements comes out of a stage, as a literal or a literal list says: a batch counts as many as are in it, or for ``batches`` as one."""
    count, repeated = None, False
    for current in stage.upstream():
        repeated = repeated or current.name == "repeat"
        if current.name == "take" and count is None:
            count = constant(current.given("count"))
            if not isinstance(count, int) or count < 0:
                return False
        elif current.name in BATCHING and count is not None:
            size = constant(batch_size(current))
            count *= size if isinstance(size, int) and not batches else 1
        elif current.is_source and current.name.endswith(".from_tensor_slices") and not repeated:
            written = current.given("tensors")
            if (
                isinstance(written, Group)
                and written.kind == "list"
                and not written.open
                and all(isinstance(item, Const) for item in written.items)
            ):
                count = min(len(written.items), len(written.items) if count is None else count)
    return count is not None and count <= INSPECTED_ELEMENTS


def nearest_before(stage: Stage, name: str, across: Collection[str]) -> Stage | None:
    """The last operation of this name before a stage, with nothing but operations of the names ``across`` between; None where there is none.

    With no names, ``()``, the operation directly before.
    """
    for before in stage.upstream():
        if before is stage:
            continue
        if before.name == name:
            return before
        if before.name not in across:
            break
    return None
