"""Comparison of a script as written with variants of it, independent of the linter.

The steps are :mod:`scouting` (find trainings), :mod:`targets` (assign variants to them), :mod:`planning` (plan timed
runs), :mod:`measuring` (run them) and :mod:`judging` (derive verdicts).
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kerascheck.runtime.verify.analysis import Analysis, analyse, ceiling_of
from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.measuring import CEILING, ORIGINAL, measure_group
from kerascheck.runtime.verify.paired_runs import mean_step, paired_blocks
from kerascheck.runtime.verify.planning import groups, limited, step_seconds, timed_plan
from kerascheck.runtime.verify.process import Ceiling, Plan, Script
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.scouting import (
    OVER,
    describe_length,
    scout_selected,
    unusable_reason,
    used_lines,
)
from kerascheck.runtime.verify.stats import noise, speedup
from kerascheck.runtime.verify.targets import assign_trainings, training_calls
from kerascheck.runtime.verify.variants import Variant, concerns
from kerascheck.runtime.verify.verdict import Status, Verdict


@dataclass(slots=True)
class Comparison:
    """All verdicts on a script."""

    script: str
    scout: Run
    """The scouting run of the first training, or of the selected one."""
    scouts: list[Run] = field(default_factory=list)
    """Scouting runs of all measured trainings, including the first one."""
    analyses: list[Analysis] = field(default_factory=list)
    """Analyses of the trainings in ``scouts``."""
    verdicts: list[Verdict] = field(default_factory=list)
    failure: str | None = None
    """Why nothing could be measured, for display."""
    notes: list[str] = field(default_factory=list)
    """Changes that the probes made to the runs, for display."""
    seconds: float = 0.0


def compare(
    script: Script,
    variants: Sequence[Variant],
    budget: Budget = Budget(),
    progress: Progress = lambda text, seconds_left: None,
    *,
    ceilings: bool = True,
) -> Comparison:
    """Measure ``script`` against each of ``variants``; never raises because of errors in the script.

    Args:
        ceilings: also measure the maximum speed-up of input fixes.

    Raises:
        OSError: no process can be started.
    """
    start = time.monotonic()
    progress("running the script as written", 10 + budget.seconds * (len(variants) + 1))
    scout, failure = scout_selected(script, budget)
    result = Comparison(script.path, scout, [scout], failure=failure)
    measured = [variant for variant in variants if variant.measured]
    if failure is not None:
        result.verdicts = [Verdict(variant.name, Status.NOT_RUN, failure) for variant in measured]
    else:
        _compare_in_trainings(script, variants, result, budget, progress, ceilings)
        result.notes = list(dict.fromkeys(note for each in result.scouts for note in each.report.notes))
    result.seconds = time.monotonic() - start
    return result


def _compare_in_trainings(
    script: Script,
    variants: Sequence[Variant],
    result: Comparison,
    budget: Budget,
    progress: Progress,
    ceilings: bool,
) -> None:
    """Measure each variant in its training, and add verdicts and analyses to ``result``."""
    if budget.training is None:
        targets = assign_trainings(script, variants, result.scouts, budget, progress)
    else:
        alone = training_calls(script.sources.values()) == 1
        used = used_lines(script, result.scout.report, alone=alone)
        unused = f"{budget.training.label} does not use its lines"
        targets = {variant.name: 0 if concerns(variant, used) else unused for variant in variants}
    measured = [variant for variant in variants if variant.measured]
    for variant in measured:
        if isinstance(target := targets[variant.name], str):
            result.verdicts.append(Verdict(variant.name, Status.NOT_RUN, target))
    for number, scout in enumerate(result.scouts):
        here = [variant for variant in measured if targets[variant.name] == number]
        ceiling = ceiling_of(scout) if ceilings else None
        measurement = _Measurement(script, scout, number, budget, progress)
        result.verdicts += measurement.verdicts_on(here, ceiling if isinstance(ceiling, Ceiling) else None)
        if ceiling is not None:
            result.analyses.append(_analysis(scout, ceiling, measurement.beside))
    order = [variant.name for variant in variants]
    result.verdicts.sort(key=lambda verdict: order.index(verdict.name))


@dataclass(slots=True)
class _Measurement:
    """The timed runs in one training of a script."""

    script: Script
    scout: Run
    number: int
    """Index of the training in the comparison."""
    budget: Budget
    progress: Progress
    beside: Mapping[str, Run] | None = None
    """The round that included the ceiling."""

    def verdicts_on(self, variants: Sequence[Variant], ceiling: Ceiling | None) -> list[Verdict]:
        """Measure variants. Those that fix the validation data run in epochs with validation.

        Args:
            ceiling: measured in the same rounds.
        """
        validating = [variant for variant in variants if _repairs_validation(variant, self.scout)]
        others = [variant for variant in variants if variant not in validating]
        on_one_batch = None if ceiling is None else replace(self.script, ceiling=ceiling)
        verdicts = self._measure(others, on_one_batch)
        return verdicts + self._measure(validating, None, validation=True) if validating else verdicts

    def _measure(
        self, variants: Sequence[Variant], ceiling: Script | None, *, validation: bool = False
    ) -> list[Verdict]:
        plan = self._plan(variants, validation)
        within = limited(self.budget, self.scout)
        # Measure variants of equal texts, such as one fix for several findings, only once.
        first = {variant.identity: variant for variant in reversed(variants)}
        together = list(groups(list(reversed(first.values())), self.scout)) or [()] * (ceiling is not None)
        measured = {}
        for group in together:
            # Each group also runs the original script; the budget counts that only once.
            share = (len(first) + 1) / (len(first) + len(together))
            group_budget = replace(within, seconds=share * self.budget.seconds)
            verdicts, runs = measure_group(self.script, group, plan, group_budget, self.progress, ceiling)
            self.beside, ceiling = self.beside or runs, None
            for verdict in verdicts:
                self._complete(verdict, validation)
                measured[verdict.name] = verdict
        return [replace(measured[first[variant.identity].name], name=variant.name) for variant in variants]

    def _plan(self, variants: Sequence[Variant], validation: bool) -> Plan:
        order = self.scout.report.order
        whole_epochs = validation or any(variant.whole_epochs for variant in variants)
        plan = timed_plan(self.scout, self.number if order is None else order, self.budget, whole_epochs)
        return replace(plan, validation=validation)

    def _complete(self, verdict: Verdict, validation: bool) -> None:
        verdict.training = self.number
        if validation and verdict.ratio is not None:
            verdict.add_remark("of epochs with their validation")
        if self.scout.report.reason in OVER and verdict.ratio is not None:
            verdict.add_remark(f"{describe_length(self.scout)}: there was no more to measure")


def _repairs_validation(variant: Variant, scout: Run) -> bool:
    """Whether a variant fixes the data of a training's validation, but not the data that it trains on."""
    validates, trains = (
        [(os.path.abspath(path), first, last) for path, first, last in spans]
        for spans in (scout.facts.validation_places, scout.report.data_places)
    )
    return bool(variant.places) and concerns(variant, validates) and not concerns(variant, trains)


def _analysis(scout: Run, ceiling: Ceiling | str, runs: Mapping[str, Run] | None) -> Analysis:
    """Analyse a training.

    Args:
        ceiling: the measured ceiling, or why there is none.
        runs: runs of the original script and on one cached batch, in turn.
    """
    step = step_seconds(scout)
    if isinstance(ceiling, str) or runs is None:
        return analyse(step, scout, None, ceiling if isinstance(ceiling, str) else "it was not reached")
    original, cached = runs[ORIGINAL], runs[CEILING]
    for run in (original, cached):
        if unusable_reason(run) or not run.blocks:
            return analyse(step, scout, None, unusable_reason(run) or "too few steps")
    if not cached.facts.one_cached_batch:
        return analyse(step, scout, None, "its data comes in a way that cannot be replaced")
    step = statistics.median(mean_step(block, inner=bool(block.inner_steps)) for block in original.blocks)
    ((a,), (b,)) = paired_blocks([original], [cached])
    return analyse(step, scout, speedup([a], [b]).value, gain_error=noise(a, b))
