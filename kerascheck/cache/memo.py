"""Answers that were worked out in an earlier run, each for as long as all that it follows from is as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from kerascheck.cache.written import Damaged, read, write
from kerascheck.source import disk

_Kind = TypeVar("_Kind")
Entry = tuple[Any, int]
"""An answer as JSON, and the facts that it follows from: bit n is that of number n."""


class Memo:
    """What is remembered in one run.

    Args:
        record: what is asked of the disk in this run; it begins with the facts of the earlier one.
        earlier: the entries of the earlier run.
        outdated: the facts of the earlier run that are others now.

    Attributes:
        entries: what is worth to be kept after this run.
    """

    def __init__(self, record: disk.Record, earlier: dict[str, Entry], outdated: Collection[int]):
        self.record = record
        self.entries: dict[str, Entry] = {}
        self._earlier = earlier
        self._outdated = bits(outdated)

    def recall(self, key: str) -> Any:
        """What was kept under a key, and follows from what is as it was; else None."""
        entry = self._earlier.get(key)
        if entry is None or entry[1] & self._outdated:
            return None
        self.entries[key] = entry
        return entry[0]

    def keep(self, key: str, value: Any, facts: Collection[int]) -> None:
        """Keep an answer, as JSON, that follows from the facts with these numbers."""
        self.entries[key] = value, bits(facts)

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


def bits(numbers: Collection[int]) -> int:
    """A set of numbers as one."""
    if not numbers:
        return 0
    found = bytearray(max(numbers) // 8 + 1)
    for number in numbers:
        found[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(found, "little")
