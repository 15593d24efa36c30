"""What a call of ``fit`` was given, read from its stack frame."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

_KERAS = ("keras", "tf_keras")


@dataclass(slots=True)
class FitFrame:
    """The objects of one call of ``fit``."""

    callbacks: Any
    """The ``CallbackList`` that calls the callbacks."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of ``fit`` by name, defaults included; empty if ``fit`` was not found."""
    is_nested: bool = False
    """Whether a callback of another ``fit`` calls it."""


def find(method: str) -> FitFrame | None:
    """Find the ``CallbackList`` whose ``method`` calls the caller's caller, and the ``fit`` that uses the list.

    Returns:
        None if no such method is on the stack, for instance if a hand-written loop calls the callback directly.
    """
    frame: FrameType | None = sys._getframe(2)
    found: FitFrame | None = None
    fits = 0
    while frame is not None:
        code = frame.f_code
        if code.co_name == method and found is None and hasattr(frame.f_locals.get("self"), "callbacks"):
            found = FitFrame(frame.f_locals["self"])
        elif code.co_name == "fit" and _is_of_keras(code.co_filename):
            fits += 1
            if fits == 1 and found is not None:
                names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
                found.arguments = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
        frame = frame.f_back
    if found is not None:
        found.is_nested = fits > 1
    return found


def _is_of_keras(path: str) -> bool:
    return any(f"{os.sep}{name}{os.sep}" in path for name in _KERAS)
