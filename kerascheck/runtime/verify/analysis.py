"""Analysis of a training: where its time goes, from a diagnosing run and a run on one cached batch."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from kerascheck.finding import NO_EFFECT
from kerascheck.runtime.verify.json_report import StageJson
from kerascheck.runtime.verify.messages import Dataset, PipelineNode, Place, Span, TrainingFacts
from kerascheck.runtime.verify.process import Ceiling
from kerascheck.runtime.verify.rounds import Run

PIPELINE_FAMILIES = ("KC1",)
PREDICTION = "prediction loop"
WEAK_KINDS = ("gradient loop", PREDICTION, "dataset loop")
"""Kinds of bare loops. They do not train; some may inspect the data before a training."""


@dataclass(slots=True)
class Stage:
    """A running stage of the input pipeline, after TensorFlow's graph rewrites."""

    name: str
    place: Place | None
    """Line that creates it; None for stages that TensorFlow added."""
    seconds_per_batch: float
    """Its own processor time, divided by its number of parallel calls."""
    share: float
    """Share of the time of all stages, 0 to 1."""
    parallelism: float
    near: Place | None = None
    """``place``, or that of the nearest stage with one; stages towards the output take precedence."""
    function: Span | None = None
    """The script's function that it applies to every element."""

    def as_dict(self) -> StageJson:
        """Convert to types that JSON knows."""
        return {
            "name": self.name,
            "place": self.place,
            "seconds_per_batch": self.seconds_per_batch,
            "share": self.share,
            "parallelism": self.parallelism,
            "near": self.near,
            "function": self.function,
        }


@dataclass(slots=True)
class Analysis:
    """A measured training; fields are None if they could not be measured."""

    kind: str
    step_seconds: float
    number: int | None = None
    """Number of the training in the script, from 1; None for bare loops and predictions."""
    place: Place | None = None
    """Line of the script that trains."""
    first_step_seconds: float | None = None
    """From the start of the script to the end of the first step: imports, tracing, compilation."""
    ceiling_seconds: float | None = None
    """Seconds of a step on one cached batch."""
    input_bound: float | None = None
    """Share of a step that waits for data: 1 - ceiling / step, 0 to 1."""
    largest_input_gain: float | None = None
    """Speed-up with an infinitely fast pipeline."""
    gain_error: float = 0.0
    """Standard error of the logarithm of that speed-up, from the noise of its blocks."""
    stages: list[Stage] = field(default_factory=list)
    facts: TrainingFacts = TrainingFacts()
    host_peak_bytes: int = 0
    """Peak resident memory of the process."""
    missing: list[str] = field(default_factory=list)
    """Failed measurements and their reasons, for display."""

    @property
    def unit(self) -> str:
        """The unit of timing: a step, or a call of ``predict``."""
        return "call" if self.kind == PREDICTION else "step"


def analyse(
    step_seconds: float, scout: Run, gain: float | None, why_no_gain: str = "", gain_error: float = 0.0
) -> Analysis:
    """Combine a diagnosing run with the gain of a run on one cached batch.

    Args:
        step_seconds: seconds per step, measured without diagnosis.
        scout: the diagnosing run.
        gain: speed-up of steps on the cached batch over neighbouring steps of the original; None: not measured.
        why_no_gain: why ``gain`` is None, for display.
        gain_error: standard error of the logarithm of ``gain``.
    """
    report = scout.report
    facts = report.facts
    number = None if report.kind in WEAK_KINDS or report.order is None else report.order + 1
    result = Analysis(report.kind, step_seconds, number, report.place, report.first_step_at)
    result.facts, result.host_peak_bytes = facts, report.host_peak_bytes
    result.stages = stages(facts)
    result.missing += [f"{name.replace('_', ' ')}: {why}" for name, why in facts.failures.items()]
    if gain is None:
        result.missing.append(f"ceiling with one cached batch: {why_no_gain}")
    else:
        result.largest_input_gain = max(1.0, gain)
        result.gain_error = gain_error
        result.ceiling_seconds = step_seconds / result.largest_input_gain
        result.input_bound = 1 - 1 / result.largest_input_gain
    return result


def stages(facts: TrainingFacts) -> list[Stage]:
    """Return the running stages, output first, with the source lines that create them."""
    datasets = list(facts.chain)
    found = []
    for node, elements in zip(facts.runtime_nodes, _elements_per_batch(facts.runtime_nodes)):
        if node.name == "Root":
            continue
        place, function, name = _take_source(node.name, datasets)
        # The model sums processor time over all parallel calls.
        seconds = node.seconds / max(1, node.elements) * elements / max(1.0, node.parallelism)
        found.append(Stage(name, place, seconds, 0.0, node.parallelism, function=function))
    total = sum(stage.seconds_per_batch for stage in found)
    places = [stage.place for stage in found]
    for index, stage in enumerate(found):
        stage.share = stage.seconds_per_batch / total if total else 0.0
        stage.near = next(filter(None, [*places[index::-1], *places[index:]]), None)
    return found


