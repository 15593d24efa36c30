"""Messages from the measured process to kerascheck, one JSON object per line.

The measured process (``kerascheck/runtime/verify/child``) imports nothing of kerascheck and sends dictionaries.
:func:`parse` turns each line into one of the classes below. The keys on the wire are the names of the fields. Classes
with many instances, such as :class:`Frame`, are sent as arrays of their fields in order.

A run sends, in this order: :class:`Started`; a :class:`TrainingStart` for each training that makes a step; a
:class:`BlockTiming` after each block of steps, and a :class:`Ready` before it if the plan sets ``in_turn``; one
:class:`TrainingReport`; then, if that has ``pending`` diagnostics, :class:`LateFacts`.

Times are in seconds and shares lie between 0 and 1, unless a field says otherwise. ``None`` means "not known".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kerascheck.runtime.plain import fields_of, restored
from kerascheck.runtime.verify.batch_sizes import BatchSizes
from kerascheck.runtime.verify.peaks import Peaks
from kerascheck.runtime.verify.samples import FitStart, Samples, Timeline
from kerascheck.runtime.verify.step_trace import StepTrace

Place = tuple[str, int]
"""Path and line in the script or one of its own modules."""
Span = tuple[str, int, int]
"""Path, first line and last line."""

_FAILED = "_failed"  # suffix of the keys under which failed diagnostics send their error


class InvalidMessage(ValueError):
    """A line of the measured process is not a valid message; ``str()`` names the field."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A stack frame of the script when a training made its first step."""

    path: str
    line: int
    first_line: int
    """First line of the function's definition, including decorators; 0 for a module."""


@dataclass(frozen=True, slots=True)
class StepTime:
    """The time between two ticks before or between blocks."""

    seconds: float
    steps: int
    starts_epoch: bool


@dataclass(frozen=True, slots=True)
class Dataset:
    """A ``tf.data`` dataset of the training's pipeline."""

    name: str
    """Class name without "Dataset", such as "ParallelMap"."""
    place: Place | None = None
    """Line of the script that creates it."""
    function: Span | None = None
    """The script's own function that it applies to every element."""


@dataclass(frozen=True, slots=True)
class PipelineNode:
    """A node of the running pipeline in TensorFlow's performance model."""

    name: str
    elements: int
    """Number of elements produced so far."""
    seconds: float
    """Its own processor time, summed over all parallel calls."""
    parallelism: float
    reader: int | None = None
    """Index of the node that consumes its elements; None for the output."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One component of an element of the training's data."""

    shape: tuple[int | None, ...] | None
    """None if the rank is unknown."""
    dtype: str


@dataclass(frozen=True, slots=True)
class Feeder:
    """The data passed to ``fit``, or the ``DataLoader`` of a hand-written loop."""

    kind: str
    """"dataset", "pydataset", "generator", "arrays" or "dataloader"."""
    name: str | None = None
    """Place of the script's class or generator function that makes batches."""
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Compilation and dtypes of the fitted model."""

    jit_compile: bool = False
    jit_blocked_by: tuple[str, ...] = ()
    """Names of layers that XLA cannot compile."""
    compute_dtypes: tuple[str, ...] = ()
    dtype_policy: str | None = None
    run_eagerly: bool = False
    recurrent: tuple[str, ...] = ()
    """Classes of layers that compute their time steps sequentially."""
    parameters: int | None = None


@dataclass(frozen=True, slots=True)
class StepParts:
    """Seconds per step, excluding steps that begin an epoch."""

    call: float = 0.0
    """Inside the compiled step."""
    callbacks: float = 0.0
    """Inside ``on_train_batch_begin`` and ``on_train_batch_end``."""
    next: float = 0.0
    """Inside ``next()`` of a Python iterator over the data."""
    predict: float = 0.0
    """Inside ``predict`` between two steps."""
    fit: float = 0.0
    """Inside ``fit``, if the script calls it in a loop."""
    tracing: float = 0.0
    """Excess time of calls that traced a graph."""


@dataclass(frozen=True, slots=True)
class PredictCall:
    """A call site of ``predict`` between two steps."""

    path: str
    line: int
    seconds: float
    """Seconds per step."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The first validation of a training."""

    calls: int = 0
    """Number of validations that ``fit`` ran."""
    seconds: float | None = None
    """Duration of one validation, extrapolated if it was stopped early."""
    first_seconds: float | None = None
    """Seconds until its first batch has ended."""
    whole: bool = False
    """Whether ``seconds`` covers all of its batches."""
    batches: int | None = None
    batches_of_a_pass: int | None = None
    """Batches in one pass over the validation data, if that repeats."""


