"""Answers that were worked out in an earlier run, each for as long as all that it follows from is as it was."""

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
"""An answer as JSON, and the numbers of the facts that it follows from, as :func:`packed` writes them."""


class Memo:
    """What is remembered in one run.

    Args:
        record: what is asked of the disk in this run; it begins with the facts of the earlier one.
        earlier: the entries of the earlier run.
        outdated: the facts of the earlier run that are others now.

    Attributes:
        entries: what is worth to be kept after this run.
    """

    def __init__(self, record: dependencies.Record, earlier: dict[str, Entry], outdated: Collection[int]):
        self.record = record
        self.entries: dict[str, Entry] = {}
        self._earlier = earlier
        self._outdated = sorted(outdated)

    def recall(self, key: str) -> Any:
        """What was kept under a key, and follows from what is as it was; else None."""
        entry = self._earlier.get(key)
        if entry is None or self._outdated and meets(entry[1], self._outdated):
            return None
        self.entries[key] = entry
        return entry[0]

    def keep(self, key: str, value: Any, facts: Collection[int]) -> None:
        """Keep an answer, as JSON, that follows from the facts with these numbers."""
        self.entries[key] = value, packed(facts)

    def once(self, key: str, kind: Any, work_out: Callable[[], _Kind]) -> _Kind:
        """What was kept under a key, or what ``work_out`` gives, a value of type ``kind``, with all that it asks."""
        known = self.recall(key)
        if known is not None:
            with contextlib.suppress(Damaged):
                kept: _Kind = read(kind, known)
                return kept
        with self.record.asking(("memo", key)):
            found = work_out()
        self.keep(key, write(found), self.record.asked_by(("memo", key)))
        return found


def packed(numbers: Collection[int]) -> str:
    """A set of numbers as text, as long as the set: runs in ascending order, each as its distance from the last and its length.

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
    """Whether a set that :func:`packed` wrote has a number in common with some in ascending order.

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


def is_packed(facts: object) -> bool:
    """Whether something read from a file is what :func:`packed` writes."""
    return isinstance(facts, str) and _PACKED.fullmatch(facts) is not None
