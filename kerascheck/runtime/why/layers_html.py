"""The operations of a step by layer: a flame graph, the longest layers with their lines, and a roofline."""

from __future__ import annotations

from collections.abc import Iterator

from kerascheck.report.html import escape, lines
from kerascheck.runtime.verify.peaks import Peaks
from kerascheck.runtime.verify.step_trace import StepTrace
from kerascheck.runtime.why import flame_graph, gpu_views, layers, roofline_chart
from kerascheck.runtime.why.html_parts import bar_row, percent, source_line, times
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.wording import seconds_of

_MOST_LAYERS = 12

STYLE = flame_graph.STYLE + roofline_chart.STYLE


def html(trace: StepTrace, known: Lines, peaks: Peaks | None) -> Iterator[str]:
    """The sections about layers.

    Args:
        peaks: the most that the hardware can do; None if unknown.
    """
    yield "<h2>The operations of a step, by layer</h2>"
    yield from flame_graph.html(trace, known)
    yield from _longest(trace, known)
    whole = "the time of all operations" if trace.busy_share is None else "the time of a step"
    traced = (
        " on one batch, which the framework's profiler traced; tracing and reading took "
        f"{seconds_of(trace.overhead_seconds)}"
        if trace.overhead_seconds
        else " of the profile"
    )
    yield (
        f'<p class="soft">{escape(layers.by_direction(trace))}. Shares are of {whole} in {trace.steps} steps{traced}. '
        f"{percent(trace.fused_share)} of the time is in operations that XLA fused from several layers.</p>"
    )
    if trace.gpus:
        yield f"<h2>The GPUs' own view</h2><pre>{lines(list(gpu_views.lines(trace)))}</pre>"
    yield from roofline_chart.html(trace, peaks)


def _longest(trace: StepTrace, known: Lines) -> Iterator[str]:
    """The layers, the loss, the metrics and the optimizer, by the time of their operations."""
    yield '<section class="card"><ol class="bars">'
    before = None
    for row in trace.rows[:_MOST_LAYERS]:
        text = f"<p><strong>{escape(layers.label(row))}</strong> <span class='soft'>{times(row)}</span></p>"
        if row.place is not None:
            text += f'<p class="soft"><code>{escape(known.shown(*row.place))}</code></p>'
            text += source_line(known, *row.place) if row.place != before else ""
        before = row.place
        yield bar_row(trace.of_step(trace.share(row)), "compute", text)
    yield "</ol></section>"
