"""Layers of a step, its loss, metrics and optimizer, as the trace of some steps shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kerascheck.runtime.verify.messages import TrainingFacts
from kerascheck.runtime.verify.step_trace import OwnerTime, StepTrace
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.step import Cause

_LEADS = 0.25
"""Minimum share of a step for a row to be the cause of computing."""
_FEWEST_BUSY = 0.5
"""Minimum share of a step in which operations run for a row to be the cause."""
_MOST_UNATTRIBUTED = 0.4
"""Maximum share of operations without an owner for a row to be the cause."""
_SHOWN = 0.005
_WORTH_A_NOTE = 0.1


def label(row: OwnerTime) -> str:
    """Such as "12 Conv2D of ResNet50", "optimizer Adam" or "loss smooth"."""
    count = f"{row.count} " * (row.count > 1)
    if row.role != "layer":
        return f"{row.role} {row.kind}".strip()
    return f"{count}{row.kind}" + (f" of {row.maker}" if row.maker else "")


def cause(trace: StepTrace | None) -> Cause | None:
    """The row that leads clearly, as the cause of computing."""
    if trace is None or not trace.rows or trace.unattributed_share > _MOST_UNATTRIBUTED:
        return None
    first, share = trace.rows[0], trace.of_step(trace.share(trace.rows[0]))
    if share < _LEADS or trace.of_step(1.0) < _FEWEST_BUSY:
        return None
    path, line = first.place or (None, None)
    return Cause(label(first), path, line, share, computes=True)


def by_row(trace: StepTrace, lines: Lines) -> Iterator[str]:
    """Rows with their shares of a step and places, longest first; only the first row of a line names it."""
    named = set()
    for row in trace.rows:
        share = trace.of_step(trace.share(row))
        if share < _SHOWN:
            continue
        if row.place is None or row.place in named:
            yield f"{label(replace(row, maker=None))} {share:.0%}"
        else:
            yield f"{label(row)} {share:.0%} ({lines.shown(*row.place)})"
            named.add(row.place)


def by_direction(trace: StepTrace) -> str:
    """Shares of a step: forward pass, backward pass, loss, metrics, optimizer, and the time without operations."""
    layers = [row for row in trace.rows if row.role == "layer"]
    others = {role: sum(trace.share(row) for row in trace.rows if row.role == role) for role in _OTHERS}
    total = trace.total_seconds or 1.0
    shares = {
        "forward": sum(row.forward_seconds for row in layers) / total,
        "backward": sum(row.backward_seconds for row in layers) / total,
        **{name: others[role] for role, name in _OTHERS.items()},
        "not attributed": trace.unattributed_share,
    }
    of_step = {name: trace.of_step(share) for name, share in shares.items()}
    of_step["between operations"] = 1.0 - trace.of_step(1.0)
    return ", ".join(f"{name} {share:.0%}" for name, share in of_step.items() if share >= _SHOWN)


_OTHERS = {"loss": "loss", "metric": "metrics", "optimizer": "optimizer"}


def remark(facts: TrainingFacts) -> str | None:
    """A limit of the trace, as a clause; None if it is negligible."""
    trace = facts.step_trace
    if trace is None:
        failure = facts.failures.get("layer_trace")
        return None if failure is None else f"the layers of a step were not measured: {failure}"
    if trace.unattributed_share > _WORTH_A_NOTE:
        return f"{trace.unattributed_share:.0%} of the operations of a step belong to no layer that was seen"
    if trace.fused_share > _WORTH_A_NOTE:
        return (
            f"XLA fused operations of several layers into one: {trace.fused_share:.0%} of the time is divided among "
            "them by the size of their results"
        )
    return None
