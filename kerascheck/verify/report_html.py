"""The report of a verification as one HTML page that needs no network."""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kerascheck.verify import gpu
from kerascheck.verify.analysis import Analysis, relative, title, typical
from kerascheck.verify.compare import Status, Verdict
from kerascheck.verify.findings import place_of
from kerascheck.verify.report_text import METHOD, NOTHING_TO_COMPARE, details_of, plain, pointless, ranked
from kerascheck.verify.result import Verification
from kerascheck.verify.stats import percentiles

_BINS = 64

_STYLE = """
:root { color-scheme: light dark; --page: #fbfaf7; --card: #fff; --ink: #1d2330; --soft: #5c6575; --line: #dfe1e6;
  --before: #b4572b; --after: #1f6f8b; --good: #1a7f47; --bad: #b3261e; --warn: #8a6100; --add: #e3f4e8; --del: #fbe5e1; }
@media (prefers-color-scheme: dark) { :root { --page: #14171d; --card: #1c2129; --ink: #e7e9ee; --soft: #a2abba;
  --line: #343b47; --before: #f0986b; --after: #6cc0dc; --good: #63cf90; --bad: #ff8a80; --warn: #e6b957;
  --add: #17352180; --del: #4a201c80; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
p { margin: .35rem 0; }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 0 0 1rem; }
.head { display: flex; flex-wrap: wrap; gap: .25rem .9rem; align-items: baseline; }
.status { font-weight: 700; }
.confirmed { color: var(--good); } .slower, .not-run { color: var(--bad); } .changes-results { color: var(--warn); }
.no-effect, .inconclusive { color: var(--soft); }
.ratio { font-size: 1.4rem; font-weight: 700; font-variant-numeric: tabular-nums; }
figure { margin: .75rem 0 0; } figcaption { margin-top: .4rem; } figcaption, .axis { font-size: .85rem; color: var(--soft); }
svg { display: block; width: 100%; height: 3.5rem; border-bottom: 1px solid var(--line); }
.before { fill: var(--before); background: var(--before); } .after { fill: var(--after); background: var(--after); }
.axis { display: flex; justify-content: space-between; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: .2em; margin-right: .35em; }
.stages { display: flex; flex-wrap: wrap; gap: .5rem; list-style: none; margin: .75rem 0; padding: 0; }
.stages li { flex: 1 1 9rem; border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .6rem; overflow-wrap: anywhere; }
.meter { height: .5rem; border-radius: .25rem; background: var(--line); margin: .35rem 0; }
.meter span { display: block; height: 100%; border-radius: .25rem; background: var(--after); }
.meter.wait span { background: var(--before); }
pre { overflow-x: auto; margin: .75rem 0 0; padding: .6rem 0; border: 1px solid var(--line); border-radius: .4rem; }
pre span { display: block; padding: 0 .75rem; min-width: max-content; white-space: pre; }
pre .add { background: var(--add); } pre .del { background: var(--del); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.scroll { overflow-x: auto; }
"""


def render(result: Verification) -> str:
    """The page. All that comes from the script or its path is escaped."""
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(relative(result.comparison.script))}: what each repair is worth</title>",
            f"<style>{_STYLE}</style></head><body><main>",
            *_body(result),
            "</main></body></html>",
        )
    )


def escape(text: str) -> str:
    """``text`` as HTML that shows it, without characters that steer."""
    return html.escape(plain(text))


def _body(result: Verification) -> Iterator[str]:
    comparison = result.comparison
    yield f"<h1>{escape(relative(comparison.script))}</h1>"
    yield f'<p class="soft"><code>{escape(result.command)}</code></p>'
    if comparison.failure:
        yield f'<div class="card"><p class="status not-run">not run</p><p>{escape(comparison.failure)}</p></div>'
        if comparison.scout.output:
            yield f"<pre>{_lines(comparison.scout.output.splitlines())}</pre>"
        return
    yield f"<p>{_summary(comparison.verdicts)}</p>"
    yield "<h2>Verdicts</h2>"
    if not comparison.verdicts:
        yield f'<p class="soft">{NOTHING_TO_COMPARE}</p>'
    for verdict in ranked(result):
        yield from _verdict(verdict, result)
    if observations := result.observations:
        yield "<h2>Findings without a fix, and what was seen there</h2>"
        yield _table((f"{each.finding.code} {each.finding.name}", place_of(each.finding), each.seen) for each in observations)
    if others := result.not_about_speed:
        yield f'<p class="soft">Not about speed, so not measured: {escape(", ".join(f"{f.code} {place_of(f)}" for f in others))}</p>'
    for analysis in comparison.analyses:
        yield f"<h2>Where the time goes: {escape(title(analysis, several=result.has_several_trainings))}</h2>"
        yield from _analysis(analysis)
    if result.gpu:
        yield "<h2>GPU</h2>" + "".join(f"<p>{escape(line)}</p>" for line in gpu.lines(result.gpu))
        for device in result.gpu["devices"]:
            if device["used"]:
                yield from _over_time(device)
    yield "<h2>About these runs</h2>"
    if comparison.notes:
        yield "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in comparison.notes) + "</ul>"
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    place = f" on {result.machine['on']}" if result.machine.get("on") else ""
    yield (
        f'<p class="soft">{escape(versions)} on {result.machine["cores"]} cores {escape(str(result.machine["processor"]))}{escape(place)}; '
        f"{comparison.seconds:.0f} s. {METHOD if any(v.ratio for v in comparison.verdicts) else ''}</p>"
    )


