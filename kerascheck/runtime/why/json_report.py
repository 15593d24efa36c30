"""The JSON report of ``why``.

Seconds are those of one step and shares lie between 0 and 1, unless a field says otherwise. None is "not known".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from kerascheck.finding import Finding
from kerascheck.runtime.plain import plain
from kerascheck.runtime.verify.analysis import Stage
from kerascheck.runtime.verify.gpu_summary import GpuSummary
from kerascheck.runtime.verify.json_report import FindingJson, GpuJson, VerdictJson, finding_json
from kerascheck.runtime.verify.messages import Place
from kerascheck.runtime.verify.samples import Timeline
from kerascheck.runtime.verify.verdict import Verdict
from kerascheck.runtime.why import batch_sizes, roofline
from kerascheck.runtime.why.batch_sizes import BatchSizesJson
from kerascheck.runtime.why.diagnosis import Advice, Diagnosis, stage_place
from kerascheck.runtime.why.explain import WhyResult
from kerascheck.runtime.why.roofline import Placed
from kerascheck.runtime.why.step import HotLine, Part, Step

_PYTHON_LINES = 10  # lines per table of Python code in the report


class PlaceJson(TypedDict):
    """A line of the script or of a module of its own."""

    path: str
    line: int


class FullFindingJson(FindingJson):
    """A finding of the linter, with its message."""

    message: str
    fixable: bool


class CauseJson(TypedDict):
    """:class:`kerascheck.runtime.why.step.Cause` of a part."""

    what: str
    path: str | None
    line: int | None
    share: float
    """Of the part."""


class PartJson(TypedDict):
    """A part of a step."""

    part: str
    """Name of the :class:`kerascheck.runtime.why.step.Part`, in lower case."""
    text: str
    seconds: float
    share: float
    """Of the step."""
    largest_gain: float | None
    """Speed-up of steps if the part takes no time."""
    cause: CauseJson | None


class AdviceJson(TypedDict):
    """:class:`kerascheck.runtime.why.diagnosis.Advice`."""

    part: str | None
    text: str
    is_fact: bool
    leads: bool
    largest_gain: float | None
    least_bound: float | None
    findings: list[FullFindingJson]


class WhyStageJson(TypedDict):
    """A stage of the input pipeline."""

    name: str
    share: float
    """Of all stages."""
    seconds_per_batch: float
    parallelism: float
    place: PlaceJson | None
    added_by_tensorflow: bool


class HotLineJson(TypedDict):
    """:class:`kerascheck.runtime.why.step.HotLine`."""

    path: str
    line: int
    function: str
    library: str | None
    share: float
    """Of the samples."""


class PlacedJson(TypedDict):
    """:class:`kerascheck.runtime.why.roofline.Placed`: operations against the peaks of the hardware."""

    limit: str
    """"compute-bound", "memory-bound", "served from caches" or "far from both limits"."""
    intensity: float | None
    """Floating-point operations per byte."""
    compute_share: float | None
    """Of the peak of their type."""
    memory_share: float
    """Of the peak of the memory; above 1 if data stays in caches."""


class LayerJson(TypedDict):
    """:class:`kerascheck.runtime.verify.step_trace.OwnerTime`: layers, the loss, a metric or the optimizer."""

    role: str
    name: str
    kind: str
    count: int
    forward_seconds: float
    backward_seconds: float
    share: float
    """Of all operations of a step."""
    share_of_step: float | None
    """Share of the step; None if it is unknown how long operations run."""
    place: PlaceJson | None
    maker: str | None
    flops: float | None
    """Floating-point operations per step; a multiply-add counts as two."""
    bytes: float | None
    """Bytes per step that its operations read and write, if no value stays in a cache."""
    dtype: str
    """Type of the operands of its products; empty without products."""
    roof: PlacedJson | None


class PeaksJson(TypedDict):
    """:class:`kerascheck.runtime.verify.peaks.Peaks`."""

    hardware: str
    flops: Mapping[str, float]
    """Floating-point operations per second, by type."""
    bytes: float
    """Bytes per second."""
    measured: bool
    source: str
    busy_others: float | None


class GpuViewJson(TypedDict):
    """:class:`kerascheck.runtime.verify.gpu_view.GpuView`."""

    number: int
    busy_seconds: float
    waiting_for_data_seconds: float
    waiting_for_host_seconds: float
    kernels: float
    kernel_seconds: float
    copied_bytes: float
    copy_seconds: float
    hidden_copy_seconds: float
    collective_seconds: float
    longest_kernels: list[tuple[str, float]]
    peak_bytes: int
    """0 if unknown, as is ``limit_bytes``."""
    limit_bytes: int


class LayersJson(TypedDict):
    """:class:`kerascheck.runtime.verify.step_trace.StepTrace`."""

    rows: list[LayerJson]
    unattributed_share: float
    fused_share: float
    total_seconds: float
    """Of all operations of a step, summed over threads."""
    between_operations_share: float | None
    """Share of a traced step in which no operation runs."""
    steps: int
    overhead_seconds: float
    peaks: PeaksJson | None
    roof: PlacedJson | None
    """Of all operations."""
    launch_bound: bool
    """Whether a GPU idles between short kernels."""
    gpus: list[GpuViewJson]


class TimelineJson(TypedDict):
    """:class:`kerascheck.runtime.verify.samples.Timeline`, in seconds of the clock of the measured process."""

    main: list[tuple[float, float, str]]
    """Start, end and kind."""
    steps: list[float]


class _Failed(TypedDict):
    version: int
    failure: str | None


class _Diagnosed(TypedDict):
    version: int
    kind: str
    place: PlaceJson | None
    headline: str
    warning: str | None
    step_seconds: float
    first_step_seconds: float | None
    """From the start of the script to the end of the first step."""
    start_seconds: float | None
    """From the call of ``fit`` to the end of its first step."""
    epochs: int | None
    training_seconds: float | None
    batch_size: int | None
    steps_per_epoch: int | None
    backend: str
    gpus: list[str]
    parts: list[PartJson]
    advice: list[AdviceJson]
    stages: list[WhyStageJson]
    python: list[HotLineJson]
    main_thread: Mapping[str, list[HotLineJson]]
    """By the name of a part, in lower case."""
    matters_little: list[FullFindingJson]
    elsewhere: list[FullFindingJson]
    remarks: list[str]
    layers: LayersJson | None
    timeline: TimelineJson
    gpu: GpuJson | None


class WhyJson(_Diagnosed, total=False):
    """The report on a training; ``proofs`` and ``batch_sizes`` only with these options."""

    proofs: list[VerdictJson]
    batch_sizes: BatchSizesJson


def report(answer: WhyResult, used: GpuSummary | None, proofs: Sequence[Verdict] | None) -> WhyJson | _Failed:
    """The report for programs, in types that JSON knows; ``version`` 1.

    Args:
        used: what the GPUs did meanwhile.
        proofs: verdicts of ``--prove``; None without that option.
    """
    if answer.diagnosis is None:
        return {"version": 1, "failure": answer.failure}
    found = _diagnosed(answer.diagnosis, used)
    if proofs is not None:
        found["proofs"] = [each.as_dict() for each in proofs]
    sizes = batch_sizes.as_json(answer.diagnosis.step)
    if sizes is not None:
        found["batch_sizes"] = sizes
    return found


def _diagnosed(diagnosis: Diagnosis, used: GpuSummary | None) -> WhyJson:
    step = diagnosis.step
    return {
        "version": 1,
        "kind": step.kind,
        "place": _place(step.place),
        "headline": diagnosis.headline,
        "warning": diagnosis.warning,
        "step_seconds": step.seconds,
        "first_step_seconds": step.first_step_seconds,
        "start_seconds": step.start_seconds,
        "epochs": step.epochs,
        "training_seconds": step.training_seconds,
        "batch_size": step.batch_size,
        "steps_per_epoch": step.steps_per_epoch,
        "backend": step.backend,
        "gpus": list(step.gpus),
        "parts": [_part(part, diagnosis) for part in step.ranked],
        "advice": [_advice(advice) for advice in diagnosis.advice],
        "stages": [_stage(stage, step) for stage in step.stages],
        "python": _lines(step.input_lines),
        "main_thread": {part.name.lower(): _lines(hot) for part, hot in step.main_lines.items()},
        "matters_little": _findings(diagnosis.little),
        "elsewhere": _findings(diagnosis.elsewhere),
        "remarks": list(diagnosis.remarks),
        "layers": _layers(step),
        "timeline": _timeline(step.facts.timeline),
        "gpu": plain(used),
    }


def _layers(step: Step) -> LayersJson | None:
    trace, peaks = step.facts.step_trace, roofline.peaks_of(step)
    if trace is None:
        return None
    overlap = roofline.overlap_of(trace)
    rows: list[LayerJson] = [
        {
            "role": row.role,
            "name": row.name,
            "kind": row.kind,
            "count": row.count,
            "forward_seconds": row.forward_seconds,
            "backward_seconds": row.backward_seconds,
            "share": trace.share(row),
            "share_of_step": None if trace.busy_share is None else trace.of_step(trace.share(row)),
            "place": _place(row.place),
            "maker": row.maker,
            "flops": row.flops,
            "bytes": row.bytes,
            "dtype": row.dtype,
            "roof": None if peaks is None else _placed(roofline.place_of(row, peaks, overlap)),
        }
        for row in trace.rows
    ]
    return {
        "rows": rows,
        "unattributed_share": trace.unattributed_share,
        "fused_share": trace.fused_share,
        "total_seconds": trace.total_seconds,
        "between_operations_share": None if trace.busy_share is None else 1.0 - trace.busy_share,
        "steps": trace.steps,
        "overhead_seconds": trace.overhead_seconds,
        "peaks": plain(peaks or step.facts.peaks),
        "roof": None if peaks is None else _placed(roofline.place_of_all(trace, peaks)),
        "launch_bound": roofline.is_launch_bound(trace),
        "gpus": plain(trace.gpus),
    }


def _placed(place: Placed | None) -> PlacedJson | None:
    if place is None:
        return None
    return {
        "limit": place.roof.value,
        "intensity": place.intensity,
        "compute_share": place.compute_share,
        "memory_share": place.memory_share,
    }


def _timeline(timeline: Timeline) -> TimelineJson:
    main = [(segment.start, segment.end, segment.kind) for segment in timeline.main]
    return {"main": main, "steps": list(timeline.steps)}


def _place(place: Place | None) -> PlaceJson | None:
    return None if place is None else {"path": place[0], "line": place[1]}


def _part(part: Part, diagnosis: Diagnosis) -> PartJson:
    step, cause = diagnosis.step, diagnosis.causes.get(part)
    return {
        "part": part.name.lower(),
        "text": part.value,
        "seconds": step.parts[part],
        "share": step.share(part),
        "largest_gain": step.largest_gain(part),
        "cause": None
        if cause is None
        else {"what": cause.what, "path": cause.path, "line": cause.line, "share": cause.share},
    }


def _stage(stage: Stage, step: Step) -> WhyStageJson:
    return {
        "name": stage.name,
        "share": stage.share,
        "seconds_per_batch": stage.seconds_per_batch,
        "parallelism": stage.parallelism,
        "place": _place(stage_place(stage, step)),
        "added_by_tensorflow": stage.place is None and not step.recorded,
    }


def _lines(lines: Sequence[HotLine]) -> list[HotLineJson]:
    return [
        {
            "path": each.path,
            "line": each.line,
            "function": each.function,
            "library": each.library,
            "share": each.share,
        }
        for each in lines[:_PYTHON_LINES]
    ]


def _advice(advice: Advice) -> AdviceJson:
    return {
        "part": None if advice.part is None else advice.part.name.lower(),
        "text": advice.text,
        "is_fact": advice.is_fact,
        "leads": advice.leads,
        "largest_gain": advice.largest_gain,
        "least_bound": advice.least_bound,
        "findings": _findings(advice.findings),
    }


def _findings(findings: Iterable[Finding]) -> list[FullFindingJson]:
    return [
        {
            **finding_json(finding),
            "message": finding.message,
            "fixable": finding.fix is not None,
        }
        for finding in findings
    ]
