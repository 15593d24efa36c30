"""Assignment of variants to the trainings of a script: each is measured in a training that uses its lines."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from kerascheck.runtime.verify.analysis import PREDICTION
from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.messages import TrainingReport, TrainingStart
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.scouting import (
    scout_predictions,
    scout_training,
    survey_trainings,
    unusable_reason,
    used_lines,
)
from kerascheck.runtime.verify.uses import TRAINS
from kerascheck.runtime.verify.variants import Variant, concerns, spans_all_others

_MOST_PREDICTIONS = 4  # maximum prediction loops to try
_NO_TRAINING = "no training of this script uses its lines"
_NO_LOOP = "the script trains for no step, and no loop of predictions uses its lines"
_NOT_SEEN = "its predictions are made inside a training, too few, or not in the time allowed"
_NOT_SHARED = "no training uses the lines of more than one of the fixes"


@dataclass(slots=True)
class Assignment:
    """The training of each variant, and the scouting runs that found it."""

    script: Script
    budget: Budget
    progress: Progress
    scouts: list[Run]
    """Scouting runs of the script's trainings: initially the first one, later each that a variant is measured in."""
    targets: dict[str, int | str] = field(default_factory=dict)
    """Index in ``scouts`` by the name of the variant, or the reason why it is not measured."""

    def missing(self, variants: Iterable[Variant]) -> list[Variant]:
        """The variants without a target."""
        return [variant for variant in variants if variant.name not in self.targets]

    def assign(
        self,
        variants: Iterable[Variant],
        training: TrainingReport | TrainingStart,
        number: int,
        *,
        alone: bool = False,
    ) -> None:
        """Assign training ``number`` to the variants without a target whose lines it uses."""
        used = used_lines(self.script, training, alone=alone)
        self.targets.update({v.name: number for v in self.missing(variants) if concerns(v, used)})

    @property
    def patience(self) -> float:
        """Seconds within which a training after the first one must begin."""
        first_step = self.scouts[0].report.first_step_at or 0.0
        return min(self.budget.start_limit, first_step + 2 * self.budget.seconds)

    def show(self, text: str, variants: Sequence[Variant]) -> None:
        """Show progress; each of ``variants`` remains to be measured."""
        self.progress(text, 10 + self.budget.seconds * (len(variants) + 1))


def assign_trainings(
    script: Script, variants: Sequence[Variant], scouts: list[Run], budget: Budget, progress: Progress
) -> dict[str, int | str]:
    """Find for each variant the first training that uses its lines.

    Later trainings are scouted only for variants that the first one does not concern. Variants about predictions are
    measured in prediction loops.

    Args:
        scouts: initially the scouting run of the first training; receives one for each further training that a variant
            concerns.

    Returns:
        Index in ``scouts`` by the name of the variant, or the reason why it is not measured.
    """
    assignment = Assignment(script, budget, progress, scouts)
    measured = [variant for variant in variants if variant.measured]
    single = [variant for variant in variants if not spans_all_others(variant, measured)]
    if scouts[0].report.kind != PREDICTION:
        _assign_to_trainings([variant for variant in single if not variant.predicts], assignment)
    _assign_to_predictions(single, assignment)
    targets = assignment.targets
    for variant in assignment.missing(variants):
        targets[variant.name] = _common_target([targets[each.name] for each in single if each.measured])
    return targets


def _common_target(targets: Sequence[int | str]) -> int | str:
    """The training that most of several fixes concern, in which all of them are measured together."""
    counts = Counter(target for target in targets if isinstance(target, int))
    number, count = counts.most_common(1)[0] if counts else (0, 0)
    return number if count > 1 else _NOT_SHARED


def _assign_to_trainings(variants: Sequence[Variant], assignment: Assignment) -> None:
    first = assignment.scouts[0].report
    is_only_one = first.reason in ("end", "exit") and first.trainings == 1
    several = training_calls(assignment.script.sources.values()) > 1 and not is_only_one
    assignment.assign(variants, first, 0, alone=not several)
    reason = _NO_TRAINING
    if several and assignment.missing(variants):
        reason = _assign_to_later_trainings(variants, assignment)
    for variant in variants:
        assignment.targets.setdefault(variant.name, reason)


def _assign_to_later_trainings(variants: Sequence[Variant], assignment: Assignment) -> str:
    """Scout the trainings after the first one.

    Returns:
        Reason why the remaining variants concern none of them.
    """
    assignment.show("looking for further trainings", variants)
    patient = replace(assignment.budget, start_limit=assignment.patience)
    survey = survey_trainings(assignment.script, patient)
    later = [training for training in survey.trainings if training.number]
    reason = _NO_TRAINING
    if survey.end is None:
        reason = f"no training that was reached uses its lines: {unusable_reason(survey)}"
    elif not later:
        assignment.assign(variants, assignment.scouts[0].report, 0, alone=True)
    for training in later:
        used = used_lines(assignment.script, training)
        here = {variant.name for variant in assignment.missing(variants) if concerns(variant, used)}
        if here and training.number is not None:
            scout = scout_training(assignment.script, training.number, assignment.budget)
            failure = unusable_reason(scout)
            target = f"its training was not measured: {failure}" if failure else len(assignment.scouts)
            assignment.targets.update(dict.fromkeys(here, target))
            assignment.scouts += [scout] * (failure is None)
    return reason


def _assign_to_predictions(variants: Sequence[Variant], assignment: Assignment) -> None:
    is_first = assignment.scouts[0].report.kind == PREDICTION
    for order in range(_MOST_PREDICTIONS):
        missing = assignment.missing(variants)
        if not missing:
            return
        scout, number = assignment.scouts[0], 0
        if not is_first or order:
            assignment.show("looking for predictions", variants)
            scout = scout_predictions(assignment.script, order, assignment.budget, assignment.patience)
            number = len(assignment.scouts)
            if unusable_reason(scout) is not None:
                if scout.end is not None and scout.end.steps:
                    continue  # too few steps in these; the next ones may have more
                break
        assignment.assign(missing, scout.report, number)
        if number in assignment.targets.values() and scout is not assignment.scouts[0]:
            assignment.scouts.append(scout)
        if not any(variant.predicts for variant in variants):
            break
    for variant in variants:
        assignment.targets.setdefault(variant.name, _NOT_SEEN if variant.predicts else _NO_LOOP)


def training_calls(texts: Iterable[str]) -> int:
    """Estimate from names the maximum number of trainings that the code runs.

    Counts calls of ``fit`` and of the functions that hand-written loops call. Each counts as often as the function
    around it is called.
    """
    trees = []
    for text in texts:
        try:
            trees.append(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError):
            continue
    calls = Counter(_called(node) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    count = 0
    for tree in trees:
        functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TRAINS:
                around = (f.name for f in functions if f.lineno <= node.lineno <= (f.end_lineno or f.lineno))
                count += math.prod(max(1, calls[name]) for name in around)
    return count


def _called(call: ast.Call) -> str | None:
    return getattr(call.func, "attr", getattr(call.func, "id", None))