def _over_time(device: Mapping[str, Any]) -> Iterator[str]:
    """How busy a GPU was, and how full its memory, from the first sample to the last."""
    seconds, total = device["time"]["seconds"], device["memory_total_bytes"]
    memory = [used / total if used is not None and total else None for used in device["time"]["memory_bytes"]]
    length = max(seconds[-1] - seconds[0], 1.0)
    paths = []
    for shares, color in ((device["time"]["utilisation"], "after"), (memory, "before")):
        points = [f"{1000 * (at - seconds[0]) / length:.1f},{100 - 100 * share:.1f}" for at, share in zip(seconds, shares) if share is not None]
        if points:
            paths.append(f'<polyline fill="none" stroke="var(--{color})" stroke-width="2" vector-effect="non-scaling-stroke" points="{" ".join(points)}"/>')
    if paths:
        yield (
            f'<figure><svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="GPU {device["index"]} over time">'
            f"{''.join(paths)}</svg><figcaption>GPU {device['index']} over {length:.0f} s, from 0 to 100 %: "
            '<span style="color: var(--after)">busy</span>, <span style="color: var(--before)">memory in use</span></figcaption></figure>'
        )


def _summary(verdicts: Sequence[Verdict]) -> str:
    counts = [(status, sum(v.status is status for v in verdicts)) for status in Status]
    return ", ".join(f'<span class="{_class(status)}">{count} {status.value}</span>' for status, count in counts if count)


def _class(status: Status) -> str:
    return status.value.replace(" ", "-")


def _verdict(verdict: Verdict, result: Verification) -> Iterator[str]:
    yield '<section class="card">'
    ratio = ""
    if verdict.ratio is not None:
        r = verdict.ratio
        ratio = f'<span class="ratio">×{r.value:.2f}</span> <span class="soft">[{r.low:.2f}–{r.high:.2f}]</span>'
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
        yield _table((label, " ".join(f"{loss:.6g}" for loss in series)) for label, series in rows)
    if verdict.output and verdict.status is Status.NOT_RUN:
        yield f"<pre>{_lines(verdict.output.splitlines()[-20:])}</pre>"
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
    if analysis.input_bound is not None:
        yield (
            f"<p>Waiting for data: {analysis.input_bound:.0%} of a step. With one cached batch a step takes "
            f"{typical([analysis.ceiling_seconds])}: a fix of the input can win ×{analysis.largest_input_gain:.2f} at most.</p>"
        )
        yield f'<div class="meter wait"><span style="width:{analysis.input_bound:.1%}"></span></div>'
    if analysis.stages:
        yield '<p class="soft">The input pipeline as it runs, from the source to the training:</p><ol class="stages">'
        for stage in reversed(analysis.stages):
            place = f"{escape(relative(stage.place[0]))}:{stage.place[1]}" if stage.place else "added by TensorFlow"
            yield (
                f'<li><strong>{escape(stage.name)}</strong><div class="meter"><span style="width:{stage.share:.1%}"></span></div>'
                f'{stage.share:.0%} <span class="soft">{place}</span></li>'
            )
        yield "</ol>"
    yield _table((part,) for part in details_of(analysis.facts))
    for missing in analysis.missing:
        yield f'<p class="soft">Not measured: {escape(missing)}</p>'
    yield "</section>"


def _diff(sources, result: Verification) -> Iterator[str]:
    for path, text in sources.items():
        source = result.linted.sources.get(path)
        if source is None:
            continue
        name = relative(path)
        lines = list(difflib.unified_diff(source.text.splitlines(), text.splitlines(), name, name, lineterm="", n=2))
        if lines:
            yield f"<pre>{_lines(lines[2:], diff=True)}</pre>"


def _lines(lines: Sequence[str], diff: bool = False) -> str:
    kinds = {"+": ' class="add"', "-": ' class="del"', "@": ' class="soft"'} if diff else {}
    return "".join(f"<span{kinds.get(line[:1], '')}>{escape(line) or ' '}</span>" for line in lines)


def _table(rows) -> str:
    cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return '<div class="scroll"><table>' + "".join(f"<tr>{row}</tr>" for row in cells) + "</table></div>"
