"""The operations of a step against the limits of the hardware: the roofline model.

An operation takes at least as long as its floating-point operations at the peak of the processor, and as long as its
bytes at the peak of the memory. The longer one is the roof that it is under (Williams, Waterman and Patterson,
"Roofline: an insightful visual performance model for multicore architectures", 2009).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kerascheck.knowledge import cards
from kerascheck.runtime.verify.peaks import Peaks
from kerascheck.runtime.verify.step_trace import OwnerTime, StepTrace
from kerascheck.runtime.verify.verdict import QUIET
from kerascheck.runtime.why import layers
from kerascheck.runtime.why.kept_peaks import MOST_LOAD_KEPT
from kerascheck.runtime.why.step import Part, Step

_NEAR = 0.4
"""Minimum share of a peak for an operation to be under that roof: large products reach 0.6 to 0.9 of it, others less."""
_SHOWN = 0.1
"""Minimum share of a step for a row to be named, and of its operations for unknown work to be."""
_MOST_NAMED = 3
_IDLE = 0.4
"""Minimum share of a traced step without a kernel for a GPU to wait for launches."""
_SHORT = 20e-6
"""Maximum mean seconds of such a kernel: a launch takes 3 to 10 microseconds."""
_HALF = ("bfloat16", "float16")
_WORTH_HALVING = 1.1
"""Minimum bound of the speed-up by 16-bit types to recommend them."""
_HALF_BYTES = 2.0  # ratio of the bytes of a 32-bit number to those of a 16-bit one


class Roof(enum.Enum):
    """The limit that an operation is near; the values are for display."""

    COMPUTE = "compute-bound"
    MEMORY = "memory-bound"
    CACHES = "served from caches"
    """It moves more bytes than the memory can: they stay in caches."""
    NEITHER = "far from both limits"


@dataclass(frozen=True, slots=True)
class Placed:
    """Operations under the roofs."""

    intensity: float | None
    """Floating-point operations per byte; None without bytes."""
    flops_per_second: float
    bytes_per_second: float
    compute_share: float | None
    """Share of the peak of their type, 0 to 1; None if that peak is unknown."""
    memory_share: float
    """Share of the peak of the memory; above 1 if data stays in caches."""
    roof: Roof


def peaks_of(step: Step) -> Peaks | None:
    """The published peaks of the first GPU, or the measured ones of the processor.

    None if they are unknown, or were measured beside other programs.
    """
    if not step.gpus:
        measured = step.facts.peaks
        return None if measured is None or (measured.busy_others or 0.0) > QUIET else measured
    found = cards.peaks_of(step.gpus[0])
    return None if found is None else Peaks(step.gpus[0], dict(found.flops), found.bytes, False, found.source)


def place_of(row: OwnerTime, peaks: Peaks, overlap: float = 1.0) -> Placed | None:
    """Place the operations of a row; None if their number, bytes or time is unknown.

    Args:
        overlap: seconds of operations per second, see :func:`overlap_of`.
    """
    return _placed(row.flops, row.bytes, row.seconds / overlap, used_type(row, peaks), peaks)


def place_of_all(trace: StepTrace, peaks: Peaks) -> Placed | None:
    """Like :func:`place_of`, for all operations of a step, with the type that most rows multiply."""
    types = [used_type(row, peaks) for row in trace.rows if row.dtype] or ["float32"]
    return _placed(trace.total_flops, trace.total_bytes, trace.total_seconds / overlap_of(trace), types[0], peaks)


def overlap_of(trace: StepTrace) -> float:
    """Mean number of operations that run at once, at least 1.

    Threads that share an operation each count its time.
    """
    return max(1.0, trace.total_seconds / trace.seconds_per_step) if trace.seconds_per_step else 1.0


def used_type(row: OwnerTime, peaks: Peaks) -> str:
    """The type that a row computes in: products of float32 use TensorFloat-32 if the card has it.

    TensorFlow and JAX allow that by default; a script can forbid it, and is then further from the peak.
    """
    if row.dtype == "float32" and "tensorfloat32" in peaks.flops:
        return "tensorfloat32"
    return row.dtype or "float32"


def _placed(flops: float | None, size: float | None, seconds: float, kind: str, peaks: Peaks) -> Placed | None:
    if flops is None or size is None or seconds <= 0 or not flops + size:
        return None
    peak = peaks.flops.get(kind)
    compute = None if peak is None else flops / seconds / peak
    memory = size / seconds / peaks.bytes
    roof = _roof(compute or 0.0, memory)
    # A peak that was measured under load is too low.
    share = None if compute is None else min(1.0, compute)
    return Placed(flops / size if size else None, flops / seconds, size / seconds, share, memory, roof)


def _roof(compute: float, memory: float) -> Roof:
    if compute >= _NEAR and (compute >= memory or memory > 1):
        return Roof.COMPUTE
    if memory > 1:
        return Roof.CACHES
    return Roof.MEMORY if memory >= _NEAR else Roof.NEITHER


def is_launch_bound(trace: StepTrace) -> bool:
    """Whether a GPU idles between short kernels."""
    if not trace.kernels or trace.busy_seconds is None or not trace.seconds_per_step:
        return False
    idle = 1 - trace.busy_seconds / trace.seconds_per_step
    return idle >= _IDLE and trace.busy_seconds / trace.kernels <= _SHORT


def sentences(step: Step) -> Iterator[str]:
    """At most three sentences about the operations of a step, without their full stops."""
    trace, peaks = step.facts.step_trace, peaks_of(step)
    if trace is None:
        return
    if is_launch_bound(trace):
        yield _about_launches(trace, step)
        return
    if peaks is None:
        return
    placed = [(row, place) for row, place in _rows(trace, peaks) if trace.of_step(trace.share(row)) >= _SHOWN]
    if step.load_changed or (step.busy_others or 0.0) > QUIET:
        # Other programs lengthen operations: whoever is far from a limit may be near it without them.
        placed = [each for each in placed if each[1].roof is not Roof.NEITHER]
    roofs = list(dict.fromkeys(place.roof for _, place in placed))
    for roof in roofs[:2]:
        yield _about_roof(roof, [each for each in placed if each[1].roof is roof], trace, peaks, step)
    if placed and placed[0][1].roof is Roof.COMPUTE and (faster := _faster_type(placed[0][0], peaks)) is not None:
        yield faster


def _rows(trace: StepTrace, peaks: Peaks) -> Iterator[tuple[OwnerTime, Placed]]:
    overlap = overlap_of(trace)
    for row in trace.rows:
        place = place_of(row, peaks, overlap)
        if place is not None:
            yield row, place


def _about_launches(trace: StepTrace, step: Step) -> str:
    kernels, busy = trace.kernels or 1.0, trace.busy_seconds or 0.0
    idle = 1 - busy / trace.seconds_per_step
    by_xla = " or XLA (jit_compile=True)" if _lacks_xla(step) else ""
    return (
        f"Launch-bound: {kernels:,.0f} kernels of {busy / kernels * 1e6:.0f} µs a step, and the GPU idles {idle:.0%} of it; "
        f"larger batches{by_xla} give it longer kernels"
    )


def _about_roof(
    roof: Roof, placed: Sequence[tuple[OwnerTime, Placed]], trace: StepTrace, peaks: Peaks, step: Step
) -> str:
    names = ", ".join(f"{layers.label(row)} {trace.of_step(trace.share(row)):.0%}" for row, _ in placed[:_MOST_NAMED])
    row, first = placed[0]
    limit = f"the {_device(peaks)}"
    if roof is Roof.COMPUTE:
        kind = used_type(row, peaks)
        return (
            f"Compute-bound: {names}, at {first.compute_share or 0.0:.0%} of the {flops_text(peaks.flops[kind])} that "
            f"{limit} does in {_name(kind)}"
        )
    if roof is Roof.MEMORY:
        return (
            f"Memory-bound: {names}, at {first.memory_share:.0%} of the {bytes_text(peaks.bytes)} that its memory "
            f"gives{_fusing(row, step)}"
        )
    if roof is Roof.CACHES:
        return (
            f"Served from caches: {names}; it moves {bytes_text(first.bytes_per_second)}, more than the "
            f"{bytes_text(peaks.bytes)} of the memory"
        )
    shares = [f"{_percent(first.memory_share)} of its memory"]
    if first.compute_share is not None:
        shares.insert(0, f"{_percent(first.compute_share)} of what {limit} computes")
    return f"Far from both limits: {names}, at {' and '.join(shares)}: neither explains its time"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "less than 1%"


def _device(peaks: Peaks) -> str:
    return "processor" if peaks.measured else "card"


def _fusing(row: OwnerTime, step: Step) -> str:
    """What reduces the traffic of operations, as the end of a clause."""
    return "; XLA (jit_compile=True) fuses such operations" if not row.dtype and _lacks_xla(step) else ""


def _lacks_xla(step: Step) -> bool:
    """Whether XLA is known not to compile the step."""
    return step.backend == "tensorflow" and step.facts.model is not None and not step.facts.model.jit_compile


def _faster_type(row: OwnerTime, peaks: Peaks) -> str | None:
    """Compare the type of a row's products with the fastest one; None if there is none."""
    used = used_type(row, peaks)
    kinds = [kind for kind in _HALF if peaks.flops.get(kind, 0.0) > peaks.flops.get(used, float("inf"))]
    if not kinds:
        return None
    without = " without Tensor Cores" if used == "float32" else ""
    return (
        f"{_name(used)}{without}: this card does {flops_text(peaks.flops[used])} so, and "
        f"{flops_text(peaks.flops[kinds[0]])} in {_name(kinds[0])}"
    )


