"""The layers of a step as HTML: a flame graph, a list, and the roofline of the hardware."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kerascheck.report.html import escape
from kerascheck.runtime.verify.analysis import typical
from kerascheck.runtime.verify.peaks import Peaks
from kerascheck.runtime.verify.step_trace import LayerTime, OwnerTime, StepTrace
from kerascheck.runtime.why import layers
from kerascheck.runtime.why.lines import Lines

_LEAST_SHARE = 0.004
"""Smaller blocks beside each other are drawn as one."""
_LABELLED = 0.03
"""Smaller blocks have no room for their name, only a tip."""
_FEWEST_IN_BLOCK = 2
_BLOCK = re.compile(r"((?:[A-Za-z]+\d+[a-z]?_)+|[A-Za-z]+_\d+_)(?=.*[A-Za-z])")
"""The part of a name that layers of a block share: "conv3_block2_" of "conv3_block2_1_conv", "block_13_" of "block_13_expand"."""
_MOST_DOTS = 12
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 360, 250, 52, 34, 14, 8
_DECADES = 2.0
"""Minimum decades of both axes."""

STYLE = """
.flame { display: flex; min-width: 34rem; } .flame .node { flex: 1 1 0; min-width: 0; }
.flame .bar { display: block; height: 1.6rem; padding: 0 .3rem; border: 1px solid var(--card); border-radius: .2rem; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; font-size: .8rem; line-height: 1.5rem; color: var(--on-flame);
  background: linear-gradient(90deg, var(--forward) var(--f, 100%), var(--backward) var(--f, 100%)); }
