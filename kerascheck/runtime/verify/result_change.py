"""Comparison of results: whether a variant sees the same data and has the same losses."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from kerascheck.runtime.verify.messages import TensorSpec, TrainingFacts
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.stats import disagreement

_LOSSES = 8  # maximum losses compared
_ROUNDING = 1e-4
"""Relative difference that another summation order of float32 causes within the first few steps."""


def losses_of(run: Run) -> dict[int, float]:
    """The first losses, by the number of steps after which each was read."""
    if run.end is None:
        return {}
    return dict(zip(run.end.loss_steps or itertools.count(1), run.end.losses))


def common_losses(a: Mapping[int, float], b: Mapping[int, float]) -> tuple[list[int], list[float], list[float]]:
    """Step counts at which both runs read a loss, and the losses of both.

    With ``steps_per_execution`` only some steps report one.
    """
    steps = [step for step in a if step in b][:_LOSSES]
    return steps, [a[step] for step in steps], [b[step] for step in steps]


def result_change(original: Sequence[Run], other: Sequence[Run], tolerance: float) -> str | None:
    """Describe how the results of a variant differ, for display; None if they agree.

    A script whose losses vary between runs is allowed three times its own spread.

    Args:
        tolerance: relative difference of losses that counts as equal.
    """
    for a, b in zip(original, other):
        if a.end and b.end and (change := _data_change(a.facts, b.facts)):
            return change
    with_rows = ([run.facts for run in runs if run.facts.rows is not None] for runs in (original, other))
    if change := _rows_change(*with_rows):
        return change
    series_a = [losses for losses in map(losses_of, original) if losses]
    series_b = [losses for losses in map(losses_of, other) if losses]
    if not series_a or not series_b:
        return None
    spread = max((disagreement(*common_losses(x, y)[1:]) for x, y in itertools.combinations(series_a, 2)), default=0.0)
    closest = min(disagreement(*common_losses(x, y)[1:]) for x in series_a for y in series_b)
    if closest <= max(tolerance, _ROUNDING, 3 * spread):
        return None
    rows = zip(*common_losses(series_a[0], series_b[0]))
    step, was, now = next((step, x, y) for step, x, y in rows if disagreement([x], [y]) > max(tolerance, _ROUNDING))
    return f"the loss of step {step} is {now:.6g} instead of {was:.6g}"


def _data_change(a: TrainingFacts, b: TrainingFacts) -> str | None:
    if a.element_spec and b.element_spec and not _compatible(a.element_spec, b.element_spec):
        return f"the training is fed {_show(b.element_spec)} instead of {_show(a.element_spec)}"
    if a.epoch_lengths and b.epoch_lengths and a.epoch_lengths[0] != b.epoch_lengths[0]:
        return f"an epoch has {b.epoch_lengths[0]} steps instead of {a.epoch_lengths[0]}"
    return None


def _rows_change(original: Sequence[TrainingFacts], other: Sequence[TrainingFacts]) -> str | None:
    """Describe differences in the sizes of the first batches.

    Returns None also if the sizes of the original script vary between runs.
    """
    if not original or not other:
        return None
    a, b = original[0], other[0]
    a_rows, b_rows = a.rows or (), b.rows or ()
    if any(_first_difference(a_rows, facts.rows or ()) is not None for facts in original):
        return None
    at = _first_difference(a_rows, b_rows)
    if at is not None:
        return f"batch {at + 1} has {b_rows[at]} samples instead of {a_rows[at]}"
    if a.all_rows and b.all_rows and sum(a_rows) != sum(b_rows):
        return f"the data has {sum(b_rows)} samples instead of {sum(a_rows)}"
    return None


def _first_difference(a: Sequence[int], b: Sequence[int]) -> int | None:
    return next((index for index, (x, y) in enumerate(zip(a, b)) if x != y), None)


def _compatible(a: Sequence[TensorSpec], b: Sequence[TensorSpec]) -> bool:
    """Whether two element specifications can describe the same elements."""
    return len(a) == len(b) and all(map(_same_tensors, a, b))


def _same_tensors(a: TensorSpec, b: TensorSpec) -> bool:
    if a.dtype != b.dtype:
        return False
    if a.shape is None or b.shape is None:
        return True
    return len(a.shape) == len(b.shape) and not any(m != n for m, n in zip(a.shape, b.shape) if None not in (m, n))


def _show(spec: Sequence[TensorSpec]) -> str:
    texts = (f"{part.dtype}{'?' if part.shape is None else list(part.shape)}" for part in spec)
    return ", ".join(texts).replace("None", "?")
