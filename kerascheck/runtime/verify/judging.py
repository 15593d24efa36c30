"""The verdict on a variant, derived from its paired runs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from kerascheck.runtime.verify.analysis import PREDICTION
from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.paired_runs import PairedRuns, median_other_load
from kerascheck.runtime.verify.planning import FEWEST_BLOCKS, all_step_seconds
from kerascheck.runtime.verify.result_change import common_losses, losses_of
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.scouting import unusable_reason
from kerascheck.runtime.verify.stats import FIRST_LOOK
from kerascheck.runtime.verify.verdict import Status, Verdict, effort_needed, judge_ratio

_STARTS_APART = 1.15
"""Minimum ratio between any start of one side and any start of the other, for the difference to be reported."""
_FEW_STARTS_APART = 1.5
"""The same for two starts of each side: chance separates one pair in three."""
_STARTS_SECONDS = 0.75  # minimum difference of the starts


def judge(paired: PairedRuns, budget: Budget = Budget()) -> Verdict:
    """Derive the verdict on a variant."""
    failed = _failed(paired)
    if failed is not None:
        return failed
    verdict = _measured(paired, budget)
    if paired.ratio is None or len(paired.runs) < FIRST_LOOK or paired.pairs < FEWEST_BLOCKS:
        # An interval from so few blocks shows nothing, even if it is far from 1.
        verdict.status = Status.NOT_RUN
        verdict.reason = (
            f"only {paired.pairs} blocks of steps could be measured side by side: "
            "try a larger --budget, or a longer training"
        )
        verdict.ratio = None
        return verdict
    verdict.status, verdict.reason = judge_ratio(paired.ratio, budget.no_effect)
    if verdict.status is Status.INCONCLUSIVE:
        verdict.reason = effort_needed(paired.ratio, len(paired.runs), budget, verdict.others)
    verdict.start_seconds = _start_seconds(paired.original_runs, paired.runs)
    if paired.ratio.low > 1 / (1 + budget.no_effect):
        _confirm_shorter_start(verdict)
    if paired.original_runs[0].report.kind == PREDICTION:
        verdict.reason = verdict.reason.replace("steps", "calls")
    _add_results(verdict, paired)
    return verdict


def _failed(paired: PairedRuns) -> Verdict | None:
    """The verdict on a variant that could not be measured."""
    failure = paired.failure
    reason = None if failure is None else unusable_reason(failure)
    if failure is None or (reason is None and paired.runs):
        return None
    reason = reason or f"the training ended after {failure.report.steps} steps: too few to measure"
    return Verdict(paired.variant.name, Status.NOT_RUN, reason, output=failure.output)


def _measured(paired: PairedRuns, budget: Budget) -> Verdict:
    """Compute the numbers of a verdict, without its status."""
    original, runs = paired.original_runs, paired.runs
    return Verdict(
        paired.variant.name,
        Status.NO_EFFECT,
        "",
        ratio=paired.ratio,
        step_seconds=(statistics.median(all_step_seconds(original)), statistics.median(all_step_seconds(runs))),
        losses=common_losses(losses_of(original[0]), losses_of(runs[0]))[1:],
        rounds=len(runs),
        blocks=sum(len(run.blocks) for run in runs),
        ticks=(_ticks(original), _ticks(runs)),
        others=median_other_load([*original, *runs]),
        no_effect=budget.no_effect,
        change=paired.change,
    )


def _add_results(verdict: Verdict, paired: PairedRuns) -> None:
    """Add the outcome of the comparison of results."""
    change = verdict.change
    if change and paired.variant.tolerance is None:
        verdict.remark = f"as its fix says, results change: {change}"
    elif change:
        verdict.status, verdict.reason, verdict.remark = Status.CHANGES_RESULTS, change, verdict.reason
    if verdict.losses is not None and not verdict.losses[0]:
        seen = all(losses_of(runs[0]) for runs in (paired.original_runs, paired.runs))
        why = "no step showed a loss in both" if seen else "no loss is visible from outside this loop"
        verdict.add_remark(f"the results could not be compared: {why}")


_LATER_STEPS: Mapping[Status, str] = {
    Status.NO_EFFECT: "later ones show no difference",
    Status.INCONCLUSIVE: "whether later ones are faster is inconclusive",
}
"""A clause about the steps after the first ones, for fixes that shorten the start."""


def _confirm_shorter_start(verdict: Verdict) -> None:
    """Confirm a variant whose first steps end sooner, if later steps show no gain.

    A function that is retraced for each shape or number is traced during the warm-up, which the step times exclude.
    """
    later = _LATER_STEPS.get(verdict.status)
    if later is None or verdict.start_seconds is None:
        return
    before, after = verdict.start_seconds
    if after < before:
        verdict.status = Status.CONFIRMED
        verdict.reason = (
            f"the first steps are done after {after:.1f} s of processor time instead of {before:.1f} s; {later}"
        )


def _ticks(runs: Sequence[Run]) -> list[float]:
    return [tick for run in runs for block in run.blocks for tick in block.ticks]


def _start_seconds(original: Sequence[Run], other: Sequence[Run]) -> tuple[float, float] | None:
    """Median processor time until the first steps are done, for both sides; None if it may be chance."""
    a, b = ([run.end.start_seconds for run in runs if run.end and run.end.start_seconds] for runs in (original, other))
    if min(len(a), len(b)) < FIRST_LOOK:
        return None
    slow, fast = (a, b) if statistics.median(a) > statistics.median(b) else (b, a)
    apart = _STARTS_APART if min(len(a), len(b)) > FIRST_LOOK else _FEW_STARTS_APART
    if min(slow) < apart * max(fast) or min(slow) - max(fast) < _STARTS_SECONDS:
        return None
    return statistics.median(a), statistics.median(b)
