"""The comparison of a script as written with variants of it, and the verdict on each.

Independent of the linter: a variant is a mapping of paths to texts.
"""

from __future__ import annotations

import ast
import enum
import itertools
import math
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kerascheck.finding import NO_EFFECT, is_no_effect
from kerascheck.runtime.verify.analysis import PREDICTION, WEAK_KINDS, Analysis, analyse, ceiling_order
from kerascheck.runtime.verify.process import Plan, Script
from kerascheck.runtime.verify.rounds import Run, measure_in_turn, measure_one_by_one, run_alone
from kerascheck.runtime.verify.stats import (
    FIRST_LOOK,
    MAX_ROUNDS,
    Ratio,
    disagreement,
    is_settled,
    looks_in,
    noise,
    speedup,
)
from kerascheck.runtime.verify.uses import TRAINS, Frame, Span, lines_of_training, lines_used

ORIGINAL = "as written"
CEILING = "one cached batch"

_BLOCK_SECONDS = 0.15
_BLOCKS_PER_ROUND = 80
_MEASURED_SECONDS_PER_ROUND = 15.0
_FIRST_EPOCH_SECONDS = 6.0
_LONGEST_EPOCH_BLOCK = 3.0
_FINEST = 5
"""No interval is asked to be narrower than the limit of "no effect" divided by this: a ratio at the very limit would need for ever."""
_BEYOND_NOISE = 1.03
"""What the whole interval must lie beyond: processes of the same script differ by about this much."""
_ROUNDS = 6
_USUAL_SECONDS = 60.0
_PLANNED_ROUNDS = 3
"""What a variant's time should do for, start-up included."""
_FEW_BLOCKS = 8
_LATE = 1.25
_WARMUP_LIMIT = 15.0
_AT_ONCE = 8
"""How many times longer than alone a script may take to start, with others beside it on a busy machine."""
_OVER = frozenset({"end", "exit", "trained", "exhausted"})
"""How trainings end that are shorter than the plan."""
_SCOUT_SECONDS = 2.0
"""What plans a measurement need not be measured itself."""
_CEILING_BLOCKS = 24
_CEILING_PAIRS = 12
_MAX_SIDE_BY_SIDE = 4
_QUIET = 0.2
"""Share of the machine that others may use while a block counts as undisturbed."""
_ENOUGH_QUIET = 12
_STARTS_APART = 1.15
_FEW_STARTS_APART = 1.5
"""Of two starts of each side, chance separates one in three: they must lie further apart."""
_STARTS_SECONDS = 0.75
"""How far apart start-ups must lie, every one of one side from every one of the other, to be told."""
_LOSSES = 8
_ROUNDING = 1e-4
"""Relative difference that a reordering of float32 sums makes within the first few steps."""
_MAX_PREDICTIONS = 4


class Status(enum.Enum):
    """The verdict on a variant."""

    CONFIRMED = "confirmed"
    NO_EFFECT = "no effect"
    """Measured: the whole interval lies within the limit."""
    INCONCLUSIVE = "inconclusive"
    """Not known: the interval is too wide to tell."""
    SLOWER = "slower"
    CHANGES_RESULTS = "changes results"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Variant:
    """The script with some of its files' texts replaced."""

    name: str
    sources: Mapping[str, str]
    """Absolute path to text; files not named stay as they are."""
    tolerance: float | None = 1e-6
    """Largest relative difference of the first losses; None where the fix is meant to change results."""
    places: tuple[tuple[str, int, int], ...] = ()
    """Path, first and last line of what it repairs: tells which training of a script is concerned."""
    predicts: bool = False
    """Whether it is about predictions, not about training."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of its processes beyond those of the script."""
    whole_epochs: bool = False
    """Whether it is about what an epoch begins with, so that blocks are to hold whole epochs."""
    measured: bool = True
    """False: it changes nothing, and only says which training is to be looked at."""

    @property
    def identity(self) -> tuple[Any, ...]:
        """The same for variants of which one measurement is enough."""
        return tuple(sorted(self.sources.items())), tuple(sorted(self.environment.items()))


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which training to measure in: by its number or by a line of it."""

    number: int | None = None
    """From 1, in the order of their first steps; loops of predictions are not counted."""
    path: str | None = None
    """The end of the path of the file of ``line``; None: any."""
    line: int | None = None

    @property
    def label(self) -> str:
        """Its name for people."""
        return f"training {self.number}" if self.number else f"the training at line {self.line}"


@dataclass(frozen=True, slots=True)
class Budget:
    """How long to measure, and where."""

    seconds: float = 60.0
    """Per variant, start-up included."""
    steps: int | None = None
    """Measured steps per variant at most, but for the dozen that any verdict needs; None: as many as the seconds allow."""
    start_limit: float = 300.0
    """Seconds that a script may take until its training has warmed up."""
    block_limit: float = 120.0
    """Seconds without progress after which a script counts as hanging."""
    no_effect: float = NO_EFFECT
    """How far from 1 the interval of a ratio may reach for "no effect": 0.05 is 5 %."""
    rounds: int | None = None
    """Of fresh processes, at most; None: by the seconds."""
    training: Chosen | None = None
    """Measure in this training only; None: each variant in the one that it concerns."""

    @property
    def most_rounds(self) -> int:
        """Of fresh processes: more than usual for those who give more time."""
        return self.rounds or min(MAX_ROUNDS, max(_ROUNDS, round(_ROUNDS * self.seconds / _USUAL_SECONDS)))


@dataclass(slots=True)
class Verdict:
    """What a variant is worth."""

    name: str
    status: Status
    reason: str
    ratio: Ratio | None = None
    step_seconds: tuple[float, float] | None = None
    """Median step of the script as written, and of the variant."""
    start_seconds: tuple[float, float] | None = None
    """Processor time until the warm-up is done, of both: imports, loading and tracing included. Only where they clearly differ."""
    remark: str = ""
    """What else is worth saying, such as results that the fix said would change."""
    training: int = 0
    """Which of the script's trainings was measured, counted from 0."""
    losses: tuple[list[float], list[float]] | None = None
    rounds: int = 0
    blocks: int = 0
    ticks: tuple[Sequence[float], Sequence[float]] = ((), ())
    """Seconds of single steps, as the host sees them, of both."""
    output: str = ""
    """What a variant that did not run printed last."""
    others: float | None = None
    """The share of the machine that other programs used meanwhile, 0 to 1; None where that is unknown."""
    no_effect: float = NO_EFFECT
    """See :attr:`Budget.no_effect`."""
    change: str | None = None
    """How the results differ, expected or not; None where they agree or could not be compared."""

    @property
    def same_results(self) -> bool | None:
        """Whether the first losses agree; None where no loss was visible in both."""
        return False if self.change else (True if self.losses and self.losses[0] else None)

    def as_dict(self) -> dict[str, Any]:
        """Everything but what its variant repairs, in types that JSON knows."""
        return {
            "name": self.name,
            "status": self.status.value,
            "reason": self.reason,
            "remark": self.remark,
            "ratio": None if self.ratio is None else asdict(self.ratio),
            "start_seconds": self.start_seconds
            and {"as_written": self.start_seconds[0], "repaired": self.start_seconds[1]},
            "step_seconds": self.step_seconds
            and {"as_written": self.step_seconds[0], "repaired": self.step_seconds[1]},
            "losses": self.losses and dict(zip(("as_written", "repaired"), map(_finite, self.losses))),
            "others": self.others,
            "no_effect": self.no_effect,
            "training": self.training,
            "rounds": self.rounds,
            "blocks": self.blocks,
        }