@dataclass(frozen=True, slots=True)
class FitArguments:
    """What the script passes to ``fit``."""

    epochs: int | None = None
    validation_freq: int | tuple[int, ...] | None = None
    steps_per_epoch: int | None = None
    """As given, or as Keras infers it from the data."""
    steps_given: bool = False
    """Whether the script passes ``steps_per_epoch``."""
    held_rows: Mapping[str, int] = field(default_factory=dict)
    """Lengths of the arrays and lists in a generator's frame, by name."""
    batches_of_a_pass: int | None = None
    """``len()`` of a ``PyDataset``."""


@dataclass(frozen=True, slots=True)
class Compilations:
    """Compilations by JAX or ``torch.compile`` during measured steps."""

    count: int = 0
    seconds: float = 0.0
    functions: Mapping[str, int] = field(default_factory=dict)
    """Number of compilations by function."""
    places: Mapping[str, tuple[str | None, int | None]] = field(default_factory=dict)
    """Path and line of the first call, or of the definition, by function."""
    shapes: Mapping[str, tuple[tuple[tuple[str | int, ...], ...], ...]] = field(default_factory=dict)
    """By function: for each compilation, the dtype and shape of each argument."""
    reasons: tuple[str, ...] = ()
    """Reasons for recompilation by ``torch.compile``."""


@dataclass(frozen=True, slots=True)
class NewShapes:
    """Extra time of the first step on a batch over the second step on the same batch (TensorFlow)."""

    seconds: float
    """Mean over the batches."""
    new: int
    """Number of batches whose shapes required compilation."""
    seen: int
    shapes: tuple[tuple[int | None, ...], ...]
    """Shapes of the first component of each batch."""


@dataclass(frozen=True, slots=True)
class LookupLayer:
    """A layer for text or categories, timed separately."""

    name: str
    kind: str
    """Class, such as "TextVectorization"."""
    seconds: float
    """Seconds per batch."""


@dataclass(frozen=True, slots=True)
class EmbeddingTable:
    """The optimizer's update of a large embedding table, timed separately."""

    name: str
    rows: int
    rows_used: int | None
    """Rows that one batch uses."""
    optimizer: str
    seconds: float
    """Seconds per step."""


@dataclass(frozen=True, slots=True)
class DatasetTime:
    """A dataset of the pipeline, iterated alone."""

    name: str
    place: Place
    seconds_per_batch: float
    """Seconds of all stages up to this one."""


