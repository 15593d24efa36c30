"""Requirements of a project, and whether their TensorFlow uses a GPU.

Example:
    >>> wanted = file("tensorflow-cpu==2.15")
    >>> requirements.gpu_shortfall(wanted, wanted.requirements[0])
    <Shortfall.CPU_PACKAGE: 2>
"""

from __future__ import annotations

from kerascheck.meaning.program.gpu_packages import (
    Shortfall,
    WithCuda,
    cuda_for,
    gpu_shortfall,
    is_without_gpu_on_purpose,
    only_shows_recordings,
)
from kerascheck.project.requirements import wants_cpu

__all__ = [
    "Shortfall",
    "WithCuda",
    "cuda_for",
    "gpu_shortfall",
    "is_without_gpu_on_purpose",
    "only_shows_recordings",
    "wants_cpu",
]
