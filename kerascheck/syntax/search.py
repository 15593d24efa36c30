"""Searches of whole files by regular expressions, most of which most files do not hold."""

from __future__ import annotations

import functools
import itertools
import re
import sys
from collections.abc import Iterable
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as tokens
    from re import _parser as parser
else:
    import sre_constants as tokens
    import sre_parse as parser

_SHORTEST = 3
"""Characters that a word has at least for its search to pay."""
_MOST_SPELLINGS = 8
"""Spellings of one word, as ``[Gg]an`` has two, that are looked for one by one."""
_COMMON = frozenset("from import keras tensorflow keras. tensorflow. layers return".split())
"""Words that tell nothing, since most files that are searched have them."""
# These count the groups of the whole pattern.
_REFERS = re.compile(r"\\[1-9]|\(\?P=|\(\?\(")
_INLINE_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")

Part = tuple[frozenset[str] | None, re.Pattern[str]]
"""One of several ways to find a pattern, with words of which one stands wherever that way leads; None without any."""


class Searched:
    """A text that many patterns are looked for in.

    Example:
        >>> Searched("model.fit(x)").holds(re.compile(r"\\bfit\\(|evaluate"))
        True
    """

    def __init__(self, text: str):
        self._text = text

    def holds(self, pattern: re.Pattern[str]) -> bool:
        """Whether the pattern is found.

        Each of its alternatives is looked for only where one of the words is there without which it cannot be: words are
        found ten times as fast.
        """
        text = self._folded if pattern.flags & re.I else self._text
        return any(
            (words is None or any(word in text for word in words)) and part.search(self._text) is not None
            for words, part in parts_of(pattern)
        )

    @functools.cached_property
    def _folded(self) -> str:
        return self._text.casefold()


@functools.cache
def parts_of(pattern: re.Pattern[str]) -> tuple[Part, ...]:
    """The alternatives of a pattern; the words of one that ignores case are folded.

    Example:
        >>> [sorted(words) for words, _ in parts_of(re.compile(r"(?:^|_)generator\\b|\\bdata_?set"))]
        [['generator'], ['data']]
    """
    text = _INLINE_FLAGS.sub("", pattern.pattern)
    whole = _REFERS.search(text) or pattern.flags & re.X
    parts: list[Part] = []
    wordless = []
    for alternative in [text] if whole else _alternatives(text):
        words = _words(parser.parse(alternative, pattern.flags))  # type: ignore[arg-type]  # it can be iterated
        if words is not None and pattern.flags & re.I:
            words = frozenset(map(str.casefold, words)) if all(map(str.isascii, words)) else None
        if words is None:
            wordless.append(alternative)
        else:
            parts.append((words, re.compile(alternative, pattern.flags)))
    if wordless:
        parts.append((None, re.compile("|".join(wordless), pattern.flags)))
    return tuple(parts)


def _alternatives(pattern: str) -> list[str]:
    """The parts of a pattern between the bars that are in no group."""
    found, start, depth, in_class = [], 0, 0, False
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            position += 1
        elif in_class:
            # A bracket that comes first is one of the characters.
            in_class = character != "]" or pattern[position - 1] == "[" or pattern[position - 2 : position] == "[^"
        elif character == "[":
            in_class = True
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character == "|" and not depth:
            found.append(pattern[start:position])
            start = position + 1
        position += 1
    return [*found, pattern[start:]]


def _words(sequence: Iterable[tuple[Any, Any]]) -> frozenset[str] | None:
    """Words of which one stands wherever a part of a pattern is found: of all that has to be there what tells most; None where nothing tells much."""
    choices: list[frozenset[str]] = []
    run = [""]
    for token, value in sequence:
        spellings = _characters(token, value)
        if spellings and len(run) * len(spellings) <= _MOST_SPELLINGS:
            run = [before + character for before, character in itertools.product(run, spellings)]
            continue
        choices.append(frozenset(run))
        run = [""]
        inner = None
        if token is tokens.SUBPATTERN and not value[1] and not value[2]:
            inner = _words(value[-1])
        elif token is tokens.MAX_REPEAT and value[0]:
            inner = _words(value[2])
        elif token is tokens.BRANCH:
            ways = [_words(way) for way in value[1]]
            inner = None if None in ways else frozenset[str]().union(*filter(None, ways))
        if inner:
            choices.append(inner)
    choices.append(frozenset(run))
    best = max(choices, key=_tells)
    return best if _tells(best) >= _SHORTEST else None


def _characters(token: Any, value: Any) -> list[str]:
    """The characters that one place of a pattern may be; none where these are not listed."""
    if token is tokens.LITERAL:
        return [chr(value)]
    if token is tokens.IN and all(kind is tokens.LITERAL for kind, _ in value):
        return [chr(code) for _, code in value]
    return []


def _tells(words: frozenset[str]) -> int:
    return min(0 if word in _COMMON else len(word) for word in words)
