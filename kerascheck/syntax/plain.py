"""Makes the import of libcst cheap, in a process that exists for checking files.

Most of that import goes into 170 frozen dataclasses, for each of which Python compiles methods that nothing here calls: those that
compare nodes, print them and refuse assignments. Without these it takes 55 ms instead of 105 (libcst 1.9, Python 3.11).
"""

from __future__ import annotations

import dataclasses
import sys
from functools import partial
from typing import Any

_full = dataclasses.dataclass


def plain_nodes() -> None:
    """From now on libcst, where it is not imported yet, defines its nodes without these methods: as :func:`kerascheck.syntax.nodes.quicken`
    leaves them, and not for a process that others share."""
    if "libcst" not in sys.modules:
        dataclasses.dataclass = _dataclass


def _dataclass(cls: type | None = None, /, **options: Any) -> Any:
    if cls is None:
        return partial(_dataclass, **options)
    if options.get("frozen") and cls.__module__.startswith("libcst._nodes."):
        options |= {"frozen": False, "eq": False, "repr": False}
    return _full(cls, **options)
