"""What the reader of a recorded profile prints, see ``kerascheck/runtime/verify/child/recorded.py``."""

from __future__ import annotations

from dataclasses import dataclass

from kerascheck.runtime.verify.gpu_view import GpuView


@dataclass(frozen=True, slots=True)
class RecordedProfile:
    """What the steps of a profile did; times are in seconds per step."""

    steps: int
    seconds_per_step: float
    backend: str
    """"tensorflow" or "jax"."""
    function: str | None
    """Name of the compiled function that makes the steps."""
    fits: bool
    """Whether Keras's ``fit`` compiles that function."""
    parts: dict[str, float]
    """"computing", "compiling", "tracing", "waiting" (for data), "inside" (the compiled step, without an operation) and
    "between" (the compiled steps)."""
    scopes: tuple[tuple[str, float, float], ...]
    """Names around operations, such as "model/dense", with the seconds of the forward and of the backward pass."""
    unattributed_seconds: float
    fused_seconds: float
    total_seconds: float
    gpus: tuple[GpuView, ...]
    stages: tuple[tuple[str, float, float], ...]
    """Names of the stages of the input pipeline that steps wait for, seconds of waiting, and parallel calls."""
    stage_names: tuple[str, ...]
    """Of all stages in the profile."""
    lacks_programs: bool = False
    """Whether the reader does not see the programs that XLA compiled, which name the operations of JAX."""