def _finite(series: Iterable[float]) -> list[float | None]:
    """JSON knows no infinity and no NaN: null stands for them."""
    return [value if math.isfinite(value) else None for value in series]


@dataclass(slots=True)
class Comparison:
    """All verdicts on a script."""

    script: str
    scout: Run
    """The first training of the script as written, or the one that was chosen."""
    scouts: list[Run] = field(default_factory=list)
    """All trainings that were looked at; the first one included."""
    analyses: list[Analysis] = field(default_factory=list)
    """Where the time of each of them goes."""
    verdicts: list[Verdict] = field(default_factory=list)
    failure: str | None = None
    """Why nothing could be measured, or None."""
    notes: list[str] = field(default_factory=list)
    """What was changed about the run of the script."""
    seconds: float = 0.0


Progress = Callable[[str, float], None]
"""Told what is being done and about how many seconds are left."""


def compare(
    script: Script,
    variants: Sequence[Variant],
    budget: Budget = Budget(),
    progress: Progress = lambda text, seconds_left: None,
    *,
    ceilings: bool = True,
) -> Comparison:
    """Measure ``script`` against each of ``variants``; never raises for what the script does.

    ``ceilings``: also measure how far input fixes can go. Raises OSError when no process can be started at all.
    """
    start = time.monotonic()
    progress("running the script as written", 10 + budget.seconds * (len(variants) + 1))
    scout, failure = _first_scout(script, budget)
    result = Comparison(script.path, scout, failure=failure)
    result.scouts.append(result.scout)
    if result.failure is None:
        if budget.training is None:
            targets = _targets(script, variants, result, budget, progress)
        else:
            used = used_lines(script, result.scout.told, alone=training_calls(script.sources.values()) == 1)
            targets = {
                v.name: 0 if concerns(v, used) else f"{budget.training.label} does not use its lines" for v in variants
            }
        measured_ones = [variant for variant in variants if variant.measured]
        result.verdicts = [
            Verdict(v.name, Status.NOT_RUN, why) for v in measured_ones if isinstance(why := targets[v.name], str)
        ]
        for number, scout in enumerate(result.scouts):
            here = [variant for variant in measured_ones if targets[variant.name] == number]
            validating = [variant for variant in here if _repairs_validation(variant, scout)]
            order = ceiling_order(scout) if ceilings else ""
            ceiling = replace(script, ceiling=order) if isinstance(order, dict) else None
            others = [variant for variant in here if variant not in validating]
            verdicts, beside = _measure(script, others, scout, number, budget, progress, ceiling)
            if validating:
                verdicts += _measure(script, validating, scout, number, budget, progress, None, validation=True)[0]
            if ceilings:
                result.analyses.append(_analysis(scout, order, beside))
            result.verdicts += verdicts
        asked = [variant.name for variant in variants]
        result.verdicts.sort(key=lambda verdict: asked.index(verdict.name))
        result.notes = list(dict.fromkeys(note for scout in result.scouts for note in scout.told["notes"]))
    else:
        result.verdicts = [Verdict(v.name, Status.NOT_RUN, result.failure) for v in variants if v.measured]
    result.seconds = time.monotonic() - start
    return result


def _measure(
    script: Script,
    variants: Sequence[Variant],
    scout: Run,
    number: int,
    budget: Budget,
    progress: Progress,
    ceiling: Script | None,
    *,
    validation: bool = False,
) -> tuple[list[Verdict], Mapping[str, Run] | None]:
    """The verdicts on ``variants`` in training ``number``, and the runs of the first group of them.

    Args:
        scout: the look at that training.
        ceiling: the script with one cached batch, to be measured beside them; None for none.
        validation: whether ``fit`` validates meanwhile, so that an epoch with its validation is what is measured.
    """
    whole = validation or any(variant.whole_epochs for variant in variants)
    plan = replace(_timed_plan(scout, scout.told.get("order", number), budget, whole), validation=validation)
    limited = _limited(budget, scout)
    # Variants of equal texts, as for several places that are repaired together, are measured once.
    first = {variant.identity: variant for variant in reversed(variants)}
    measured = {}
    groups = list(_groups(list(reversed(first.values())), scout)) or [()] * (ceiling is not None)
    beside = None
    for group in groups:
        # Every group needs the script as written beside it, which the budget counts once.
        share = (len(first) + 1) / (len(first) + len(groups))
        verdicts, runs = _measure_group(
            script, group, plan, replace(limited, seconds=share * budget.seconds), progress, ceiling
        )
        beside, ceiling = beside or runs, None
        for verdict in verdicts:
            verdict.training = number
            if validation and verdict.ratio is not None:
                _remark(verdict, "of epochs with their validation")
            if scout.told["reason"] in _OVER and verdict.ratio is not None:
                _remark(verdict, f"{_how_short(scout)}: there was no more to measure")
            measured[verdict.name] = verdict
    return [replace(measured[first[v.identity].name], name=v.name) for v in variants], beside