@dataclass(frozen=True, slots=True)
class VisibleDevices:
    """Line where the script restricts its visible GPUs."""

    value: str
    """Value of ``CUDA_VISIBLE_DEVICES``; empty if ``set_visible_devices`` hides all."""
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class TrainingFacts:
    """Results of the probes and diagnostics about a training.

    Every run sends the first group; the others depend on ``Plan.rows``, ``Plan.diagnose`` and ``Plan.parts``.
    """

    backend: str | None = None
    """Backend of Keras, or framework of a hand-written loop: "tensorflow", "tensorflow (tf-keras)", "jax", "torch"."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the imported frameworks, by distribution."""
    gpus: tuple[str, ...] = ()
    """Names of the accelerators that the process holds."""
    epoch_lengths: tuple[int, ...] = ()
    """Number of steps of each finished epoch of ``fit``."""
    element_spec: tuple[TensorSpec, ...] | None = None
    """None if no ``tf.data`` iterator feeds the training."""
    first_iterator: int = 0
    """Index of that iterator in order of creation."""
    chain: tuple[Dataset, ...] = ()
    """The datasets that build the data, output first."""
    one_cached_batch: bool = False
    """Whether the run repeated one batch, see :class:`kerascheck.runtime.verify.process.Ceiling`."""
    validation_places: tuple[Span, ...] = ()
    """Lines that create the validation data of ``fit``."""
    feeder: Feeder | None = None
    visible_devices: VisibleDevices | None = None
    failures: Mapping[str, str] = field(default_factory=dict)
    """Errors of diagnostics by name; on the wire each has a separate key, such as "runtime_model_failed"."""

    rows: tuple[int, ...] | None = None
    """Samples in the first batches of a pass over the data."""
    all_rows: bool = False
    """Whether these were all batches."""

    traces: int | None = None
    """Number of graphs that TensorFlow traced."""
    traces_by_function: Mapping[str, int] = field(default_factory=dict)
    """Traces of functions with more than two of them."""
    host_reads_per_step: float | None = None
    """Reads of device values by the script's own Python."""
    model: ModelFacts | None = None
    device_peak_bytes: int | None = None
    """Peak GPU memory."""
    runtime_nodes: tuple[PipelineNode, ...] = ()
    """Nodes, output first, from the longest pass over the data."""
    replicas: int | None = None
    """Number of replicas that make a step together; None without a distribution strategy."""
    alone_seconds_per_batch: float | None = None
    """Seconds per batch of the pipeline without a model."""
    alone_first_batch_seconds: float | None = None
    bytes_per_step: int | None = None
    """Size of a batch."""

    parts: StepParts = StepParts()
    measured_steps: int = 0
    """Number of steps that ``parts`` covers."""
    batch_size: int | None = None
    """Rows of the largest batch seen."""
    predictions: tuple[PredictCall, ...] = ()
    callbacks_between_epochs: tuple[float, ...] = ()
    """Seconds of callbacks between epochs."""
    validation: Validation | None = None
    fit_arguments: FitArguments = FitArguments()
    fit_start: FitStart = FitStart()
    fit_in_loop: bool = False
    """Whether the script calls ``fit`` in a loop."""
    compiled: Compilations | None = None
    new_traces: int = 0
    """Number of measured steps that traced a graph."""
    traces_always: bool = False
    """Whether every measured step traced a graph."""
    functions_run_eagerly: bool = False
    """Whether ``tf.config.run_functions_eagerly(True)`` is active."""
    other_load: float | None = None
    """Share of the machine that other programs used since the script began; only for very short trainings."""
    samples: Samples = Samples()
    timeline: Timeline = Timeline()

    call_seconds_without_input: float | None = None
    """Seconds of a ``fit`` step on one repeated batch."""
    other_load_without_input: float | None = None
    """Share of the machine that other programs used meanwhile."""
    inside_step: Samples = Samples()
    """Samples during steps whose input was already available."""
    times_larger: int | None = None
    """Size of a larger batch, in batches of the training."""
    times_as_long: float | None = None
    """Time of a step on that batch, in steps of the training."""
    by_dataset: tuple[DatasetTime, ...] = ()
    """Datasets, source first."""
    new_shapes: NewShapes | None = None
    lookup_layers: tuple[LookupLayer, ...] = ()
    whole_tables: tuple[EmbeddingTable, ...] = ()
    batch_sizes: BatchSizes | None = None
    step_trace: StepTrace | None = None
    peaks: Peaks | None = None
    """Peaks of the processor, if they were measured in this run."""
    peaks_of: str | None = None
    """Framework and version whose peaks those are, or would be."""

    @property
    def has_eager_switch(self) -> bool:
        """Whether compiled functions run eagerly because of a switch in the script."""
        return self.functions_run_eagerly or (self.model is not None and self.model.run_eagerly)


@dataclass(frozen=True, slots=True)
class Started:
    """The probes are installed; the script begins."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The process waits for the order to run its next block."""


@dataclass(frozen=True, slots=True)
class TrainingStart:
    """A training, or a loop that may be one, has made its first step."""

    kind: str
    """Such as "fit", "optimizer loop" or "prediction loop"."""
    number: int | None
    """Number from 0 among the trainings; None for loops of :data:`kerascheck.runtime.verify.analysis.WEAK_KINDS`."""
    order: int
    """Position among the loops of its kind, from 0."""
    stack: tuple[Frame, ...] = ()
    """Innermost frame first."""
    data_places: tuple[Span, ...] = ()
    """Lines that create the datasets that feed it."""

    @property
    def used_places(self) -> tuple[Span, ...]:
        """Lines that the training uses besides those on its stack."""
        return self.data_places


@dataclass(frozen=True, slots=True)
class BlockTiming:
    """Consecutive steps that are timed together."""

    steps: int
    seconds: float
    inner_steps: int
    """Steps that do not begin an epoch."""
    inner_seconds: float
    epochs: int = 0
    """Number of epochs that began in the block."""
    ticks: tuple[float, ...] = ()
    """Seconds of single steps, as the host sees them."""
    other_load: float | None = None
    """Share of the machine that other programs used meanwhile."""
    phase: str | None = None
    """"sampled" during profiling, "replayed" while one batch is repeated; None for undisturbed steps."""

    @property
    def seconds_per_step(self) -> float:
        """Mean over all steps of the block."""
        return self.seconds / self.steps


