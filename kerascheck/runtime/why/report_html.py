"""Report of ``why`` as one HTML page that needs no network."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kerascheck.finding import Applicability, Finding
from kerascheck.report.common import option
from kerascheck.report.html import change, escape, lines, page
from kerascheck.runtime.verify import gpu, gpu_chart
from kerascheck.runtime.verify.analysis import Stage, relative, typical
from kerascheck.runtime.verify.result import FRAMEWORKS
from kerascheck.runtime.why import batch_sizes, layers_html, roofline
from kerascheck.runtime.why.diagnosis import Advice, Diagnosis, second_limit
from kerascheck.runtime.why.html_parts import bar_row, duration, percent, source_line
from kerascheck.runtime.why.step import Cause, HotLine, Part, Step
from kerascheck.runtime.why.wording import nothing_said, seconds_of

if TYPE_CHECKING:
    from kerascheck.runtime.verify.gpu_summary import GpuSummary
    from kerascheck.runtime.verify.verdict import Verdict
    from kerascheck.runtime.why.explain import WhyResult
    from kerascheck.runtime.why.lines import Lines

_MOST_LINES = 8
_RARE = 0.005
"""Minimum share of the samples for a line to be listed."""
_EXPLAINED = 0.03
"""Minimum share of a step for a part's cause to be shown."""
_CONTEXT = 2
_OF_PYTHON = "the Python of this part"
_OF_STAGES = {False: "the time of all stages", True: "the time that steps wait for stages"}
"""By whether the steps are recorded."""
_HIT = ' class="hit"'
_LAST_PRINTED = 20
_FEWEST_STEPS, _SHORTEST_SECONDS = 12, 0.3
"""Minimum steps and seconds that the timeline shows."""
_HIDES_WAITING = frozenset({"fit", "graph loop"})
"""Trainings whose compiled step reads its own data in TensorFlow. From outside, waiting looks like computing."""

_STYLE = """
:root { --input: #b4572b; --tracing: #b3406e; --callbacks: #5a8f3c; --between_epochs: #3c8f62; --validation: #9a4f9e; --python: #a67c00; --inside: #6f7d1c; --eager: #8c5a3c; --overhead: #7d62a8;
  --compute: #1f6f8b; --step: #2f7f9b; --epochs: #4a63b5; --predict: #3d8f86; --start: #6b5bb0; --fit: #a0653f; --compile: #a3355c;
  --lookup: #5f7f2f; --tables: #8a6a2c; --unexplained: #8a94a6; --unclear: #8a94a6; --hit: #f5ead0; }
@media (prefers-color-scheme: dark) { :root { --input: #f0986b; --tracing: #f08cb4; --callbacks: #9fd07a; --between_epochs: #7ad0a4; --validation: #d79adb; --python: #e6c157;
  --inside: #c3cf72; --eager: #cfa07a; --overhead: #b9a2e0; --compute: #6cc0dc; --step: #86cfe4; --epochs: #90a7f0; --predict: #74cfc4; --start: #a99cf0; --fit: #e0a884;
  --compile: #f08aae; --lookup: #b5d17a; --tables: #dcc07e; --unexplained: #7d8798; --unclear: #7d8798; --hit: #3a3420; } }
header h1 { font-size: 1.7rem; margin: .25rem 0 .75rem; }
.numbers { display: flex; flex-wrap: wrap; gap: .25rem 2rem; margin: 0; }
.numbers div { min-width: 6rem; } .numbers dt { font-size: .85rem; color: var(--soft); } .numbers dd { margin: 0; font-size: 1.15rem; font-weight: 700; }
.notes { margin: 1rem 0 0; padding: 0 0 0 1.1rem; color: var(--soft); font-size: .9rem; }
.stack { display: flex; gap: 2px; height: 2rem; border-radius: .4rem; overflow: hidden; background: var(--line); }
.stack span { min-width: 2px; }
.parts, .bars { list-style: none; margin: 0; padding: 0; }
.parts li { padding: .75rem 0 0; } .parts .head { flex-wrap: nowrap; } .parts .head strong { flex: 1 1 auto; } .parts .head span { font-variant-numeric: tabular-nums; white-space: nowrap; }
.parts .note { margin-left: 1.15rem; } .parts pre { margin: .4rem 0 0 1.15rem; }
.bars li { display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: 0 1rem; padding: .5rem 0; border-top: 1px solid var(--line); }
.bars li:first-child { border-top: 0; } .bars .meter { margin: .15rem 0 0; } .bars p { margin: 0; overflow-wrap: anywhere; }
.bars .line { overflow-wrap: anywhere; white-space: pre-wrap; }
pre i { display: inline-block; min-width: 2.2em; padding-right: .8em; text-align: right; color: var(--soft); font-style: normal; user-select: none; }
pre .hit { background: var(--hit); }
.number { font-weight: 700; color: var(--soft); } .head + h3 { margin-top: .5rem; }
details { margin: .75rem 0 0; } summary { cursor: pointer; } details h3 { margin-top: .9rem; }
.timeline { height: 4.5rem; border: 0; } .timeline .even { fill: var(--line); } .timeline .odd { fill: var(--soft); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; list-style: none; margin: .5rem 0 0; padding: 0; font-size: .85rem; color: var(--soft); }
.sizes { border-collapse: collapse; } .sizes td, .sizes th { padding: .2rem .9rem .2rem 0; text-align: right; } .sizes tr.knee { font-weight: 700; }
.places { list-style: none; margin: 0; padding: 0; } .places li { padding: .35rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.places li:first-child { border-top: 0; }
@media (max-width: 36rem) { .bars li { grid-template-columns: 1fr; } .bars .meter { max-width: 12rem; } header h1 { font-size: 1.4rem; } }
""" + "".join(
    f".{name}, .meter span.{name} {{ fill: var(--{name}); background: var(--{name}); }}\n"
    for name in [*(part.name.lower() for part in Part), "unclear"]
)