def _repairs_validation(variant: Variant, scout: Run) -> bool:
    """Whether a variant repairs the data that a training validates on, and not the data that it trains on."""
    told = scout.told
    validates, trains = (
        [(os.path.abspath(path), first, last) for path, first, last in spans]
        for spans in (told["facts"].get("validation_places") or (), told.get("data_places") or ())
    )
    return bool(variant.places) and concerns(variant, validates) and not concerns(variant, trains)


def _first_scout(script: Script, budget: Budget) -> tuple[Run, str | None]:
    """A look at the chosen training, the first one by default, and why there is none."""
    training = budget.training
    if training is None:
        scout = _scout(script, 0, budget)
        return scout, why_useless(scout)
    number, kind = (training.number or 1) - 1, None
    if training.line is not None:
        tour = tour_of(script, budget)
        here = [each for each in tour.trainings if _is_at(script, each, training)]
        if not here:
            lines = ", ".join(str(each["stack"][0][1]) for each in tour.trainings if each["stack"])
            return tour, f"no training was reached at line {training.line}" + (
                f": there are some at line {lines}" if lines else ""
            )
        # A training of its own, rather than the loop over data or predictions around it.
        best = min(here, key=lambda each: each["number"] is None)
        number, kind = (best["order"], best["kind"]) if best["number"] is None else (best["number"], None)
    scout = _scout(script, number, budget, kind)
    reason = why_useless(scout)
    if reason and scout.end and not scout.told.get("steps"):
        reason = f"{training.label} was not reached: {reason}"
    return scout, reason


def _is_at(script: Script, training: Mapping[str, Any], chosen: Chosen) -> bool:
    spans = lines_of_training({os.path.abspath(path): text for path, text in script.sources.items()}, frames(training))
    return chosen.line is not None and any(
        first <= chosen.line <= last and (chosen.path is None or path.endswith(os.path.join(os.sep, chosen.path)))
        for path, first, last in spans
    )


def scout(script: Script, plan: Plan, start_limit: float, block_limit: float) -> Run:
    """One look at a training, as ``plan`` says; where its data ends too early, a second one that feeds it from the start again.

    Args:
        start_limit: seconds until the training must have warmed up.
        block_limit: seconds without progress after which the script counts as hanging.

    Raises:
        OSError: no process can be started.
    """
    run = run_alone(script, plan, start_limit=start_limit, block_limit=block_limit)
    if run.end and run.told["reason"] in _OVER and run.told.get("passes"):
        longer_plan = replace(plan, passes=run.told["passes"], kind=weak_kind(run))
        longer = run_alone(script, longer_plan, start_limit=start_limit, block_limit=block_limit)
        if why_useless(longer) is None:
            longer.told["passes"] = run.told["passes"]
            return longer
    return run


def _scout(script: Script, training: int, budget: Budget, kind: str | None = None) -> Run:
    plan = replace(SCOUT, training=training, kind=kind, block_seconds=min(SCOUT.block_seconds, _SCOUT_SECONDS))
    return scout(script, plan, budget.start_limit, budget.block_limit)


def _how_short(scout: Run) -> str:
    steps = scout.told["steps"]
    return (
        f"it predicts {steps} times" if scout.told["kind"] == PREDICTION else f"the training ends after {steps} steps"
    )


def weak_kind(scout: Run) -> str | None:
    """The kind of loop to look for again. Other loops may be rewritten into each other by a fix; a bare loop is only believed once it was seen."""
    return scout.told["kind"] if scout.told["kind"] in WEAK_KINDS else None


def _limited(budget: Budget, scout: Run) -> Budget:
    """``budget`` with the limits for a hanging script that what is known of it allows."""
    longest = max((seconds for seconds, *_ in scout.told["durations"]), default=0.0)
    longest = max([longest, *(tick for block in scout.blocks for tick in block["ticks"])])
    return replace(
        budget,
        start_limit=min(budget.start_limit, budget.seconds + _AT_ONCE * scout.told["seconds"]),
        block_limit=min(budget.block_limit, budget.seconds + _AT_ONCE * longest),
    )


def _analysis(scout: Run, order: Mapping[str, Any] | str, runs: Mapping[str, Run] | None) -> Analysis:
    """Where the time of a training goes; ``runs``: of the script as written and on one cached batch, in turn, where there are any."""
    if isinstance(order, str) or runs is None:
        return analyse(_step_seconds(scout), scout, None, order if isinstance(order, str) else "it was not reached")
    for run in (runs[ORIGINAL], runs[CEILING]):
        if why_useless(run) or not run.blocks:
            return analyse(_step_seconds(scout), scout, None, why_useless(run) or "too few steps")
    if not runs[CEILING].told["facts"].get("one_cached_batch"):
        return analyse(_step_seconds(scout), scout, None, "its data comes in a way that cannot be replaced")
    original = [_mean_step(block, inner=bool(block["inner_steps"])) for block in runs[ORIGINAL].blocks]
    ((a,), (b,)) = _paired([runs[ORIGINAL]], [runs[CEILING]])
    return analyse(statistics.median(original), scout, speedup([a], [b]).value, gain_error=noise(a, b))


