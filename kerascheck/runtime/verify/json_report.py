"""The JSON report of ``verify``, and the rows of ``verify`` on a list, as they are written and read.

Seconds are wall-clock time of one step and shares lie between 0 and 1, unless a field says otherwise. None is "not measured".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from kerascheck.catalog.measured import MachineJson
from kerascheck.finding import Finding


class FindingJson(TypedDict):
    """A finding of the linter, by its rule and place."""

    code: str
    name: str
    path: str
    line: int
    """Of the file, or of the cell of a notebook."""
    cell: int | None
    """Index among the cells of a notebook, see :class:`kerascheck.finding.Location`."""
    cell_number: int | None


class ObservationJson(FindingJson):
    """A finding without a fix, and what was seen there: :class:`kerascheck.runtime.verify.observed.Observation`."""

    seen: str
    training: int | None
    """Index in ``trainings`` of the report."""
    share: float | None
    """Of the input pipeline."""


class RatioJson(TypedDict):
    """:class:`kerascheck.runtime.verify.stats.Ratio`: how many times faster the repaired script is, with its 95 % interval."""

    value: float
    low: float
    high: float


class SecondsJson(TypedDict):
    """Seconds of the script as written and of the repaired one."""

    as_written: float
    repaired: float


class LossesJson(TypedDict):
    """The first losses of both scripts; None for a loss that is not finite."""

    as_written: list[float | None]
    repaired: list[float | None]


class VerdictJson(TypedDict):
    """:class:`kerascheck.runtime.verify.verdict.Verdict` without single steps and output."""

    name: str
    status: str
    reason: str
    remark: str
    ratio: RatioJson | None
    start_seconds: SecondsJson | None
    """Processor time until the warm-up is done; only where both clearly differ."""
    step_seconds: SecondsJson | None
    losses: LossesJson | None
    others: float | None
    """Share of the machine that other programs used meanwhile."""
    no_effect: float
    """Change of the step time that counts as none, as a share."""
    training: int
    """Index among the trainings of the script."""
    rounds: int
    blocks: int


class FindingsVerdictJson(VerdictJson):
    """A verdict with the findings that its variant repairs."""

    findings: list[FindingJson]


class StageJson(TypedDict):
    """:class:`kerascheck.runtime.verify.analysis.Stage` of an input pipeline."""

    name: str
    place: Sequence[str | int] | None
    """Path and line."""
    seconds_per_batch: float
    share: float
    """Of all stages."""
    parallelism: float
    near: Sequence[str | int] | None
    """Path and line."""
    function: Sequence[str | int] | None
    """Path, first and last line."""


class TrainingJson(TypedDict):
    """:class:`kerascheck.runtime.verify.analysis.Analysis` of one training."""

    kind: str
    number: int | None
    place: Sequence[str | int] | None
    """Path and line."""
    step_seconds: float
    first_step_seconds: float | None
    """From the start of the script to the end of the first step."""
    ceiling_seconds: float | None
    """Of a step on one cached batch."""
    input_bound: float | None
    """Share of a step that waits for data."""
    largest_input_gain: float | None
    """Speed-up by an infinitely fast pipeline."""
    stages: list[StageJson]
    facts: Mapping[str, Any]
    """What is known of :class:`kerascheck.runtime.verify.messages.TrainingFacts`, flat: keys include the names of frameworks,
    with their versions, and of diagnostics that failed."""
    not_measured: list[str]


class GpuSeriesJson(TypedDict):
    """:class:`kerascheck.runtime.verify.gpu_summary.GpuSeries`: samples of a GPU; None for what the card does not report."""

    seconds: list[float]
    """Since the sampler began."""
    utilisation: list[float | None]
    memory_bytes: list[float | None]
    watts: list[float | None]
    megahertz: list[float | None]


class GpuDeviceJson(TypedDict):
    """:class:`kerascheck.runtime.verify.gpu_summary.DeviceSummary`: quantities are medians."""

    index: int
    name: str | None
    samples: int
    utilisation: float | None
    memory_bytes: float | None
    watts: float | None
    megahertz: float | None
    memory_total_bytes: float | None
    slowed: Mapping[str, float]
    """Share of the samples with lowered clocks, by reason."""
    own: float | None
    """Share of its time that the scripts used."""
    others: float | None
    """Share of its time that other processes used."""
    mig: bool
    visible: bool
    time: GpuSeriesJson
    used: bool


class GpuJson(TypedDict):
    """:class:`kerascheck.runtime.verify.gpu_summary.GpuSummary`; the quantities are those of the first GPU that was used."""

    devices: list[GpuDeviceJson]
    trouble: str | None
    name: str | None
    samples: int
    utilisation: float | None
    memory_bytes: float | None
    watts: float | None
    megahertz: float | None
    driver: str | None


class VerificationJson(TypedDict):
    """The report on one script: :class:`kerascheck.runtime.verify.result.Verification`."""

    version: int
    """Of this schema: 1."""
    script: str
    command: str
    failure: str | None
    machine: MachineJson
    versions: Mapping[str, str]
    """Of the frameworks that the script loaded."""
    seconds: float
    """That the whole measurement took."""
    notes: list[str]
    trainings: list[TrainingJson]
    verdicts: list[FindingsVerdictJson]
    observations: list[ObservationJson]
    not_about_speed: list[FindingJson]
    gpu: GpuJson | None


class SideJson(TypedDict):
    """:class:`kerascheck.runtime.verify.scaling.Side` of a comparison of one GPU with all."""

    devices: list[str]
    """As ``CUDA_VISIBLE_DEVICES`` names them."""
    replicas: int | None
    global_batch: int | None
    """Examples of a step."""
    step_seconds: float | None
    batch_per_replica: float | None
    examples_per_second: float | None


class ScalingJson(TypedDict):
    """The report of ``--scaling``: :class:`kerascheck.runtime.verify.scaling.Scaling`."""

    version: int
    """Of this schema: 1."""
    script: str
    command: str
    one: SideJson
    all: SideJson
    ratio: RatioJson | None
    failure: str | None
    doubt: str | None
    machine: MachineJson
    gpu: GpuJson | None
    seconds: float
    """That the whole measurement took."""
    efficiency: float | None
    """Share of the ideal speed-up."""


class ListRowJson(TypedDict):
    """The row of one script of a list, a line of the file of results."""

    version: int
    """Of this schema: 1."""
    script: str
    """With its arguments, as the list names it."""
    on: str
    """Label of the target of ``--on``, or "here"."""
    state: str
    """Digest of the script's text; empty if it could not be read."""
    date: str
    """YYYY-MM-DD HH:MM, local time."""
    problem: str | None
    """Why there is no verification."""
    verification: VerificationJson | None


def finding_json(finding: Finding) -> FindingJson:
    """Convert a finding to its rule and place."""
    place = finding.location
    return {
        "code": finding.code,
        "name": finding.name,
        "path": place.path,
        "line": place.line,
        "cell": place.cell,
        "cell_number": place.cell_number,
    }
