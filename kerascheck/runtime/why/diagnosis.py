"""Diagnosis from the parts of a step and the linter's findings: the bottleneck and the first recommendation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kerascheck.finding import Finding, Severity
from kerascheck.lint.pipeline import processors
from kerascheck.runtime.verify.analysis import Stage, keras_input
from kerascheck.runtime.verify.messages import DatasetTime, Span
from kerascheck.runtime.why import layers, roofline, wording
from kerascheck.runtime.why.concerns import (
    CONCERNS,
    DIVIDES_BY_CORES,
    HALVES,
    PYTHON_IN_PIPELINE,
    PYTHON_OF_KERAS,
    parts_of,
)
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.step import Cause, HotLine, Part, Step

_LIMIT = 0.15
"""Minimum share of a step for a part to get a recommendation."""
_LIMIT_OF_LOAD = 0.4
"""Increase of that share on a fully loaded machine, since the load of other programs looks like waiting."""
_LITTLE = 0.05
"""Minimum share of a part to be called the next limit."""
_MOST = 0.3
"""Minimum share of a part's samples in the lines of a finding."""
_WORTH_NAMING = 0.2
"""Minimum share of the waiting time for a stage to be the cause."""
_SLOW_PYTHON = 0.2
"""Minimum share of the time in Python for the data to be the cause of waiting."""
_COMPUTING = (Part.COMPUTE, Part.STEP)
_WITHOUT_PLACE = (Part.OVERHEAD, Part.UNEXPLAINED, Part.FIT, Part.LOOKUP, Part.TABLES, Part.VALIDATION)
_OF_ONE_FUNCTION = 0.25
"""Minimum share of the start's samples for a function of the script to be the cause."""


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommendation about a part of a step."""

    part: Part | None
    """None: the advice is about the machine."""
    largest_gain: float | None
    """Speed-up of steps if the part takes no time; None if no bound is known."""
    text: str
    """An imperative if there is something to do."""
    findings: Sequence[Finding] = ()
    """The linter's findings about this part; those at the cause's place come first."""
    cause: Cause | None = None
    leads: bool = False
    """Whether the first finding is the recommendation itself, not only about the same part."""
    is_fact: bool = False
    """Whether the code cannot be improved in this respect."""
    place: tuple[str, int] | None = None
    """Line in the script, for advice that is not about a part."""
    least_bound: float | None = None
    """Lower end of that bound on a quiet machine, if others disturb the run; ``largest_gain`` is the upper end."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of ``why``."""

    step: Step
    headline: str
    causes: Mapping[Part, Cause]
    advice: Sequence[Advice]
    """Most important first."""
    little: Sequence[Finding] = ()
    """Findings about parts that take negligible time in this run."""
    elsewhere: Sequence[Finding] = ()
    """Findings about speed in code that this training does not run."""
    remarks: Sequence[str] = field(default=())
    """Limits of the measurement, for display."""
    lines: Lines = field(default_factory=lambda: Lines({}))
    """Lines of the files of the script."""
    warning: str | None = None
    """A condition that affects the whole diagnosis, see :func:`kerascheck.runtime.why.wording.warning`."""


def diagnose(
    step: Step,
    findings: Sequence[Finding],
    lines: Lines,
    machine_problems: Sequence[tuple[str, str]] = (),
) -> Diagnosis:
    """Derive the diagnosis of one training.

    Args:
        step: the measured step.
        findings: the linter's findings in the script and its own modules.
        lines: lines of the script and its own modules.
        machine_problems: (problem, remedy) pairs, such as a GPU that TensorFlow does not see; they come first.
    """
    about_speed = [finding for finding in findings if finding.code in CONCERNS]
    here = [finding for finding in about_speed if _concerns(lines.spans(finding), step)]
    causes = {part: cause for part in step.ranked if (cause := _cause(step, part, lines)) is not None}
    problems = [*_of_script(step), *(Advice(None, None, f"{what}: {todo}") for what, todo in machine_problems)]
    limit = _LIMIT + (_LIMIT_OF_LOAD * (step.busy_others or 0.0) if wording.is_busy(step) else 0.0)
    candidates = _candidates(step, here, causes, lines, limit)
    advice = _ordered(candidates)
    unsaid = {one.part for one in candidates} - {one.part for one in advice}
    advice = _without_repetition(advice)
    taken = {id(finding) for one in advice for finding in one.findings}
    little = [
        finding
        for finding in here
        if id(finding) not in taken
        and all(step.share(part) < _LIMIT or part in unsaid for part in parts_of(finding.code))
    ]
    return Diagnosis(
        step,
        wording.headline(step, limit),
        causes,
        [*problems, *advice],
        little,
        [finding for finding in about_speed if finding not in here],
        list(wording.remarks(step, lines)),
        lines,
        wording.warning(step),
    )


