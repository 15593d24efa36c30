"""The code of the running training: a script with its modules, or the cells of a notebook."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kerascheck.runtime.live.account import Translate, on_disk
from kerascheck.runtime.verify.child import frames
from kerascheck.source import Source

frames.disown(os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 2)))


@dataclass(frozen=True, slots=True)
class TrainingCode:
    """Where the code of a training is."""

    subject: str | Source | None
    """Path of the script, or the text of the cells; None if the code is in neither."""
    translate: Translate = on_disk


find_cells: Callable[[], TrainingCode | None] = lambda: None
"""Returns the cells of the running notebook. The extension for notebooks replaces this."""


def code_of_training(stack: Sequence[Sequence[Any]]) -> TrainingCode:
    """The code that leads to a training.

    Args:
        stack: [path, line, ...] of the script's frames, innermost first.
    """
    if (cells := find_cells()) is not None:
        return cells
    # The outermost frame of the script is the program, whatever launched it: python, pytest or a cluster.
    script = next((path for path, *_ in reversed(stack) if os.path.isfile(path)), None)
    return TrainingCode(None if script is None else os.path.abspath(script))
