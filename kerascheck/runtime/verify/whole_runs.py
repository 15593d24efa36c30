"""What a training needs besides the time of its steps: seconds until its first step, or memory. Whole runs in pairs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.process import Plan, Script
from kerascheck.runtime.verify.rounds import Run, run_alone
from kerascheck.runtime.verify.stats import Ratio, looks_in, ratio_of_runs
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status, Verdict, judge_ratio

_PLAN = Plan(warmup_steps=2, warmup_seconds=0.0, block_steps=2, blocks=2)
_FEWEST_PAIRS = 3


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a run needs, and how verdicts name it."""

    of: Callable[[Run], float]
    shown: Callable[[float], str]
    words: Mapping[Status, str]
    """Clauses about a variant; "{}" stands for a ratio above 1."""


QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        "first step": Quantity(
            lambda run: run.report.first_step_at or 0.0,
            "{:.1f} s".format,
            {
                Status.CONFIRMED: "the first step ends {:.2f} times sooner",
                Status.SLOWER: "the first step ends {:.2f} times later",
                Status.NO_EFFECT: "the first step ends as soon as before",
            },
        ),
        "memory": Quantity(
            lambda run: float(run.report.host_peak_bytes),
            lambda size: f"{size / 1e6:,.0f} MB",
            {
                Status.CONFIRMED: "the process needs {:.2f} times less memory",
                Status.SLOWER: "the process needs {:.2f} times more memory",
                Status.NO_EFFECT: "the process needs as much memory as before",
            },
        ),
    }
)
"""By name, see :attr:`kerascheck.catalog.rule.AnyRule.measured`: seconds since the script started, and peak bytes."""


def compare_whole_runs(
    script: Script,
    variant: Variant,
    quantity: Quantity,
    budget: Budget,
    progress: Progress,
    run: Callable[..., Run] = run_alone,
) -> Comparison:
    """Run ``script`` and ``variant`` in turn, each time up to its first steps, until the ratio's interval decides.

    Raises:
        OSError: no process can be started.
    """
    scripts = (script, replace(script, sources={**script.sources, **variant.sources}))
    needed: tuple[list[float], list[float]] = ([], [])
    pairs = max(_FEWEST_PAIRS, budget.most_rounds)
    scout = Run()
    for pair in range(pairs):
        for side in (0, 1) if pair % 2 == 0 else (1, 0):
            progress(f"pair {pair + 1} of whole runs", budget.seconds * (pairs - pair) / pairs)
            ran = run(scripts[side], _PLAN, start_limit=budget.start_limit, block_limit=budget.block_limit)
            if ran.end is None or ran.end.first_step_at is None:
                return Comparison(script.path, ran, [ran], failure=ran.failure or "the script made no training step")
            needed[side].append(quantity.of(ran))
            scout = scout if side else ran
        if pair + 1 >= _FEWEST_PAIRS:
            ratio = ratio_of_runs(*needed, looks=looks_in(pairs))
            verdict = _judged(variant.name, ratio, needed, quantity, budget)
            if verdict.status is not Status.INCONCLUSIVE:
                break
    return Comparison(script.path, scout, [scout], verdicts=[verdict])


def _judged(
    name: str, ratio: Ratio, needed: tuple[list[float], list[float]], quantity: Quantity, budget: Budget
) -> Verdict:
    status, reason = judge_ratio(ratio, budget.no_effect)
    if status in quantity.words:
        times = ratio.value if status is Status.CONFIRMED else 1 / ratio.value
        before, after = (quantity.shown(statistics.median(side)) for side in needed)
        reason = f"{quantity.words[status].format(times)}: {after} instead of {before}"
    return Verdict(name, status, reason, ratio, rounds=len(needed[0]))
