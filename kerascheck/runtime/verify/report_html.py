"""Report of a verification as one HTML page that needs no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kerascheck.report.html import change, escape, lines, page, table
from kerascheck.runtime.verify import gpu, gpu_chart
from kerascheck.runtime.verify.analysis import Analysis, relative, title, typical, where
from kerascheck.runtime.verify.findings import place_of
from kerascheck.runtime.verify.report_text import METHOD, NOTHING_TO_COMPARE, details_of, pointless, ranked
from kerascheck.runtime.verify.result import Verification
from kerascheck.runtime.verify.stats import percentiles
from kerascheck.runtime.verify.verdict import Status, Verdict

_BINS = 64

_STYLE = """
.confirmed { color: var(--good); } .slower { color: var(--bad); } .changes-results { color: var(--warn); }
.no-effect, .inconclusive { color: var(--soft); }
"""


def render(result: Verification) -> str:
    """Render the page. All text from the script or its path is escaped."""
    return page(f"{relative(result.comparison.script)}: what each repair is worth", _body(result), _STYLE)


def _body(result: Verification) -> Iterator[str]:
    comparison = result.comparison
    yield f"<h1>{escape(relative(comparison.script))}</h1>"
    yield f'<p class="soft"><code>{escape(result.command)}</code></p>'
    if comparison.failure:
        yield f'<div class="card"><p class="status not-run">not run</p><p>{escape(comparison.failure)}</p></div>'
        if comparison.scout.output:
            yield f"<pre>{lines(comparison.scout.output.splitlines())}</pre>"
        return
    yield f"<p>{_summary(comparison.verdicts)}</p>"
    yield "<h2>Verdicts</h2>"
    if not comparison.verdicts:
        yield f'<p class="soft">{NOTHING_TO_COMPARE}</p>'
    for verdict in ranked(result):
        yield from _verdict(verdict, result)
    if observations := result.observations:
        yield "<h2>Findings without a fix, and what was seen there</h2>"
        yield table(
            (f"{each.finding.code} {each.finding.name}", place_of(each.finding), each.seen) for each in observations
        )
    if others := result.not_about_speed:
        yield f'<p class="soft">Not about speed, so not measured: {escape(", ".join(f"{f.code} {place_of(f)}" for f in others))}</p>'
    for analysis in comparison.analyses:
        yield f"<h2>Where the time goes: {escape(title(analysis, several=result.has_several_trainings))}</h2>"
        yield from _analysis(analysis)
    if result.gpu:
        yield "<h2>GPU</h2>" + "".join(f"<p>{escape(line)}</p>" for line in gpu.lines(result.gpu))
        for device in result.gpu.devices:
            if device.used:
                yield from gpu_chart.over_time(device)
    yield "<h2>About these runs</h2>"
    if comparison.notes:
        yield "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in comparison.notes) + "</ul>"
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    place = f" on {result.machine.on}" if result.machine.on else ""
    yield (
        f'<p class="soft">{escape(versions)} on {result.machine.cores} cores {escape(result.machine.processor)}{escape(place)}; '
        f"{comparison.seconds:.0f} s. {METHOD if any(v.ratio for v in comparison.verdicts) else ''}</p>"
    )


def _summary(verdicts: Sequence[Verdict]) -> str:
    counts = [(status, sum(v.status is status for v in verdicts)) for status in Status]
    return ", ".join(
        f'<span class="{_class(status)}">{count} {status.value}</span>' for status, count in counts if count
    )


def _class(status: Status) -> str:
    return status.value.replace(" ", "-")


def _verdict(verdict: Verdict, result: Verification) -> Iterator[str]:
    yield '<section class="card">'
    ratio = ""
    if verdict.ratio is not None:
        r = verdict.ratio
        ratio = f'<span class="ratio">×{r.value:.2f}</span> <span class="soft">{r.interval.replace("-", "–")}</span>'
    yield f'<div class="head"><span class="status {_class(verdict.status)}">{verdict.status.value}</span>{ratio}</div>'
    yield f"<h3>{escape(verdict.name)}</h3>"
    yield f"<p>{escape(verdict.reason)}</p>"
    if verdict.start_seconds:
        before, after = verdict.start_seconds
        yield f'<p class="soft">{before:.1f} s → {after:.1f} s of processor time for the first steps</p>'
    if verdict.remark:
        yield f'<p class="soft">{escape(verdict.remark)}</p>'
    if result.has_several_trainings and verdict.ratio is not None and result.comparison.analyses:
        where = title(result.comparison.analyses[verdict.training], several=True)
        yield f'<p class="soft">measured in {escape(where)}</p>'
    for reason in pointless(verdict, result):
        yield f'<p class="soft">{escape(reason)}</p>'
    if verdict.ticks[0] and verdict.ticks[1]:
        yield _distributions(*verdict.ticks)
    if verdict.losses and verdict.status is Status.CHANGES_RESULTS:
        rows = zip(("losses as written", "losses repaired"), verdict.losses)
        yield table((label, " ".join(f"{loss:.6g}" for loss in series)) for label, series in rows)
    if verdict.output and verdict.status is Status.NOT_RUN:
        yield f"<pre>{lines(verdict.output.splitlines()[-20:])}</pre>"
    repair = result.repairs.get(verdict.name)
    if repair is not None:
        yield from _diff(repair.variant.sources, result)
    yield "</section>"


def _distributions(before: Sequence[float], after: Sequence[float]) -> str:
    """Two histograms of step times over one axis, from zero, cut at the slowest 2 %."""
    top = max(percentiles(before, [0.98])[0], percentiles(after, [0.98])[0]) * 1.05
    parts = ['<figure role="group" aria-label="Distribution of step times">']
    for name, series, label in (("before", before, "as written"), ("after", after, "repaired")):
        counts = [0] * _BINS
        for value in series:
            if value < top:
                counts[int(value / top * _BINS)] += 1
        largest = max(counts) or 1
        bars = "".join(
            f'<rect class="{name}" x="{index}.05" y="{1 - count / largest:.3f}" width=".9" height="{count / largest:.3f}"/>'
            for index, count in enumerate(counts)
            if count
        )
        median = typical([percentiles(series, [0.5])[0]])
        parts.append(f'<figcaption><span class="key {name}"></span>{label}: median {median}</figcaption>')
        parts.append(f'<svg viewBox="0 0 {_BINS} 1" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>')
    ticks = "".join(f"<span>{typical([top * share]) if share else 0}</span>" for share in (0, 0.5, 1))
    return "".join(parts) + f'<div class="axis">{ticks}</div></figure>'


def _analysis(analysis: Analysis) -> Iterator[str]:
    yield '<section class="card">'
    yield f"<p><strong>{typical([analysis.step_seconds])}</strong> per {analysis.unit}</p>"
    if analysis.input_bound is not None and analysis.ceiling_seconds is not None:
        yield (
            f"<p>Waiting for data: {analysis.input_bound:.0%} of a step. With one cached batch a step takes "
            f"{typical([analysis.ceiling_seconds])}: a fix of the input can win ×{analysis.largest_input_gain:.2f} at most.</p>"
        )
        yield f'<div class="meter wait"><span style="width:{analysis.input_bound:.1%}"></span></div>'
    if analysis.stages:
        yield '<p class="soft">The input pipeline as it runs, from the source to the training:</p><ol class="stages">'
        for stage in reversed(analysis.stages):
            place = escape(where(stage, analysis))
            yield (
                f'<li><strong>{escape(stage.name)}</strong><div class="meter"><span style="width:{stage.share:.1%}"></span></div>'
                f'{stage.share:.0%} <span class="soft">{place}</span></li>'
            )
        yield "</ol>"
    yield table((part,) for part in details_of(analysis))
    for missing in analysis.missing:
        yield f'<p class="soft">Not measured: {escape(missing)}</p>'
    yield "</section>"


def _diff(sources: Mapping[str, str], result: Verification) -> Iterator[str]:
    for path, text in sources.items():
        source = result.linted.sources.get(path)
        if source is not None:
            yield change(relative(path), source.text, text)
