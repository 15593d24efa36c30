"""A cache of the results of a function of a text, bounded by the length of the texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class LRUTextCache(Generic[_Result]):
    """A function of a text that caches the results for the most recently used texts.

    An editor asks about one file that changes, among many that do not.

    Args:
        compute: the function; its errors propagate, and nothing is cached for them.
        characters: the total length of the cached texts.

    Example:
        >>> upper = LRUTextCache(str.upper, 10)
        >>> upper("a") is upper("a")
        True
    """

    def __init__(self, compute: Callable[[str], _Result], characters: int):
        self._compute, self._free = compute, characters
        self._cached: dict[str, _Result] = {}

    def __call__(self, text: str) -> _Result:
        result = self._cached.pop(text, None)
        if result is None:
            result = self._compute(text)
            self._free -= len(text)
            while self._free < 0 and self._cached:
                oldest = next(iter(self._cached))
                del self._cached[oldest]
                self._free += len(oldest)
        self._cached[text] = result
        return result
