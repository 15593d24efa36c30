"""Plans of timed runs: warm-up steps, blocks and seconds, derived from a scouting run."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.messages import TrainingReport
from kerascheck.runtime.verify.process import Plan
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.scouting import OVER, unusable_reason, weak_kind
from kerascheck.runtime.verify.stats import FIRST_LOOK
from kerascheck.runtime.verify.variants import Variant

FEWEST_BLOCKS = 8
"""Minimum blocks of a variant over all rounds for a verdict."""
_BLOCK_SECONDS = 0.15
_MOST_BLOCKS = 80  # per round
_MEASURED_SECONDS = 15.0  # maximum per round
_FIRST_EPOCH_SECONDS = 6.0  # a longer first epoch is not part of the warm-up
_LONGEST_EPOCH_BLOCK = 3.0  # seconds; a longer epoch is split into several blocks
_WARMUP_STEPS = 5
_WARMUP_LIMIT = 15.0  # seconds
_PLANNED_ROUNDS = 3  # rounds that fit into the seconds of a variant, including start-up
_LATE = 1.25  # maximum duration of a round relative to its plan
_AT_ONCE = 8
"""Slow-down that a script may suffer on a busy machine with others beside it."""
_MOST_SIDE_BY_SIDE = 4
_MEMORY_SHARE = 0.7  # share of the free memory that the processes of a group may use
_SHORTEST_STEP = 1e-5  # seconds
_UNKNOWN_STEP = 1.0  # assumed seconds of a step that was not timed


def timed_plan(scout: Run, training: int, budget: Budget, whole_epochs: bool = False) -> Plan:
    """Plan the timed runs of training number ``training``, based on its scouting run ``scout``.

    Args:
        whole_epochs: make each block one epoch if epochs are short enough.
    """
    report = scout.report
    step = step_seconds(scout)
    block_steps = max(1, round(_BLOCK_SECONDS / step))
    warmup = _WARMUP_STEPS
    epoch = _epoch_steps(report)
    if epoch and epoch * step < _FIRST_EPOCH_SECONDS:
        # Later epochs may be faster, for example because of a cache. Measure these.
        warmup = max(warmup, epoch + 2)
    if whole_epochs and epoch and epoch * step < _LONGEST_EPOCH_BLOCK:
        block_steps = epoch
    # At least two rounds must fit, because differences between processes show only between rounds.
    seconds = max(2.0, min(_MEASURED_SECONDS, budget.seconds / _PLANNED_ROUNDS - (report.first_step_at or 0.0)))
    blocks = max(4, min(_MOST_BLOCKS, round(seconds / (block_steps * step))))
    if report.reason != "done":
        # The training is shorter than the plan and cannot be continued: stop at its last step.
        warmup, block_steps, blocks = _fitted(report.steps, warmup, block_steps)
    if budget.steps is not None:
        block_steps, blocks = _limited_steps(budget.steps, block_steps, blocks)
    return Plan(
        warmup_steps=warmup,
        warmup_seconds=0.0 if report.reason != "done" else 1.0,
        warmup_limit=min(_WARMUP_LIMIT, budget.seconds / 4),
        block_steps=block_steps,
        blocks=blocks,
        # A busy machine may be slower now than during the scouting run.
        seconds=_LATE * seconds,
        in_turn=not report.facts.gpus,
        training=training,
        kind=weak_kind(scout),
        passes=report.passes or None,
    )


def _epoch_steps(report: TrainingReport) -> int | None:
    """Steps of the first epoch; None if it did not complete."""
    if report.facts.epoch_lengths:
        return report.facts.epoch_lengths[0]
    return report.epoch_starts[1] if len(report.epoch_starts) > 1 else None


def _fitted(steps: int, warmup: int, block_steps: int) -> tuple[int, int, int]:
    """Split a training of ``steps`` steps into warm-up steps, steps per block and blocks."""
    warmup = min(warmup, max(2, steps // 5))
    block_steps = max(1, min(block_steps, (steps - warmup) // FEWEST_BLOCKS))
    return warmup, block_steps, max(1, (steps - warmup) // block_steps)


def _limited_steps(steps: int, block_steps: int, blocks: int) -> tuple[int, int]:
    """Steps per block and number of blocks if all rounds together may take ``steps`` steps."""
    fewest = FEWEST_BLOCKS // FIRST_LOOK
    per_round = max(fewest, steps // _PLANNED_ROUNDS)
    block_steps = min(block_steps, per_round // fewest)
    return block_steps, min(blocks, per_round // block_steps)


def shortened(plan: Plan, runs: Iterable[Run]) -> Plan:
    """``plan``, or a shorter one if a training ended before enough of its blocks were measured.

    A fast variant may end within the number of warm-up steps of the original script.
    """
    lengths = [
        run.report.steps
        for run in runs
        if unusable_reason(run) is None and run.report.reason in OVER and len(run.blocks) < FEWEST_BLOCKS
    ]
    if not lengths:
        return plan
    warmup, block_steps, blocks = _fitted(min(lengths), plan.warmup_steps, plan.block_steps)
    return replace(
        plan, warmup_steps=warmup, warmup_seconds=0.0, block_steps=block_steps, blocks=min(blocks, plan.blocks)
    )


def limited(budget: Budget, scout: Run) -> Budget:
    """``budget`` with tighter limits for a hanging script, based on the times of its scouting run."""
    longest = max((each.seconds for each in scout.report.durations), default=0.0)
    longest = max([longest, *(tick for block in scout.blocks for tick in block.ticks)])
    return replace(
        budget,
        start_limit=min(budget.start_limit, budget.seconds + _AT_ONCE * scout.report.seconds),
        block_limit=min(budget.block_limit, budget.seconds + _AT_ONCE * longest),
    )


def all_step_seconds(runs: Iterable[Run]) -> list[float]:
    """Seconds of single steps; on a GPU of whole blocks, since the host may run ahead within a block."""
    runs = list(runs)
    if any(run.facts.gpus for run in runs):
        return [block.seconds_per_step for run in runs for block in run.blocks]
    return [tick for run in runs for block in run.blocks for tick in block.ticks]


def step_seconds(run: Run) -> float:
    """Median seconds per step."""
    ticks = all_step_seconds([run]) or [each.seconds / each.steps for each in run.report.durations]
    return max(_SHORTEST_STEP, statistics.median(ticks)) if ticks else _UNKNOWN_STEP


def groups(variants: Sequence[Variant], scout: Run) -> Iterator[Sequence[Variant]]:
    """Split variants into groups that fit into memory; each runs beside one process of the original script."""
    size = _MOST_SIDE_BY_SIDE - 1
    free = _free_memory()
    if free is not None:
        size = max(1, min(size, int(_MEMORY_SHARE * free / max(1, scout.report.host_peak_bytes)) - 1))
    iterator = iter(variants)
    while group := list(itertools.islice(iterator, size)):
        yield group


def _free_memory() -> int | None:
    """Bytes that can be used without swapping (Linux); None if unknown."""
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            for line in stream:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
