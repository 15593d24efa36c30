"""A step of a training and its parts."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kerascheck.runtime.verify.analysis import Stage
from kerascheck.runtime.verify.messages import Place, Span, TrainingFacts

_SHORTEST_REST = 1e-3  # share of a step that remains after a part is removed
_MOST_LOAD = 0.9  # maximum share of the machine assumed to be used by other programs


class Part(enum.Enum):
    """Parts of a step; the values are for display."""

    INPUT = "waiting for data"
    TRACING = "tracing graphs again"
    CALLBACKS = "callbacks"
    PYTHON = "your Python between steps"
    EAGER = "operations run one by one"
    INSIDE = "Python inside the step"
    OVERHEAD = "fixed cost of a step"
    COMPUTE = "computing"
    STEP = "the step itself"
    EPOCHS = "start of each epoch"
    VALIDATION = "validation"
    BETWEEN_EPOCHS = "callbacks between epochs"
    PREDICT = "calls of predict"
    START = "start of the training"
    FIT = "setting up each fit"
    COMPILE = "compiling new shapes"
    LOOKUP = "text and lookup layers"
    TABLES = "updating whole tables"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class HotLine:
    """A line of the script with many samples of the profiler."""

    path: str
    line: int
    function: str
    library: str | None
    """Package that the line called into; None if the line itself or a C function ran."""
    share: float
    """Share of the samples, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The stage, line or layer that dominates a part."""

    what: str
    """Such as "ParallelMap" or "cv2.imread(path)"."""
    path: str | None
    line: int | None
    share: float
    """Share of the part, 0 to 1."""
    python: bool = False
    """Whether it is Python of the script."""
    computes: bool = False
    """Whether it is a layer, a loss, a metric or an optimizer; then ``share`` is that of all operations."""

    @property
    def place(self) -> Place | None:
        """File and line, if both are known."""
        return (self.path, self.line) if self.path is not None and self.line is not None else None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of one training. Times are in seconds per step."""

    kind: str
    """Such as "fit" or "optimizer loop"."""
    seconds: float
    parts: Mapping[Part, float]
    """Seconds of the parts; their sum is at most ``seconds``."""
    place: Place | None
    """Line that trains."""
    used: Sequence[Span]
    """All lines that the training uses."""
    stages: Sequence[Stage] = ()
    """Stages of the ``tf.data`` pipeline, output first."""
    input_lines: Sequence[HotLine] = ()
    """Python that prepares the data, busiest first."""
    main_lines: Mapping[Part, Sequence[HotLine]] = field(default_factory=dict)
    """Python of the main thread, by activity."""
    first_step_seconds: float | None = None
    """From the start of the script to the end of the first step."""
    start_seconds: float | None = None
    """From the call of ``fit`` to the end of its first step."""
    start_lines: Sequence[HotLine] = ()
    """Python that ran during the start, busiest first."""
    epochs: int | None = None
    """Number of epochs in the script; None if it calls ``fit`` in a loop, and for other trainings."""
    batch_size: int | None = None
    steps_per_epoch: int | None = None
    new_traces: int = 0
    """Graphs traced during the measured steps."""
    busy_others: float | None = None
    """Share of the machine that other programs used meanwhile, 0 to 1."""
    load_changed: bool = False
    """Whether that share changed while the step was timed without its input."""
    gpus: Sequence[str] = ()
    backend: str = "tensorflow"
    facts: TrainingFacts = TrainingFacts()
    unknown: Sequence[str] = ()
    """Failed measurements and their reasons, for display."""
    recorded: bool = False
    """Whether a recorded profile shows it, so nothing was measured here."""

    def share(self, part: Part) -> float:
        """Share of a part in the step, 0 to 1."""
        return self.parts.get(part, 0.0) / self.seconds

    def largest_gain(self, part: Part) -> float | None:
        """Speed-up of steps if ``part`` takes no time at all; None if it can be shortened but not removed."""
        if part in (Part.EAGER, Part.COMPUTE, Part.STEP, Part.PREDICT, Part.UNEXPLAINED) or (
            part is Part.TRACING and self.facts.traces_always
        ):
            return None
        gone = self._gone(part)
        return self.seconds / max(self.seconds - gone, _SHORTEST_REST * self.seconds)

    def gains_under_load(self, part: Part) -> tuple[float, float] | None:
        """Minimum and maximum of :meth:`largest_gain` on a quiet machine; None if it is None.

        Other programs use a share ``busy_others`` of the machine. Each part may take up to that share of its time
        longer. The ends assume that either only ``part`` does, or only the other parts do.
        """
        if self.largest_gain(part) is None:
            return None
        quiet = 1 - min(_MOST_LOAD, self.busy_others or 0.0)
        gone = self._gone(part)
        rest = max(self.seconds - gone, _SHORTEST_REST * self.seconds)
        return 1 + gone * quiet / rest, 1 + gone / (rest * quiet)

    def _gone(self, part: Part) -> float:
        """Seconds of a step that are saved without ``part``."""
        gone = self.parts.get(part, 0.0)
        if part is Part.INPUT:
            # A faster pipeline also fills its buffers faster at the start of an epoch.
            gone += self.parts.get(Part.EPOCHS, 0.0)
        if part is Part.OVERHEAD:
            # A larger batch also divides the fixed cost of each batch of the input.
            gone += self.parts.get(Part.INPUT, 0.0)
        return gone

    @property
    def total_steps(self) -> int | None:
        """Total steps of the training that the script specifies; None if unknown."""
        return self.epochs * self.steps_per_epoch if self.epochs and self.steps_per_epoch else None

    @property
    def training_seconds(self) -> float | None:
        """Duration of the whole training; None if unknown."""
        return None if self.total_steps is None else self.seconds * self.total_steps

    @property
    def ranked(self) -> list[Part]:
        """The parts that take time, longest first."""
        return sorted(self.parts, key=lambda part: -self.parts[part])