def _candidates(
    step: Step, findings: Sequence[Finding], causes: Mapping[Part, Cause], lines: Lines, limit: float
) -> list[Advice]:
    """One advice for each part with at least the share ``limit``, longest part first; each finding is used once."""
    advice: list[Advice] = []
    for part in step.ranked:
        used = {id(finding) for one in advice for finding in one.findings}
        mine = [finding for finding in findings if id(finding) not in used and part in parts_of(finding.code)]
        if step.share(part) >= limit:
            advice.append(_advise(step, part, causes.get(part), mine, lines))
    return advice


def _ordered(advice: Sequence[Advice]) -> list[Advice]:
    """Put the fact that computing dominates first; drop other facts unless nothing else is left."""
    fact = advice[:1] if advice and advice[0].part in _COMPUTING and advice[0].is_fact else []
    return [*fact, *(one for one in advice if not one.is_fact)] or list(advice[:1])


def _without_repetition(advice: Sequence[Advice]) -> list[Advice]:
    """Drop advice about the start of epochs if steps wait for the same stage."""
    waits_for = {one.cause.place for one in advice if one.part is Part.INPUT and one.cause is not None} - {None}
    return [
        one for one in advice if one.part is not Part.EPOCHS or one.cause is None or one.cause.place not in waits_for
    ]


def _of_script(step: Step) -> list[Advice]:
    """Advice about settings of the script that lengthen every part: repeated data, and hidden GPUs."""
    found = []
    if (repeated := wording.repeated_rows(step)) is not None:
        found.append(Advice(None, None if wording.is_busy(step) else repeated[0], repeated[1], place=step.place))
    if (hidden := wording.hidden_devices(step)) is not None:
        found.append(Advice(None, None, hidden[1], place=hidden[0]))
    return found


def _concerns(spans: Sequence[Span], step: Step) -> bool:
    """Whether a finding lies in lines that the training uses."""
    return any(
        where == other and first <= end and begin <= last
        for where, first, last in spans
        for other, begin, end in step.used
    )


def _cause(step: Step, part: Part, lines: Lines) -> Cause | None:
    if part is Part.INPUT:
        return _input_cause(step, lines)
    if part is Part.EPOCHS:
        return _epoch_cause(step)
    if part is Part.START:
        return _start_cause(step, lines)
    if part is Part.PREDICT and step.facts.predictions:
        return _predict_cause(step, lines)
    if part is Part.COMPILE and step.facts.new_shapes is None:
        return _compile_cause(step)
    if part is Part.COMPILE:
        padding = next((each for each in step.stages if "Padded" in each.name or "Ragged" in each.name), None)
        return None if padding is None or padding.place is None else Cause(padding.name, *padding.place, 1.0)
    if part in _COMPUTING:
        leads = step.share(part) > step.share(Part.OVERHEAD)
        return layers.cause(step.facts.step_trace) if leads else None
    if part in _WITHOUT_PLACE:
        return None
    hot = _between_steps(step, part)
    total = sum(line.share for line in hot)
    return _of_line(hot[0], hot[0].share / total, lines) if total else None


def _compile_cause(step: Step) -> Cause | None:
    """The function that JAX or ``torch.compile`` compiled most often."""
    compiled = step.facts.compiled
    if compiled is None or not compiled.functions:
        return None
    functions = compiled.functions
    name = max(functions, key=functions.__getitem__)
    path, line = compiled.places.get(name, (None, None))
    return Cause(name, path, line, functions[name] / sum(functions.values()))


def _start_cause(step: Step, lines: Lines) -> Cause | None:
    """The function of the script with the longest tracing time, at its busiest line."""
    shares: dict[tuple[str, str], float] = {}
    for line in step.start_lines:
        shares[line.path, line.function] = shares.get((line.path, line.function), 0.0) + line.share
    if not shares:
        return None
    (path, function), share = max(shares.items(), key=lambda item: item[1])
    if share < _OF_ONE_FUNCTION:
        return None
    busiest = next(line for line in step.start_lines if (line.path, line.function) == (path, function))
    return _of_line(busiest, share, lines)