def render(answer: WhyResult, used: GpuSummary | None, proofs: Sequence[Verdict] = ()) -> str:
    """Render the page. All text from the script, its path or its output is escaped.

    Args:
        answer: the result of ``why``.
        used: activity of the GPUs during the run.
        proofs: measured gains of the first recommendation.
    """
    body = _failed(answer) if answer.diagnosis is None else _body(answer, answer.diagnosis, used, proofs)
    return page(f"{relative(answer.linted.script)}: why its training is slow", body, _STYLE + layers_html.STYLE)


def _failed(answer: WhyResult) -> Iterator[str]:
    yield f"<h1>{escape(relative(answer.linted.script))}</h1>"
    yield f'<div class="card"><p class="status not-run">not run</p><p>{escape(answer.failure or "")}</p></div>'
    printed = answer.run.output.strip().splitlines()[-_LAST_PRINTED:]
    if printed:
        yield f'<p class="soft">It printed last:</p><pre>{lines(printed)}</pre>'


def _body(
    answer: WhyResult,
    diagnosis: Diagnosis,
    used: GpuSummary | None,
    proofs: Sequence[Verdict],
) -> Iterator[str]:
    step = diagnosis.step
    yield from _header(answer, diagnosis)
    yield "<h2>Where a step goes</h2>"
    yield from _parts(diagnosis)
    yield "<h2>What to do first</h2>"
    yield from _recommendations(answer, diagnosis)
    for verdict in proofs:
        yield from _proof(verdict)
    if step.stages:
        yield "<h2>The input pipeline, from its source to the training</h2>"
        yield from _pipeline(step, diagnosis.lines)
    if step.facts.step_trace is not None:
        yield from layers_html.html(step.facts.step_trace, diagnosis.lines, roofline.peaks_of(step))
    yield from _busiest(step, diagnosis.lines)
    yield from _timeline(step)
    if used is not None:
        yield from _gpus(used)
    yield from batch_sizes.html(step)
    yield from _listed(
        "Matters little here", "Findings about parts that take hardly any time in this run.", diagnosis.little
    )
    yield from _listed(
        "Not run by this training", "Findings in code that this training does not reach.", diagnosis.elsewhere
    )
    yield "<h2>About this run</h2>"
    yield f'<p class="soft">{escape(_environment(step))}</p>'


