"""Where the time of a training goes, from a look at it and a run on one cached batch."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kerascheck.finding import NO_EFFECT
from kerascheck.runtime.verify.rounds import Run

PIPELINE_FAMILIES = ("KC1",)
PREDICTION = "prediction loop"
WEAK_KINDS = ("gradient loop", PREDICTION, "dataset loop")
"""Loops that are no trainings, or may be an inspection of the data before one."""


@dataclass(slots=True)
class Stage:
    """One stage of the input pipeline as it runs, after TensorFlow's own rewriting."""

    name: str
    place: tuple[str, int] | None
    """File and line of the script that asked for it; None for stages that TensorFlow added."""
    seconds_per_batch: float
    """Processor time of its own, divided by its parallel calls."""
    share: float
    """Of all stages, 0 to 1."""
    parallelism: float
    near: tuple[str, int] | None = None
    """``place``, or for a stage that TensorFlow added the place of the nearest stage of the script's, towards the output first."""
    function: tuple[str, int, int] | None = None
    """Path, first and last line of the script's function that it applies to every element; None without one."""


@dataclass(slots=True)
class Analysis:
    """Everything that is known about a training, None where it could not be measured."""

    kind: str
    step_seconds: float
    number: int | None = None
    """In the order of the script's trainings, from 1; None for bare loops and predictions."""
    place: tuple[str, int] | None = None
    """File and line of the script from which it was run."""
    first_step_seconds: float | None = None
    """From the start of the script's frameworks to the end of the first step: start-up, tracing, compilation."""
    ceiling_seconds: float | None = None
    input_bound: float | None = None
    """Share of a step that is spent waiting for data: 1 - ceiling / step, 0 to 1."""
    largest_input_gain: float | None = None
    """What an infinitely fast pipeline would bring, as a ratio."""
    gain_error: float = 0.0
    """Standard error of the logarithm of that ratio, from the noise of its blocks."""
    stages: list[Stage] = field(default_factory=list)
    facts: Mapping[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    """What could not be measured, and why."""

    @property
    def unit(self) -> str:
        """What is timed: a step, or a call of ``predict``."""
        return "call" if self.kind == PREDICTION else "step"


def analyse(
    step_seconds: float, scout: Run, gain: float | None, why_no_gain: str = "", gain_error: float = 0.0
) -> Analysis:
    """Put together what ``scout`` (a diagnosing run) and a run on one cached batch tell.

    ``step_seconds``: the step as measured without diagnosis. ``gain``: how many times faster the steps of the cached batch
    were than their neighbours as written; None if that could not be measured, for the reason ``why_no_gain``; ``gain_error``: the
    standard error of its logarithm.
    """
    end = scout.told
    facts = {**end["facts"], "host_peak_bytes": end["host_peak_bytes"]}
    number = None if end["kind"] in WEAK_KINDS or "order" not in end else end["order"] + 1
    place = next(((path, line) for path, line, _ in end.get("stack", ())), None)
    result = Analysis(end["kind"], step_seconds, number, place, end.get("first_step_at"), facts=facts)
    result.stages = stages(facts)
    for key, value in facts.items():
        if key.endswith("_failed"):
            result.missing.append(f"{key.removesuffix('_failed').replace('_', ' ')}: {value}")
    if gain is None:
        result.missing.append(f"ceiling with one cached batch: {why_no_gain}")
    else:
        result.largest_input_gain = max(1.0, gain)
        result.gain_error = gain_error
        result.ceiling_seconds = step_seconds / result.largest_input_gain
        result.input_bound = 1 - 1 / result.largest_input_gain
    return result


def stages(facts: Mapping[str, Any]) -> list[Stage]:
    """The running nodes, output first, with the source lines of the datasets that they come from."""
    nodes = facts.get("runtime_nodes", ())
    made = list(facts.get("chain", ()))
    found = []
    for node, elements in zip(nodes, _elements_per_batch(nodes)):
        if node["name"] == "Root":
            continue
        place, function, name = _source(node["name"], made)
        # The model counts processor time over all parallel calls.
        seconds = node["seconds"] / max(1, node["elements"]) * elements / max(1.0, node["parallelism"])
        found.append(Stage(name, place, seconds, 0.0, node["parallelism"], function=function))
    total = sum(stage.seconds_per_batch for stage in found)
    places = [stage.place for stage in found]
    for index, stage in enumerate(found):
        stage.share = stage.seconds_per_batch / total if total else 0.0
        stage.near = next(filter(None, [*places[index::-1], *places[index:]]), None)
    return found


def _elements_per_batch(nodes: Sequence[Mapping[str, Any]]) -> list[float]:
    """How many elements each node makes for one batch of the output. What a ``repeat`` reads begins, and is counted, again in every pass."""
    found: list[float] = []
    for index, node in enumerate(nodes):
        reader = node.get("reader", index - 1 if index else None)
        if reader is None or nodes[reader]["name"] == "Root":
            found.append(1.0)
        elif "Repeat" in nodes[reader]["name"]:
            found.append(found[reader])
        else:
            found.append(found[reader] * node["elements"] / max(1, nodes[reader]["elements"]))
    return found


_RUNS_AS = {"fromgenerator": "flatmap"}
"""Names of datasets that the runtime knows by another one."""


def _source(node: str, made: list[dict[str, Any]]) -> tuple[tuple[str, int] | None, tuple[str, int, int] | None, str]:
    """Take from ``made`` the datasets that ``node`` stands for, in the order of the pipeline: where they were made, their
    function, and the name that says most."""
    bare = node.lower().removesuffix("v2").removesuffix("v3").removesuffix("v4").replace("parallel", "")
    parts = (
        ["batch", "map"] if bare == "mapandbatch" else ["shuffle", "repeat"] if bare == "shuffleandrepeat" else [bare]
    )
    place = function = None
    shown = node
    for part in parts:
        for index, dataset in enumerate(made):
            name = dataset["name"].lower().replace("parallel", "")
            name = _RUNS_AS.get(name, name)
            if part.startswith(name) or name.startswith(part):
                place = dataset["place"] or place
                function = dataset.get("function") or function
                shown = dataset["name"] if dataset["name"].lower() in _RUNS_AS else shown
                # What stands before it in the chain, TensorFlow has removed or merged.
                del made[: index + 1]
                break
    return place and tuple(place), function and tuple(function), shown


_FED = {"arrays": "the arrays given to fit", "generator": "the generator", "pydataset": "the PyDataset"}


def keras_input(facts: Mapping[str, Any], fit: tuple[str, int] | None) -> tuple[str, tuple[str, int] | None] | None:
    """The data of which Keras makes a pipeline of its own, in words, and its line in the script; None for a tf.data dataset.

    Args:
        facts: of the run.
        fit: the line that calls ``fit``, which names arrays and iterators of a library best.
    """
    kind, name, path, line = facts.get("feeder") or (None,) * 4
    if kind not in _FED:
        return None
    place = (path, line) if path is not None and line is not None else fit
    return (f"{_FED[kind]} {name}" if name else _FED[kind]), place


def can_matter(code: str, analysis: Analysis | None) -> str | None:
    """Why a finding of rule ``code`` cannot gain anything here; None where it can, or nothing is known."""
    if analysis is None or analysis.largest_input_gain is None or not code.startswith(PIPELINE_FAMILIES):
        return None
    if (
        analysis.largest_input_gain < 1 + NO_EFFECT
        and analysis.largest_input_gain * math.exp(2 * analysis.gain_error) < 1 + 2 * NO_EFFECT
    ):
        return f"the training does not wait for data: an input fix can win x{analysis.largest_input_gain:.2f} at most"
    return None


def ceiling_order(scout: Run) -> dict[str, Any] | str:
    """What to tell a run that shall be fed one cached batch, or why there is none."""
    kind, facts = scout.told["kind"], scout.told["facts"]
    if kind == "prediction loop":
        return "predictions have none"
    if kind == "graph loop":
        return {"iterator": None, "loops": True}
    if "element_spec" in facts:
        return {"iterator": facts["first_iterator"], "loops": False}
    if kind == "fit" and facts.get("backend") in ("jax", "torch"):
        return {"iterator": None, "loops": False}
    return "no tf.data iterator feeds this training"


def where(stage: Stage, analysis: Analysis) -> str:
    """Whose a stage of the pipeline is, for people."""
    made = keras_input(analysis.facts, analysis.place)
    if made is not None:
        what, place = made
        return f"made by Keras of {what}" + (f", {relative(place[0])}:{place[1]}" if place else "")
    if stage.place is not None:
        return f"{relative(stage.place[0])}:{stage.place[1]}"
    return "added by TensorFlow" if analysis.facts.get("chain") else "place unknown"


def title(analysis: Analysis, *, several: bool) -> str:
    """What a training is called in reports: ``training 2 (fit, train.py:40)``; numbered where the script has ``several``."""
    name = f"training {analysis.number}" if several and analysis.number else "training" if analysis.number else "loop"
    place = f", {relative(analysis.place[0])}:{analysis.place[1]}" if analysis.place else ""
    return f"{name} ({analysis.kind}{place})"


def relative(path: str) -> str:
    """``path`` relative to the working directory where it lies inside."""
    here = os.path.join(os.getcwd(), "")
    return path.removeprefix(here)


def bar(share: float, width: int = 20) -> str:
    """A bar of block characters for a share of 0 to 1."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return ("█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]).ljust(width)


def typical(values: Sequence[float]) -> str:
    """A duration for people, from its value in seconds (the median of several)."""
    seconds = statistics.median(values)
    return (
        f"{seconds * 1e6:.0f} µs"
        if seconds < 1e-3
        else f"{seconds * 1e3:.3g} ms"
        if seconds < 1
        else f"{seconds:.2f} s"
    )
