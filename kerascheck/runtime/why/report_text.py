"""Report of ``why`` on a terminal, in about ten lines."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kerascheck.finding import Finding
from kerascheck.report.common import count, plain
from kerascheck.runtime.verify import gpu
from kerascheck.runtime.verify.analysis import bar, relative, typical
from kerascheck.runtime.verify.report_text import printed_last
from kerascheck.runtime.why import batch_sizes, gpu_views, layers, roofline
from kerascheck.runtime.why.diagnosis import Advice, Diagnosis, second_limit
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.step import Cause, Part, Step
from kerascheck.runtime.why.wording import nothing_said, seconds_of, words_of

if TYPE_CHECKING:
    from kerascheck.runtime.verify.gpu_summary import GpuSummary
    from kerascheck.runtime.verify.step_trace import StepTrace
    from kerascheck.runtime.verify.verdict import Verdict
    from kerascheck.runtime.why.explain import WhyResult

_SHOWN_SHARE = 0.03
_MOST_PARTS = 5
_BAR = 12
_LABEL = 27
_COMPUTING = (Part.COMPUTE, Part.STEP, Part.OVERHEAD)

Style = Callable[..., str]
"""``click.style`` or a compatible function."""


def render(
    diagnosis: Diagnosis, width: int, style: Style = lambda text, **options: text, used: GpuSummary | None = None
) -> Iterator[str]:
    """Yield the report in lines of at most ``width`` columns.

    ``style`` colours words; ``used``: activity of the GPUs (``Sampler.summary``).
    """
    step = diagnosis.step
    yield ""
    yield style(_where(diagnosis), bold=True)
    headline = diagnosis.headline[0].upper() + diagnosis.headline[1:] + "."
    yield from _wrapped(headline, width)
    if diagnosis.warning is not None:
        yield from _wrapped(f"Warning: {diagnosis.warning}.", width)
    yield from _wrapped(_whole(step), width)
    yield ""
    for part in [p for p in step.ranked if step.share(p) >= _SHOWN_SHARE][:_MOST_PARTS]:
        yield _part(part, diagnosis, width, style)
    yield from _layers(diagnosis, width)
    for line in gpu.lines(used) if used and step.gpus else ():
        yield from _wrapped(plain(line), width, "  ")
    yield ""
    for number, advice in enumerate(diagnosis.advice[:2]):
        label = "The limit" if advice.is_fact else ("Do first", "Then")[number]
        yield from _advice(label, advice, diagnosis.lines, width, style)
    if not diagnosis.advice:
        yield from _wrapped(nothing_said(step), width)
    elif (limit := second_limit(diagnosis)) is not None and len(diagnosis.advice) < 2:
        yield from _wrapped(f"Next limit: {limit.value} ({step.share(limit):.0%} of a step today).", width)
    yield from _counted("Matters little here: ", diagnosis.little, width)
    yield from _counted("In code that this training does not run: ", diagnosis.elsewhere, width)
    for remark in diagnosis.remarks:
        yield from _wrapped(f"Note: {remark}.", width)
    yield from batch_sizes.lines(step, width)


def _where(diagnosis: Diagnosis) -> str:
    step = diagnosis.step
    place = f"{diagnosis.lines.shown(*step.place)}: " if step.place else ""
    batch = f" of {step.batch_size} rows" if step.batch_size else ""
    on = f" on {step.gpus[0]}" if step.gpus else " on the CPU"
    unit = "call" if Part.PREDICT in step.parts else "step"
    return f"{place}{typical([step.seconds])} per {unit}{batch} ({step.kind}, {step.backend}){on}"


_WHOLE = {
    Part.START: "the start",
    Part.EPOCHS: "starts of epochs",
    Part.VALIDATION: "validation",
    Part.BETWEEN_EPOCHS: "callbacks between epochs",
}


def _whole(step: Step) -> str:
    """Duration of the whole training and of its parts; empty if unknown."""
    total = step.total_steps
    if total is None or step.epochs is None:
        return ""
    around = [(name, step.parts.get(part, 0.0) * total) for part, name in _WHOLE.items()]
    steps = step.seconds * total - sum(seconds for _, seconds in around)
    parts = [(f"{total:,} step{'s' * (total != 1)}", steps), *around]
    shown = [
        f"{seconds_of(seconds)} for {name}"
        for name, seconds in sorted(parts, key=lambda each: -each[1])
        if seconds >= 0.05
    ]
    asked = f"{count(step.epochs, 'epoch')} of {step.steps_per_epoch:,} step{'s' * (step.steps_per_epoch != 1)}"
    return f"All of it, {asked}, takes about {seconds_of(step.training_seconds)}: {', '.join(shown)}."


def _part(part: Part, diagnosis: Diagnosis, width: int, style: Style) -> str:
    share, cause = diagnosis.step.share(part), diagnosis.causes.get(part)
    text = f"  {part.value:<{_LABEL}}{style(bar(share, _BAR), fg='cyan')} {share:4.0%}  "
    room = width - (2 + _LABEL + _BAR + 7)
    return text + _shortened(_of(cause, diagnosis.lines), room) if cause is not None else text.rstrip()


def _layers(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    """The layers that compute longest on a line, then the directions."""
    trace = diagnosis.step.facts.step_trace
    if trace is None or not any(diagnosis.step.share(part) >= _SHOWN_SHARE for part in _COMPUTING):
        return
    if trace.rows:
        yield _operations(trace, diagnosis.lines, width)
        yield from _wrapped(layers.by_direction(trace), width, "  ")
    for line in gpu_views.lines(trace):
        yield _shortened(f"  {line}", width)
    for sentence in roofline.sentences(diagnosis.step):
        yield from _wrapped(f"{sentence}.", width, "  ")


def _operations(trace: StepTrace, lines: Lines, width: int) -> str:
    text = "  Operations: "
    for each in layers.by_row(trace, lines):
        more = f"{'' if text.endswith(': ') else ', '}{each}"
        if len(text + more) > width:
            break
        text += more
    return text


def _of(cause: Cause, lines: Lines) -> str:
    place = lines.shown(*cause.place) if cause.place else ""
    return f"{place}  {cause.what if cause.python or cause.computes else words_of(cause.what)}".strip()


def _shortened(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(0, room - 1)] + "…"


def _advice(label: str, advice: Advice, lines: Lines, width: int, style: Style) -> Iterator[str]:
    yield f"{label}: " + style(_shortened(_head(advice, lines), width - len(label) - 2), bold=True)
    yield from _wrapped(_sentence(advice.text), width, "  ")
    gain = " ".join(filter(None, (_gain(advice), _others(advice))))
    if gain:
        yield from _wrapped(gain, width, "  ")


def _head(advice: Advice, lines: Lines) -> str:
    if advice.part is None:
        return lines.shown(*advice.place) if advice.place is not None else "this machine"
    if advice.leads:
        finding = advice.findings[0]
        return f"{finding.code} {finding.name}, {_place(finding)}"
    return _of(advice.cause, lines) if advice.cause is not None else advice.part.value


def _sentence(text: str) -> str:
    first = text.split(" ", 1)[0]
    return (text[:1].upper() + text[1:] if first.isalpha() else text) + "." * (not text.endswith("."))


def _gain(advice: Advice) -> str:
    """Upper bound of the gain, which is not a promise."""
    largest, least = advice.largest_gain, advice.least_bound
    if largest is None:
        return ""
    # With a larger batch there are fewer but longer steps.
    what = "Epochs" if advice.part is Part.OVERHEAD else "Steps"
    if least is not None:
        most = f"{largest:.1f}" if largest < 10 else "10 or more"
        return f"{what} can become at most {least:.1f} to {most} times faster by this: other programs hide how much."
    return (
        f"{what} can become at most {largest:.1f} times faster by this."
        if largest < 10
        else f"{what} could become more than 10 times faster: hardly anything else takes time."
    )


def _others(advice: Advice) -> str:
    more = [f"{finding.code} {finding.name} ({_place(finding)})" for finding in advice.findings[advice.leads :][:2]]
    return f"Also about this: {', '.join(more)}." if more else ""


def _place(finding: Finding) -> str:
    place = finding.location
    cell = ":" if place.cell_number is None else f" cell {place.cell_number}:"
    return f"{relative(place.path)}{cell}{place.line}"


def _counted(label: str, findings: Sequence[Finding], width: int) -> Iterator[str]:
    if not findings:
        return
    codes = list(dict.fromkeys(finding.code for finding in findings))
    shown = [
        f"{code} {next(f.name for f in findings if f.code == code)} "
        f"({', '.join(_place(f).rpartition('/')[2] for f in findings if f.code == code)})"
        for code in codes[:4]
    ]
    more = f" and {len(codes) - 4} more" if len(codes) > 4 else ""
    yield from _wrapped(label + ", ".join(shown) + more + ".", width)


def _wrapped(text: str, width: int, indent: str = "") -> Iterator[str]:
    yield from textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent or "  ", break_on_hyphens=False
    )


def failed(answer: WhyResult, style: Style) -> Iterator[str]:
    """Explain why there is no diagnosis, and show the last output of the script."""
    yield style("not run", fg="magenta", bold=True) + f"  {plain(answer.failure or '')}"
    yield from printed_last(answer.run.output)


def provable(diagnosis: Diagnosis) -> Finding | None:
    """The first recommended finding that has a fix."""
    leading = (advice.findings[0] for advice in diagnosis.advice if advice.leads)
    return next((finding for finding in leading if finding.fix is not None), None)


def next_command(diagnosis: Diagnosis, script: str, arguments: Sequence[str], proving: bool) -> Iterator[str]:
    """The command to run next."""
    finding = provable(diagnosis)
    if finding is None or proving:
        return
    rest = ["--", *arguments] if arguments else []
    yield ""
    yield f"Measure before/after with {finding.code} {finding.name}: " + shlex.join(
        ["kerascheck", "why", script, "--prove", *rest]
    )


def proof(verdict: Verdict, style: Style) -> Iterator[str]:
    """The outcome of measuring one finding's fix."""
    yield ""
    ratio = f" {verdict.ratio}" if verdict.ratio else ""
    yield style(f"{verdict.status.value}{ratio}", bold=True) + f"  {plain(verdict.name)}"
    yield f"  {plain(verdict.reason)}"
    if verdict.step_seconds:
        yield f"  {typical([verdict.step_seconds[0]])} -> {typical([verdict.step_seconds[1]])} per step"
