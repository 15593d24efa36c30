"""Operations of a step by layer, as the measured process sends them; times are in seconds."""

from __future__ import annotations

from dataclasses import dataclass

from kerascheck.runtime.verify.gpu_view import GpuView


@dataclass(frozen=True, slots=True)
class OwnerTime:
    """Operations of the layers of one class that one line creates, or of the loss, a metric or the optimizer."""

    role: str
    """"layer", "loss", "metric" or "optimizer"."""
    name: str
    """Name of the first one."""
    kind: str
    """Class, or function of the script; empty for a loss of Keras."""
    count: int
    forward_seconds: float
    """Seconds of operations per step, summed over threads."""
    backward_seconds: float
    place: tuple[str, int] | None = None
    """Path and line of the script that creates them."""
    maker: str | None = None
    """Function of ``keras.applications`` that the line calls, such as "ResNet50"."""
    flops: float | None = None
    """Floating-point operations per step, forward and backward; a multiply-add counts as two. None if unknown."""
    bytes: float | None = None
    """Bytes per step that its operations read and write, if no value stays in a cache; None if unknown."""
    dtype: str = ""
    """Type of the operands of its products, such as "float32"; empty without products."""

    @property
    def seconds(self) -> float:
        """Seconds of operations per step, forward and backward."""
        return self.forward_seconds + self.backward_seconds


@dataclass(frozen=True, slots=True)
class LayerTime:
    """One layer, loss, metric or optimizer with its own operations, without those of the layers inside it."""

    role: str
    """"layer", "loss", "metric" or "optimizer"."""
    name: str
    kind: str
    parent: int | None
    """Position of the layer around it in :attr:`StepTrace.layers`; None for an outermost one."""
    forward_seconds: float
    """Seconds of operations per step, summed over threads."""
    backward_seconds: float
    place: tuple[str, int] | None = None
    """Path and line of the script that creates it."""
    flops: float | None = None
    bytes: float | None = None
    dtype: str = ""

    @property
    def seconds(self) -> float:
        """Seconds of operations per step, forward and backward."""
        return self.forward_seconds + self.backward_seconds


@dataclass(frozen=True, slots=True)
class StepTrace:
    """Seconds of operations in some steps on one batch, from the framework's own profiler."""

    rows: tuple[OwnerTime, ...] = ()
    """Longest first."""
    unattributed_seconds: float = 0.0
    """Seconds per step of operations that no layer, loss, metric or optimizer creates."""
    fused_seconds: float = 0.0
    """Seconds per step of fused operations of several owners, divided by the number of elements."""
    total_seconds: float = 0.0
    """Seconds per step of all operations, summed over threads."""
    steps: int = 0
    """Number of traced steps."""
    seconds_per_step: float = 0.0
    """Seconds per traced step."""
    seconds_alone: float | None = None
    """Seconds per step on the same batch without the profiler; None if it was not timed."""
    busy_seconds: float | None = None
    """Seconds per traced step in which at least one operation runs, on a GPU a kernel; None if unknown."""
    overhead_seconds: float = 0.0
    """Duration of the trace and of reading it; 0 for a recorded profile."""
    counted: bool = True
    """Whether floating-point operations and bytes were counted."""
    total_flops: float | None = None
    """Floating-point operations per step of all operations; None if some are unknown."""
    total_bytes: float | None = None
    """Bytes per step of all operations, see :attr:`OwnerTime.bytes`."""
    kernels: float | None = None
    """Number of kernels per step on a GPU; None without one."""
    gpus: tuple[GpuView, ...] = ()
    """The GPUs' own view of these steps."""
    layers: tuple[LayerTime, ...] = ()
    """In the order of their creation; the shortest are left out of very large models."""

    def share(self, row: OwnerTime) -> float:
        """Share of a row in the seconds of all operations, 0 to 1."""
        return row.seconds / self.total_seconds if self.total_seconds else 0.0

    @property
    def busy_share(self) -> float | None:
        """Share of a step in which at least one operation runs, 0 to 1; None if unknown.

        The profiler lengthens the time between operations more than the operations; other programs lengthen either step.
        """
        seconds = min(self.seconds_alone or self.seconds_per_step, self.seconds_per_step)
        return None if self.busy_seconds is None or not seconds else min(1.0, self.busy_seconds / seconds)

    def of_step(self, share: float) -> float:
        """Convert a share of all operations into one of a step; if that is unknown, it stays a share of operations."""
        return share if self.busy_share is None else share * self.busy_share

    @property
    def unattributed_share(self) -> float:
        """Share of the operations without an owner, 0 to 1."""
        return self.unattributed_seconds / self.total_seconds if self.total_seconds else 1.0

    @property
    def fused_share(self) -> float:
        """Share of fused operations of several owners, 0 to 1."""
        return self.fused_seconds / self.total_seconds if self.total_seconds else 0.0
