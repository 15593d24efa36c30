"""The code of the running training: a script with its modules, or the cells of a notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kerascheck.runtime.live.places import Translate, on_disk
from kerascheck.runtime.verify.child import frames
from kerascheck.runtime.verify.messages import Place
from kerascheck.source import Source, executed_cells
from kerascheck.source.executed_cells import ExecutedCells

frames.disown(os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 2)))


@dataclass(frozen=True, slots=True)
class TrainingCode:
    """Where the code of a training is."""

    subject: str | Source | None
    """Path of the script, or the text of the cells; None if the code is in neither."""
    translate: Translate = on_disk


running: TrainingCode | None = None
"""The code of the cell that ``%%why`` runs."""


def code_of_training(stack: Sequence[Sequence[Any]]) -> TrainingCode:
    """The code that leads to a training.

    Args:
        stack: [path, line, ...] of the script's frames, innermost first.
    """
    if running is not None:
        return running
    cells = executed_cells.of_this_process()
    if cells is not None and any(cells.locate(path, line) is not None for path, line, *_ in stack):
        return code_of_cells(cells)
    # The outermost frame of the script is the program, whatever launched it: python, pytest or a cluster.
    script = next((path for path, *_ in reversed(stack) if os.path.isfile(path)), None)
    return TrainingCode(None if script is None else os.path.abspath(script))


def code_of_cells(cells: ExecutedCells, cell_name: str | None = None) -> TrainingCode:
    """The executed cells as the code of a training.

    Args:
        cells: the cells; the one that runs now is the last.
        cell_name: file name of the code objects of that cell, if a magic in its first line runs its other lines.
    """
    source = cells.source()
    path = os.path.abspath(source.path)

    def place(filename: str, line: int) -> Place:
        if filename == cell_name and source.cells:
            return path, source.lines_above(source.cells[-1].index) + 1 + line
        here = cells.locate(filename, line)
        return (path, here) if here is not None else on_disk(filename, line)

    return TrainingCode(source, place)
