"""Results of an earlier run, each valid as long as its dependencies are unchanged."""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from kerascheck.cache.written import Damaged, read, write
from kerascheck.source import dependencies

_Kind = TypeVar("_Kind")
Entry = tuple[Any, str]
"""A result as JSON, and the numbers of its dependencies in the form of :func:`packed`."""


class Memo:
    """The memo of one run.

    Args:
        tracker: the tracker of this run; it begins with the dependencies of the earlier run.
        earlier: the entries of the earlier run.
        outdated: the numbers of dependencies that changed since the earlier run.

    Attributes:
        entries: the entries to store after this run.
    """

    def __init__(self, tracker: dependencies.DependencyTracker, earlier: dict[str, Entry], outdated: Collection[int]):
        self.tracker = tracker
        self.entries: dict[str, Entry] = {}
        self._earlier = earlier
        self._outdated = sorted(outdated)

    def recall(self, key: str) -> Any:
        """The result stored under a key, if it is still valid."""
        entry = self._earlier.get(key)
        if entry is None or self._outdated and meets(entry[1], self._outdated):
            return None
        self.entries[key] = entry
        return entry[0]

    def keep(self, key: str, value: Any, deps: Collection[int]) -> None:
        """Store a result, as JSON, with the numbers of its dependencies."""
        self.entries[key] = value, packed(deps)

    def once(self, key: str, kind: Any, compute: Callable[[], _Kind]) -> _Kind:
        """The result stored under a key, of type ``kind``; if there is none, computes and stores it."""
        known = self.recall(key)
        if known is not None:
            with contextlib.suppress(Damaged):
                kept: _Kind = read(kind, known)
                return kept
        with self.tracker.asking(("memo", key)):
            found = compute()
        self.keep(key, write(found), self.tracker.asked_by(("memo", key)))
        return found


def packed(numbers: Collection[int]) -> str:
    """Write a set of numbers as text: ascending runs as ``distance+extra``, from the end of the previous run.

    Example:
        >>> packed({3, 4, 5, 9})
        '3+2 4'
    """
    runs: list[str] = []
    last, start = 0, None
    ordered = sorted(numbers)
    for place, number in enumerate(ordered):
        start = number if start is None else start
        if place + 1 == len(ordered) or ordered[place + 1] != number + 1:
            runs.append(f"{start - last}+{number - start}" if number > start else str(start - last))
            last, start = number, None
    return " ".join(runs)


def meets(text: str, numbers: Sequence[int]) -> bool:
    """Whether a :func:`packed` set shares a number with a sorted sequence.

    Example:
        >>> meets("3+2 4", [1, 5]), meets("3+2 4", [2, 6])
        (True, False)
    """
    last = 0
    for run in text.split():
        distance, _, more = run.partition("+")
        first = last + int(distance)
        last = first + int(more or 0)
        place = bisect_left(numbers, first)
        if place < len(numbers) and numbers[place] <= last:
            return True
    return False


_PACKED = re.compile(r"(?:\d{1,9}(?:\+\d{1,9})?(?: |$))*")


def is_packed(deps: object) -> bool:
    """Whether a value has the form that :func:`packed` writes."""
    return isinstance(deps, str) and _PACKED.fullmatch(deps) is not None