def _elements_per_batch(nodes: Sequence[PipelineNode]) -> list[float]:
    """Number of elements that each node produces per batch of the output.

    The nodes below a ``repeat`` restart in every pass, and so do their counts.
    """
    found: list[float] = []
    for node in nodes:
        reader = node.reader
        if reader is None or nodes[reader].name == "Root":
            found.append(1.0)
        elif "Repeat" in nodes[reader].name:
            found.append(found[reader])
        else:
            found.append(found[reader] * node.elements / max(1, nodes[reader].elements))
    return found


_RUNS_AS = {"fromgenerator": "flatmap"}  # runtime name of datasets whose class is named differently


def _take_source(node: str, datasets: list[Dataset]) -> tuple[Place | None, Span | None, str]:
    """Remove from ``datasets`` those that ``node`` implements, in the order of the pipeline.

    Returns:
        The line that creates them, the function that they apply, and the most specific name.
    """
    bare = node.lower().removesuffix("v2").removesuffix("v3").removesuffix("v4").replace("parallel", "")
    parts = (
        ["batch", "map"] if bare == "mapandbatch" else ["shuffle", "repeat"] if bare == "shuffleandrepeat" else [bare]
    )
    place = function = None
    shown = node
    for part in parts:
        for index, dataset in enumerate(datasets):
            name = dataset.name.lower().replace("parallel", "")
            name = _RUNS_AS.get(name, name)
            if part.startswith(name) or name.startswith(part):
                place = dataset.place or place
                function = dataset.function or function
                shown = dataset.name if dataset.name.lower() in _RUNS_AS else shown
                # TensorFlow has removed or merged the datasets before it in the chain.
                del datasets[: index + 1]
                break
    return place, function, shown


_FED = {"arrays": "the arrays given to fit", "generator": "the generator", "pydataset": "the PyDataset"}


def keras_input(facts: TrainingFacts, fit: Place | None) -> tuple[str, Place | None] | None:
    """Describe the data from which Keras builds its own pipeline, with its line in the script.

    Args:
        facts: of the run.
        fit: the line that calls ``fit``, which is used for arrays and for iterators of a library.

    Returns:
        None for a ``tf.data`` dataset.
    """
    feeder = facts.feeder
    if feeder is None or feeder.kind not in _FED:
        return None
    place = (feeder.path, feeder.line) if feeder.path is not None and feeder.line is not None else fit
    data = _FED[feeder.kind]
    return (f"{data} {feeder.name}" if feeder.name else data), place


def can_matter(code: str, analysis: Analysis | None) -> str | None:
    """Explain why the fix of a finding of rule ``code`` cannot help here; None if it can, or if nothing is known."""
    if analysis is None or analysis.largest_input_gain is None or not code.startswith(PIPELINE_FAMILIES):
        return None
    if (
        analysis.largest_input_gain < 1 + NO_EFFECT
        and analysis.largest_input_gain * math.exp(2 * analysis.gain_error) < 1 + 2 * NO_EFFECT
    ):
        return f"the training does not wait for data: an input fix can win x{analysis.largest_input_gain:.2f} at most"
    return None


def ceiling_of(scout: Run) -> Ceiling | str:
    """Choose the input that a run on one cached batch replaces, or return why there is none."""
    kind, facts = scout.report.kind, scout.facts
    if kind == PREDICTION:
        return "predictions have none"
    if kind == "graph loop":
        return Ceiling(iterator=None, loops=True)
    if facts.element_spec is not None:
        return Ceiling(iterator=facts.first_iterator, loops=False)
    if kind == "fit" and facts.backend in ("jax", "torch"):
        return Ceiling(iterator=None, loops=False)
    return "no tf.data iterator feeds this training"


def where(stage: Stage, analysis: Analysis) -> str:
    """Origin of a pipeline stage, for display."""
    made = keras_input(analysis.facts, analysis.place)
    if made is not None:
        what, place = made
        return f"made by Keras of {what}" + (f", {relative(place[0])}:{place[1]}" if place else "")
    if stage.place is not None:
        return f"{relative(stage.place[0])}:{stage.place[1]}"
    return "added by TensorFlow" if analysis.facts.chain else "place unknown"


def title(analysis: Analysis, *, several: bool) -> str:
    """Name of a training in reports: ``training 2 (fit, train.py:40)``; numbered only if the script has ``several``."""
    name = f"training {analysis.number}" if several and analysis.number else "training" if analysis.number else "loop"
    place = f", {relative(analysis.place[0])}:{analysis.place[1]}" if analysis.place else ""
    return f"{name} ({analysis.kind}{place})"


def relative(path: str) -> str:
    """``path`` relative to the working directory if it lies inside."""
    here = os.path.join(os.getcwd(), "")
    return path.removeprefix(here)


def bar(share: float, width: int = 20) -> str:
    """A bar of block characters for a share from 0 to 1."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return ("█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]).ljust(width)


def typical(values: Sequence[float]) -> str:
    """Format a duration from its value in seconds (the median if there are several)."""
    seconds = statistics.median(values)
    return (
        f"{seconds * 1e6:.0f} µs"
        if seconds < 1e-3
        else f"{seconds * 1e3:.3g} ms"
        if seconds < 1
        else f"{seconds:.2f} s"
    )