.flame .loss > .bar { background: var(--loss); } .flame .metric > .bar { background: var(--metric); } .flame .optimizer > .bar { background: var(--optimizer); }
.flame .rest > .bar { background: var(--line); color: var(--ink); } .flame .inner { display: flex; }
:root { --forward: #bfe0ec; --backward: #8fc6da; --loss: #f0c9a8; --metric: #d9c6ee; --optimizer: #f2dc9b; --on-flame: #14202b; }
@media (prefers-color-scheme: dark) { :root { --forward: #2c6a80; --backward: #1d4c5e; --loss: #7a4a28; --metric: #57407a; --optimizer: #66541a; --on-flame: #f2f6f8; } }
.key.forward { background: var(--forward); } .key.backward { background: var(--backward); } .key.loss { background: var(--loss); } .key.metric { background: var(--metric); } .key.optimizer { background: var(--optimizer); }
svg.roofline { height: auto; max-width: 36rem; border: 0; overflow: visible; } .roofline text { font: 10px system-ui, sans-serif; fill: var(--soft); } .roofline .grid { stroke: var(--line); stroke-width: .6; }
.roofline .roof { fill: none; stroke: var(--ink); stroke-width: 1.4; } .roofline circle { fill: var(--compute); fill-opacity: .85; stroke: var(--card); } .roofline .number { fill: var(--card); font-size: 8px; font-weight: 700; text-anchor: middle; } .roofline .name { paint-order: stroke; stroke: var(--card); stroke-width: 3px; }
.dots { margin: .75rem 0 0; padding: 0 0 0 1.6rem; } .dots li { padding: .1rem 0; overflow-wrap: anywhere; }
"""


@dataclass(slots=True)
class _Node:
    """A block of the flame graph."""

    text: str
    kind: str
    """Class of the stylesheet: "layer", "loss", "metric", "optimizer" or "rest"."""
    forward: float = 0.0
    """Seconds per step, with those of the blocks inside it."""
    backward: float = 0.0
    tip: str = ""
    children: list[_Node] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.forward + self.backward

    def add(self, child: _Node) -> None:
        """Put a block with its seconds inside this one."""
        self.children.append(child)
        self.forward += child.forward
        self.backward += child.backward


def flame(trace: StepTrace, known: Lines) -> Iterator[str]:
    """The operations of a step from the outermost layers to the innermost; nothing without layers.

    A width is a share of the seconds of all operations, forward and backward pass.
    """
    if not trace.layers or not trace.total_seconds:
        return
    root = _Node("a step", "rest", tip="All operations of a step")
    for node in _grouped(_tree(trace, known)):
        root.add(node)
    if trace.unattributed_seconds:
        root.add(
            _Node(
                "not attributed",
                "rest",
                trace.unattributed_seconds,
                tip="Operations that belong to no layer that was seen",
            )
        )
    yield '<div class="scroll"><div class="flame" role="img" aria-label="The operations of a step by layer; the list below has the same numbers">'
    yield _drawn(root, root.seconds, root.seconds)
    yield "</div></div>"
    used = dict.fromkeys(layer.role for layer in trace.layers)
    keys = [("forward", "forward pass"), ("backward", "backward pass")]
    keys += [(role, role) for role in ("loss", "metric", "optimizer") if role in used]
    yield (
        '<ul class="legend">'
        + "".join(f'<li><span class="key {key}"></span>{text}</li>' for key, text in keys)
        + "</ul>"
    )
    yield (
        '<p class="soft">Read it from top to bottom: a block contains the blocks below it. Its width is its share of the '
        "time of all operations of a step, so the widest blocks are worth a look.</p>"
    )


def _tree(trace: StepTrace, known: Lines) -> list[_Node]:
    """The outermost layers with those inside them, in the order of their creation."""
    nodes = [_of_layer(layer, known) for layer in trace.layers]
    inside: dict[int | None, list[int]] = {}
    for position, layer in enumerate(trace.layers):
        # A damaged trace could name a parent that is not there.
        parent = layer.parent if layer.parent is not None and 0 <= layer.parent < len(nodes) else None
        inside.setdefault(parent, []).append(position)

    def filled(position: int) -> _Node:
        node = nodes[position]
        for child in _grouped([filled(each) for each in inside.get(position, ())]):
            node.add(child)
        return node

    return [filled(position) for position in inside.get(None, ())]


def _of_layer(layer: LayerTime, known: Lines) -> _Node:
    what = layer.name if layer.role == "layer" else layers.role_label(layer.role, layer.kind)
    place = f", {known.shown(*layer.place)}" if layer.place is not None else ""
    return _Node(what, layer.role, layer.forward_seconds, layer.backward_seconds, f"{layer.kind} {layer.name}{place}")


def _grouped(nodes: Sequence[_Node]) -> list[_Node]:
    """Put neighbours whose names begin alike into a block: a flat model gets the blocks that its names show."""
    found: list[_Node] = []
    for prefix, group in itertools.groupby(nodes, _prefix):
        members = list(group)
        if not prefix or not _FEWEST_IN_BLOCK <= len(members) < len(nodes):
            found += members
            continue
        block = _Node(prefix.rstrip("_"), "layer", tip=f"{len(members)} layers with names that begin with {prefix}")
        for member in members:
            block.add(member)
        found.append(block)
    return found


def _prefix(node: _Node) -> str:
    match = _BLOCK.match(node.text) if node.kind == "layer" else None
    return match[0] if match else ""


def _drawn(node: _Node, around: float, total: float) -> str:
    """A block and those inside it; ``around``: seconds of the block around it, ``total``: of a step."""
    share, seconds = node.seconds / total, node.seconds or 1.0
    tip = f"{node.tip}: {share:.1%}, {_span(node.forward)} forward, {_span(node.backward)} backward"
    text = f"{escape(node.text)} {share:.0%}" if share >= _LABELLED else ""
    inner = "".join(_drawn(child, node.seconds, total) for child in _merged(node.children, total))
    own = node.seconds - sum(child.seconds for child in node.children)
    if inner and own > 0:
        inner += f'<div class="node" style="flex-grow:{own / seconds:.5f}"></div>'
    return (
        f'<div class="node {node.kind}" style="flex-grow:{node.seconds / (around or 1.0):.5f}" title="{escape(tip)}">'
        f'<span class="bar" style="--f:{node.forward / seconds:.1%}">{text}</span>'
        + (f'<div class="inner">{inner}</div>' if inner else "")
        + "</div>"
    )


def _merged(nodes: Sequence[_Node], total: float) -> list[_Node]:
    """The blocks with neighbours that are too small to see drawn as one; blocks without time are left out."""
    found: list[_Node] = []
    for small, group in itertools.groupby(
        (node for node in nodes if node.seconds > 0), lambda node: node.seconds < _LEAST_SHARE * total
    ):
        members = list(group)
        if not small or len(members) == 1:
            found += members
            continue
        rest = _Node(f"{len(members)} more", "rest", tip=", ".join(node.text for node in members[:12]))
        for member in members:
            rest.forward += member.forward
            rest.backward += member.backward
        found.append(rest)
    return found


def _span(seconds: float) -> str:
    return typical([seconds]) if seconds >= 1e-6 else "0 s"


def roofline(trace: StepTrace, peaks: Peaks | None, known: Lines) -> Iterator[str]:
    """Operations per second of the rows over operations per byte, below what the hardware can do.

    Nothing if no row has both counts.
    """
    rows = [row for row in trace.rows if row.flops and row.bytes and row.seconds > 0][:_MOST_DOTS]
    if not rows:
        return
    yield "<h2>How far from the hardware</h2>"
    yield '<figure class="card">'
    yield _Chart(rows, peaks).svg(trace)
    yield '<ol class="dots">'
    for row in rows:
        place = f" <code>{escape(known.shown(*row.place))}</code>" if row.place is not None else ""
        yield f'<li><strong>{escape(layers.label(row))}</strong>{place} <span class="soft">{escape(_numbers(row))}</span></li>'
    yield "</ol>"
    source = (
        ""
        if peaks is None
        else "; the roofs were measured on this machine"
        if peaks.measured
        else f"; the roofs are published: {peaks.source}"
    )
    hardware = f"{peaks.hardware}{source}. " if peaks is not None else ""
    yield (
        f"<figcaption>{escape(hardware)}A dot near the roof uses what the hardware can do. Below the slanted part, memory "
        "limits it; below the flat part, arithmetic does. Far below both, something else does: small operations, or the "
        "work between them. A larger dot takes more time.</figcaption></figure>"
    )


def _numbers(row: OwnerTime) -> str:
    assert row.flops and row.bytes
    return f"{_count(row.flops / row.seconds)}FLOP/s, {row.flops / row.bytes:.3g} FLOP per byte"


def _count(value: float) -> str:
    """A count with a prefix, such as "1.2 T"."""
    for size, name in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value:.3g} "


class _Chart:
    """Both axes are logarithmic: FLOP per byte to the right, FLOP/s upwards."""

    def __init__(self, rows: Sequence[OwnerTime], peaks: Peaks | None) -> None:
        self._rows = rows
        self._dots = [(row.flops / row.bytes, row.flops / row.seconds) for row in rows if row.flops and row.bytes]
        self._roofs = _roofs(rows, peaks)
        self._bytes = peaks.bytes if peaks is not None else 0.0
        ridges = [flops / self._bytes for _, flops in self._roofs if self._bytes]
        self._x = _range([x for x, _ in self._dots] + ridges)
        self._y = _range([y for _, y in self._dots] + [flops for _, flops in self._roofs])

    def _at(self, x: float, y: float) -> tuple[float, float]:
        (left, right), (low, high) = self._x, self._y
        across = (math.log10(x) - left) / (right - left)
        up = (math.log10(y) - low) / (high - low)
        return _LEFT + across * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - up * (_HEIGHT - _BOTTOM - _TOP)

    def svg(self, trace: StepTrace) -> str:
        """The picture."""
        return (
            f'<svg class="roofline" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Roofline: operations per second '
            'over operations per byte; the list below has the same numbers">'
            f"{''.join(self._axes())}{''.join(self._lines())}{''.join(self._circles(trace))}</svg>"
        )

    def _axes(self) -> Iterator[str]:
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        for power in range(math.ceil(self._x[0]), math.floor(self._x[1]) + 1):
            x, _ = self._at(10.0**power, 10 ** self._y[0])
            yield f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 13}" text-anchor="middle">{10.0**power:g}</text>'
        for power in range(math.ceil(self._y[0]), math.floor(self._y[1]) + 1):
            _, y = self._at(10 ** self._x[0], 10.0**power)
            yield f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>'
            yield f'<text x="{_LEFT - 5}" y="{y + 3:.1f}" text-anchor="end">{_count(10.0**power)}</text>'
        yield f'<text x="{right}" y="{_HEIGHT - 6}" text-anchor="end">operations (FLOP) per byte of memory</text>'
        yield '<text x="0" y="9">FLOP/s</text>'

    def _lines(self) -> Iterator[str]:
        last = 10 ** self._x[1]
        for number, (name, flops) in enumerate(self._roofs):
            ridge = flops / self._bytes
            first = max(10 ** self._x[0], 10 ** self._y[0] / self._bytes)
            # The slanted part belongs to the highest roof; the others begin at it.
            points = [(first, first * self._bytes)] * (number == 0) + [(ridge, flops), (last, flops)]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in itertools.starmap(self._at, points))
            x, y = self._at(last, flops)
            yield f'<polyline class="roof" points="{path}"/>'
            yield f'<text class="name" x="{x:.1f}" y="{y - 4:.1f}" text-anchor="end">{escape(name)}: {_count(flops)}FLOP/s</text>'

    def _circles(self, trace: StepTrace) -> Iterator[str]:
        for number, (row, dot) in enumerate(zip(self._rows, self._dots), 1):
            x, y = self._at(*dot)
            radius = 6 + 10 * math.sqrt(trace.share(row))
            tip = escape(f"{layers.label(row)}: {_numbers(row)}")
            yield f'<g><title>{tip}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
            yield f'<text class="number" x="{x:.1f}" y="{y + 3:.1f}">{number}</text></g>'


def _roofs(rows: Sequence[OwnerTime], peaks: Peaks | None) -> list[tuple[str, float]]:
    """Peaks of the types that the rows use, and the highest one of all, highest first."""
    if peaks is None or not peaks.flops or not peaks.bytes:
        return []
    used = {row.dtype for row in rows}
    highest = max(peaks.flops, key=peaks.flops.__getitem__)
    found = [(name, flops) for name, flops in peaks.flops.items() if name in used or name == highest]
    return sorted(found, key=lambda roof: -roof[1])


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Powers of ten of the ends of an axis that shows the values."""
    low, high = math.log10(min(values)) - 0.3, math.log10(max(values)) + 0.3
    missing = max(0.0, _DECADES - (high - low)) / 2
    return low - missing, high + missing
