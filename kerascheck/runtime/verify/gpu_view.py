"""A GPU's own view of some steps, from a profile; times are in seconds per step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuView:
    """Kernels, copies and gaps of one GPU."""

    number: int
    busy_seconds: float
    """While a kernel runs."""
    waiting_for_data_seconds: float
    """Without a kernel, while the host waits for a batch."""
    waiting_for_host_seconds: float
    """Without a kernel otherwise."""
    kernels: float
    """Number of kernels per step."""
    kernel_seconds: float
    """Mean duration of a kernel."""
    copied_bytes: float
    """From the host, per step."""
    copy_seconds: float
    hidden_copy_seconds: float
    """Copies from the host during kernels."""
    collective_seconds: float
    """Kernels that exchange data between GPUs."""
    longest_kernels: tuple[tuple[str, float], ...] = ()
    """Names and seconds per step."""
    peak_bytes: int = 0
    """Most memory that its allocator held since the process began; 0 if unknown."""
    limit_bytes: int = 0
    """Memory that its allocator may take; 0 if unknown."""
