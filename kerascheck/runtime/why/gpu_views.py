"""The GPUs' own view of the steps, as text."""

from __future__ import annotations

from collections.abc import Iterator

from kerascheck.runtime.verify.analysis import typical
from kerascheck.runtime.verify.gpu_view import GpuView
from kerascheck.runtime.verify.step_trace import StepTrace
from kerascheck.runtime.why.batch_sizes import memory_text

_LEAST = 0.005
_NAMED = 3
_LONGEST_NAME = 40


def lines(trace: StepTrace) -> Iterator[str]:
    """Sentences about each GPU, and what its kernels take; none without a GPU."""
    for gpu in trace.gpus:
        yield f"GPU {gpu.number}: {', '.join(_shares(gpu, trace.seconds_per_step))}."
        yield f"  {gpu.kernels:,.0f} kernels per step of {typical([gpu.kernel_seconds])} each{_copies(gpu)}."
        longest = [f"{_short(name)} {seconds / gpu.busy_seconds:.0%}" for name, seconds in gpu.longest_kernels[:_NAMED]]
        if longest and gpu.busy_seconds:
            yield f"  Longest kernels: {', '.join(longest)}."
        if gpu.peak_bytes:
            of = f" of {memory_text(gpu.limit_bytes)}" if gpu.limit_bytes else ""
            yield f"  Peak of its memory since the start of the process: {memory_text(gpu.peak_bytes)}{of}."


def _shares(gpu: GpuView, step: float) -> Iterator[str]:
    for name, seconds in (
        ("busy", gpu.busy_seconds),
        ("waiting for data", gpu.waiting_for_data_seconds),
        ("waiting for the host", gpu.waiting_for_host_seconds),
        ("in collectives", gpu.collective_seconds),
    ):
        if step and (name == "busy" or seconds >= _LEAST * step):
            yield f"{seconds / step:.0%} {name}"


def _copies(gpu: GpuView) -> str:
    if not gpu.copy_seconds:
        return ""
    size = f"{gpu.copied_bytes / 1e6:,.1f} MB " if gpu.copied_bytes else ""
    hidden = gpu.hidden_copy_seconds / gpu.copy_seconds
    return f"; copies from the host: {size}in {typical([gpu.copy_seconds])}, {hidden:.0%} of it beside kernels"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
