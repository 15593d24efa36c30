"""Flame graph of the operations of a step: the model, its blocks and their layers."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from kerascheck.report.html import escape
from kerascheck.runtime.verify.step_trace import LayerTime, StepTrace
from kerascheck.runtime.why.html_parts import NO_DIRECTION, duration, percent, times
from kerascheck.runtime.why.lines import Lines

_MOST_SIBLINGS = 12
"""Maximum number of layers or blocks on one level of a model."""
_SECTIONS = 5
"""Number of blocks that replace too many layers or blocks of one level."""
_NARROWEST = 0.003
"""Minimum share of the operations for a box of its own."""
_ROW_REM = 1.75
_ORDER = ("layer", "loss", "metric", "optimizer")
_NO_LAYER = "none"
_KEYS = {
    "forward": "forward pass",
    "backward": "backward pass",
    "update": "optimizer and metrics",
    _NO_LAYER: "belongs to no listed layer",
}

STYLE = """
:root { --forward: #bfdfea; --backward: #f4d3bb; --update: #dccdf0; --none: #dfe1e6; --edge: #1d233059; }
@media (prefers-color-scheme: dark) { :root { --forward: #1d4f61; --backward: #6b4326; --update: #4c3d6b; --none: #343b47; --edge: #e7e9ee66; } }
.flame { position: relative; border-radius: .4rem; overflow: hidden; font-size: .8rem; line-height: 1.65rem; }
.flame div { position: absolute; height: 1.65rem; overflow: hidden; border-right: 1px solid var(--edge); container-type: inline-size; }
.flame span { display: block; padding: 0 .3rem; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; } .flame i { float: right; padding: 0 .3rem; font-style: normal; }
@container (max-width: 7rem) { .flame i { display: none; } } @container (max-width: 2.6rem) { .flame span { display: none; } }
.split { background: linear-gradient(90deg, var(--forward) var(--part), var(--backward) var(--part)); }
.forward { background: var(--forward); } .backward { background: var(--backward); } .update { background: var(--update); }
.none { background: var(--none); }
"""


@dataclass(frozen=True, slots=True)
class Box:
    """A layer with those inside it, a block of layers, the loss, a metric, the optimizer, or all operations."""

    name: str
    role: str
    """"layer", "loss", "metric", "optimizer" or "none"."""
    forward_seconds: float
    """Seconds of operations per step, with those of the boxes inside it."""
    backward_seconds: float
    inside: tuple[Box, ...] = ()
    kind: str = ""
    """Class; empty for a block, which has no operations of its own."""
    place: tuple[str, int] | None = None
    """Path and line of the script that creates it."""
    label: str = ""
    """The name without what it shares with the box around it; empty for the whole name."""

    @property
    def seconds(self) -> float:
        """Seconds of operations per step, forward and backward, with those of the boxes inside it."""
        return self.forward_seconds + self.backward_seconds


def html(trace: StepTrace, lines: Lines) -> Iterator[str]:
    """The picture and how to read it; nothing if no layer was measured."""
    top = tree(trace)
    if top is None:
        return
    boxes = list(_placed(top, top.seconds))
    height = _ROW_REM * (1 + max(level for _, level, _ in boxes))
    yield f'<figure class="card"><div class="flame" role="img" aria-label="{_alternative(top)}" style="height:{height:.2f}rem">'
    for box, level, left in boxes:
        yield _html_of(box, level, left, top.seconds, lines)
    shown = dict.fromkeys(key for box, level, _ in boxes if level for key in _keys_of(box))
    legend = "".join(f'<li><span class="key {key}"></span>{_KEYS[key]}</li>' for key in _KEYS if key in shown)
    yield f'</div><ul class="legend">{legend}</ul>'
    yield (
        "<figcaption>The width of a box is its share of the time of all operations. Below it are the layers inside it, in the order of "
        "their creation; where nothing is below a box, its own operations run. The left shade of a box is the forward pass, the right one "
        "the backward pass. If a model has many layers, blocks gather them by their names or their order. Point at a box with the mouse "
        "to see its times and its line.</figcaption></figure>"
    )


def tree(trace: StepTrace) -> Box | None:
    """All operations of a step; the boxes inside it take all of its seconds. None if no layer was measured."""
    inside: dict[int | None, list[int]] = defaultdict(list)
    for position, layer in enumerate(trace.layers):
        inside[layer.parent].append(position)

    def box(position: int) -> Box:
        return _box(trace.layers[position], [box(each) for each in inside[position]])

    outermost = sorted((box(each) for each in inside[None]), key=lambda each: _ORDER.index(each.role))
    layers = [each for each in outermost if each.role == "layer"]
    found = [*_in_blocks(layers), *outermost[len(layers) :]]
    if trace.unattributed_seconds:
        found.append(Box("not attributed", _NO_LAYER, trace.unattributed_seconds, 0.0))
    left_out = trace.total_seconds - sum(each.seconds for each in found)
    if left_out > trace.total_seconds * _NARROWEST:
        found.append(Box("shorter layers", _NO_LAYER, left_out, 0.0))
    top = _around("all operations of a step", found)
    return top if trace.layers and top.seconds > 0 else None


def _box(layer: LayerTime, inside: Sequence[Box]) -> Box:
    around = _around(layer.name, _in_blocks(inside))
    forward = layer.forward_seconds + around.forward_seconds
    backward = layer.backward_seconds + around.backward_seconds
    return Box(layer.name, layer.role, forward, backward, around.inside, layer.kind, layer.place)


def _around(name: str, inside: Sequence[Box]) -> Box:
    """A block."""
    forward, backward = (sum(each.forward_seconds for each in inside), sum(each.backward_seconds for each in inside))
    return Box(name, "layer", forward, backward, tuple(inside))


# Blocks -------------------------------------------------------------------------------------------------------------


def _in_blocks(layers: Sequence[Box], used: int = 0) -> Sequence[Box]:
    """Put many layers of one level into blocks of consecutive ones, by the beginnings of their names.

    Args:
        layers: in the order of their creation.
        used: number of words at the beginning of the names that all have in common.
    """
    if len(layers) <= _MOST_SIBLINGS:
        return layers
    runs = [(key, list(run)) for key, run in groupby(layers, lambda each: _words(each.name)[: used + 1])]
    if len(runs) == 1:
        return _in_blocks(layers, used + 1) if len(runs[0][0]) > used else _sections(layers)
    times = Counter("_".join(key) for key, _ in runs)
    return _sections([_named_block(run, "_".join(key), used + 1, times) for key, run in runs])


def _named_block(layers: Sequence[Box], prefix: str, used: int, times: Counter[str]) -> Box:
    """The block of the layers with a prefix; ``times``: the number of blocks of each prefix."""
    if len(layers) == 1:
        return layers[0]
    inside = [replace(each, label=each.name.removeprefix(f"{prefix}_")) for each in _in_blocks(layers, used)]
    return _around(prefix if times[prefix] == 1 else _from_to(layers), inside)


def _words(name: str) -> list[str]:
    """ "block_3_expand" as "block_3" and "expand", "conv2_block1_1_conv" as "conv2", "block1", "1" and "conv"."""
    return re.findall(r"[^_]*[^_\d]_\d+(?=_|$)|[^_]+", name)


def _sections(boxes: Sequence[Box]) -> Sequence[Box]:
    """Put too many boxes of one level into blocks of consecutive ones, and these into larger ones."""
    if len(boxes) <= _MOST_SIBLINGS:
        return boxes
    size = math.ceil(len(boxes) / _SECTIONS)
    runs = [boxes[start : start + size] for start in range(0, len(boxes), size)]
    return [_around(_from_to(run), _sections(run)) if len(run) > 1 else run[0] for run in runs]


def _from_to(layers: Sequence[Box]) -> str:
    return f"{layers[0].name} to {layers[-1].name}"


# Drawing ------------------------------------------------------------------------------------------------------------


def _placed(box: Box, total: float, level: int = 0, left: float = 0.0) -> Iterator[tuple[Box, int, float]]:
    """Each box to draw with its level and the share of the operations left of it."""
    yield box, level, left
    shown = list(_merged(box.inside, _NARROWEST * total))
    if len(shown) == 1 and all(each is not shown[0] for each in box.inside):
        return  # One box for all that is inside would repeat the box around them.
    for each in shown:
        yield from _placed(each, total, level + 1, left)
        left += each.seconds / total


def _merged(boxes: Sequence[Box], least: float) -> Iterator[Box]:
    """Boxes of which consecutive ones of less than ``least`` seconds are one; boxes without operations are left out."""
    kept = [each for each in boxes if each.seconds > 0]
    for narrow, run in groupby(kept, lambda each: each.role == "layer" and each.seconds < least):
        members = list(run)
        if narrow and len(members) > 1:
            many = _around(f"{len(members)} more, {_from_to(members)}", members)
            yield Box(many.name, "layer", many.forward_seconds, many.backward_seconds)
        else:
            yield from members


def _html_of(box: Box, level: int, left: float, total: float, lines: Lines) -> str:
    share = box.seconds / total
    kind, style = _NO_LAYER, ""
    if box.role in NO_DIRECTION:
        kind = "update"
    elif box.role != _NO_LAYER and level:
        kind, style = "split", f"--part:{box.forward_seconds / box.seconds:.1%};"
    return (
        f'<div class="{kind}" style="{style}left:{left:.3%};width:{share:.3%};top:{level * _ROW_REM:.2f}rem" '
        f'title="{_tooltip(box, share, lines)}"><i>{percent(share)}</i><span>{escape(box.label or box.name)}</span></div>'
    )


def _tooltip(box: Box, share: float, lines: Lines) -> str:
    kind = f" ({escape(box.kind)})" if box.kind and box.kind != box.name else ""
    spent = duration(box.seconds) if box.role == _NO_LAYER else times(box)
    own = box.seconds - sum(each.seconds for each in box.inside)
    if box.inside and box.kind and own > 0:
        spent += f", {duration(own)} of that its own operations"
    place = f"; {escape(lines.shown(*box.place))}" if box.place is not None else ""
    return f"{escape(box.name)}{kind}, {percent(share)} of the operations: {spent}{place}"


def _keys_of(box: Box) -> Iterator[str]:
    """Entries of the legend that explain the colours of a box."""
    if box.role == _NO_LAYER or box.role in NO_DIRECTION:
        yield "update" if box.role in NO_DIRECTION else _NO_LAYER
        return
    if box.forward_seconds:
        yield "forward"
    if box.backward_seconds:
        yield "backward"


def _alternative(top: Box) -> str:
    """The picture in a sentence."""
    parts = []
    for box in top.inside:
        longest = sorted(box.inside, key=lambda each: -each.seconds)[:5]
        inner = ", ".join(f"{escape(each.name)} {percent(each.seconds / top.seconds)}" for each in longest)
        parts.append(f"{escape(box.name)} {percent(box.seconds / top.seconds)}{f' ({inner})' * bool(inner)}")
    return f"Flame graph of the operations of a step: {', '.join(parts)}"
