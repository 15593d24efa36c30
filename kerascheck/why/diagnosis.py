"""From the parts of a step and the linter's findings to an answer: what the limit is, and what to do first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kerascheck.finding import Finding, Severity
from kerascheck.verify.analysis import Stage
from kerascheck.why.concerns import CONCERNS
from kerascheck.verify.uses import Span
from kerascheck.why.lines import Lines
from kerascheck.why.step import HotLine, Part, Step

_LIMIT = 0.15
"""Share of a step from which a part is worth a recommendation."""
_LITTLE = 0.05
"""Share below which what is about a part matters little here."""
_BUSY = 0.2
_WORTH_NAMING = 0.2
"""Of the time that a step waits, the share that a stage must take to be its cause."""
_SLOW_PYTHON = 0.2
"""Share of the time that Python must run for the data, to be the cause of waiting for it."""


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


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about a part."""

    part: Part
    largest_gain: float | None
    """How many times faster steps are at most when the part takes no time; None where no bound is known."""
    text: str
    """In the imperative where there is something to do."""
    findings: Sequence[Finding] = ()
    """Of the linter, about this part, those at the cause's place first."""
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer."""

    step: Step
    headline: str
    causes: Mapping[Part, Cause]
    advice: Sequence[Advice]
    """What to do first, then next."""
    little: Sequence[Finding] = ()
    """Findings about parts that take hardly any time in this run."""
    elsewhere: Sequence[Finding] = ()
    """Findings about speed in code that this training does not run."""
    remarks: Sequence[str] = field(default=())
    """What limits the truth of all this."""
    lines: Lines = field(default_factory=lambda: Lines({}))
    """Of the files of the script."""


def diagnose(
    step: Step,
    findings: Sequence[Finding],
    lines: Lines,
    machine_problems: Sequence[tuple[str, str]] = (),
    *,
    several: bool = False,
) -> Diagnosis:
    """The answer for one training.

    Args:
        step: what was measured.
        findings: of the linter, on the script and its own modules.
        lines: of the script and its own modules.
        machine_problems: (what is wrong, what to do), such as a GPU that TensorFlow does not see: they come first.
        several: whether the script has other trainings, too.
    """
    about_speed = [finding for finding in findings if finding.code in CONCERNS]
    here = [finding for finding in about_speed if _concerns(lines.spans(finding), step)]
    causes = {part: cause for part in step.ranked if (cause := _cause(step, part, lines)) is not None}
    advice = [Advice(Part.COMPUTE, None, f"{what}: {todo}") for what, todo in machine_problems]
    for part in step.ranked:
        if step.share(part) >= _LIMIT:
            told = {id(finding) for one in advice for finding in one.findings}
            mine = [finding for finding in here if id(finding) not in told and part in CONCERNS[finding.code]]
            made = _advise(step, part, causes.get(part), mine, lines)
            if made is not None:
                advice.append(made)
    if len(advice) > len(machine_problems) + 1:
        # What can be done comes alone; that the device computes is worth a word where there is nothing else.
        known_only = [one for one in advice[len(machine_problems) :] if one.part is Part.COMPUTE and not one.findings]
        advice = [one for one in advice if one not in known_only]
    taken = {id(finding) for one in advice for finding in one.findings}
    little = [f for f in here if id(f) not in taken and all(step.share(part) < _LIMIT for part in CONCERNS[f.code])]
    elsewhere = [finding for finding in about_speed if finding not in here]
    return Diagnosis(step, _headline(step), causes, advice, little, elsewhere, list(_remarks(step, lines, several)), lines)


def _concerns(spans: Sequence[Span], step: Step) -> bool:
    """Whether a finding stands in lines that the training uses."""
    return any(where == other and first <= end and begin <= last for where, first, last in spans for other, begin, end in step.used)


def _cause(step: Step, part: Part, lines: Lines) -> Cause | None:
    if part is Part.INPUT:
        return _input_cause(step, lines)
    hot = [line for line in step.main_lines.get(part, ()) if (line.path, line.line) != step.place or part is Part.PYTHON]
    if not hot or part in (Part.OVERHEAD, Part.COMPUTE):
        return None
    total = sum(line.share for line in hot)
    return _of_line(hot[0], hot[0].share / total if total else 0.0, lines)


def _input_cause(step: Step, lines: Lines) -> Cause | None:
    """The slowest stage of the pipeline, or, where Python feeds it, the busiest line of that Python."""
    hot = [line for line in step.input_lines if (line.path, line.line) != step.place or line.library]
    busy = sum(line.share for line in hot)
    own = [line for line in hot if line.path]
    slowest = max(step.stages, key=lambda stage: stage.share, default=None)
    feeds = slowest is None or any(name in slowest.name for name in ("Generator", "PyFunc", "FlatMap")) or busy > _SLOW_PYTHON
    if feeds and hot and busy > _SLOW_PYTHON:
        best = (own or hot)[0]
        return _of_line(best, best.share / busy, lines)
    if slowest is None or slowest.seconds_per_batch < _WORTH_NAMING * step.parts[Part.INPUT]:
        return None
    path, line = slowest.place or step.place or (None, None)
    return Cause(slowest.name, path, line, slowest.share)


def _of_line(line: HotLine, share: float, lines: Lines) -> Cause:
    if not line.path:
        return Cause(f"{line.function} ({line.library})", None, None, share)
    return Cause(lines.text(line.path, line.line) or line.function, line.path, line.line, share, python=True)


def _at(finding: Finding, cause: Cause | None, lines: Lines) -> bool:
    """Whether the finding is about the very place of the cause."""
    if cause is None or cause.path is None:
        return False
    return any(path == cause.path and first <= cause.line <= last for path, first, last in lines.spans(finding))


def _advise(step: Step, part: Part, cause: Cause | None, mine: list[Finding], lines: Lines) -> Advice | None:
    gain = step.largest_gain(part)
    mine.sort(key=lambda f: (not _at(f, cause, lines), -f.severity, f.fix is None, f.location.line))
    if part is Part.COMPUTE and not step.gpus:
        # What a GPU would gain by it, this processor does not.
        mine = [finding for finding in mine if finding.severity > Severity.INFO]
    if mine:
        first = mine[0]
        text = first.fix.message if first.fix is not None else first.message
        return Advice(part, gain, text, mine, cause)
    text = _without_finding(step, part, cause)
    return None if text is None else Advice(part, gain, text, (), cause)


def _without_finding(step: Step, part: Part, cause: Cause | None) -> str | None:
    """What to say of a part that no rule has a finding about."""
    share = f"{step.share(part):.0%}"
    if part is Part.INPUT:
        if cause is not None and cause.python:
            return f"{cause.share:.0%} of the input's Python time is at this line of yours; no rule covers it. Make it faster, or cache() its results"
        if cause is not None:
            stage = next((stage for stage in step.stages if stage.name == cause.what), None)
            parallel = ", and runs in parallel already" if stage is not None and stage.parallelism > 1 else ""
            return f"{cause.what} is the slowest stage{parallel}; cache() its results, or do less work in it"
        return "its stages take little time themselves: end the dataset in prefetch(tf.data.AUTOTUNE) if it does not yet"
    if part is Part.PYTHON:
        return f"{share} of a step is Python between the calls of the compiled step; move it into the tf.function or the input pipeline"
    if part is Part.CALLBACKS:
        return f"{share} of a step is in callbacks; let them do less, or run once an epoch"
    if part is Part.EAGER and step.kind in ("fit", "train_on_batch loop"):
        return "remove run_eagerly=True from compile(), and tf.config.run_functions_eagerly(True)"
    if part is Part.EAGER:
        return "put the step into a function decorated with @tf.function"
    if part is Part.TRACING:
        return f"{step.new_traces} graphs were traced while steps ran; call the tf.function with tensors of the same shapes"
    if part is Part.OVERHEAD:
        return _about_overhead(step)
    if part is Part.EPOCHS:
        return "the first step of every epoch waits: a shuffle buffer fills, or the data starts again; train fewer, longer epochs or add prefetch"
    if part is Part.PREDICT:
        return "call the model itself, or predict once for all rows"
    return _about_computing(step)


def _about_overhead(step: Step) -> str:
    batch = f"a batch of {step.batch_size}" if step.batch_size else "the batch"
    device = "the GPU" if step.gpus else "the device"
    text = f"{batch} is too small to keep {device} busy: "
    if step.kind != "fit":
        return text + "train on larger batches"
    return text + "raise batch_size, or pass steps_per_execution=16 to compile()"


def _about_computing(step: Step) -> str:
    if step.gpus:
        return "the GPU computes most of the time: a smaller model, mixed precision or a faster GPU is what can help"
    return "the processor computes most of the time: a GPU is what can help"


def _headline(step: Step) -> str:
    limit = next((part for part in step.ranked if step.share(part) >= _LIMIT), None)
    if limit is None:
        return "no part of a step stands out"
    if limit is Part.INPUT:
        return f"a step waits for data {step.share(Part.INPUT):.0%} of its time"
    waiting = step.largest_gain(Part.INPUT) - 1
    little = f"at most {waiting:.0%}" if waiting >= 0.01 else "less than 1%"
    not_input = f"; the input is not the limit: a data fix wins {little}" if waiting < 0.1 and step.stages else ""
    words = {
        Part.TRACING: f"a step spends {step.share(limit):.0%} of its time tracing graphs again",
        Part.CALLBACKS: f"callbacks take {step.share(limit):.0%} of a step",
        Part.PYTHON: f"your own Python between the steps takes {step.share(limit):.0%} of the time",
        Part.EAGER: f"the step runs eagerly: {step.share(limit):.0%} of its time goes to operations run one by one",
        Part.OVERHEAD: f"{step.share(limit):.0%} of a step is a fixed cost, however small the batch",
        Part.COMPUTE: f"the {'GPU' if step.gpus else 'processor'} computes {step.share(limit):.0%} of a step",
        Part.EPOCHS: f"the start of each epoch costs {step.share(limit):.0%} as much as its steps",
        Part.PREDICT: "the script spends its time in calls of predict",
    }
    return words[limit] + not_input


def _remarks(step: Step, lines: Lines, several: bool) -> Iterator[str]:
    if several:
        yield "the script trains in several places, and this is about one of them: --training 2 looks at the second"
    if lines.commands():
        yield f"{lines.commands()} lines for IPython or the shell were not executed"
    if step.load_changed:
        yield "the load of this machine changed during the run, so shares are off: run it again when the machine is quiet"
    elif step.busy_others is not None and step.busy_others > _BUSY:
        yield f"other programs used {step.busy_others:.0%} of this machine meanwhile: shares may be off; run it again when the machine is quiet"
    if not step.gpus:
        yield "no GPU was used: on a GPU computing takes less, and everything else a larger share"
    for what in step.unknown:
        yield f"not measured: {what}"


def second_limit(diagnosis: Diagnosis) -> Part | None:
    """What the limit is once the first part is gone."""
    if not diagnosis.advice:
        return None
    first = diagnosis.advice[0].part
    return next((part for part in diagnosis.step.ranked if part is not first and diagnosis.step.share(part) >= _LITTLE), None)


def stage_place(stage: Stage, step: Step) -> tuple[str, int] | None:
    """The line of the script that a stage comes from; for stages that TensorFlow added, the line that trains."""
    return stage.place or step.place


def as_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """Everything, in types that JSON knows; ``version`` 1."""
    step = diagnosis.step
    return {
        "version": 1,
        "kind": step.kind,
        "place": _json_place(step.place),
        "headline": diagnosis.headline,
        "step_seconds": step.seconds,
        "first_step_seconds": step.first_step_seconds,
        "batch_size": step.batch_size,
        "steps_per_epoch": step.steps_per_epoch,
        "backend": step.backend,
        "gpus": list(step.gpus),
        "parts": [_json_part(part, diagnosis) for part in step.ranked],
        "advice": [_json_advice(advice) for advice in diagnosis.advice],
        "stages": [
            {"name": s.name, "share": s.share, "seconds_per_batch": s.seconds_per_batch, "parallelism": s.parallelism,
             "place": _json_place(stage_place(s, step)), "added_by_tensorflow": s.place is None}
            for s in step.stages
        ],
        "python": [
            {"path": line.path, "line": line.line, "function": line.function, "library": line.library, "share": line.share}
            for line in step.input_lines[:10]
        ],
        "matters_little": [_json_finding(finding) for finding in diagnosis.little],
        "elsewhere": [_json_finding(finding) for finding in diagnosis.elsewhere],
        "remarks": list(diagnosis.remarks),
        "timeline": step.facts.get("timeline"),
    }  # fmt: skip


def _json_place(place: tuple[str, int] | None) -> dict[str, Any] | None:
    return place and {"path": place[0], "line": place[1]}


def _json_part(part: Part, diagnosis: Diagnosis) -> dict[str, Any]:
    step, cause = diagnosis.step, diagnosis.causes.get(part)
    return {
        "part": part.name.lower(),
        "text": part.value,
        "seconds": step.parts[part],
        "share": step.share(part),
        "largest_gain": step.largest_gain(part),
        "cause": cause and {"what": cause.what, "path": cause.path, "line": cause.line, "share": cause.share},
    }


def _json_advice(advice: Advice) -> dict[str, Any]:
    return {
        "part": advice.part.name.lower(),
        "text": advice.text,
        "largest_gain": advice.largest_gain,
        "findings": [_json_finding(finding) for finding in advice.findings],
    }


def _json_finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code, "name": finding.name, "path": finding.location.path, "line": finding.location.line,
        "cell": finding.location.cell, "cell_number": finding.location.cell_number, "message": finding.message,
        "fixable": finding.fix is not None,
    }  # fmt: skip
