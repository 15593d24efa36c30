"""Roofline: how fast the layers compute, beside the most that the hardware can do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kerascheck.report.html import escape
from kerascheck.runtime.verify.peaks import Peaks
from kerascheck.runtime.verify.step_trace import OwnerTime, StepTrace
from kerascheck.runtime.why import layers
from kerascheck.runtime.why.html_parts import percent
from kerascheck.runtime.why.roofline import bytes_text, flops_text

_MOST_NAMED = 10
_WORTH_A_NUMBER = 0.005
"""Minimum share of the operations for a dot with a number, besides the longest one."""
_TOP, _HEIGHT = 40, 320
"""Pixels above the plot, and of the plot."""
_NARROW = 300
"""Pixels of the plot on a narrow screen: numbers of dots must not overlap there."""
_HOLDS_NUMBER = 7.0
"""Minimum radius in pixels of a dot with its number inside."""
_LABEL = 16
"""Pixels from the baseline of a line of text to the next."""
_SAME = 1.02
"""Ratio of two roofs up to which they are drawn as one."""

STYLE = """
.roofline { height: 400px; border: 0; overflow: visible; font-size: 12px; fill: var(--soft); }
.roofline text { paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
.roofline .grid { stroke: var(--line); } .roofline .roof { stroke: var(--before); stroke-width: 2px; } .roofline .unused { stroke-dasharray: 5 4; }
.roofline .dot { fill: var(--compute); fill-opacity: .45; stroke: var(--compute); stroke-width: 1.5px; }
.roofline .number { fill: var(--ink); } .dots { margin: .5rem 0 0; padding-left: 2rem; } .dots li { overflow-wrap: anywhere; }
"""


@dataclass(frozen=True, slots=True)
class Dot:
    """A row of the trace whose operations and bytes are known."""

    row: OwnerTime
    flops: float
    """Floating-point operations per second."""
    intensity: float
    """Floating-point operations per byte."""
    share: float
    """Share of the time of all operations, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Roof:
    """The most operations per second of one or several types."""

    types: tuple[str, ...]
    flops: float
    used: bool
    """Whether a product of the step has one of these types."""


class _Plot:
    """Logarithmic scales: per cent of the width, and pixels of the height."""

    def __init__(self, dots: Sequence[Dot], peaks: Peaks | None) -> None:
        across, up = [dot.intensity for dot in dots], [dot.flops for dot in dots]
        if peaks is not None:
            across += [flops / peaks.bytes for flops in peaks.flops.values()]
            up += list(peaks.flops.values())
        least, most = math.log10(min(across)), math.log10(max(across))
        # On the left the labels of the vertical axis need room.
        self.left, self.right = least - max(0.5, 0.4 * (most - least)), most + 0.7
        self.low, self.high = math.log10(min(up)) - 0.5, math.log10(max(up)) + 0.3

    def x(self, intensity: float) -> float:
        return 100 * (math.log10(intensity) - self.left) / (self.right - self.left)

    def y(self, flops: float) -> float:
        return _TOP + _HEIGHT * (self.high - math.log10(flops)) / (self.high - self.low)


def html(trace: StepTrace, peaks: Peaks | None) -> Iterator[str]:
    """The picture and how to read it; nothing if no row has known operations and bytes."""
    found = dots(trace)
    if not found:
        return
    plot, roofs = _Plot(found, peaks), roofs_of(peaks, found)
    named = [dot for dot in found[:_MOST_NAMED] if dot is found[0] or dot.share >= _WORTH_A_NUMBER]
    yield '<h2>What limits the operations: the roofline</h2><figure class="card">'
    yield f'<svg class="roofline" role="img" aria-label="{_alternative(found, peaks)}">'
    yield from _grid(plot)
    if peaks is not None:
        yield from _lines(plot, peaks.bytes, roofs)
    yield from _ticks(plot)
    if peaks is not None:
        yield from _roof_labels(plot, peaks.bytes, roofs)
    yield from _circles(plot, found, len(named), roofs)
    yield "</svg>"
    yield f'<ol class="dots">{"".join(_item(dot) for dot in named)}</ol>'
    yield f"<figcaption>{_how_to_read(found, peaks, roofs)}</figcaption></figure>"


def dots(trace: StepTrace) -> list[Dot]:
    """The rows whose operations and bytes are known and not zero, longest first."""
    return [
        Dot(row, row.flops / row.seconds, row.flops / row.bytes, trace.share(row))
        for row in sorted(trace.rows, key=lambda row: -row.seconds)
        if row.flops and row.bytes and row.seconds > 0
    ]


def roofs_of(peaks: Peaks | None, found: Sequence[Dot]) -> list[Roof]:
    """The roofs of computing, highest first; types with the same peak share one."""
    merged: list[Roof] = []
    for name, flops in sorted(peaks.flops.items(), key=lambda item: -item[1]) if peaks is not None else ():
        used = any(dot.row.dtype == name for dot in found)
        if merged and merged[-1].flops <= flops * _SAME:
            last = merged.pop()
            merged.append(Roof((*last.types, name), last.flops, last.used or used))
        else:
            merged.append(Roof((name,), flops, used))
    return merged


def _grid(plot: _Plot) -> Iterator[str]:
    """Lines at the powers of ten."""
    for x in map(plot.x, _powers(plot.left, plot.right)):
        yield f'<line class="grid" x1="{x:.2f}%" x2="{x:.2f}%" y1="{_TOP}" y2="{_TOP + _HEIGHT}"/>'
    for y in map(plot.y, _powers(plot.low, plot.high)):
        yield f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'


def _ticks(plot: _Plot) -> Iterator[str]:
    """Numbers with units at these lines."""
    bottom = _TOP + _HEIGHT
    for intensity in _powers(plot.left, plot.right):
        yield f'<text x="{plot.x(intensity):.2f}%" y="{bottom + 15}" text-anchor="middle">{intensity:,.4g}</text>'
    for flops in _powers(plot.low, plot.high):
        yield f'<text x="0" y="{plot.y(flops) - 4:.1f}">{flops_text(flops)}</text>'
    yield f'<text x="50%" y="{bottom + 33}" text-anchor="middle">FLOP per byte of memory</text>'


def _powers(least: float, most: float) -> list[float]:
    """The powers of ten between two of their logarithms."""
    return [10.0**power for power in range(math.ceil(least), math.floor(most) + 1)]


def _lines(plot: _Plot, memory: float, roofs: Sequence[Roof]) -> Iterator[str]:
    highest = roofs[0].flops if roofs else 10**plot.high
    start = max(10**plot.left, 10**plot.low / memory)
    x1, y1, x2, y2 = plot.x(start), plot.y(start * memory), plot.x(highest / memory), plot.y(highest)
    yield f'<line class="roof" x1="{x1:.2f}%" y1="{y1:.1f}" x2="{x2:.2f}%" y2="{y2:.1f}"/>'
    for roof in roofs:
        x, y = plot.x(roof.flops / memory), plot.y(roof.flops)
        unused = "" if roof.used else " unused"
        yield f'<line class="roof{unused}" x1="{x:.2f}%" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'


def _named_roofs(plot: _Plot, roofs: Sequence[Roof]) -> Iterator[tuple[str, float]]:
    """The label of each flat roof, and the pixels of its baseline; labels of close roofs lie above all of these."""
    groups: list[list[Roof]] = []
    for roof in reversed(roofs):
        if groups and plot.y(groups[-1][-1].flops) - plot.y(roof.flops) < _LABEL * len(groups[-1]) + 4:
            groups[-1].append(roof)
        else:
            groups.append([roof])
    for group in groups:
        bottom = plot.y(group[-1].flops) - 5
        for position, roof in enumerate(group):
            yield f"{', '.join(roof.types)} {flops_text(roof.flops)}", bottom - position * _LABEL


def _roof_labels(plot: _Plot, memory: float, roofs: Sequence[Roof]) -> Iterator[str]:
    for label, y in _named_roofs(plot, roofs):
        yield f'<text x="100%" y="{y:.1f}" text-anchor="end">{escape(label)}</text>'
    start = max(10**plot.left, 10**plot.low / memory)
    end = roofs[-1].flops / memory if roofs else 10**plot.right
    upper = start**0.35 * max(end, start) ** 0.65
    yield f'<text x="{plot.x(upper):.2f}%" y="{plot.y(upper * memory):.1f}" dx="10" dy="16">memory {bytes_text(memory)}</text>'


def _circles(plot: _Plot, found: Sequence[Dot], named: int, roofs: Sequence[Roof]) -> Iterator[str]:
    """The dots, and the numbers of the first ``named`` ones."""
    places = [(plot.x(dot.intensity), plot.y(dot.flops), 4 + 12 * math.sqrt(min(dot.share, 1.0))) for dot in found]
    for dot, (x, y, radius) in zip(found, places):
        yield f'<circle class="dot" cx="{x:.2f}%" cy="{y:.1f}" r="{radius:.1f}"><title>{_name(dot)}, {_numbers(dot)}</title></circle>'
    # Numbers keep clear of the labels of the roofs, whose letters are about 7 pixels wide.
    taken = [
        (float(_NARROW - across), y - 4)
        for label, y in _named_roofs(plot, roofs)
        for across in range(0, 7 * len(label), _LABEL)
    ]
    for number, (x, y, radius) in enumerate(places[:named], 1):
        across, down = _free(x * _NARROW / 100, y, radius, taken)
        taken.append((x * _NARROW / 100 + across, y + down))
        yield f'<text class="number" x="{x:.2f}%" y="{y:.1f}" dx="{across:.0f}" dy="{down + 4:.0f}" text-anchor="middle">{number}</text>'


def _free(x: float, y: float, radius: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Distance of a number from the centre of its dot: the nearest at which it covers no other number."""
    for distance in (*((0.0,) if radius >= _HOLDS_NUMBER else ()), radius + 9, radius + 24, radius + 39):
        for eighth in range(8 if distance else 1):
            across, down = distance * math.cos(eighth * math.pi / 4), -distance * math.sin(eighth * math.pi / 4)
            inside = 8 <= x + across <= _NARROW - 8 and _TOP <= y + down <= _TOP + _HEIGHT
            clear = all(abs(x + across - left) >= 16 or abs(y + down - top) >= 14 for left, top in taken)
            if (inside or not distance) and clear:
                return across, down
    return 0.0, 0.0


def _item(dot: Dot) -> str:
    return f'<li><strong>{_name(dot)}</strong> <span class="soft">{_numbers(dot)}</span></li>'


def _name(dot: Dot) -> str:
    return escape(layers.label(dot.row))


def _numbers(dot: Dot) -> str:
    types = f", {escape(dot.row.dtype)}" if dot.row.dtype else ""
    intensity = f"{dot.intensity:,.0f}" if dot.intensity >= 100 else f"{dot.intensity:.2g}"
    return f"{flops_text(dot.flops)}, {intensity} FLOP per byte{types}, {percent(dot.share)} of the operations"


def _how_to_read(found: Sequence[Dot], peaks: Peaks | None, roofs: Sequence[Roof]) -> str:
    about = "A dot is larger the longer its operations take. The list names the longest ones."
    if peaks is None:
        return (
            f"{about} Dots further up compute faster. The roof is missing: it is not known what this hardware can do."
        )
    source = "measured on this machine" if peaks.measured else f"published: {escape(peaks.source)}"
    cached = any(dot.flops > dot.intensity * peaks.bytes for dot in found)
    return (
        "A dot near the roof uses what the hardware can do. Under the slanted part memory limits it, under the flat part arithmetic "
        f"does. Far below both, something else does. {about} "
        + "A dashed roof is of a type that no product of this step has. " * any(not roof.used for roof in roofs)
        + "A dot above the slanted part reads values that a cache holds. " * cached
        + f"The roof is that of {escape(peaks.hardware)}, {source}."
    )


def _alternative(found: Sequence[Dot], peaks: Peaks | None) -> str:
    """The picture in a sentence."""
    roof = ""
    if peaks is not None:
        types = "".join(f", {escape(name)} {flops_text(flops)}" for name, flops in peaks.flops.items())
        roof = f"; the roof is memory {bytes_text(peaks.bytes)}{types}"
    return f"Roofline with {len(found)} dots; the longest is {_name(found[0])}, {_numbers(found[0])}{roof}"
