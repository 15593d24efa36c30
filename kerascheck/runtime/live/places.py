"""Places of code objects, translated to places in the sources: files, or the cells of a notebook."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kerascheck.runtime.verify.messages import Place

Translate = Callable[[str, int], Place]
"""From the path and line of a code object to those of a source."""


def on_disk(path: str, line: int) -> Place:
    """The place of code in a file."""
    return os.path.abspath(path), line


# The functions below take and return what the measured process sends, see kerascheck/runtime/verify/messages.py.


def place(path: str | None, line: int | None, translate: Translate) -> tuple[str | None, int | None]:
    """A place that may be unknown."""
    return (None, None) if path is None or line is None else translate(path, line)


def span(found: Iterable[Any], translate: Translate) -> list[Any]:
    """A path with its first and last line."""
    path, first, last = found
    return [*translate(path, first), translate(path, last)[1]]


def stack(frames: Iterable[Iterable[Any]], translate: Translate) -> list[list[Any]]:
    """Frames: [path, line, first line of the function or 0 for a module]."""
    return [
        [*translate(path, line), translate(path, first)[1] if first else 0]
        for path, line, first in (tuple(frame) for frame in frames)
    ]


def stage(found: Mapping[str, Any], translate: Translate) -> dict[str, Any]:
    """A dataset of the chain."""
    where, function = found["place"], found["function"]
    return {
        "name": found["name"],
        "place": None if where is None else list(translate(*where)),
        "function": None if function is None else span(function, translate),
    }


def samples(total: int, main: Iterable[Any], others: Iterable[Any], translate: Translate) -> dict[str, Any]:
    """Samples of the profiler: [kind, path, line, ...] of the main thread, [path, line, ...] of the others."""
    return {
        "total": total,
        "main": [[kind, *place(path, line, translate), *rest] for kind, path, line, *rest in main],
        "others": [[*place(path, line, translate), *rest] for path, line, *rest in others],
    }
