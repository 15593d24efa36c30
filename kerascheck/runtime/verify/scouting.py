"""Scouting runs: short diagnosing runs that find a training and show its composition."""

from __future__ import annotations

import os
from dataclasses import replace

from kerascheck.runtime.verify.analysis import PREDICTION, WEAK_KINDS
from kerascheck.runtime.verify.budget import Budget, TrainingSelector
from kerascheck.runtime.verify.messages import Frame, Span, TrainingReport, TrainingStart
from kerascheck.runtime.verify.process import Plan, Script
from kerascheck.runtime.verify.rounds import TOO_LATE, Run, run_alone
from kerascheck.runtime.verify.uses import lines_of_training, lines_used

SCOUT = Plan(warmup_steps=3, warmup_seconds=1.0, block_seconds=3.0, blocks=1, diagnose=True)
"""Plan of a run with all diagnostics, which would disturb a timed run."""
OVER = frozenset({"end", "exit", "trained", "exhausted"})
"""``TrainingReport.reason`` of trainings that are shorter than their plan."""
FEWEST_STEPS = 3
"""Minimum steps of a measurable training."""
_SCOUT_SECONDS = 2.0  # per block; enough to plan a measurement
_NO_TRAINING = 10**6
"""A training number that never occurs, so the script runs to its end."""


def unusable_reason(run: Run) -> str | None:
    """Explain why a run shows nothing about training, for display; None if it does."""
    if run.failure == TOO_LATE:
        return "the script made no progress in the time allowed: it hangs, or needs a larger --start-limit"
    if run.failure is not None:
        return run.failure
    report = run.report
    place = f" at line {report.line}" if report.line else ""
    if report.reason == "fault":
        return f"kerascheck's own probe failed, which is a fault of kerascheck: {report.detail}"
    if report.reason == "exception":
        if report.stdin:
            return f"the script reads standard input{place}, which is closed here"
        return f"the script raised {report.detail}{place}"
    return None if report.steps >= FEWEST_STEPS else _too_few_steps(report)


def _too_few_steps(report: TrainingReport) -> str:
    trained, plural = report.steps, "s" * (report.steps > 1)
    if report.kind == PREDICTION:
        return f"the script trains for no step, and predicts only {trained} time{plural}"
    if report.reason == "exit":
        status = f" with {report.detail!r}" if report.detail else ""
        when = "after too few steps" if trained else "before any training step"
        return f"the script called sys.exit(){status} {when}"
    if trained:
        return f"the training ended after {trained} step{plural}: too few to measure"
    return "the script ended without a training step"


def scout(script: Script, plan: Plan, start_limit: float, block_limit: float) -> Run:
    """Run a script once; if its data ends too early, run it again with the data repeated.

    Args:
        start_limit: seconds until the training must have warmed up.
        block_limit: seconds without progress after which the script counts as hanging.

    Raises:
        OSError: no process can be started.
    """
    run = run_alone(script, plan, start_limit=start_limit, block_limit=block_limit)
    if run.end and run.end.reason in OVER and run.end.passes:
        longer_plan = replace(plan, passes=run.end.passes, kind=weak_kind(run))
        longer = run_alone(script, longer_plan, start_limit=start_limit, block_limit=block_limit)
        if unusable_reason(longer) is None:
            longer.report.passes = run.end.passes
            return longer
    return run


def scout_training(script: Script, number: int, budget: Budget, kind: str | None = None) -> Run:
    """Scout the training with this number, or the bare loop with this number and kind."""
    plan = replace(SCOUT, training=number, kind=kind, block_seconds=min(SCOUT.block_seconds, _SCOUT_SECONDS))
    return scout(script, plan, budget.start_limit, budget.block_limit)


def scout_predictions(script: Script, number: int, budget: Budget, start_limit: float) -> Run:
    """Scout the prediction loop with this number."""
    plan = replace(SCOUT, kind=PREDICTION, training=number)
    return run_alone(script, plan, start_limit=start_limit, block_limit=budget.block_limit)


def scout_selected(script: Script, budget: Budget) -> tuple[Run, str | None]:
    """Scout the selected training, by default the first one.

    Returns:
        The run, and why it is unusable, for display.
    """
    selector = budget.training
    if selector is None:
        run = scout_training(script, 0, budget)
        return run, unusable_reason(run)
    number, kind = (selector.number or 1) - 1, None
    if selector.line is not None:
        survey = survey_trainings(script, budget)
        here = [each for each in survey.trainings if _is_at(script, each, selector)]
        if not here:
            lines = ", ".join(str(each.stack[0].line) for each in survey.trainings if each.stack)
            known = f": there are some at line {lines}" if lines else ""
            return survey, f"no training was reached at line {selector.line}{known}"
        # A training takes precedence over the loop over data or predictions around it.
        best = min(here, key=lambda each: each.number is None)
        number, kind = (best.order, best.kind) if best.number is None else (best.number, None)
    run = scout_training(script, number, budget, kind)
    reason = unusable_reason(run)
    if reason and run.end and not run.end.steps:
        reason = f"{selector.label} was not reached: {reason}"
    return run, reason


def survey_trainings(script: Script, budget: Budget) -> Run:
    """Run the script to its end, with only the first steps of every ``fit``, to list its trainings."""
    return run_alone(
        script, replace(SCOUT, training=_NO_TRAINING), start_limit=budget.start_limit, block_limit=budget.block_limit
    )


def weak_kind(run: Run) -> str | None:
    """The kind of loop that a later run must look for; None: any training.

    A fix may turn one form of training into another. A bare loop counts only once it has been seen.
    """
    return run.report.kind if run.report.kind in WEAK_KINDS else None


def describe_length(run: Run) -> str:
    """Describe in a clause how short a training is."""
    steps = run.report.steps
    return f"it predicts {steps} times" if run.report.kind == PREDICTION else f"the training ends after {steps} steps"


def used_lines(script: Script, training: TrainingReport | TrainingStart, *, alone: bool = False) -> list[Span]:
    """The lines that a training uses; ``alone``: whether it is the only one in the script."""
    sources = {os.path.abspath(path): text for path, text in script.sources.items()}
    made = [(os.path.abspath(path), first, last) for path, first, last in training.used_places]
    return lines_used(sources, frames(training), everything_before=alone) + made


def frames(training: TrainingReport | TrainingStart) -> list[Frame]:
    """The stack of a training's first step, with absolute paths."""
    return [replace(frame, path=os.path.abspath(frame.path)) for frame in training.stack]


def _is_at(script: Script, training: TrainingStart, selector: TrainingSelector) -> bool:
    spans = lines_of_training({os.path.abspath(path): text for path, text in script.sources.items()}, frames(training))
    return selector.line is not None and any(
        first <= selector.line <= last and (selector.path is None or path.endswith(os.path.join(os.sep, selector.path)))
        for path, first, last in spans
    )