def _predict_cause(step: Step, lines: Lines) -> Cause:
    """The slowest call of ``predict``."""
    calls = step.facts.predictions
    longest = max(calls, key=lambda call: call.seconds)
    share = longest.seconds / sum(call.seconds for call in calls)
    text = lines.text(longest.path, longest.line) or "predict"
    return Cause(text, longest.path, longest.line, share, python=True)


def _between_steps(step: Step, part: Part) -> list[HotLine]:
    """The busiest lines of a part, without Keras's own work at the line that calls the step."""
    return [
        line
        for line in step.main_lines.get(part, ())
        if (line.path, line.line) != step.place or part is Part.TRACING or (part is Part.PYTHON and not line.library)
    ]


def _input_cause(step: Step, lines: Lines) -> Cause | None:
    """The slowest stage of the pipeline, or the busiest line of the Python that feeds it."""
    hot = [line for line in step.input_lines if (line.path, line.line) != step.place or line.library]
    busy = sum(line.share for line in hot)
    own = [line for line in hot if line.path and (line.path, line.line) != step.place]
    slowest = max(step.stages, key=lambda stage: stage.share, default=None)
    if hot and busy > _SLOW_PYTHON:
        libraries: dict[str, float] = {}
        for each in hot:
            name = each.library or "Python"
            libraries[name] = libraries.get(name, 0.0) + (0.0 if each.path else each.share)
        library, share = max(libraries.items(), key=lambda item: item[1])
        if own and sum(line.share for line in own) >= share:
            return _of_line(own[0], own[0].share / busy, lines)
        return Cause(f"in {library}", None, None, share / busy, python=True)
    made = _keras_cause(step)
    if made is None and (cut := step.facts.by_dataset):
        return _cut_cause(cut)
    if made is not None and made.place != step.place:
        # This Python is the only part of the waiting that belongs to the script.
        return made
    if slowest is None or slowest.seconds_per_batch < _WORTH_NAMING * step.parts[Part.INPUT]:
        return None
    if made is not None:
        return made
    path, line = slowest.near or step.place or (None, None)
    return Cause(slowest.name, path, line, slowest.share)


def _epoch_cause(step: Step) -> Cause | None:
    """The slowest stage that the first batch of an epoch waits for, even if a shuffle requests its elements."""
    stage = max(step.stages, key=lambda stage: stage.share, default=None)
    if stage is None:
        return None
    if (made := _keras_cause(step)) is not None:
        return made
    if "Shuffle" in stage.name and (cut := step.facts.by_dataset):
        # TensorFlow's model attributes the work that fills a buffer to the buffer.
        return _cut_cause(cut)
    path, line = stage_place(stage, step) or (None, None)
    return Cause(stage.name, path, line, stage.share)


def _keras_cause(step: Step) -> Cause | None:
    """The data that Keras's own pipeline reads; the user cannot change the stages of that pipeline."""
    made = keras_input(step.facts, step.place)
    if made is None:
        return None
    what, place = made
    path, line = place or (None, None)
    return Cause(what, path, line, 1.0)


def _cut_cause(cut: Sequence[DatasetTime]) -> Cause:
    """The dataset with the largest extra time over the one before it."""
    before, best = 0.0, (0.0, cut[-1])
    for dataset in cut:
        best = max(best, (dataset.seconds_per_batch - before, dataset), key=lambda each: each[0])
        before = dataset.seconds_per_batch
    return Cause(best[1].name, *best[1].place, best[0] / max(before, best[0], 1e-9))


def _of_line(line: HotLine, share: float, lines: Lines) -> Cause:
    return Cause(lines.text(line.path, line.line) or line.function, line.path, line.line, share, python=True)


def _is_at(spans: Sequence[Span], path: str, line: int) -> bool:
    return any(where == path and first <= line <= last for where, first, last in spans)


