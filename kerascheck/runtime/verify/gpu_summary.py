"""Summary of GPU activity while scripts ran, for reports and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class GpuSeries:
    """Samples of a GPU over time; None for values that the card does not report."""

    seconds: list[float] = field(default_factory=list)
    """Seconds since the sampler began."""
    utilisation: list[float | None] = field(default_factory=list)
    """Utilisation, 0 to 1."""
    memory_bytes: list[float | None] = field(default_factory=list)
    watts: list[float | None] = field(default_factory=list)
    megahertz: list[float | None] = field(default_factory=list)


@dataclass(slots=True)
class DeviceSummary:
    """One GPU. Quantities are medians over its busy samples; None if the card does not report them."""

    index: int
    name: str | None
    samples: int
    """Number of busy samples; if it was never busy, of all samples."""
    utilisation: float | None = None
    """Utilisation, 0 to 1."""
    memory_bytes: float | None = None
    watts: float | None = None
    megahertz: float | None = None
    memory_total_bytes: float | None = None
    slowed: Mapping[str, float] = field(default_factory=dict)
    """Share of the samples with lowered clocks, by reason."""
    own: float | None = None
    """Share of its time that the scripts used, 0 to 1; None if processes are not reported."""
    others: float | None = None
    """Share of its time that other processes used."""
    mig: bool = False
    """Whether it is partitioned."""
    visible: bool = True
    """Whether CUDA shows it to the scripts."""
    time: GpuSeries = field(default_factory=GpuSeries)
    used: bool = False
    """Whether the scripts computed on it."""


@dataclass(slots=True)
class GpuSummary:
    """All GPUs. The quantities are those of the first used one."""

    devices: list[DeviceSummary] = field(default_factory=list)
    trouble: str | None = None
    """Reason why times measured on these GPUs are unreliable, see :func:`kerascheck.runtime.verify.gpu.trouble`."""
    name: str | None = None
    samples: int = 0
    utilisation: float | None = None
    memory_bytes: float | None = None
    watts: float | None = None
    megahertz: float | None = None
    driver: str | None = None
