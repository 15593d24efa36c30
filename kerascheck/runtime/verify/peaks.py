"""The most that the hardware does: products per second, and bytes of memory per second."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peaks:
    """The most that the hardware can do, per second."""

    hardware: str
    """Name of the card, or of the processor."""
    flops: dict[str, float]
    """Floating-point operations per second of large products by the type of the operands ("float32", "tensorfloat32",
    "bfloat16", "float16"); a multiply-add counts as two."""
    bytes: float
    """Bytes per second of the main memory of the device."""
    measured: bool
    """Whether this machine measured them; else they are published."""
    source: str = ""
    """Publication; empty if measured."""
    busy_others: float | None = None
    """Share of the machine that other programs used while it was measured, 0 to 1; None if that is unknown."""
