"""Regular-expression searches of whole files, most of which have no match."""

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
"""Minimum characters of a word that make its search worthwhile."""
_MOST_SPELLINGS = 100
"""Maximum spellings of one word to search separately; ``[Gg]an`` has two."""
_COMMON = frozenset("from import keras tensorflow keras. tensorflow. layers return".split())
"""Words that most searched files contain, so they exclude nothing."""
_EDGE = "\0"
"""Marks the beginning or end of a name within a word."""
# These refer to the groups of the whole pattern.
_REFERS = re.compile(r"\\[1-9]|\(\?P=|\(\?\(")
_INLINE_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")
_NAME = re.compile(r"\w+")
# This takes half the time of a search.
_BETWEEN_NAMES = {code: " " for code in range(128) if not _NAME.match(chr(code))}

Part = tuple[frozenset[str] | None, str]
"""An alternative of a pattern, and words, one of which occurs in every match; None without such words."""


class Searched:
    """A text to search for many patterns.

    Example:
        >>> Searched("model.fit(x)").holds(re.compile(r"\\bfit\\(|evaluate"))
        True
    """

    def __init__(self, text: str):
        self._text = text

    @property
    def words(self) -> frozenset[str]:
        """All runs of letters, digits and underscores."""
        return self._plain.names

    def has(self, word: str) -> bool:
        """Whether the text contains some characters."""
        return self._plain.has(word)

    def holds(self, pattern: re.Pattern[str]) -> bool:
        """Whether the text matches the pattern.

        Each alternative is searched only if the text contains one of its required words: finding words is ten times as fast.
        """
        words_here = self._folded if pattern.flags & re.I else self._plain
        for words, part in parts_of(pattern):
            if (words is None or any(map(words_here.has, words))) and _compiled(part, pattern.flags).search(self._text):
                return True
        return False

    @functools.cached_property
    def _plain(self) -> _Words:
        text = self._text
        return _Words(text, text.translate(_BETWEEN_NAMES).split() if text.isascii() else _NAME.findall(text))

    @functools.cached_property
    def _folded(self) -> _Words:
        return _Words(self._text.casefold(), map(str.casefold, self._plain.names))


class _Words:
    """A text with an index of its distinct names, which is searched first."""

    def __init__(self, text: str, names: Iterable[str]):
        self._text, self.names = text, frozenset(names)
        self._joined = "\n".join(self.names)

    def has(self, word: str) -> bool:
        literal, name, is_whole = _split_word(word)
        if is_whole and name not in self.names or name not in self._joined:
            return False
        return name is literal or literal in self._text


@functools.cache
def _split_word(word: str) -> tuple[str, str, bool]:
    """Split a word: its characters without edges, its most selective name, and whether that name is whole."""
    literal = word.replace(_EDGE, "")
    parts = [(match.start() > 0 and match.end() < len(word), len(match[0]), match[0]) for match in _NAME.finditer(word)]
    is_whole, _, name = max(parts, default=(False, 0, ""))
    return literal, literal if name == literal else name, is_whole


# Few alternatives are ever searched: most files contain none of their words.
_compiled = functools.cache(re.compile)


@functools.cache
def parts_of(pattern: re.Pattern[str]) -> tuple[Part, ...]:
    """Return the alternatives of a pattern; words of case-insensitive patterns are folded.

    Example:
        >>> [sorted(words) for words, _ in parts_of(re.compile(r"(?:^|_)generator\\b|\\bdata_?set"))]
        [['generator'], ['data']]
    """
    text = _INLINE_FLAGS.sub("", pattern.pattern)
    whole = _REFERS.search(text) or pattern.flags & re.X
    parts: list[Part] = []
    wordless = []
    for alternative in [text] if whole else _alternatives(text):
        # Under re.ASCII, names end elsewhere.
        edge = [] if pattern.flags & re.A else [_EDGE]
        words = _words(parser.parse(alternative, pattern.flags), edge)  # type: ignore[arg-type]  # it can be iterated
        if words is not None and pattern.flags & re.I:
            words = frozenset(map(str.casefold, words)) if all(map(str.isascii, words)) else None
        if words is None:
            wordless.append(alternative)
        else:
            parts.append((words, alternative))
    if wordless:
        parts.append((None, "|".join(wordless)))
    return tuple(parts)


def _alternatives(pattern: str) -> list[str]:
    """Split a pattern at the bars outside of all groups."""
    found, start, depth, in_class = [], 0, 0, False
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            position += 1
        elif in_class:
            # A leading bracket is a member of the class.
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


def _words(sequence: Iterable[tuple[Any, Any]], edge: list[str]) -> frozenset[str] | None:
    """Return the most selective set of words, one of which occurs in every match; None if no set is selective."""
    choices: list[frozenset[str]] = []
    run = [""]
    for token, value in sequence:
        spellings = _spellings(token, value, edge)
        if spellings and len(run) * len(spellings) <= _MOST_SPELLINGS:
            run = [before + after for before, after in itertools.product(run, spellings)]
            continue
        choices.append(frozenset(run))
        run = [""]
        inner = None
        if token is tokens.SUBPATTERN and not value[1] and not value[2]:
            inner = _words(value[-1], edge)
        elif token is tokens.MAX_REPEAT and value[0]:
            inner = _words(value[2], edge)
        elif token is tokens.BRANCH:
            ways = [_words(way, edge) for way in value[1]]
            inner = None if None in ways else frozenset[str]().union(*filter(None, ways))
        if inner:
            choices.append(inner)
    choices.append(frozenset(run))
    best = max(choices, key=_selectivity)
    return best if _selectivity(best) >= _SHORTEST else None


def _spellings(token: Any, value: Any, edge: list[str]) -> list[str]:
    """Return all strings that one part of a pattern matches; empty if it cannot be enumerated."""
    if token is tokens.LITERAL:
        return [chr(value)]
    if token is tokens.IN and all(kind is tokens.LITERAL for kind, _ in value):
        return [chr(code) for _, code in value]
    if token is tokens.AT and value is tokens.AT_BOUNDARY:
        return edge
    if token is tokens.SUBPATTERN and not value[1] and not value[2]:
        return _all_spellings(value[-1], edge)
    if token is tokens.BRANCH:
        ways = [_all_spellings(way, edge) for way in value[1]]
        return list(itertools.chain(*ways)) if all(ways) else []
    return []


def _all_spellings(sequence: Iterable[tuple[Any, Any]], edge: list[str]) -> list[str]:
    run = [""]
    for token, value in sequence:
        spellings = _spellings(token, value, edge)
        if len(run) * len(spellings) > _MOST_SPELLINGS:
            return []
        run = [before + after for before, after in itertools.product(run, spellings)]
    return run


def _selectivity(words: frozenset[str]) -> int:
    return min(0 if word in _COMMON else len(word) for word in (word.replace(_EDGE, "") for word in words))