def _name(kind: str) -> str:
    return "TensorFloat-32" if kind == "tensorfloat32" else kind


def flops_text(rate: float) -> str:
    """A rate of operations, such as "67 TFLOP/s"."""
    return _scaled(rate, "FLOP/s")


def bytes_text(rate: float) -> str:
    """A rate of bytes, such as "3.4 TB/s"."""
    return _scaled(rate, "B/s")


def _scaled(rate: float, unit: str) -> str:
    for prefix, scale in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate >= 0.9995 * scale:
            value = rate / scale
            return f"{value:.0f} {prefix}{unit}" if value >= 10 else f"{value:.1f} {prefix}{unit}"
    return f"{rate:,.0f} {unit}"


def gain_in_half(step: Step, part: Part) -> float | None:
    """The largest speed-up of a step in 16-bit types; None if the peaks are unknown, or the card has no such type.

    Operations near the peak gain the ratio of the peaks, those near the memory half of their bytes, others nothing.
    Rows without a place, and operations of no layer, are taken to gain as much as the best.
    """
    trace, peaks = step.facts.step_trace, peaks_of(step)
    if trace is None or peaks is None or not trace.total_seconds:
        return None
    placed = {id(row): place for row, place in _rows(trace, peaks)}
    ratios = [_ratio(row, placed.get(id(row)), peaks) for row in trace.rows]
    if any(ratio is None for ratio in ratios):
        return None
    known = [ratio for ratio in ratios if ratio is not None]
    left = sum(row.seconds / ratio for row, ratio in zip(trace.rows, known))
    others = trace.total_seconds - sum(row.seconds for row in trace.rows)
    left += max(0.0, others) / max(known, default=1.0)
    return 1 / (1 - step.share(part) * (1 - left / trace.total_seconds))