def _proof(verdict: Verdict) -> Iterator[str]:
    """The measured gain of the first recommendation."""
    yield "<h2>Measured</h2>"
    sentences = [verdict.name, verdict.reason]
    if verdict.ratio is not None:
        sentences.append(f"{verdict.ratio.value:.2f} times as fast {verdict.ratio.interval}")
    if verdict.step_seconds is not None:
        sentences.append(
            f"{typical([verdict.step_seconds[0]])} per step as written, {typical([verdict.step_seconds[1]])} repaired"
        )
    status = verdict.status.value
    yield f'<div class="card"><p class="status {status.replace(" ", "-")}">{escape(status)}</p>'
    yield f"<p>{escape('. '.join(sentences))}</p></div>"


def _sentence(text: str) -> str:
    # A name of the program, such as "map()", stays as it is.
    is_name = any(character in text.split(" ", 1)[0] for character in "(._")
    return _ended(text if is_name else text[:1].upper() + text[1:])


def _ended(text: str) -> str:
    return escape(text + "." * (not text.endswith((".", "!", "?"))))


def _header(answer: WhyResult, diagnosis: Diagnosis) -> Iterator[str]:
    step = diagnosis.step
    place = diagnosis.lines.shown(*step.place) if step.place else relative(answer.linted.script)
    where = (
        f"on {step.gpus[0]}" + f" and {len(step.gpus) - 1} more" * (len(step.gpus) > 1) if step.gpus else "on the CPU"
    )
    run = f"{step.kind} · {step.backend} · {where}"
    yield f'<header><p class="soft"><code>{escape(place)}</code> · {escape(run)}</p>'
    yield f"<h1>{_sentence(diagnosis.headline)}</h1>"
    numbers = [(f"per {'call' if Part.PREDICT in step.parts else 'step'}", typical([step.seconds]))]
    if step.training_seconds:
        numbers.append(("the whole training, about", seconds_of(step.training_seconds)))
    numbers += [("rows in a batch", str(step.batch_size))] if step.batch_size else []
    numbers += [("steps in an epoch", str(step.steps_per_epoch))] if step.steps_per_epoch else []
    numbers += (
        [("until the first step was done", typical([step.first_step_seconds]))] if step.first_step_seconds else []
    )
    yield (
        '<dl class="numbers">'
        + "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in numbers)
        + "</dl>"
    )
    if diagnosis.warning is not None:
        yield f'<p class="notes">{_sentence(diagnosis.warning)}</p>'
    if diagnosis.remarks:
        yield '<ul class="notes">' + "".join(f"<li>{_sentence(remark)}</li>" for remark in diagnosis.remarks) + "</ul>"
    yield "</header>"


def _parts(diagnosis: Diagnosis) -> Iterator[str]:
    step = diagnosis.step
    yield '<section class="card"><div class="stack" role="img" aria-label="The parts of a step">'
    for part in step.ranked:
        yield f'<span class="{part.name.lower()}" style="width:{step.share(part):.2%}" title="{part.value}: {percent(step.share(part))}"></span>'
    yield '</div><ul class="parts">'
    for part in step.ranked:
        yield (
            f'<li><div class="head"><strong><span class="key {part.name.lower()}"></span>{part.value}</strong>'
            f'<span class="soft">{duration(step.parts[part])}</span><span>{percent(step.share(part))}</span></div>'
        )
        cause = diagnosis.causes.get(part)
        if cause is not None and step.share(part) >= _EXPLAINED:
            yield from _cause(cause, diagnosis.lines, _OF_STAGES[step.recorded])
        yield "</li>"
    yield "</ul></section>"


def _cause(cause: Cause, known: Lines, of_stages: str) -> Iterator[str]:
    what = "" if cause.python and cause.path else f"{escape(cause.what)}, "
    place = f"<code>{escape(known.shown(*cause.place))}</code>, " if cause.place else ""
    of = "the operations of a step" if cause.computes else _OF_PYTHON if cause.python else of_stages
    yield f'<p class="note">{what}{place}<span class="soft">{percent(cause.share)} of {of}</span></p>'
    if cause.place:
        yield _excerpt(known, *cause.place)