@dataclass(slots=True)
class TrainingReport:
    """The closing message of a run.

    The fields from ``kind`` on describe the training that the plan selects. They keep their defaults if no training
    made a step.
    """

    reason: str
    """"done" (the plan is fulfilled), "trained" or "exhausted" (the training is shorter than the plan), "end", "exit",
    "interrupted", "exception" (of the script) or "fault" (of a probe)."""
    detail: str = ""
    """The message of the exception, the status of ``sys.exit``, or the name of the exhausted data."""
    seconds: float = 0.0
    """Seconds from the installation of the probes to this message."""
    notes: tuple[str, ...] = ()
    """Changes that the probes made to the run, for display."""
    trainings: int = 0
    """Number of trainings that made a step; bare loops count only if there is nothing else."""
    host_peak_bytes: int = 0
    pending: tuple[str, ...] = ()
    """Names of the diagnostics that follow, in their order; each one sends :class:`LateFacts`."""
    exception: str | None = None
    """Class name of the script's exception."""
    stdin: bool = False
    """Whether that exception was caused by reading standard input."""
    line: int | None = None
    """Line of the script that raised it."""
    kind: str = ""
    """See :attr:`TrainingStart.kind`."""
    name: str = ""
    """Name of the model, the compiled function or the optimizer class; empty if there is none."""
    order: int | None = None
    """Number of the training, or position of a bare loop among those of its kind; from 0."""
    steps: int = 0
    passes: int = 0
    """Passes over ``tf.data`` iterators that fed the training."""
    first_step_at: float | None = None
    """Seconds from the installation of the probes to the end of the first step."""
    start_seconds: float | None = None
    """Processor time of the process until the end of the warm-up."""
    durations: tuple[StepTime, ...] = ()
    losses: tuple[float, ...] = ()
    """The first losses."""
    loss_steps: tuple[int, ...] = ()
    """Number of steps after which each loss was read."""
    epoch_starts: tuple[int, ...] = ()
    """Step counts at which an epoch began."""
    stack: tuple[Frame, ...] = ()
    """See :attr:`TrainingStart.stack`."""
    data_places: tuple[Span, ...] = ()
    facts: TrainingFacts = TrainingFacts()

    @property
    def place(self) -> Place | None:
        """Line of the script that trains."""
        return (self.stack[0].path, self.stack[0].line) if self.stack else None

    @property
    def used_places(self) -> tuple[Span, ...]:
        """Like :attr:`TrainingStart.used_places`, plus the validation data."""
        return (*self.data_places, *self.facts.validation_places)


@dataclass(frozen=True, slots=True)
class LateFacts:
    """Facts of a diagnostic that follows the report, because it disturbs the training or may hang."""

    pending: tuple[str, ...]
    """Names of the diagnostics that are still to follow."""
    values: Mapping[str, Any]
    """Restored fields of :class:`TrainingFacts`."""

    def added_to(self, facts: TrainingFacts) -> TrainingFacts:
        """Return ``facts`` with these added."""
        failures = {**facts.failures, **self.values.get("failures", {})}
        return replace(facts, **{**self.values, "failures": failures})


Message = Started | Ready | TrainingStart | BlockTiming | TrainingReport | LateFacts

_EVENTS: Mapping[str, type] = {  # by the key ``event`` of a message; "more" is LateFacts
    "started": Started,
    "ready": Ready,
    "training": TrainingStart,
    "block": BlockTiming,
    "end": TrainingReport,
}


def parse(line: bytes | str) -> Message:
    """Parse one line of the measured process.

    Raises:
        InvalidMessage: the line is not a valid message.
    """
    try:
        content = json.loads(line)
        event = content.pop("event")
        if event == "more":
            facts = _fact_fields(content.pop("facts"))
            return LateFacts(restored(tuple[str, ...], content["pending"], "the message 'more'.pending"), facts)
        if event == "end" and "facts" in content:
            facts = _fact_fields(content.pop("facts"))
            report: TrainingReport = restored(TrainingReport, content, "the message 'end'")
            report.facts = TrainingFacts(**facts)
            return report
        message: Message = restored(_EVENTS[event], content, f"the message {event!r}")
        return message
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise InvalidMessage(f"{type(problem).__name__}: {problem}") from None


def parse_facts(content: Mapping[str, Any]) -> TrainingFacts:
    """Build the facts of a training from the keys on the wire; raises ValueError for unknown or invalid ones."""
    return TrainingFacts(**_fact_fields(content))


def _fact_fields(content: Mapping[str, Any]) -> dict[str, Any]:
    failures = {key.removesuffix(_FAILED): why for key, why in content.items() if key.endswith(_FAILED)}
    found = {key: value for key, value in content.items() if not key.endswith(_FAILED)}
    return fields_of(TrainingFacts, {**found, "failures": failures} if failures else found, "facts")