def may_gain_in_half(step: Step, part: Part) -> bool:
    """Whether 16-bit types are worth a recommendation; they are if nothing is known."""
    gain = gain_in_half(step, part)
    return gain is None or gain >= _WORTH_HALVING


def _ratio(row: OwnerTime, place: Placed | None, peaks: Peaks) -> float | None:
    """The most that a row gains in a 16-bit type; None if that is unknown."""
    used, best = peaks.flops.get(used_type(row, peaks)), max(peaks.flops.get(kind, 0.0) for kind in _HALF)
    if used is None or not best:
        return None
    products = max(1.0, best / used) if row.dtype else 1.0
    if place is None:
        return max(products, _HALF_BYTES)
    return {Roof.COMPUTE: max(products, _HALF_BYTES), Roof.NEITHER: 1.0}.get(place.roof, _HALF_BYTES)


def remark(step: Step) -> str | None:
    """A limit of the comparison, as a clause; None if it is negligible."""
    trace, peaks = step.facts.step_trace, peaks_of(step)
    if (failure := step.facts.failures.get("costs")) is not None:
        return f"the operations and bytes of layers were not counted: {failure}"
    if trace is None or not trace.rows or not trace.counted:
        return None
    if step.gpus and peaks is None:
        return f"the peaks of {step.gpus[0]} are not known: its layers are not compared with them"
    unknown = sum(trace.share(row) for row in trace.rows if row.flops is None or row.bytes is None)
    if unknown > _SHOWN:
        return f"the work of {unknown:.0%} of the operations is unknown: a shape or a number of iterations is not fixed"
    measured = None if step.gpus else step.facts.peaks
    if measured is None or (measured.busy_others or 0.0) <= MOST_LOAD_KEPT:
        return None
    used = f"other programs used {measured.busy_others:.0%} of this machine while its peaks were measured"
    return f"{used}: they can be higher" if peaks is not None else f"{used}: the layers are not compared with them"