def _advise(step: Step, part: Part, cause: Cause | None, mine: list[Finding], lines: Lines) -> Advice:
    if part in _COMPUTING and not step.gpus:
        # A hint about computing may help a GPU but not this processor.
        mine = [
            finding
            for finding in mine
            if finding.severity > Severity.INFO or CONCERNS[finding.code][0] is not Part.COMPUTE
        ]
    # The loop around a finding is related to it, and contains all work of the loop.
    places = lines.own_spans if part in (Part.PYTHON, Part.INSIDE) else lines.spans
    hot = {cause.place} if cause is not None else set()
    if part is Part.EPOCHS and step.stages:
        # The problem may be the position of the buffer that is being filled.
        hot |= {stage_place(stage, step) for stage in step.stages if "Shuffle" in stage.name}
    at = {id(f) for f in mine if any(_is_at(places(f), *place) for place in hot if place)}
    seen = {id(f): _seen(f, step, part, lines) for f in mine}
    mine.sort(
        key=lambda f: (
            id(f) not in at, CONCERNS[f.code][0] is not part, -f.severity, -seen[id(f)], f.fix is None, f.location.line,
        )
    )  # fmt: skip
    if mine and _leads(mine[0], step, part, cause, id(mine[0]) in at, sum(seen.values())):
        first = mine[0]
        text = first.message
        if part is Part.LOOKUP:
            text = wording.without_finding(step, part, cause)
        if part is Part.PREDICT:
            text = f"{wording.without_finding(step, part, cause)}. Or: {text}"
        least, largest = _bounds(first, step, part)
        return Advice(part, largest, text, mine, cause, leads=True, least_bound=least)
    text = wording.without_finding(step, part, cause, covered=bool(mine))
    is_fact = part in (*_COMPUTING, Part.UNEXPLAINED) or (part in (Part.INPUT, Part.START) and cause is None)
    least, largest = (None, None) if is_fact else _bounds(None, step, part)
    return Advice(part, largest, text, mine, cause, is_fact=is_fact, least_bound=least)


def _seen(finding: Finding, step: Step, part: Part, lines: Lines) -> float:
    """Share of a part's samples in the lines of a finding."""
    hot = _between_steps(step, part)
    here = sum(line.share for line in hot if _is_at(lines.own_spans(finding), line.path, line.line))
    return here / max(1e-9, sum(line.share for line in hot))


def _leads(finding: Finding, step: Step, part: Part, cause: Cause | None, at: bool, seen: float) -> bool:
    """Whether to recommend a finding first for a part.

    False if the time is seen in other lines than those of the findings, whose share of the samples is ``seen``.
    """
    if part is Part.INPUT:
        if at or cause is None:
            return at or not step.stages
        if finding.code in PYTHON_OF_KERAS and cause.python:
            return cause.path is None
        return not cause.python or finding.code in PYTHON_IN_PIPELINE
    if finding.code in HALVES and not roofline.may_gain_in_half(step, part):
        return False
    if part is Part.EAGER:
        return CONCERNS[finding.code][0] is part
    if part is Part.EPOCHS:
        return at or part in CONCERNS[finding.code]
    if part is Part.STEP:
        return seen >= _MOST
    if part is Part.START:
        return cause is not None
    if part in (Part.VALIDATION, Part.TABLES, Part.UNEXPLAINED, Part.COMPILE):
        return False
    return part not in (Part.PYTHON, Part.INSIDE) or at or seen >= _MOST


def _bounds(finding: Finding | None, step: Step, part: Part) -> tuple[float | None, float | None]:
    """Bounds of the speed-up of steps with the finding fixed, or without the part.

    The first number is None on a quiet machine. Both are None if no bound is known, or the load changed during the run.
    """
    if step.load_changed:
        return None, None
    least, largest = None, step.largest_gain(part)
    if wording.is_busy(step) and (ends := step.gains_under_load(part)) is not None:
        least, largest = ends
    if finding is not None and finding.code in HALVES and part in _COMPUTING:
        return None, roofline.gain_in_half(step, part)
    if finding is None or finding.code not in DIVIDES_BY_CORES:
        return least, largest
    return _divided_by_cores(least), _divided_by_cores(largest)


def _divided_by_cores(gain: float | None) -> float | None:
    """The gain if a part is shared by all cores instead of removed."""
    return None if gain is None else 1 / (1 - (1 - 1 / gain) * (1 - 1 / processors()))


def second_limit(diagnosis: Diagnosis) -> Part | None:
    """The largest remaining part after the first one is removed."""
    if not diagnosis.advice:
        return None
    first = diagnosis.advice[0].part
    return next(
        (part for part in diagnosis.step.ranked if part is not first and diagnosis.step.share(part) >= _LITTLE), None
    )


def stage_place(stage: Stage, step: Step) -> tuple[str, int] | None:
    """The line of the script that creates a stage.

    For stages that TensorFlow added, it is the line of the nearest stage, or the line that trains.
    """
    return stage.near or step.place
