"""What a step of a training takes, part by part, from what one run told."""

from __future__ import annotations

import enum
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kerascheck.runtime.verify.analysis import Stage, stages
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.uses import Span

PREDICTION = "prediction loop"
_EAGER_KINDS = frozenset({"optimizer loop", "gradient loop"})
_FEWEST_REPLAYED = 3
_FEWEST_STARTS = 2
_SLOWED_BY_STEP = 3.0
_SAME_LOAD = 0.2
_UNEXPLAINED = 0.05
"""Share of a step by which two measurements of one thing may differ."""
_SHORTEST_BOUNDARY = 0.005
"""Seconds: what an epoch's first step takes longer by chance."""


class Part(enum.Enum):
    """Where the time of a step can go. The values are what people read."""

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


_AROUND = (Part.CALLBACKS, Part.FIT, Part.PREDICT, Part.PYTHON)
"""Parts outside of the call of a step."""


@dataclass(frozen=True, slots=True)
class HotLine:
    """A line of the script at which Python was seen often."""

    path: str
    line: int
    function: str
    library: str | None
    """The package that the line had called into; None where the line itself ran, or a function in C."""
    share: float
    """Of the looks, 0 to 1: of the time of a step."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The place that most of a part's time goes to."""

    what: str
    """Such as "ParallelMap" or "cv2.imread(path)"."""
    path: str | None
    line: int | None
    share: float
    """Of the part, 0 to 1."""
    python: bool = False
    """Whether it is Python of the script."""

    @property
    def place(self) -> tuple[str, int] | None:
        """File and line, where both are known."""
        return (self.path, self.line) if self.path is not None and self.line is not None else None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of one training. Times in seconds per step."""

    kind: str
    """Such as "fit" or "optimizer loop"."""
    seconds: float
    parts: Mapping[Part, float]
    """Add up to ``seconds`` at most."""
    place: tuple[str, int] | None
    """Where the script trains."""
    used: Sequence[Span]
    """All lines that the training uses."""
    stages: Sequence[Stage] = ()
    """Of the tf.data pipeline, output first."""
    input_lines: Sequence[HotLine] = ()
    """Python that prepares the data, busiest first."""
    main_lines: Mapping[Part, Sequence[HotLine]] = field(default_factory=dict)
    """Python of the main thread, by what it did."""
    first_step_seconds: float | None = None
    """From the start of the script to the end of the first step."""
    start_seconds: float | None = None
    """From the call of ``fit`` to the end of its first step."""
    start_lines: Sequence[HotLine] = ()
    """Python that ran meanwhile, busiest first."""
    epochs: int | None = None
    """How many the script asks for; None where ``fit`` is called in a loop, and for other trainings."""
    batch_size: int | None = None
    steps_per_epoch: int | None = None
    new_traces: int = 0
    """Graphs that were traced while steps were measured."""
    busy_others: float | None = None
    """Share of the machine that other programs used meanwhile, 0 to 1."""
    load_changed: bool = False
    """Whether that share was another one while the step was measured without its input."""
    gpus: Sequence[str] = ()
    backend: str = "tensorflow"
    facts: Mapping[str, Any] = field(default_factory=dict)
    unknown: Sequence[str] = ()
    """What could not be measured, and why, for people."""

    def share(self, part: Part) -> float:
        """Of a step, 0 to 1."""
        return self.parts.get(part, 0.0) / self.seconds

    def largest_gain(self, part: Part) -> float | None:
        """How many times faster steps are at most if ``part`` takes no time at all; None where it cannot go away, but
        become faster."""
        if part in (Part.EAGER, Part.COMPUTE, Part.STEP, Part.PREDICT, Part.UNEXPLAINED) or (
            part is Part.TRACING and self.facts.get("traces_always")
        ):
            return None
        gone = self._gone(part)
        return self.seconds / max(self.seconds - gone, 1e-3 * self.seconds)

    def gains_under_load(self, part: Part) -> tuple[float, float] | None:
        """The least and the largest value that :meth:`largest_gain` may have on a quiet machine; None where it is None.

        While other programs use a share ``busy_others`` of the machine, any part may take up to that share of its time longer: the
        ends are those where only ``part`` does, and where only the others do.
        """
        if self.largest_gain(part) is None:
            return None
        quiet = 1 - min(0.9, self.busy_others or 0.0)
        gone = self._gone(part)
        rest = max(self.seconds - gone, 1e-3 * self.seconds)
        return 1 + gone * quiet / rest, 1 + gone / (rest * quiet)

    def _gone(self, part: Part) -> float:
        """Seconds of a step that are gone with ``part``."""
        gone = self.parts.get(part, 0.0)
        if part is Part.INPUT:
            # What makes batches fast makes the start of an epoch fast, too: its buffers fill with the same work.
            gone += self.parts.get(Part.EPOCHS, 0.0)
        if part is Part.OVERHEAD:
            # A larger batch also divides what each batch of the input costs however small it is.
            gone += self.parts.get(Part.INPUT, 0.0)
        return gone

    @property
    def total_steps(self) -> int | None:
        """Of the whole training, as the script asks for it; None where that is not known."""
        return self.epochs * self.steps_per_epoch if self.epochs and self.steps_per_epoch else None

    @property
    def training_seconds(self) -> float | None:
        """Of the whole training; None where its steps are not known."""
        return None if self.total_steps is None else self.seconds * self.total_steps

    @property
    def ranked(self) -> list[Part]:
        """The parts that take time, longest first."""
        return sorted(self.parts, key=lambda part: -self.parts[part])


def step_of(run: Run, used: Sequence[Span] = (), without_input: float | None = None) -> Step:
    """The step that a run with ``Plan.parts`` measured; the run has told something of a training.

    Args:
        run: which ended well.
        used: lines that the training uses, as :func:`kerascheck.runtime.verify.compare.used_lines` gives them.
        without_input: seconds of a step in another run, which was fed one batch again and again; None where there was
        none.
    """
    end = run.told
    facts = end["facts"]
    measured = [block for block in run.blocks if block.get("phase") is None]
    replayed = [block for block in run.blocks if block.get("phase") == "replayed"]
    inner = _mean(measured, facts) if measured else _mean_of(end["durations"])
    between = _between_epochs(end, facts, inner, run.blocks)
    if measured and _runs_ahead(facts):
        inner = max(0.0, inner - between)
    unknown: list[str] = []
    parts = _parts(end, facts, inner, replayed, without_input, unknown)
    epochs, length = _asked(facts)
    parts[Part.BETWEEN_EPOCHS] = min(between, _called_back_between(facts))
    # The start of the first epoch is part of the start.
    parts[Part.EPOCHS] = (between - parts[Part.BETWEEN_EPOCHS]) * ((epochs - 1) / epochs if epochs else 1.0)
    parts[Part.VALIDATION] = _validation(facts, unknown)
    start = facts.get("start") or {}
    if epochs and length and "seconds" in start:
        parts[Part.START] = max(0.0, start["seconds"] - inner) / (epochs * length)
    whole = (Part.BETWEEN_EPOCHS, Part.EPOCHS, Part.VALIDATION, Part.START)
    seconds = inner + sum(parts.get(part, 0.0) for part in whole)
    busy = [block["others"] for block in measured if block.get("others") is not None]
    if not measured and facts.get("others_meanwhile") is not None:
        busy = [facts["others_meanwhile"]]
    return Step(
        kind=end["kind"],
        seconds=seconds,
        parts={part: value for part, value in parts.items() if value > 0},
        place=_place(end["stack"]),
        used=used,
        stages=stages(facts),
        input_lines=_input_lines(facts, end["stack"]),
        main_lines={**_main_lines(facts), Part.INSIDE: _inside_lines(facts, end["stack"])},
        first_step_seconds=end.get("first_step_at"),
        start_seconds=start.get("seconds"),
        start_lines=_start_lines(start, end["stack"]),
        epochs=epochs,
        batch_size=facts.get("batch_size"),
        steps_per_epoch=length,
        new_traces=facts.get("new_traces") or 0,
        busy_others=statistics.fmean(busy) if busy else None,
        load_changed=_load_changed(busy, replayed, facts),
        gpus=tuple(facts.get("gpus") or ()),
        backend=_backend(facts),
        facts=facts,
        unknown=unknown,
    )


def _asked(facts: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """How many epochs the script asks ``fit`` for, and how many steps an epoch has; None where that is not known."""
    asked, lengths = facts.get("asked") or {}, facts.get("epoch_lengths") or [None]
    return None if facts.get("fit_in_loop") else asked.get("epochs"), lengths[0] or asked.get("steps_per_epoch")


def _load_changed(busy: Sequence[float], replayed: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> bool:
    later = [block["others"] for block in replayed if block.get("others") is not None]
    later += [facts["others_without_input"]] if facts.get("others_without_input") is not None else []
    return bool(busy and later) and abs(statistics.fmean(busy) - statistics.fmean(later)) > _SAME_LOAD


def _runs_ahead(facts: Mapping[str, Any]) -> bool:
    """Whether steps return before the device has computed them: what follows an epoch then waits for all of its steps.

    The child waits for every step while it samples (``Parts.waits``), and there only.
    """
    return not _backend(facts).startswith("tensorflow")


def _mean(blocks: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> float:
    """Seconds per step, without the steps that begin an epoch where they can be told apart."""
    if _runs_ahead(facts):
        return _per_step(blocks)
    return _inner(blocks)


def _inner(blocks: Sequence[Mapping[str, Any]]) -> float:
    inner = sum(block["inner_steps"] for block in blocks)
    return float(sum(block["inner_seconds"] for block in blocks) / inner) if inner else _per_step(blocks)


def _per_step(blocks: Sequence[Mapping[str, Any]]) -> float:
    return float(sum(block["seconds"] for block in blocks) / sum(block["steps"] for block in blocks))


def _mean_of(durations: Sequence[Sequence[Any]]) -> float:
    """Of the steps before the first block; those that begin an epoch are left out where there are others."""
    inner = [each for each in durations if not each[2]] or durations
    return sum(seconds for seconds, _, _ in inner) / sum(steps for _, steps, _ in inner) if inner else 1e-3


def _parts(
    end: Mapping[str, Any],
    facts: Mapping[str, Any],
    seconds: float,
    replayed: Sequence[Mapping[str, Any]],
    without_input: float | None,
    unknown: list[str],
) -> dict[Part, float]:
    if end["kind"] == PREDICTION:
        return {Part.PREDICT: seconds}
    counted = facts.get("parts") or {}
    parts: dict[Part, float] = {}
    parts[Part.CALLBACKS] = min(counted.get("callbacks", 0.0), seconds)
    if facts.get("fit_in_loop"):
        parts |= _between_fits(counted, seconds)
    if without_input is not None:
        waiting = max(0.0, seconds - without_input)
    else:
        waiting = _waiting(end["kind"], facts, counted, seconds, replayed, unknown)
    # No step waits for a batch longer than the pipeline takes for it, even where the step takes processors from the
    # pipeline.
    parts[Part.INPUT] = min(waiting, _SLOWED_BY_STEP * facts.get("alone_seconds_per_batch", math.inf))
    parts[Part.TRACING] = min(counted.get("tracing", 0.0), seconds - parts[Part.INPUT])
    parts[Part.PYTHON] = parts.get(Part.PYTHON, 0.0) + _python(end["kind"], facts, counted, seconds, parts)
    rest = max(0.0, seconds - sum(parts.values()))
    parts[Part.INSIDE] = rest * min(1.0, sum(line.share for line in _inside_lines(facts, end["stack"])))
    rest -= parts[Part.INSIDE]
    parts[Part.COMPILE] = min(rest, _compiling(facts))
    rest -= parts[Part.COMPILE]
    parts[Part.UNEXPLAINED] = _unexplained(facts, counted, seconds, rest, parts)
    rest -= parts[Part.UNEXPLAINED]
    if end["kind"] == "fit" and unknown and not _is_switched(facts):
        # What it waits for its data is in there.
        return parts | {Part.UNEXPLAINED: parts[Part.UNEXPLAINED] + rest}
    return parts | _rest(end["kind"], facts, rest)


def _between_fits(counted: Mapping[str, float], seconds: float) -> dict[Part, float]:
    """What lies around the step where the script calls ``fit`` in a loop: all of it was timed."""
    fit = min(seconds, counted.get("fit", 0.0))
    predict = min(seconds - fit, counted.get("predict", 0.0))
    return {
        Part.FIT: max(0.0, fit - counted.get("call", 0.0) - counted.get("callbacks", 0.0)),
        Part.PREDICT: predict,
        Part.PYTHON: seconds - fit - predict,
    }


def _compiling(facts: Mapping[str, Any]) -> float:
    """Seconds of a step that go to compiling for shapes that were not seen before, each measured."""
    compiled = facts.get("compiled") or {}
    of_jax = compiled.get("seconds", 0.0) / max(1, facts.get("measured_steps") or 1)
    return float(of_jax + (facts.get("new_shapes") or {}).get("seconds", 0.0))


def _unexplained(
    facts: Mapping[str, Any], counted: Mapping[str, float], seconds: float, rest: float, parts: Mapping[Part, float]
) -> float:
    """What a call of the step takes longer than on one batch that is fed again, and neither waiting nor compiling is."""
    if "call_seconds_without_input" not in facts or _is_switched(facts):
        return 0.0
    around = max(0.0, seconds - counted.get("call", 0.0) - sum(parts.get(part, 0.0) for part in _AROUND))
    longer = rest - around - float(facts["call_seconds_without_input"]) - parts[Part.INSIDE]
    return longer if longer > _UNEXPLAINED * seconds else 0.0


def _waiting(
    kind: str,
    facts: Mapping[str, Any],
    counted: Mapping[str, float],
    seconds: float,
    replayed: Sequence[Mapping[str, Any]],
    unknown: list[str],
) -> float:
    """How much shorter a step is on one batch that is fed again and again."""
    if "call_seconds_without_input" in facts:
        without = float(facts["call_seconds_without_input"])
        return max(0.0, min(seconds, counted["call"] - counted.get("tracing", 0.0) - without))
    if sum(block["steps"] for block in replayed) >= _FEWEST_REPLAYED:
        # A loop of the script's own waits in no other place than where it asks for its next batch.
        return min(max(0.0, seconds - _mean(replayed, facts)), counted.get("next") or seconds)
    if counted.get("next"):
        return min(seconds, counted["next"])
    if kind == "fit":
        unknown.append(facts.get("without_input_failed") or "how long a step takes without its input")
    return 0.0


def _python(
    kind: str, facts: Mapping[str, Any], counted: Mapping[str, float], seconds: float, parts: Mapping[Part, float]
) -> float:
    """The script's own Python between the calls of a compiled step; for ``fit``, and for eager loops, there is none to
    be told apart."""
    hand_written_torch = kind in _EAGER_KINDS and _backend(facts) == "torch"
    if not (kind in ("function loop", "train_on_batch loop") or hand_written_torch) or not counted.get("call"):
        return 0.0
    return max(0.0, seconds - counted["call"] - max(counted.get("next", 0.0), parts[Part.INPUT]))


def _rest(kind: str, facts: Mapping[str, Any], rest: float) -> dict[Part, float]:
    """What is left of a step, parted into computing and what a step costs however small it is."""
    if _backend(facts) != "torch" and (kind in _EAGER_KINDS or _is_switched(facts)):  # PyTorch runs so as a rule
        return {Part.EAGER: rest}
    if "times_as_long" not in facts:
        return {Part.STEP: rest}
    # A step takes a fixed time and a time for each row: two sizes of the batch tell them apart.
    rows = rest * max(0.0, min(1.0, (facts["times_as_long"] - 1) / (facts["times_larger"] - 1)))
    return _known_costs(facts, {Part.COMPUTE: rows, Part.OVERHEAD: rest - rows})


def _known_costs(facts: Mapping[str, Any], parts: dict[Part, float]) -> dict[Part, float]:
    """Take out of computing and of the fixed cost what was measured by itself."""
    costs = {
        # Tables cost the same however many rows a batch has, texts cost by the row.
        Part.TABLES: (sum(each[-1] for each in facts.get("whole_tables") or ()), (Part.OVERHEAD, Part.COMPUTE)),
        Part.LOOKUP: (sum(each[-1] for each in facts.get("lookup_layers") or ()), (Part.COMPUTE, Part.OVERHEAD)),
    }
    for part, (seconds, sources) in costs.items():
        for source in sources:
            taken = min(parts[source], seconds)
            parts[source] -= taken
            seconds -= taken
            parts[part] = parts.get(part, 0.0) + taken
    return parts


def _is_switched(facts: Mapping[str, Any]) -> bool:
    """Whether compiled functions run eagerly by a switch."""
    return bool(facts.get("run_eagerly") or facts.get("functions_run_eagerly"))


def _backend(facts: Mapping[str, Any]) -> str:
    return str(facts.get("backend", "tensorflow"))


def _between_epochs(
    end: Mapping[str, Any], facts: Mapping[str, Any], seconds: float, blocks: Sequence[Mapping[str, Any]]
) -> float:
    """What begins an epoch, spread over its steps; the very first step is not among them."""
    waited = ("sampled",) if _runs_ahead(facts) else ("sampled", None)
    later = [
        _start(block) for block in blocks if block.get("phase") in waited and 0 < block["inner_steps"] < block["steps"]
    ]
    early = (
        []
        if _runs_ahead(facts)
        else [duration - steps * seconds for duration, steps, begins in end["durations"] if begins]
    )
    starts = [*early, *later]
    length = (facts.get("epoch_lengths") or [0])[0]
    if len(starts) < _FEWEST_STARTS or not length:
        return 0.0
    # The second epoch may compile once more, and a busy machine may make any of them long: not the longer of two.
    extra = statistics.median_low(starts)
    return extra / length if extra > max(_SHORTEST_BOUNDARY, 2 * seconds) else 0.0


def _called_back_between(facts: Mapping[str, Any]) -> float:
    """What callbacks do between epochs, spread over the steps of an epoch."""
    seconds, length = facts.get("callbacks_between_epochs"), (facts.get("epoch_lengths") or [0])[0]
    return statistics.median_low(seconds) / length if seconds and length else 0.0


def _validation(facts: Mapping[str, Any], unknown: list[str]) -> float:
    """What the validations of fit take, spread over the steps of all epochs."""
    found, lengths = facts.get("validation") or {}, facts.get("epoch_lengths") or []
    if not found.get("calls") or not lengths:
        return 0.0
    if found["seconds"] is None:
        unknown.append("how long a validation takes")
        return 0.0
    if not found.get("whole"):
        unknown.append("how many batches a validation reads: it was stopped after 5 s")
    share = min(1.0, found["calls"] / len(lengths))
    every = (facts.get("asked") or {}).get("validation_freq")
    return float(found["seconds"] * (1 / every if isinstance(every, int) else share) / lengths[0])


def _start(block: Mapping[str, Any]) -> float:
    """Seconds that a step of a block takes longer for beginning an epoch."""
    begun = block["steps"] - block["inner_steps"]
    return float((block["seconds"] - block["inner_seconds"]) / begun - _inner([block]))


_KINDS = {
    "input": Part.INPUT,
    "tracing": Part.TRACING,
    "callback": Part.CALLBACKS,
    "between epochs": Part.BETWEEN_EPOCHS,
    "python": Part.PYTHON,
    "executing": Part.COMPUTE,
}


def _main_lines(facts: Mapping[str, Any]) -> dict[Part, list[HotLine]]:
    samples = facts.get("samples") or {}
    looks = max(1, samples.get("looks", 0))
    found: dict[Part, list[list[Any]]] = {}
    for kind, path, line, function, library, count in samples.get("main", ()):
        if path is not None:
            found.setdefault(_KINDS[kind], []).append([path, line, function, library, count])
    return {part: _merged(seen, looks) for part, seen in found.items()}


def _merged(seen: Sequence[Sequence[Any]], looks: int) -> list[HotLine]:
    """One for each line of the script, or function of a library, busiest first."""
    counts: dict[tuple[Any, ...], int] = {}
    libraries: dict[tuple[Any, ...], Counter[str | None]] = {}
    for path, line, function, library, count in seen:
        key = (path, line or 0, function) if path else ("", 0, function, library)
        counts[key] = counts.get(key, 0) + count
        libraries.setdefault(key, Counter())[library] += count
    lines = [
        HotLine(key[0], key[1], key[2], libraries[key].most_common(1)[0][0], count / looks)
        for key, count in counts.items()
    ]
    return sorted(lines, key=lambda line: -line.share)


def _input_lines(facts: Mapping[str, Any], stack: Sequence[Sequence[Any]]) -> list[HotLine]:
    """Lines of the script that other threads ran, and that the main thread ran while it was asking for data."""
    samples = facts.get("samples") or {}
    looks = max(1, samples.get("looks", 0))
    place = _place(stack)
    inside = {(line.path, line.function) for line in _inside_lines(facts, stack)}
    seen = [[*rest] for rest in samples.get("others", ()) if (rest[0], rest[2]) not in inside]
    for kind, path, line, function, library, count in samples.get("main", ()):
        # A loop that waits in TensorFlow for its next element runs no Python.
        if kind == "input" and ((path, line) != place or library != "tensorflow"):
            seen.append([path, line, function, library, count])
    return _merged(seen, looks)


def _start_lines(start: Mapping[str, Any], stack: Sequence[Sequence[Any]]) -> list[HotLine]:
    """Lines of the script that ran before the first step had ended, but for the call of ``fit`` itself."""
    place = _place(stack)
    seen = [[*rest] for _, *rest in start.get("main") or () if rest[0] is not None and (rest[0], rest[1]) != place]
    return _merged(seen, max(1, start.get("looks", 0)))


def _inside_lines(facts: Mapping[str, Any], stack: Sequence[Sequence[Any]]) -> list[HotLine]:
    """Lines of the script that ran during steps on one and the same batch: TensorFlow calls them from inside the step."""
    samples = facts.get("inside") or {}
    if _is_switched(facts):  # the whole step is Python
        return []
    place = _place(stack)
    seen = [[*rest] for rest in samples.get("others", ()) if rest[0] is not None]
    seen += [[*rest] for _, *rest in samples.get("main", ()) if rest[0] is not None and (rest[0], rest[1]) != place]
    return _merged(seen, max(1, samples.get("looks", 0)))


def _place(stack: Sequence[Sequence[Any]]) -> tuple[str, int] | None:
    return (stack[0][0], stack[0][1]) if stack else None
