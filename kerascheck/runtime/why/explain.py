"""One run of a script up to the middle of its training, combined with the linter's findings on it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kerascheck.runtime.verify.analysis import ceiling_of
from kerascheck.runtime.verify.batch_sizes import NOT_REACHED
from kerascheck.runtime.verify.findings import Linted
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.rounds import Run, run_alone
from kerascheck.runtime.verify.scouting import SCOUT, scout, unusable_reason, used_lines, weak_kind
from kerascheck.runtime.verify.targets import training_calls
from kerascheck.runtime.why.breakdown import step_of
from kerascheck.runtime.why.diagnosis import Diagnosis, diagnose
from kerascheck.runtime.why.kept_peaks import KeptPeaks
from kerascheck.runtime.why.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAN = replace(SCOUT, parts=True, block_seconds=2.0)
_FRAMEWORKS = ("tensorflow", "keras", "tf_keras", "jax", "torch")


@dataclass(slots=True)
class WhyResult:
    """The run of a script, the findings in it, and the diagnosis."""

    run: Run
    linted: Linted
    diagnosis: Diagnosis | None
    failure: str | None = None
    """Reason why there is no diagnosis, for display."""


def explain_training(
    script: Script,
    lint: Callable[[], Linted],
    problems: Callable[[Run], list[tuple[str, str]]] = lambda run: [],
    *,
    training: int = 0,
    batch_sizes: bool = False,
    start_limit: float = 300.0,
    block_limit: float = 120.0,
) -> WhyResult:
    """Run ``script`` once and explain the step time of its training number ``training`` (from 0).

    Args:
        lint: returns the findings; runs in a thread beside the script, and its exceptions are raised here.
        problems: returns the problems of the machine, see :func:`kerascheck.runtime.why.diagnosis.diagnose`.
        batch_sizes: time steps at other batch sizes too.
        start_limit: maximum seconds until the training has warmed up.
        block_limit: seconds without progress after which the script counts as hanging.

    Raises:
        OSError: no process can be started.
    """
    with ThreadPoolExecutor(1) as pool:
        linting: Future[Linted] = pool.submit(lint)
        kept = KeptPeaks(script.path)
        plan = replace(_PLAN, training=training, batch_sizes=batch_sizes, known_peaks=tuple(kept.known))
        run = scout(script, plan, start_limit, block_limit)
        failure = unusable_reason(run)
        alone = _seconds_without_input(script, run, training, start_limit, block_limit) if failure is None else None
        linted = linting.result()
    if failure is not None:
        return WhyResult(run, linted, None, _missing_framework(run, script) or _not_reached(run, training) or failure)
    if batch_sizes and run.facts.batch_sizes is None:
        run.report.facts = replace(run.facts, batch_sizes=NOT_REACHED)
    several = training_calls(script.sources.values()) > 1
    run.report.facts = kept.completed(run.facts)
    step = step_of(run, used_lines(script, run.report, alone=not several), alone)
    return WhyResult(run, linted, diagnose(step, linted.findings, Lines(linted.sources), problems(run)))


def _seconds_without_input(
    script: Script, run: Run, training: int, start_limit: float, block_limit: float
) -> float | None:
    """Seconds per step on one cached batch from a second run; None if the first run has them, or no run can."""
    ceiling = ceiling_of(run)
    known = run.facts.call_seconds_without_input is not None or any(block.phase == "replayed" for block in run.blocks)
    if known or isinstance(ceiling, str):
        return None
    plan = replace(SCOUT, diagnose=False, training=training, kind=weak_kind(run), passes=run.report.passes or None)
    other = run_alone(replace(script, ceiling=ceiling), plan, start_limit=start_limit, block_limit=block_limit)
    if unusable_reason(other) is not None or not other.blocks or not other.facts.one_cached_batch:
        return None
    return sum(block.seconds for block in other.blocks) / sum(block.steps for block in other.blocks)


def _not_reached(run: Run, training: int) -> str | None:
    """Say that the script ended before the training of this number; None if it did not."""
    if not training or run.end is None or run.end.reason not in ("end", "exit"):
        return None
    return f"training {training + 1} was not reached: the script ended after {run.end.trainings} of them"


def _missing_framework(run: Run, script: Script) -> str | None:
    """Say what to install if the script could not import its framework; None if it could."""
    if run.end is None or run.end.exception not in ("ModuleNotFoundError", "ImportError"):
        return None
    detail = run.end.detail
    if "Keras cannot be imported" in detail:
        return (
            f"TensorFlow finds no Keras in {script.python}: install keras there "
            "(or tf_keras, where TF_USE_LEGACY_KERAS is set)"
        )
    if "named " not in detail:
        return None
    name = detail.rpartition("named ")[2].strip("'\"").partition(".")[0]
    if name not in _FRAMEWORKS:
        return (
            f"{script.python} has no module {name!r}, which the script imports: install it there, "
            "or name another interpreter with --python"
        )
    return (
        f"{script.python} has no {name}: run pip install 'kerascheck[verify]' there, "
        "or name another interpreter with --python"
    )
