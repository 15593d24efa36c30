"""Breakdown of a step into its parts, from the messages of one run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from kerascheck.runtime.verify.analysis import PREDICTION, stages
from kerascheck.runtime.verify.messages import BlockTiming, Span, StepParts, StepTime, TrainingFacts, TrainingReport
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.why import hot_lines
from kerascheck.runtime.why.step import Part, Step

_EAGER_KINDS = frozenset({"optimizer loop", "gradient loop"})
_FEWEST_REPLAYED = 3  # minimum steps on one batch
_FEWEST_STARTS = 2  # minimum epoch starts
_SLOWED_BY_STEP = 3.0
"""Slow-down that a pipeline may suffer beside the step, which also uses processors, relative to running alone."""
_SAME_LOAD = 0.2  # maximum difference in the load of other programs between two comparable measurements
_UNEXPLAINED = 0.05  # share of a step by which two measurements of the same time may differ
_SHORTEST_BOUNDARY = 0.005  # seconds; a smaller excess of an epoch's first step is noise
_NO_STEP = 1e-3  # assumed seconds of a step if none was timed
_AROUND = (Part.CALLBACKS, Part.FIT, Part.PREDICT, Part.PYTHON)
"""Parts outside of the call of a step."""
_WHOLE = (Part.BETWEEN_EPOCHS, Part.EPOCHS, Part.VALIDATION, Part.START)
"""Parts of the training that are spread over its steps."""


def step_of(run: Run, used: Sequence[Span] = (), without_input: float | None = None) -> Step:
    """Break down the step measured by a run with ``Plan.parts``.

    Args:
        run: a run with a training of at least one step.
        used: lines that the training uses, see :func:`kerascheck.runtime.verify.scouting.used_lines`.
        without_input: seconds per step of another run, which repeated one batch.
    """
    breakdown = _Breakdown(run.report, run.blocks, without_input)
    report, facts = run.report, run.facts
    inner = breakdown.inner_seconds()
    parts = breakdown.parts(inner) | breakdown.around_steps(inner)
    measured, start = breakdown.measured, facts.fit_start
    busy = [block.other_load for block in measured if block.other_load is not None]
    if not measured and facts.other_load is not None:
        busy = [facts.other_load]
    return Step(
        kind=report.kind,
        seconds=inner + sum(parts.get(part, 0.0) for part in _WHOLE),
        parts={part: value for part, value in parts.items() if value > 0},
        place=report.place,
        used=used,
        stages=stages(facts),
        input_lines=hot_lines.input_lines(facts, report.place),
        main_lines={**hot_lines.main_lines(facts.samples), Part.INSIDE: hot_lines.inside_lines(facts, report.place)},
        first_step_seconds=report.first_step_at,
        start_seconds=start.seconds,
        start_lines=hot_lines.start_lines(start, report.place),
        epochs=breakdown.epochs,
        batch_size=facts.batch_size,
        steps_per_epoch=breakdown.steps_per_epoch,
        new_traces=facts.new_traces,
        busy_others=statistics.fmean(busy) if busy else None,
        load_changed=_load_changed(busy, breakdown.replayed, facts),
        gpus=facts.gpus,
        backend=breakdown.backend,
        facts=facts,
        unknown=breakdown.unknown,
    )


@dataclass(slots=True)
class _Breakdown:
    """The measurements of one run."""

    report: TrainingReport
    blocks: Sequence[BlockTiming]
    without_input: float | None
    unknown: list[str] = field(default_factory=list)
    """Failed measurements, for display."""

    @property
    def facts(self) -> TrainingFacts:
        return self.report.facts

    @property
    def counted(self) -> StepParts:
        return self.facts.parts

    @property
    def backend(self) -> str:
        return self.facts.backend or "tensorflow"

    @property
    def measured(self) -> list[BlockTiming]:
        """Blocks of undisturbed steps."""
        return [block for block in self.blocks if block.phase is None]

    @property
    def replayed(self) -> list[BlockTiming]:
        """Blocks of steps on one batch."""
        return [block for block in self.blocks if block.phase == "replayed"]

    @property
    def runs_ahead(self) -> bool:
        """Whether steps return before the device has computed them, so the end of an epoch waits for all of them.

        The child waits for every step only while it samples (``Parts.waits``).
        """
        return not self.backend.startswith("tensorflow")

    @property
    def epochs(self) -> int | None:
        """Number of epochs that the script asks ``fit`` for."""
        return None if self.facts.fit_in_loop else self.facts.fit_arguments.epochs

    @property
    def epoch_length(self) -> int:
        """Steps of the first epoch; 0 if it did not complete."""
        return self.facts.epoch_lengths[0] if self.facts.epoch_lengths else 0

    @property
    def steps_per_epoch(self) -> int | None:
        """Measured steps per epoch, or else the number in the script."""
        return self.epoch_length or self.facts.fit_arguments.steps_per_epoch

    # The steps themselves ---------------------------------------------------------------------------------------

    def inner_seconds(self) -> float:
        """Seconds per step, without the extra time at the start of an epoch."""
        if not self.measured:
            return _mean_of(self.report.durations)
        inner = self._mean(self.measured)
        return max(0.0, inner - self._between_epochs(inner)) if self.runs_ahead else inner

    def parts(self, seconds: float) -> dict[Part, float]:
        """Split a step of ``seconds``."""
        if self.report.kind == PREDICTION:
            return {Part.PREDICT: seconds}
        counted = self.counted
        parts = {Part.CALLBACKS: min(counted.callbacks, seconds)}
        if self.facts.fit_in_loop:
            parts |= _between_fits(counted, seconds)
        waiting = self._waiting(seconds) if self.without_input is None else max(0.0, seconds - self.without_input)
        alone = self.facts.alone_seconds_per_batch
        # A step waits for a batch at most as long as the pipeline takes for it.
        parts[Part.INPUT] = min(waiting, math.inf if alone is None else _SLOWED_BY_STEP * alone)
        parts[Part.TRACING] = min(counted.tracing, seconds - parts[Part.INPUT])
        parts[Part.PYTHON] = parts.get(Part.PYTHON, 0.0) + self._python(seconds, parts)
        rest = max(0.0, seconds - sum(parts.values()))
        inside = hot_lines.inside_lines(self.facts, self.report.place)
        parts[Part.INSIDE] = rest * min(1.0, sum(line.share for line in inside))
        rest -= parts[Part.INSIDE]
        parts[Part.COMPILE] = min(rest, self._compiling())
        rest -= parts[Part.COMPILE]
        parts[Part.UNEXPLAINED] = self._unexplained(seconds, rest, parts)
        rest -= parts[Part.UNEXPLAINED]
        if self.report.kind == "fit" and self.unknown and not self.facts.has_eager_switch:
            # The rest includes the unknown time spent waiting for data.
            return parts | {Part.UNEXPLAINED: parts[Part.UNEXPLAINED] + rest}
        return parts | self._rest(rest)

    def _waiting(self, seconds: float) -> float:
        """Seconds by which a step on one repeated batch is shorter."""
        without = self.facts.call_seconds_without_input
        if without is not None:
            return max(0.0, min(seconds, self.counted.call - self.counted.tracing - without))
        if sum(block.steps for block in self.replayed) >= _FEWEST_REPLAYED:
            # A hand-written loop waits only in the call that gets its next batch.
            return min(max(0.0, seconds - self._mean(self.replayed)), self.counted.next or seconds)
        if self.counted.next:
            return min(seconds, self.counted.next)
        if self.report.kind == "fit":
            failure = self.facts.failures.get("without_input")
            self.unknown.append(failure or "how long a step takes without its input")
        return 0.0

    def _python(self, seconds: float, parts: dict[Part, float]) -> float:
        """Seconds of the script's own Python between the calls of a compiled step.

        In ``fit`` and in eager loops it cannot be separated.
        """
        kind = self.report.kind
        has_calls = kind in ("function loop", "train_on_batch loop") or (
            kind in _EAGER_KINDS and self.backend == "torch"
        )
        if not has_calls or not self.counted.call:
            return 0.0
        return max(0.0, seconds - self.counted.call - max(self.counted.next, parts[Part.INPUT]))

    def _compiling(self) -> float:
        """Seconds per step spent on compiling for new shapes."""
        compiled, shapes = self.facts.compiled, self.facts.new_shapes
        in_steps = 0.0 if compiled is None else compiled.seconds / max(1, self.facts.measured_steps)
        return in_steps + (0.0 if shapes is None else shapes.seconds)

    def _unexplained(self, seconds: float, rest: float, parts: dict[Part, float]) -> float:
        """Seconds by which a call of the step exceeds one on a repeated batch, without waiting and compiling."""
        without = self.facts.call_seconds_without_input
        if without is None or self.facts.has_eager_switch:
            return 0.0
        around = max(0.0, seconds - self.counted.call - sum(parts.get(part, 0.0) for part in _AROUND))
        longer = rest - around - without - parts[Part.INSIDE]
        return longer if longer > _UNEXPLAINED * seconds else 0.0

    def _rest(self, rest: float) -> dict[Part, float]:
        """Split the rest of a step into computing and fixed cost."""
        facts = self.facts
        is_eager = self.report.kind in _EAGER_KINDS or facts.has_eager_switch
        if is_eager and self.backend != "torch":  # PyTorch normally runs eagerly
            return {Part.EAGER: rest}
        if facts.times_as_long is None or facts.times_larger is None:
            return {Part.STEP: rest}
        # A step has a fixed cost and a cost per row, which two batch sizes separate.
        rows = rest * max(0.0, min(1.0, (facts.times_as_long - 1) / (facts.times_larger - 1)))
        return _known_costs(facts, {Part.COMPUTE: rows, Part.OVERHEAD: rest - rows})

    # Around the steps -------------------------------------------------------------------------------------------

    def around_steps(self, inner: float) -> dict[Part, float]:
        """Parts of the training outside of its steps, spread over them; ``inner``: seconds per step."""
        between = self._between_epochs(self._mean(self.measured) if self.measured else inner)
        epochs, length = self.epochs, self.steps_per_epoch
        parts = {Part.BETWEEN_EPOCHS: min(between, self._callbacks_between_epochs())}
        # The start of the first epoch belongs to the start of the training.
        parts[Part.EPOCHS] = (between - parts[Part.BETWEEN_EPOCHS]) * ((epochs - 1) / epochs if epochs else 1.0)
        parts[Part.VALIDATION] = self._validation()
        start = self.facts.fit_start.seconds
        if epochs and length and start is not None:
            parts[Part.START] = max(0.0, start - inner) / (epochs * length)
        return parts

    def _between_epochs(self, inner: float) -> float:
        """Extra time at the start of an epoch, spread over its steps; excludes the very first step.

        Args:
            inner: mean seconds per step in the measured blocks.
        """
        waited = ("sampled",) if self.runs_ahead else ("sampled", None)
        blocks = (block for block in self.blocks if block.phase in waited and 0 < block.inner_steps < block.steps)
        starts = list(map(_epoch_start, blocks))
        if not self.runs_ahead:
            early = [each.seconds - each.steps * inner for each in self.report.durations if each.starts_epoch]
            starts = [*early, *starts]
        if len(starts) < _FEWEST_STARTS or not self.epoch_length:
            return 0.0
        # The second epoch may compile again, and load may lengthen any epoch: of two, use the shorter one.
        extra = statistics.median_low(starts)
        return extra / self.epoch_length if extra > max(_SHORTEST_BOUNDARY, 2 * inner) else 0.0

    def _callbacks_between_epochs(self) -> float:
        """Callbacks between epochs, spread over the steps of an epoch."""
        seconds = self.facts.callbacks_between_epochs
        return statistics.median_low(seconds) / self.epoch_length if seconds and self.epoch_length else 0.0

    def _validation(self) -> float:
        """Validations of ``fit``, spread over the steps of all epochs."""
        found, lengths = self.facts.validation, self.facts.epoch_lengths
        if found is None or not found.calls or not lengths:
            return 0.0
        if found.seconds is None:
            self.unknown.append("how long a validation takes")
            return 0.0
        if not found.whole:
            self.unknown.append("how many batches a validation reads: it was stopped after 5 s")
        share = min(1.0, found.calls / len(lengths))
        every = self.facts.fit_arguments.validation_freq
        return found.seconds * (1 / every if isinstance(every, int) else share) / lengths[0]

    def _mean(self, blocks: Sequence[BlockTiming]) -> float:
        """Seconds per step, excluding the steps that begin an epoch if they can be separated."""
        return _per_step(blocks) if self.runs_ahead else _inner(blocks)


def _between_fits(counted: StepParts, seconds: float) -> dict[Part, float]:
    """Parts around a step if the script calls ``fit`` in a loop: all of them are timed."""
    fit = min(seconds, counted.fit)
    predict = min(seconds - fit, counted.predict)
    return {
        Part.FIT: max(0.0, fit - counted.call - counted.callbacks),
        Part.PREDICT: predict,
        Part.PYTHON: seconds - fit - predict,
    }


def _known_costs(facts: TrainingFacts, parts: dict[Part, float]) -> dict[Part, float]:
    """Move separately timed costs out of computing and of the fixed cost."""
    costs = {
        # The cost of tables is independent of the rows in a batch; the cost of texts grows with them.
        Part.TABLES: (sum(each.seconds for each in facts.whole_tables), (Part.OVERHEAD, Part.COMPUTE)),
        Part.LOOKUP: (sum(each.seconds for each in facts.lookup_layers), (Part.COMPUTE, Part.OVERHEAD)),
    }
    for part, (seconds, sources) in costs.items():
        for source in sources:
            taken = min(parts[source], seconds)
            parts[source] -= taken
            seconds -= taken
            parts[part] = parts.get(part, 0.0) + taken
    return parts


def _load_changed(busy: Sequence[float], replayed: Sequence[BlockTiming], facts: TrainingFacts) -> bool:
    """Whether the load of other programs changed while the step was timed without its input."""
    later = [block.other_load for block in replayed if block.other_load is not None]
    if facts.other_load_without_input is not None:
        later.append(facts.other_load_without_input)
    return bool(busy and later) and abs(statistics.fmean(busy) - statistics.fmean(later)) > _SAME_LOAD


def _epoch_start(block: BlockTiming) -> float:
    """Seconds by which the steps of a block that begin an epoch are longer."""
    begun = block.steps - block.inner_steps
    return (block.seconds - block.inner_seconds) / begun - _inner([block])


def _inner(blocks: Sequence[BlockTiming]) -> float:
    inner = sum(block.inner_steps for block in blocks)
    return sum(block.inner_seconds for block in blocks) / inner if inner else _per_step(blocks)


def _per_step(blocks: Sequence[BlockTiming]) -> float:
    return sum(block.seconds for block in blocks) / sum(block.steps for block in blocks)


def _mean_of(durations: Sequence[StepTime]) -> float:
    """Seconds per step before the first block; excludes steps that begin an epoch if there are others."""
    inner = [each for each in durations if not each.starts_epoch] or durations
    return sum(each.seconds for each in inner) / sum(each.steps for each in inner) if inner else _NO_STEP
