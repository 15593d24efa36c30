"""What is to be installed.

Example:
    >>> requirements.is_named_for_gpu("requirements-gpu.txt")
    True
"""

from __future__ import annotations

from kerascheck.source.requirements import is_named_for_gpu, wants_cpu

__all__ = [
    "is_named_for_gpu",
    "wants_cpu",
]
