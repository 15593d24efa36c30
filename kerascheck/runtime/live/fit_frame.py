"""What a call of ``fit`` was given, read from its stack frame."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

_KERAS = ("keras", "tf_keras")
_MOST_FRAMES = 12
"""Frames between a callback and ``fit``: Keras adds some that only shorten tracebacks."""


@dataclass(slots=True)
class FitFrame:
    """The objects of one call of ``fit``."""

    callbacks: Any
    """The ``CallbackList`` that calls the callbacks."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of ``fit`` by name, defaults included; empty if ``fit`` was not found."""


def find(method: str) -> FitFrame | None:
    """Find the ``CallbackList`` whose ``method`` calls the caller's caller, and the ``fit`` that uses the list.

    Returns:
        None if no such method is on the stack, for instance if a hand-written loop calls the callback directly.
    """
    frame: FrameType | None = sys._getframe(2)
    found: FitFrame | None = None
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        code = frame.f_code
        if found is None and code.co_name == method and hasattr(frame.f_locals.get("self"), "callbacks"):
            found = FitFrame(frame.f_locals["self"])
        elif found is not None and code.co_name == "fit" and _is_of_keras(code.co_filename):
            names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
            found.arguments = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
            break
        frame = frame.f_back
    return found


def _is_of_keras(path: str) -> bool:
    return any(f"{os.sep}{name}{os.sep}" in path for name in _KERAS)
