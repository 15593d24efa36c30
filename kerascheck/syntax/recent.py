"""What was made of the texts that were asked for last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_Made = TypeVar("_Made")


class Recent(Generic[_Made]):
    """A function of a text that keeps what it gave for the last ones: an editor asks about a file that changes, among many that do not.

    Args:
        make: raises what it likes, of which nothing is kept.
        characters: length of all the texts that are kept for.

    Example:
        >>> upper = Recent(str.upper, 10)
        >>> upper("a") is upper("a")
        True
    """

    def __init__(self, make: Callable[[str], _Made], characters: int):
        self._make, self._room = make, characters
        self._kept: dict[str, _Made] = {}

    def __call__(self, text: str) -> _Made:
        made = self._kept.pop(text, None)
        if made is None:
            made = self._make(text)
            self._room -= len(text)
            while self._room < 0 and self._kept:
                oldest = next(iter(self._kept))
                del self._kept[oldest]
                self._room += len(oldest)
        self._kept[text] = made
        return made
