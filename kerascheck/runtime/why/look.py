"""One run of a script, up to the middle of its training, and the linter's findings on it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kerascheck.runtime.verify.analysis import ceiling_order
from kerascheck.runtime.verify.compare import SCOUT, scout, training_calls, used_lines, weak_kind, why_useless
from kerascheck.runtime.verify.findings import Linted
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.rounds import Run, run_alone
from kerascheck.runtime.why.diagnosis import Diagnosis, diagnose
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.step import step_of

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAN = replace(SCOUT, parts=True, block_seconds=2.0)
_NO_FRAMEWORK = ("tensorflow", "keras", "tf_keras", "jax", "torch")


@dataclass(slots=True)
class Look:
    """What one run of the script tells."""

    run: Run
    linted: Linted
    diagnosis: Diagnosis | None
    failure: str | None = None
    """Why there is no diagnosis, for people."""


def look(
    script: Script,
    lint: Callable[[], Linted],
    problems: Callable[[Run], list[tuple[str, str]]] = lambda run: [],
    *,
    training: int = 0,
    start_limit: float = 300.0,
    block_limit: float = 120.0,
) -> Look:
    """Run ``script`` once and say where a step of its training number ``training`` (from 0) goes.

    Args:
        lint: gives the findings; called in a thread while the script runs, and its exceptions are passed on.
        problems: what is wrong with the machine, given the run: see :func:`kerascheck.runtime.why.diagnosis.diagnose`.
        start_limit: seconds until the training must have warmed up.
        block_limit: seconds without progress after which the script counts as hanging.

    Raises:
        OSError: no process can be started.
    """
    with ThreadPoolExecutor(1) as pool:
        linting: Future[Linted] = pool.submit(lint)
        run = scout(script, replace(_PLAN, training=training), start_limit, block_limit)
        failure = why_useless(run)
        alone = _without_input(script, run, training, start_limit, block_limit) if failure is None else None
        linted = linting.result()
    if failure is not None:
        return Look(run, linted, None, _missing_framework(run, script) or _not_reached(run, training) or failure)
    several = training_calls(script.sources.values()) > 1
    step = step_of(run, used_lines(script, run.told, alone=not several), alone)
    return Look(run, linted, diagnose(step, linted.findings, Lines(linted.sources), problems(run)))


def _without_input(script: Script, run: Run, training: int, start_limit: float, block_limit: float) -> float | None:
    """Seconds of a step on one cached batch, from a second run; None where the first run tells them, or no run can."""
    order = ceiling_order(run)
    known = "call_seconds_without_input" in run.told["facts"] or any(
        block["phase"] == "replayed" for block in run.blocks
    )
    if known or isinstance(order, str):
        return None
    plan = replace(SCOUT, diagnose=False, training=training, kind=weak_kind(run), passes=run.told.get("passes") or None)
    other = run_alone(replace(script, ceiling=order), plan, start_limit=start_limit, block_limit=block_limit)
    if why_useless(other) is not None or not other.blocks or not other.told["facts"].get("one_cached_batch"):
        return None
    return float(sum(block["seconds"] for block in other.blocks) / sum(block["steps"] for block in other.blocks))


def _not_reached(run: Run, training: int) -> str | None:
    """That there is no training of this number, where the script ended before it."""
    if not training or run.end is None or run.end["reason"] not in ("end", "exit"):
        return None
    return f"training {training + 1} was not reached: the script ended after {run.end.get('trainings', 0)} of them"


def _missing_framework(run: Run, script: Script) -> str | None:
    """What to install, where the script could not import its framework."""
    end = run.end or {}
    if end.get("exception") not in ("ModuleNotFoundError", "ImportError"):
        return None
    if "Keras cannot be imported" in end["detail"]:
        return f"TensorFlow finds no Keras in {script.python}: install keras there (or tf_keras, where TF_USE_LEGACY_KERAS is set)"
    if "named " not in end["detail"]:
        return None
    name = end["detail"].rpartition("named ")[2].strip("'\"").partition(".")[0]
    if name not in _NO_FRAMEWORK:
        return f"{script.python} has no module {name!r}, which the script imports: install it there, or name another interpreter with --python"
    return f"{script.python} has no {name}: run pip install 'kerascheck[verify]' there, or name another interpreter with --python"
