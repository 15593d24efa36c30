""".gitignore patterns, robust and fast: a bad one is skipped, and matching takes time linear in pattern and path."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pathspec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_LONGEST = 4096
"""Maximum characters of a pattern: no path of a common system is longer (``PATH_MAX`` of Linux)."""
_STAR = "[^/]*"
"""pathspec's translation of a star (``pathspec.patterns.gitignore``, 0.12 to 1.1)."""
_MOST_OPEN = 3
"""Maximum wildcards that may backtrack; each multiplies the time by the length of a path."""


class BadPattern(ValueError):
    """A pattern that git accepts but that matches nothing, or one that takes too long; the text says which."""


def compiled(lines: Sequence[str]) -> tuple[pathspec.GitIgnoreSpec, list[tuple[int, str]]]:
    """Compile all valid lines; also return the invalid ones by 0-based index with their problem."""
    # pathspec takes as long to import as the rest of a run without Keras.
    import pathspec

    patterns: list[GitIgnoreSpecPattern] = []
    refused: list[tuple[int, str]] = []
    for index, line in enumerate(lines):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            patterns += _patterns(line)
        except BadPattern as problem:
            refused.append((index, str(problem)))
    return pathspec.GitIgnoreSpec(patterns), refused


def spec(line: str) -> pathspec.GitIgnoreSpec:
    """Compile a single pattern; raises :class:`BadPattern`."""
    import pathspec

    return pathspec.GitIgnoreSpec(_patterns(line))


@functools.cache
def _patterns(line: str) -> tuple[GitIgnoreSpecPattern, ...]:
    import pathspec

    if len(line) > _LONGEST:
        raise BadPattern(f"a pattern of {len(line)} characters")
    try:
        read = list(pathspec.GitIgnoreSpec.from_lines([line]).patterns)
    except (ValueError, re.error):
        raise BadPattern(f"'{line}', which matches nothing") from None
    for pattern in read:
        if pattern.regex is not None:
            pattern.regex = _without_backtracking(line, pattern.regex)
    return tuple(read)


def _without_backtracking(line: str, regex: re.Pattern[str]) -> re.Pattern[str]:
    """Return the same regular expression in which every star except the last takes its first possible match.

    This suffices: a later match leaves less for the following stars. A matched lookahead with a back reference emulates an atomic group,
    which ``re`` supports from Python 3.11 on.
    """
    first, *parts = regex.pattern.split(_STAR)
    text = first
    left = len(re.findall(r"\.[+*]", regex.pattern))
    for number, part in enumerate(parts):
        if number < len(parts) - 1 and "(" not in part:
            text += f"(?=(?P<star{number}>[^/]*?{part}))(?P=star{number})" if part else ""
        else:
            text += _STAR + part
            left += 1
    if left > _MOST_OPEN:
        raise BadPattern(f"'{line[:60]}', which has too many wildcards")
    return re.compile(text) if len(parts) > 1 else regex