def _targets(
    script: Script, variants: Sequence[Variant], result: Comparison, budget: Budget, progress: Progress
) -> dict[str, int | str]:
    """Which training each variant is about: the first one that uses the repaired lines; or why it is measured on none.

    Later trainings are looked at only while there are variants that the first one knows nothing of. What is about predictions is
    measured where these are made.
    """
    targets: dict[str, int | str] = {}
    single = [variant for variant in variants if not _spans_everything(variant, [v for v in variants if v.measured])]
    if result.scout.told["kind"] != PREDICTION:
        _find_trainings([v for v in single if not v.predicts], targets, script, result, budget, progress)
    _find_predictions(single, targets, script, result, budget, progress)
    for variant in variants:
        if variant.name not in targets:
            targets[variant.name] = _common_target([targets[each.name] for each in single if each.measured])
    return targets


def _common_target(targets: Sequence[int | str]) -> int | str:
    """Where several fixes are measured together: in the training that most of them concern."""
    counts = Counter(target for target in targets if isinstance(target, int))
    number, count = counts.most_common(1)[0] if counts else (0, 0)
    return number if count > 1 else "no training uses the lines of more than one of the fixes"


def _find_trainings(
    variants: Sequence[Variant],
    targets: dict[str, int | str],
    script: Script,
    result: Comparison,
    budget: Budget,
    progress: Progress,
) -> None:
    first = result.scout.told
    several = training_calls(script.sources.values()) > 1 and not (
        first["reason"] in ("end", "exit") and first["trainings"] == 1
    )

    def assign(training: Mapping[str, Any], number: int, alone: bool = False) -> None:
        used = used_lines(script, training, alone=alone)
        targets.update({v.name: number for v in variants if v.name not in targets and concerns(v, used)})

    assign(first, 0, alone=not several)
    unused = "no training of this script uses its lines"
    if several and any(variant.name not in targets for variant in variants):
        progress("looking for further trainings", 10 + budget.seconds * (len(variants) + 1))
        tour = tour_of(script, replace(budget, start_limit=_patience(result.scout, budget)))
        later = [training for training in tour.trainings if training["number"]]
        if tour.end is None:
            unused = f"no training that was reached uses its lines: {why_useless(tour)}"
        elif not later:
            assign(first, 0, alone=True)
        for training in later:
            here = {v.name for v in variants if v.name not in targets and concerns(v, used_lines(script, training))}
            if here:
                scout = _scout(script, training["number"], budget)
                reason = why_useless(scout)
                targets.update(
                    dict.fromkeys(here, f"its training was not measured: {reason}" if reason else len(result.scouts))
                )
                result.scouts += [scout] * (reason is None)
    for variant in variants:
        targets.setdefault(variant.name, unused)


_NO_TRAINING = 10**6
"""The number of no training: a script runs through all of them."""


def tour_of(script: Script, budget: Budget) -> Run:
    """Run the script to its end, every ``fit`` for its first steps only, and see which trainings there are."""
    return run_alone(
        script, replace(SCOUT, training=_NO_TRAINING), start_limit=budget.start_limit, block_limit=budget.block_limit
    )


def used_lines(script: Script, training: Mapping[str, Any], *, alone: bool = False) -> list[Span]:
    """The lines that a training uses; ``training``: what a process told of it; ``alone``: whether the script has no other one."""
    sources = {os.path.abspath(path): text for path, text in script.sources.items()}
    validated = (training.get("facts") or {}).get("validation_places") or ()
    made = [(os.path.abspath(path), first, last) for path, first, last in (*training["data_places"], *validated)]
    return lines_used(sources, frames(training), everything_before=alone) + made


def frames(training: Mapping[str, Any]) -> list[Frame]:
    """Where a training made its first step; ``training``: what a process told of it."""
    return [Frame(os.path.abspath(path), line, first) for path, line, first in training.get("stack", ())]


def _patience(scout: Run, budget: Budget) -> float:
    """Seconds that what comes after the first training may take until it has begun."""
    return min(budget.start_limit, float(scout.told["first_step_at"]) + 2 * budget.seconds)


def _find_predictions(
    variants: Sequence[Variant],
    targets: dict[str, int | str],
    script: Script,
    result: Comparison,
    budget: Budget,
    progress: Progress,
) -> None:
    only = result.scout.told["kind"] == PREDICTION
    for order in range(_MAX_PREDICTIONS):
        missing = [variant for variant in variants if variant.name not in targets]
        if not missing:
            return
        if only and not order:
            scout, number = result.scout, 0
        else:
            progress("looking for predictions", 10 + budget.seconds * (len(variants) + 1))
            plan = replace(SCOUT, kind=PREDICTION, training=order)
            limit = _patience(result.scout, budget)
            scout, number = (
                run_alone(script, plan, start_limit=limit, block_limit=budget.block_limit),
                len(result.scouts),
            )
            if why_useless(scout) is not None:
                if scout.end is not None and scout.told.get("steps"):
                    continue  # too few of these: the next ones may be more
                break
        used = used_lines(script, scout.told)
        concerned = [variant for variant in missing if concerns(variant, used)]
        if concerned and scout is not result.scout:
            result.scouts.append(scout)
        targets.update((variant.name, number) for variant in concerned)
        if not any(variant.predicts for variant in variants):
            break
    for variant in variants:
        no_step = "the script trains for no step, and no loop of predictions uses its lines"
        not_seen = "its predictions are made inside a training, too few, or not in the time allowed"
        targets.setdefault(variant.name, not_seen if variant.predicts else no_step)


def training_calls(texts: Iterable[str]) -> int:
    """How many times the code trains at most, as far as names tell: calls of ``fit`` and what hand-written loops call, each as often
    as the function that it stands in is called."""
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


def _spans_everything(variant: Variant, variants: Sequence[Variant]) -> bool:
    return (
        variant in variants
        and len(variants) > 1
        and all(set(other.places) < set(variant.places) for other in variants if other is not variant)
    )


