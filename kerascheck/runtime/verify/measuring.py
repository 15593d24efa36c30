"""Timed runs of a script beside its variants, in rounds until the verdicts are decided."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.judging import judge
from kerascheck.runtime.verify.paired_runs import PairedRuns, paired_blocks
from kerascheck.runtime.verify.planning import shortened
from kerascheck.runtime.verify.process import Plan, Script
from kerascheck.runtime.verify.rounds import Run, measure_in_turn, measure_one_by_one
from kerascheck.runtime.verify.scouting import unusable_reason
from kerascheck.runtime.verify.stats import FIRST_LOOK, is_settled, looks_in
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Verdict

ORIGINAL = "as written"
"""Name of the original script in a round."""
CEILING = "one cached batch"
"""Name of the script on one cached batch in a round."""
_CEILING_BLOCKS = 24
_CEILING_PAIRS = 12  # block pairs that suffice for the ceiling
_CEILING_WARMUP = 10  # steps: a cached batch has no start-up effects
_LEFT_FOR_A_ROUND = 0.8  # fraction of the longest round so far that must remain for another one


@dataclass(slots=True)
class _Group:
    """Variants that are measured beside the same processes of the original script."""

    script: Script
    plan: Plan
    budget: Budget
    paired: dict[str, PairedRuns]
    rounds: int = 0
    longest: float = 0.0
    """Seconds of the longest round."""

    @property
    def pending(self) -> dict[str, PairedRuns]:
        """The variants that need another round."""
        return {name: paired for name, paired in self.paired.items() if not paired.is_decided(self.budget)}

    def scripts(self, pending: Mapping[str, PairedRuns], ceiling: Script | None) -> dict[str, Script]:
        """The scripts of the next round, in the order of their starts."""
        scripts = {ORIGINAL: self.script}
        scripts |= {name: paired.variant.of(self.script) for name, paired in pending.items()}
        if self.rounds % 2:  # neither side always starts first
            scripts = dict(reversed(scripts.items()))
        if ceiling is not None:
            scripts[CEILING] = ceiling
        return scripts

    def run(self, scripts: Mapping[str, Script]) -> dict[str, Run]:
        """Run one round."""
        start = time.monotonic()
        # Two rounds show whether the batch sizes of a script vary between runs.
        runs = _run_round(scripts, replace(self.plan, rows=self.rounds < FIRST_LOOK), self.budget)
        self.longest = max(self.longest, time.monotonic() - start)
        self.rounds += 1
        return runs

    def add(self, runs: Mapping[str, Run], pending: Mapping[str, PairedRuns]) -> None:
        """Add the runs of a round to the variants that took part in it."""
        shorter = shortened(self.plan, [run for name, run in runs.items() if name != CEILING])
        if shorter != self.plan:
            self.plan = shorter
            if self.rounds == 1:
                return  # too few blocks: repeat the round
        for name, paired in pending.items():
            both = (runs[name], runs[ORIGINAL])
            paired.failure = next((run for run in both if unusable_reason(run) or not run.blocks), None)
            if paired.failure is None:
                paired.add(runs[ORIGINAL], runs[name], looks_in(self.budget.most_rounds))

    def has_time(self, pending: Sequence[PairedRuns], left: float) -> bool:
        """Whether there is time for another round. The first two rounds always run, since one shows nothing."""
        good = min(len(paired.runs) for paired in pending)
        if good < FIRST_LOOK:
            return self.rounds <= FIRST_LOOK
        steps = good * self.plan.blocks * self.plan.block_steps
        steps_left = self.budget.steps is None or steps < self.budget.steps
        return good < self.budget.most_rounds and steps_left and left > _LEFT_FOR_A_ROUND * self.longest


def measure_group(
    script: Script,
    variants: Sequence[Variant],
    plan: Plan,
    budget: Budget,
    progress: Progress,
    ceiling: Script | None = None,
) -> tuple[list[Verdict], Mapping[str, Run] | None]:
    """Measure ``script`` beside variants, round by round until the verdicts are decided.

    Args:
        ceiling: the script on one cached batch; it joins the first round.

    Returns:
        The verdicts, and the runs of the round that included the ceiling.
    """
    group = _Group(script, plan, budget, {variant.name: PairedRuns(variant) for variant in variants})
    beside = None
    start = time.monotonic()
    while True:
        pending = group.pending
        left = budget.seconds * (len(variants) + 1) - (time.monotonic() - start)
        if ceiling is None and not (pending and group.has_time(list(pending.values()), left)):
            break
        progress("measuring " + (", ".join(pending) or "the ceiling with one cached batch"), left)
        runs = group.run(group.scripts(pending, ceiling))
        if ceiling is not None:
            beside, ceiling = runs, None
        group.add(runs, pending)
    return [judge(paired, budget) for paired in group.paired.values()], beside


def _run_round(scripts: Mapping[str, Script], plan: Plan, budget: Budget) -> dict[str, Run]:
    """Run all scripts once, each until further blocks would add no information."""
    brief = replace(
        plan,
        blocks=min(plan.blocks, _CEILING_BLOCKS),
        warmup_steps=min(plan.warmup_steps, _CEILING_WARMUP),
        rows=False,
    )
    measure = measure_in_turn if plan.in_turn else measure_one_by_one
    return measure(
        scripts,
        plan,
        start_limit=budget.start_limit,
        block_limit=budget.block_limit,
        plans={CEILING: brief},
        settled=settled,
    )


def settled(runs: Mapping[str, Run]) -> set[str]:
    """Names of the runs that need no further block; the original continues as long as another run does."""
    others = runs.keys() - {ORIGINAL}
    over = {name for name in others if _is_over(runs[name]) or _has_enough(name, runs[ORIGINAL], runs[name])}
    return over | {ORIGINAL} if over == others else over


def _is_over(run: Run) -> bool:
    return run.end is not None or run.failure is not None


def _has_enough(name: str, original: Run, run: Run) -> bool:
    if not original.blocks or not run.blocks:
        return False
    ((a,), (b,)) = paired_blocks([original], [run])
    return len(a) >= _CEILING_PAIRS if name == CEILING else is_settled(a, b)