def _excerpt(known: Lines, path: str, line: int) -> str:
    """The line with two lines around it; empty if the file does not belong to the script."""
    around = known.around(path, line, _CONTEXT)
    while around and not around[0][1].strip():
        around.pop(0)
    while around and not around[-1][1].strip():
        around.pop()
    text = "".join(f"<span{_HIT if hit else ''}><i>{number}</i>{escape(text)}</span>" for number, text, hit in around)
    return f"<pre>{text}</pre>" if text else ""


def _recommendations(answer: WhyResult, diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.advice:
        yield f'<section class="card"><p>{escape(nothing_said(diagnosis.step))}</p></section>'
    for number, advice in enumerate(diagnosis.advice, 1):
        yield '<section class="card">'
        yield from _advice(number, advice, answer, diagnosis)
        yield "</section>"
    limit = second_limit(diagnosis)
    if limit is not None and len(diagnosis.advice) < 2:
        yield f'<p class="soft">The next limit is {limit.value}: {percent(diagnosis.step.share(limit))} of a step today.</p>'


def _advice(number: int, advice: Advice, answer: WhyResult, diagnosis: Diagnosis) -> Iterator[str]:
    step = diagnosis.step
    share = step.share(advice.part) if advice.part is not None else 0.0
    about = (
        f'<span class="soft">{advice.part.value}, {percent(share)} of a step</span>' if advice.part and share else ""
    )
    yield f'<div class="head"><span class="number">{number}</span>{_gain(advice)}{about}</div>'
    if not advice.leads:
        yield f"<p>{_sentence(advice.text)}</p>"
        place = advice.cause.place if advice.cause is not None else None
        if place is not None:
            yield f'<p class="soft"><code>{escape(diagnosis.lines.shown(*place))}</code></p>{source_line(diagnosis.lines, *place)}'
    else:
        yield from _finding(advice.findings[0], answer, diagnosis.lines)
    more = advice.findings[advice.leads :]
    if more:
        yield f"<details><summary>{len(more)} more about this</summary>"
        for finding in more:
            yield from _finding(finding, answer, diagnosis.lines)
        yield "</details>"


def _gain(advice: Advice) -> str:
    largest, least = advice.largest_gain, advice.least_bound
    if largest is None:
        return ""
    words = f"at most ×{largest:.1f}" if largest < 10 else "×10 or more"
    if least is not None:
        words = f"at most ×{least:.1f} to {words.removeprefix('at most ')}"
    return f'<span>steps could become <span class="ratio">{words}</span> as fast by this</span>'


def _finding(finding: Finding, answer: WhyResult, known: Lines) -> Iterator[str]:
    path, line, _ = known.span(finding.location)
    yield f"<h3>{finding.code} {escape(finding.name)}, <code>{escape(known.shown(path, line))}</code></h3>"
    yield f"<p>{_ended(finding.message)}</p>"
    if finding.because:
        yield f'<p class="soft">{_ended(finding.because)}</p>'
    for related in finding.related:
        there, at, _ = known.span(related.location)
        yield f'<p class="soft"><code>{escape(known.shown(there, at))}</code>: {_ended(related.message)}</p>'
    diff = _diff(finding, path, answer)
    if diff and finding.fix is not None:
        yield f"<p><strong>{_ended(finding.fix.message)}</strong>{_how_to_apply(finding)}</p>{diff}"
    else:
        yield _excerpt(known, path, line)


def _how_to_apply(finding: Finding) -> str:
    given = option(finding)
    how = f" <code>kerascheck check {given}</code> does it." if given is not None else ""
    unsafe = finding.fix is not None and finding.fix.applicability is Applicability.UNSAFE
    careful = " Results may change." if unsafe else ""
    return f' <span class="soft">{how}{careful}</span>'


def _diff(finding: Finding, path: str, answer: WhyResult) -> str:
    source = answer.linted.sources.get(path)
    if finding.fix is None or source is None:
        return ""
    from kerascheck.fixes.apply import compose

    text, _ = compose(source.text, [finding.fix])
    return change(relative(path), source.text, text)


def _pipeline(step: Step, known: Lines) -> Iterator[str]:
    yield '<section class="card"><ol class="bars">'
    before = None
    for stage in reversed(step.stages):
        place = stage.place or step.place
        unplaced = "line unknown" if step.recorded else "added by TensorFlow"
        yield bar_row(stage.share, "input", _stage(stage, place, known, unplaced, repeated=place == before))
        before = place
    yield "</ol></section>"
    if step.recorded:
        yield '<p class="soft">Only stages that steps wait for; shares are of that time.</p>'
        return
    yield (
        '<p class="soft">Shares are of the time of all stages, as TensorFlow\'s own performance model of the running pipeline sees them; '
        "the time is that of one batch, divided by the parallel calls. Stages run at the same time as the training.</p>"
    )


def _stage(stage: Stage, place: tuple[str, int] | None, known: Lines, unplaced: str, *, repeated: bool) -> str:
    parallel = f", {stage.parallelism:.0f} parallel calls" if stage.parallelism >= 2 else ""
    text = f"<p><strong>{escape(stage.name)}</strong> <span class='soft'>{duration(stage.seconds_per_batch)} per batch{parallel}</span></p>"
    if place is None:
        return text + f'<p class="soft">{unplaced}</p>'
    added = "added by TensorFlow for " if stage.place is None else ""
    text += f'<p class="soft">{added}<code>{escape(known.shown(*place))}</code></p>'
    return text if repeated else text + source_line(known, *place)


def _busiest(step: Step, known: Lines) -> Iterator[str]:
    """Lines of Python with the most samples: those that prepare the data, and the others of the main thread."""
    # In fit, all time is at the line that calls it; in a loop of the script, each line is a part of the step.
    hidden = step.place if step.kind == "fit" else None
    own = [
        line
        for part, hot in step.main_lines.items()
        if part is not Part.INPUT
        for line in hot
        if (line.path, line.line) != hidden
    ]
    prepare = [line for line in step.input_lines if (line.path, line.line) != hidden]
    groups = [("Preparing data, in all threads", "input", prepare), ("The main thread, besides that", "python", own)]
    shown = [(title, kind, merged) for title, kind, hot in groups if (merged := _merged(hot))]
    if not shown:
        return
    yield "<h2>The busiest lines of Python</h2>"
    for title, kind, entries in shown:
        yield f'<section class="card"><h3>{title}</h3><ol class="bars">'
        for line, libraries, share in entries[:_MOST_LINES]:
            yield bar_row(share, kind, _hot_line(line, libraries, known))
        yield "</ol></section>"
    yield (
        '<p class="soft">Shares are of the samples that a profiler took while steps ran: how often a thread was at that line. '
        "Several threads together can exceed 100%. Other processes are not seen.</p>"
    )


def _merged(hot: Iterable[HotLine]) -> list[tuple[HotLine, list[str], float]]:
    """Merge entries of the same line, with the libraries that it called into and its share; busiest first."""
    found: dict[tuple[str, int, str], list[HotLine]] = {}
    for line in hot:
        # Without a line of the script, separate samples by library.
        found.setdefault(
            (line.path, line.line, line.function if line.path else f"{line.function} {line.library}"), []
        ).append(line)
    entries = []
    for same in found.values():
        same.sort(key=lambda line: -line.share)
        libraries = list(dict.fromkeys(line.library for line in same if line.library))
        entries.append((same[0], libraries, sum(line.share for line in same)))
    return sorted((entry for entry in entries if entry[2] >= _RARE), key=lambda entry: -entry[2])


def _hot_line(line: HotLine, libraries: Sequence[str], known: Lines) -> str:
    into = (
        f" calling {', '.join(libraries)}" if libraries and line.path else f" of {line.library}" if line.library else ""
    )
    if not line.path:
        return f'<p><code>{escape(line.function)}</code><span class="soft">{escape(into)}</span></p>'
    function = "" if line.function == "<module>" else f" in {line.function}"
    return f'<p class="soft"><code>{escape(known.shown(line.path, line.line))}</code>{escape(function + into)}</p>{source_line(known, line.path, line.line)}'


_KINDS = {
    # Activity of the main thread: colour and description.
    "executing": (Part.COMPUTE.name.lower(), "running operations or a compiled step"),
    "input": (Part.INPUT.name.lower(), "getting the next batch"),
    "tracing": (Part.TRACING.name.lower(), "tracing a graph"),
    "callback": (Part.CALLBACKS.name.lower(), "callbacks"),
    "between epochs": (Part.BETWEEN_EPOCHS.name.lower(), "callbacks between epochs"),
    "python": (Part.PYTHON.name.lower(), "other Python, yours or the framework's"),
}
_UNCLEAR = ("unclear", "inside the compiled step: computing, or waiting for its data")


def _kind(kind: str, step: Step) -> tuple[str, str]:
    in_graph = (
        step.kind in _HIDES_WAITING
        and step.backend.startswith("tensorflow")
        and not (step.facts.model is not None and step.facts.model.run_eagerly)
    )
    return _UNCLEAR if kind == "executing" and in_graph else _KINDS.get(kind, ("unclear", kind))


def _timeline(step: Step) -> Iterator[str]:
    """The main thread during the last sampled steps."""
    timeline = step.facts.timeline
    main = timeline.main
    moments = [moment for moment in timeline.steps if main and main[0].start <= moment <= main[-1].end]
    if len(moments) < 2:
        return
    length = (moments[-1] - moments[0]) / (len(moments) - 1)
    shown = moments[-1 - max(_FEWEST_STEPS, int(_SHORTEST_SECONDS / max(length, 1e-6))) :]
    begin, span = shown[0], max(shown[-1] - shown[0], 1e-9)
    segments = [
        (max(each.start, begin), min(each.end, shown[-1]), *_kind(each.kind, step))
        for each in main
        if each.end > begin and each.start < shown[-1]
    ]
    yield f"<h2>{len(shown) - 1} steps, one after the other</h2>"
    yield '<figure class="card"><svg class="timeline" viewBox="0 0 1000 60" preserveAspectRatio="none" role="img" aria-label="Timeline of the main thread">'
    for number, (a, b) in enumerate(zip(shown, shown[1:])):
        yield _block(a - begin, b - begin, span, 0, 14, "even" if number % 2 else "odd", "a step")
    for a, b, color, words in segments:
        yield _block(a - begin, b - begin, span, 20, 40, color, words)
    yield "</svg>"
    ticks = "".join(f"<span>{typical([span * share]) if share else 0}</span>" for share in (0, 0.5, 1))
    kinds = dict.fromkeys((color, words) for *_, color, words in segments)
    legend = "".join(f'<li><span class="key {color}"></span>{escape(words)}</li>' for color, words in kinds)
    yield f'<div class="axis">{ticks}</div><ul class="legend">{legend}</ul>'
    yield "<figcaption>Above, a block for each step; below, the main thread, as samples some milliseconds apart saw it.</figcaption></figure>"


def _block(start: float, end: float, span: float, top: int, height: int, color: str, words: str) -> str:
    x, width = 1000 * start / span, 1000 * (end - start) / span
    tip = escape(f"{words}, {typical([end - start])}")
    return (
        f'<rect class="{color}" x="{x:.2f}" y="{top}" width="{width:.2f}" height="{height}"><title>{tip}</title></rect>'
    )


def _gpus(used: GpuSummary) -> Iterator[str]:
    yield "<h2>GPU</h2>"
    yield "".join(f"<p>{escape(line)}</p>" for line in gpu.lines(replace(used, trouble=None)))
    if used.trouble:
        yield f"<p>Shares may be off: {_sentence(used.trouble)}</p>"
    for device in used.devices:
        if device.used or len(used.devices) == 1:
            yield '<section class="card">'
            yield from gpu_chart.over_time(device)
            yield "</section>"


def _listed(title: str, about: str, findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        return
    yield f'<h2>{title}</h2><p class="soft">{about}</p><section class="card"><ul class="places">'
    for finding in findings:
        cell = "" if finding.location.cell_number is None else f" cell {finding.location.cell_number}"
        place = f"{os.path.basename(finding.location.path)}{cell}:{finding.location.line}"
        yield f"<li><strong>{finding.code}</strong> <code>{escape(place)}</code> {_ended(finding.message)}</li>"
    yield "</ul></section>"


def _environment(step: Step) -> str:
    from kerascheck.runtime.verify.machine_class import machine

    here = machine()
    versions = ", ".join(f"{name} {step.facts.versions[name]}" for name in FRAMEWORKS if step.facts.versions.get(name))
    devices = "".join(f", {name}" for name in step.gpus)
    return f"{versions or step.backend} on {here.system}, {here.cores} cores {here.processor}{devices}."