def concerns(variant: Variant, used: Sequence[Span]) -> bool:
    """Whether a training uses lines that ``variant`` repairs; one that says nothing of its lines concerns every training."""
    return not variant.places or any(
        os.path.abspath(path) == other and first <= end and begin <= last
        for path, first, last in variant.places
        for other, begin, end in used
    )


SCOUT = Plan(warmup_steps=3, warmup_seconds=1.0, block_seconds=3.0, blocks=1, diagnose=True)
"""The first run: finds the training and looks at everything that would disturb a timed run."""


def why_useless(run: Run) -> str | None:
    """Why a run tells nothing about training, for people; None if it does."""
    if run.failure is not None:
        if run.failure == "it took too long":
            return "the script made no progress in the time allowed: it hangs, or needs a larger --start-limit"
        return run.failure
    end = run.told
    trained = end.get("steps", 0)
    place = f" at line {end['line']}" if end.get("line") else ""
    if end["reason"] == "fault":
        return f"kerascheck's own probe failed, which is a fault of kerascheck: {end['detail']}"
    if end["reason"] == "exception":
        if end.get("stdin"):
            return f"the script reads standard input{place}, which is closed here"
        return f"the script raised {end['detail']}{place}"
    if trained >= 3:
        return None
    if end.get("kind") == PREDICTION:
        return f"the script trains for no step, and predicts only {trained} time{'s' * (trained > 1)}"
    if end["reason"] == "exit":
        status = f" with {end['detail']!r}" if end["detail"] else ""
        return f"the script called sys.exit(){status} " + (
            "before any training step" if not trained else "after too few steps"
        )
    if trained:
        return f"the training ended after {trained} step{'s' * (trained > 1)}: too few to measure"
    return "the script ended without a training step"


