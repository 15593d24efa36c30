"""Word and pattern searches in the text of a module."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from functools import cached_property

from kerascheck.project import import_scan
from kerascheck.source.code import compact, without_comments, without_strings
from kerascheck.syntax.lru_text_cache import LRUTextCache
from kerascheck.syntax.search import Searched

_WORD = re.compile(r"\w+")


class CodeText:
    """A text with its searches; the results depend on the text alone.

    Args:
        text: the text as :attr:`kerascheck.source.Source.without_data` returns it.
    """

    def __init__(self, text: str):
        self._text = text
        self._mentioned: dict[re.Pattern[str], bool] = {}

    @cached_property
    def code(self) -> str:
        """The text with comments and docstrings blanked out; offsets stay those of the text."""
        return without_comments(self._text)

    @cached_property
    def _compact(self) -> str:
        return compact(self.code)

    @cached_property
    def bare(self) -> str:
        """The code with all strings emptied, for searches of names. Offsets differ from those of the text."""
        return without_strings(self._compact)

    @cached_property
    def _searched(self) -> Searched:
        return Searched(self._compact)

    def says(self, word: str) -> bool:
        """Whether the code contains some characters, strings included; runs of white space count as one blank."""
        return self._searched.has(word)

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """Whether the code matches a pattern, strings included."""
        found = self._mentioned.get(pattern)
        if found is None:
            found = self._mentioned[pattern] = self._searched.holds(pattern)
        return found

    @property
    def words(self) -> Collection[str]:
        """The words of the code, strings included."""
        return self._searched.words

    @cached_property
    def bare_counts(self) -> Counter[str]:
        """The number of occurrences of each word in the bare code."""
        return Counter(_WORD.findall(self.bare))

    @cached_property
    def import_names(self) -> list[tuple[str, int]]:
        """The dotted names in import statements, with their number of leading dots."""
        return import_scan.import_names(self.bare)


code_text = LRUTextCache(CodeText, 3_000_000)
"""The ``CodeText`` of a text, from a cache of the most recent texts."""
