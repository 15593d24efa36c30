"""Runs of a variant paired with runs of the original script, and the ratio of their step times."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.messages import BlockTiming
from kerascheck.runtime.verify.planning import FEWEST_BLOCKS
from kerascheck.runtime.verify.result_change import result_change
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.stats import FIRST_LOOK, Ratio, speedup
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import QUIET, Status, judge_ratio

_ENOUGH_QUIET = 12  # undisturbed block pairs; with at least this many, disturbed pairs are dropped
_MOSTLY_INNER = 0.5  # share of steps within epochs; above it, the steps that begin an epoch are dropped


@dataclass(slots=True)
class PairedRuns:
    """The rounds of one variant beside those of the original script."""

    variant: Variant
    original_runs: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    failure: Run | None = None
    """The run that ended the measurement of this variant."""
    ratio: Ratio | None = None

    def add(self, original: Run, run: Run, looks: int) -> None:
        """Add a round; ``looks`` is the total number of planned looks at the interval."""
        self.original_runs.append(original)
        self.runs.append(run)
        self.ratio = speedup(*paired_blocks(self.original_runs, self.runs), looks=looks)

    def is_decided(self, budget: Budget) -> bool:
        """Whether another round would change nothing."""
        if self.failure is not None:
            return True
        if len(self.runs) < FIRST_LOOK or self.pairs < FEWEST_BLOCKS:
            return False
        if self.ratio is not None and judge_ratio(self.ratio, budget.no_effect)[0] is not Status.INCONCLUSIVE:
            return True
        return len(self.runs) > FIRST_LOOK and self.variant.tolerance is not None and self.change is not None

    @property
    def pairs(self) -> int:
        """Number of measured pairs of adjacent blocks."""
        return sum(min(len(a.blocks), len(b.blocks)) for a, b in zip(self.original_runs, self.runs))

    @property
    def change(self) -> str | None:
        """Difference of the results, see :func:`kerascheck.runtime.verify.result_change.result_change`."""
        return result_change(self.original_runs, self.runs, self.variant.tolerance or 0.0)


def paired_blocks(original: Sequence[Run], other: Sequence[Run]) -> tuple[list[list[float]], list[list[float]]]:
    """Mean step times of adjacent blocks of both sides, by round.

    Steps that begin an epoch count if each block is an epoch, or if nearly all steps begin one.
    """
    blocks = [block for run in (*original, *other) for block in run.blocks]
    inner = min(_inner_share(original), _inner_share(other)) >= _MOSTLY_INNER and not all(b.epochs == 1 for b in blocks)
    a, b = [], []
    for first, second in zip(original, other):
        pairs = quiet_pairs(list(zip(first.blocks, second.blocks)))
        a.append([mean_step(x, inner) for x, _ in pairs])
        b.append([mean_step(y, inner) for _, y in pairs])
    return a, b


def quiet_pairs(pairs: Sequence[tuple[BlockTiming, BlockTiming]]) -> Sequence[tuple[BlockTiming, BlockTiming]]:
    """Pairs of blocks during which other programs were idle, if there are enough; else all pairs.

    The selection uses the load of other programs, never the measured times, so it is unbiased.
    """
    quiet = [pair for pair in pairs if all(each.other_load is not None and each.other_load < QUIET for each in pair)]
    return quiet if len(quiet) >= max(_ENOUGH_QUIET, len(pairs) // 4) else pairs


def mean_step(block: BlockTiming, inner: bool) -> float:
    """Mean seconds per step; ``inner``: only of steps that do not begin an epoch.

    Between epochs TensorFlow may stall for seconds when it destroys an iterator.
    """
    if inner:
        return block.inner_seconds / block.inner_steps if block.inner_steps else 0.0
    return block.seconds_per_step


def _inner_share(runs: Sequence[Run]) -> float:
    """Share of steps that do not begin an epoch."""
    blocks = [block for run in runs for block in run.blocks]
    return sum(block.inner_steps for block in blocks) / sum(block.steps for block in blocks)


def median_other_load(runs: Iterable[Run]) -> float | None:
    """Share of the machine that other programs used, 0 to 1; the median over all blocks."""
    shares = [block.other_load for run in runs for block in run.blocks if block.other_load is not None]
    return statistics.median(shares) if shares else None