def _timed_plan(scout: Run, training: int, budget: Budget, whole_epochs: bool = False) -> Plan:
    """How to measure a training that one run has looked at; ``whole_epochs``: in blocks of one epoch, where they are short enough."""
    end = scout.told
    step = _step_seconds(scout)
    block_steps = max(1, round(_BLOCK_SECONDS / step))
    warmup = 5
    epochs = end["facts"].get("epoch_lengths") or []
    if not epochs and len(end["epoch_starts"]) > 1:
        epochs = [end["epoch_starts"][1]]
    if epochs and epochs[0] * step < _FIRST_EPOCH_SECONDS:
        # What only later epochs gain from, such as a cache, must be visible.
        warmup = max(warmup, epochs[0] + 2)
    if whole_epochs and epochs and epochs[0] * step < _LONGEST_EPOCH_BLOCK:
        block_steps = epochs[0]
    # At least two rounds must fit: what differs between processes shows only between rounds.
    seconds = max(2.0, min(_MEASURED_SECONDS_PER_ROUND, budget.seconds / _PLANNED_ROUNDS - end["first_step_at"]))
    blocks = max(4, min(_BLOCKS_PER_ROUND, round(seconds / (block_steps * step))))
    if end["reason"] != "done":
        # The training is shorter than that, and no fit to be continued: stop with its last step.
        warmup, block_steps, blocks = _fitted(end["steps"], warmup, block_steps)
    if budget.steps is not None:
        fewest = _FEW_BLOCKS // FIRST_LOOK
        per_round = max(fewest, budget.steps // _PLANNED_ROUNDS)
        block_steps = min(block_steps, per_round // fewest)
        blocks = min(blocks, per_round // block_steps)
    return Plan(
        warmup_steps=warmup,
        warmup_seconds=0.0 if end["reason"] != "done" else 1.0,
        warmup_limit=min(_WARMUP_LIMIT, budget.seconds / 4),
        block_steps=block_steps,
        blocks=blocks,
        # What the scout's steps promise, a busy machine may not keep.
        seconds=_LATE * seconds,
        in_turn=not end["facts"].get("gpus"),
        training=training,
        kind=weak_kind(scout),
        passes=end.get("passes") or None,
    )


def _fitted(steps: int, warmup: int, block_steps: int) -> tuple[int, int, int]:
    """Steps of warm-up, steps per block and blocks for a training of so many steps."""
    warmup = min(warmup, max(2, steps // 5))
    block_steps = max(1, min(block_steps, (steps - warmup) // _FEW_BLOCKS))
    return warmup, block_steps, max(1, (steps - warmup) // block_steps)


def _shortened(plan: Plan, runs: Iterable[Run]) -> Plan:
    """``plan``, or one for a training that ended before enough of its blocks were measured.

    The repaired script may run so much faster that it is over with the warm-up of the one as written.
    """
    lengths = [
        run.told["steps"]
        for run in runs
        if why_useless(run) is None and run.told["reason"] in _OVER and len(run.blocks) < _FEW_BLOCKS
    ]
    if not lengths:
        return plan
    warmup, block_steps, blocks = _fitted(min(lengths), plan.warmup_steps, plan.block_steps)
    return replace(
        plan, warmup_steps=warmup, warmup_seconds=0.0, block_steps=block_steps, blocks=min(blocks, plan.blocks)
    )


def _steps(runs: Iterable[Run]) -> list[float]:
    """Seconds of steps: of single ones, or of whole blocks where the host may run ahead of the device within a block."""
    runs = list(runs)
    if any(run.end and (run.told.get("facts") or {}).get("gpus") for run in runs):
        return [block["seconds"] / block["steps"] for run in runs for block in run.blocks]
    return [tick for run in runs for block in run.blocks for tick in block["ticks"]]


def _step_seconds(run: Run) -> float:
    ticks = _steps([run])
    ticks = ticks or [seconds / steps for seconds, steps, _ in run.told["durations"]]
    return max(1e-5, statistics.median(ticks)) if ticks else 1.0


def _groups(variants: Sequence[Variant], scout: Run) -> Iterator[Sequence[Variant]]:
    """Variants that are measured against the same processes of the original, as many as memory holds."""
    size = _MAX_SIDE_BY_SIDE - 1
    free = _free_memory()
    if free is not None:
        size = max(1, min(size, int(0.7 * free / max(1, scout.told["host_peak_bytes"])) - 1))
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


@dataclass(slots=True)
class _Gathered:
    """The rounds of one variant next to those of the original."""

    variant: Variant
    original_runs: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    failure: Run | None = None
    ratio: Ratio | None = None

    def is_decided(self, budget: Budget) -> bool:
        """Whether another round would change nothing."""
        if self.failure is not None:
            return True
        if len(self.runs) < FIRST_LOOK or self.pairs < _FEW_BLOCKS:
            return False
        if self.ratio is not None and judge_ratio(self.ratio, budget.no_effect)[0] is not Status.INCONCLUSIVE:
            return True
        return len(self.runs) > FIRST_LOOK and self.variant.tolerance is not None and self.change is not None

    @property
    def pairs(self) -> int:
        """Neighbouring blocks that were measured."""
        return sum(min(len(a.blocks), len(b.blocks)) for a, b in zip(self.original_runs, self.runs))

    @property
    def change(self) -> str | None:
        """How the results differ, see :func:`what_changed`."""
        return what_changed(self.original_runs, self.runs, self.variant.tolerance or 0.0)


def _measure_group(
    script: Script,
    group: Sequence[Variant],
    plan: Plan,
    budget: Budget,
    progress: Progress,
    ceiling: Script | None = None,
) -> tuple[list[Verdict], Mapping[str, Run] | None]:
    """Measure ``script`` beside the variants, round by round until the verdicts are decided; in the first round ``ceiling`` beside them.

    Returns the verdicts, and the runs of that round.
    """
    gathered = {variant.name: _Gathered(variant) for variant in group}
    beside = None
    start = time.monotonic()
    allowed = budget.seconds * (len(group) + 1)
    longest = 0.0
    number = 0
    while True:
        pending = {name: g for name, g in gathered.items() if not g.is_decided(budget)}
        left = allowed - (time.monotonic() - start)
        if ceiling is None and not (
            pending and _another_round(list(pending.values()), number, left, longest, plan, budget)
        ):
            break
        progress("measuring " + (", ".join(pending) or "the ceiling with one cached batch"), left)
        scripts = {ORIGINAL: script}
        for name, g in pending.items():
            scripts[name] = replace(
                script,
                sources={**script.sources, **g.variant.sources},
                environment={**script.environment, **g.variant.environment},
            )
        if number % 2:  # neither side always starts first
            scripts = dict(reversed(scripts.items()))
        if ceiling is not None:
            scripts[CEILING] = ceiling
        round_start = time.monotonic()
        # Two rounds tell whether a script that is run again gets batches of the same sizes.
        runs = _round(scripts, replace(plan, rows=number < FIRST_LOOK), budget)
        longest = max(longest, time.monotonic() - round_start)
        number += 1
        if ceiling is not None:
            beside, ceiling = runs, None
        shorter = _shortened(plan, [run for name, run in runs.items() if name != CEILING])
        if shorter != plan:
            plan = shorter
            if number == 1:
                continue
        for name, g in pending.items():
            g.failure = next((run for run in (runs[name], runs[ORIGINAL]) if why_useless(run) or not run.blocks), None)
            if g.failure is not None:
                continue
            g.original_runs.append(runs[ORIGINAL])
            g.runs.append(runs[name])
            g.ratio = _speedup(g.original_runs, g.runs, looks_in(budget.most_rounds))
    return [_judge(g, budget) for g in gathered.values()], beside


def _another_round(
    pending: Sequence[_Gathered], number: int, left: float, longest: float, plan: Plan, budget: Budget
) -> bool:
    """Whether there is time for one more round; two are measured however long they take, for one says nothing."""
    good = min(len(g.runs) for g in pending)
    if good < FIRST_LOOK:
        return number <= FIRST_LOOK
    steps_left = budget.steps is None or good * plan.blocks * plan.block_steps < budget.steps
    return good < budget.most_rounds and steps_left and left > 0.8 * longest


def _round(scripts: Mapping[str, Script], plan: Plan, budget: Budget) -> dict[str, Run]:
    """Run all of them once, each until its next blocks would say nothing more."""
    # Start-up effects of the cached batch are over at once; a few blocks are enough for a share.
    brief = replace(plan, blocks=min(plan.blocks, _CEILING_BLOCKS), warmup_steps=min(plan.warmup_steps, 10), rows=False)
    measure = measure_in_turn if plan.in_turn else measure_one_by_one
    return measure(
        scripts, plan, start_limit=budget.start_limit, block_limit=budget.block_limit, plans={CEILING: brief}, settled=_settled
    )  # fmt: skip


def _settled(runs: Mapping[str, Run]) -> set[str]:
    """The runs that need no more blocks; the script as written needs them as long as another one does."""
    others = runs.keys() - {ORIGINAL}
    over = {name for name in others if _is_over(runs[name]) or _has_enough(name, runs[ORIGINAL], runs[name])}
    return over | {ORIGINAL} if over == others else over


def _is_over(run: Run) -> bool:
    return run.end is not None or run.failure is not None


def _has_enough(name: str, original: Run, run: Run) -> bool:
    if not original.blocks or not run.blocks:
        return False
    ((a,), (b,)) = _paired([original], [run])
    return len(a) >= _CEILING_PAIRS if name == CEILING else is_settled(a, b)


def _speedup(original: Sequence[Run], other: Sequence[Run], looks: int = 1) -> Ratio:
    return speedup(*_paired(original, other), looks=looks)


def _paired(original: Sequence[Run], other: Sequence[Run]) -> tuple[list[list[float]], list[list[float]]]:
    """Mean step times of neighbouring blocks, by round, of both.

    Steps that begin an epoch count where each block is an epoch, or nearly all steps begin one.
    """
    blocks = [block for run in (*original, *other) for block in run.blocks]
    inner = min(_inner_share(original), _inner_share(other)) >= 0.5 and not all(b.get("epochs") == 1 for b in blocks)
    a, b = [], []
    for first, second in zip(original, other):
        pairs = quiet_pairs(list(zip(first.blocks, second.blocks)))
        a.append([_mean_step(x, inner) for x, _ in pairs])
        b.append([_mean_step(y, inner) for _, y in pairs])
    return a, b


def quiet_pairs(
    pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Neighbouring blocks during which other programs left the machine alone, if there are enough of them; else all.

    Chosen by what others used, never by how long the blocks took.
    """
    quiet = [pair for pair in pairs if all(block["others"] is not None and block["others"] < _QUIET for block in pair)]
    return quiet if len(quiet) >= max(_ENOUGH_QUIET, len(pairs) // 4) else pairs


def _inner_share(runs: Sequence[Run]) -> float:
    """The share of steps that did not begin an epoch."""
    blocks = [block for run in runs for block in run.blocks]
    return float(sum(b["inner_steps"] for b in blocks) / sum(b["steps"] for b in blocks))


def _mean_step(block: Mapping[str, Any], inner: bool) -> float:
    # Between epochs TensorFlow may stall for seconds when an iterator is destroyed, by chance: those steps do not count,
    # unless there are hardly any others.
    if inner:
        return float(block["inner_seconds"] / block["inner_steps"]) if block["inner_steps"] else 0.0
    return float(block["seconds"] / block["steps"])


def _judge(g: _Gathered, budget: Budget = Budget()) -> Verdict:
    name = g.variant.name
    reason = why_useless(g.failure) if g.failure is not None else None
    if g.failure is not None and (reason is not None or not g.runs):
        reason = reason or f"the training ended after {g.failure.told['steps']} steps: too few to measure"
        return Verdict(name, Status.NOT_RUN, reason, output=g.failure.output)
    losses = _side_by_side(_losses(g.original_runs[0]), _losses(g.runs[0]))[1:]
    verdict = Verdict(
        name,
        Status.NO_EFFECT,
        "",
        ratio=g.ratio,
        step_seconds=(statistics.median(_steps(g.original_runs)), statistics.median(_steps(g.runs))),
        losses=losses,
        rounds=len(g.runs),
        blocks=sum(len(run.blocks) for run in g.runs),
        ticks=(_ticks(g.original_runs), _ticks(g.runs)),
        others=_use_by_others([*g.original_runs, *g.runs]),
        no_effect=budget.no_effect,
    )
    verdict.change = change = g.change
    pairs = g.pairs
    if g.ratio is None or len(g.runs) < FIRST_LOOK or pairs < _FEW_BLOCKS:
        # An interval from so little says nothing, however far it lies from 1.
        verdict.status = Status.NOT_RUN
        verdict.reason = (
            f"only {pairs} blocks of steps could be measured side by side: try a larger --budget, or a longer training"
        )
        verdict.ratio = None
        return verdict
    verdict.status, verdict.reason = judge_ratio(g.ratio, budget.no_effect)
    if verdict.status is Status.INCONCLUSIVE:
        verdict.reason = what_is_needed(g.ratio, len(g.runs), budget, verdict.others)
    verdict.start_seconds = _starts(g.original_runs, g.runs)
    if g.ratio.low > 1 / (1 + budget.no_effect):
        _count_start(verdict)
    if g.original_runs[0].told["kind"] == PREDICTION:
        verdict.reason = verdict.reason.replace("steps", "calls")
    if change and g.variant.tolerance is None:
        verdict.remark = f"as its fix says, results change: {change}"
    elif change:
        verdict.status, verdict.reason, verdict.remark = Status.CHANGES_RESULTS, change, verdict.reason
    if not losses[0]:
        seen = all(_losses(runs[0]) for runs in (g.original_runs, g.runs))
        why = "no step showed a loss in both" if seen else "no loss is visible from outside this loop"
        _remark(verdict, f"the results could not be compared: {why}")
    return verdict


def _count_start(verdict: Verdict) -> None:
    """Confirm a variant whose first steps are done sooner, where the later ones show no gain.

    What is traced again for each shape or number is traced in the warm-up, which the steps do not count.
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


_LATER_STEPS = {
    Status.NO_EFFECT: "later ones show no difference",
    Status.INCONCLUSIVE: "whether later ones are faster is inconclusive",
}
"""What is said of the steps after the first ones, where those are what a fix shortens."""


def _ticks(runs: Sequence[Run]) -> list[float]:
    return [tick for run in runs for block in run.blocks for tick in block["ticks"]]


def _use_by_others(runs: Iterable[Run]) -> float | None:
    shares = [block["others"] for run in runs for block in run.blocks if block["others"] is not None]
    return statistics.median(shares) if shares else None


def _starts(original: Sequence[Run], other: Sequence[Run]) -> tuple[float, float] | None:
    """Seconds of processor time until the first steps are done, as written and repaired; None where chance may explain the difference."""
    a, b = (
        [run.told["start_seconds"] for run in runs if run.end and run.told.get("start_seconds")]
        for runs in (original, other)
    )
    if min(len(a), len(b)) < FIRST_LOOK:
        return None
    slow, fast = (a, b) if statistics.median(a) > statistics.median(b) else (b, a)
    apart = _STARTS_APART if min(len(a), len(b)) > FIRST_LOOK else _FEW_STARTS_APART
    if min(slow) < apart * max(fast) or min(slow) - max(fast) < _STARTS_SECONDS:
        return None
    return statistics.median(a), statistics.median(b)


def _remark(verdict: Verdict, text: str) -> None:
    verdict.remark = f"{verdict.remark}; {text}" if verdict.remark else text


def judge_ratio(ratio: Ratio, no_effect: float = NO_EFFECT) -> tuple[Status, str]:
    """The verdict that an interval allows, with a reason for people.

    ``no_effect``: see :attr:`Budget.no_effect`. Only an interval that lies within it shows that there is no effect; one that is
    neither within it nor clear of 1 shows nothing.
    """
    if ratio.low > _BEYOND_NOISE and ratio.value >= 1 + no_effect:
        return Status.CONFIRMED, f"steps are {ratio.value:.2f} times faster"
    if ratio.high < 1 / _BEYOND_NOISE and ratio.value <= 1 / (1 + no_effect):
        return Status.SLOWER, f"steps take {1 / ratio.value:.2f} times as long"
    if is_no_effect(ratio.low, ratio.high, no_effect):
        return Status.NO_EFFECT, f"steps take as long as before, within {no_effect * 100:.3g} %"
    return Status.INCONCLUSIVE, "the interval is too wide to tell"


def what_is_needed(ratio: Ratio, rounds: int, budget: Budget, others: float | None) -> str:
    """Why an interval shows nothing, and how much longer or quieter it needs, for people.

    An interval narrows with the square root of the time: from its width, and how narrow it has to be to lie within the limit or
    clear of 1, follows how many times as long to measure, ``rounds`` so far. ``others``: share of the machine that other programs used.
    """
    distance, width = abs(math.log(ratio.value)), math.log(ratio.high / ratio.low) / 2
    limit = math.log1p(budget.no_effect)
    room = distance - math.log(_BEYOND_NOISE) if distance >= limit else limit - distance
    times = max(2, round((width / max(room, limit / _FINEST)) ** 2))
    needs = []
    if times * rounds <= MAX_ROUNDS:
        quick = "without --quick, " if budget.rounds is not None else ""
        needs.append(f"about {times} times as long ({quick}--budget {math.ceil(times * budget.seconds)})")
    if others is not None and others > _QUIET:
        needs.append(f"a quieter machine (other programs used {others:.0%} of it)")
    if not needs:
        return "its steps vary too much on this machine to tell, however long they are measured"
    return f"too little to tell: it needs {' or '.join(needs)}"


def _losses(run: Run) -> dict[int, float]:
    """The first losses, by the number of steps after which they were seen."""
    end = run.end or {}
    losses = end.get("losses", [])
    return dict(zip(end.get("loss_steps") or itertools.count(1), losses))


def _side_by_side(a: Mapping[int, float], b: Mapping[int, float]) -> tuple[list[int], list[float], list[float]]:
    """Numbers of steps after which both sides showed a loss, and these losses: with ``steps_per_execution`` not every step shows one."""
    steps = [step for step in a if step in b][:_LOSSES]
    return steps, [a[step] for step in steps], [b[step] for step in steps]


def what_changed(original: Sequence[Run], other: Sequence[Run], tolerance: float) -> str | None:
    """How the numbers of a variant differ from the original's; None if they agree.

    A script that does not repeat its own losses from run to run is allowed three times its own spread.
    """
    for a, b in zip(original, other):
        if a.end and b.end and (change := _data_changed(a.told["facts"], b.told["facts"])):
            return change
    if change := _rows_changed(
        *([run.told["facts"] for run in runs if run.end and "rows" in run.told["facts"]] for runs in (original, other))
    ):
        return change
    series_a = [s for s in map(_losses, original) if s]
    series_b = [s for s in map(_losses, other) if s]
    if not series_a or not series_b:
        return None
    spread = max((disagreement(*_side_by_side(x, y)[1:]) for x, y in itertools.combinations(series_a, 2)), default=0.0)
    closest = min(disagreement(*_side_by_side(x, y)[1:]) for x in series_a for y in series_b)
    if closest <= max(tolerance, _ROUNDING, 3 * spread):
        return None
    rows = zip(*_side_by_side(series_a[0], series_b[0]))
    step, was, now = next((step, x, y) for step, x, y in rows if disagreement([x], [y]) > max(tolerance, _ROUNDING))
    return f"the loss of step {step} is {now:.6g} instead of {was:.6g}"


def _data_changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> str | None:
    spec_a, spec_b = a.get("element_spec"), b.get("element_spec")
    if spec_a and spec_b and not _compatible(spec_a, spec_b):
        return f"the training is fed {_show(spec_b)} instead of {_show(spec_a)}"
    length_a, length_b = a.get("epoch_lengths"), b.get("epoch_lengths")
    if length_a and length_b and length_a[0] != length_b[0]:
        return f"an epoch has {length_b[0]} steps instead of {length_a[0]}"
    return None


def _rows_changed(original: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]) -> str | None:
    """How the sizes of the first batches differ; None also where a script that is run again gets other sizes."""
    if (
        not original
        or not other
        or any(_first_difference(original[0]["rows"], facts["rows"]) is not None for facts in original)
    ):
        return None
    a, b = original[0], other[0]
    at = _first_difference(a["rows"], b["rows"])
    if at is not None:
        return f"batch {at + 1} has {b['rows'][at]} samples instead of {a['rows'][at]}"
    if a["all_rows"] and b["all_rows"] and sum(a["rows"]) != sum(b["rows"]):
        return f"the data has {sum(b['rows'])} samples instead of {sum(a['rows'])}"
    return None


def _first_difference(a: Sequence[int], b: Sequence[int]) -> int | None:
    return next((index for index, (x, y) in enumerate(zip(a, b)) if x != y), None)


def _compatible(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two flat element specs ([shape or None, dtype] each) can describe the same elements."""
    if len(a) != len(b):
        return False
    for (shape_a, type_a), (shape_b, type_b) in zip(a, b):
        if type_a != type_b:
            return False
        if shape_a is None or shape_b is None:
            continue
        if len(shape_a) != len(shape_b) or any(m != n for m, n in zip(shape_a, shape_b) if None not in (m, n)):
            return False
    return True


def _show(spec: Sequence[Any]) -> str:
    return ", ".join(f"{kind}{'?' if shape is None else shape}" for shape, kind in spec).replace("None", "?")


def machine() -> dict[str, Any]:
    """The machine class that evidence is tied to."""
    import platform

    return {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
