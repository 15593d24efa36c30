"""Stale findings: findings of an earlier text, carried over an edit until the new text is checked."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

from kerascheck.finding import Finding
from kerascheck.source import Source
from kerascheck.source.text import NEWLINE


def carried_over(findings: Iterable[Finding], before: Source, now: Source) -> list[Finding]:
    """Move findings to their lines in a later text; drops those in changed lines, and all fixes."""

    @functools.cache
    def shift(cell: int | None) -> Callable[[int, int], int | None]:
        return _shift(_lines(before, cell), _lines(now, cell))

    found = []
    for finding in findings:
        place = finding.location
        lines = [line for line in (place.line, place.end_line, *finding.statement_lines) if line]
        by = shift(place.cell)(min(lines), max(lines))
        if by is not None:
            first, last = finding.statement_lines
            found.append(
                replace(
                    finding,
                    location=replace(place, line=place.line + by, end_line=place.end_line + by),
                    statement_lines=(first and first + by, last and last + by),
                    fix=None,
                    related=(),
                    covers=(),
                )
            )
    return found


def _lines(source: Source, cell: int | None) -> list[str]:
    """The lines of a script or of a cell of a notebook; none for a missing cell."""
    if cell is None:
        return NEWLINE.split(source.text)
    cells = (each for each in source.cells or () if each.index == cell)
    return next((NEWLINE.split(source.text[each.start : each.end]) for each in cells), [])


def _shift(before: list[str], now: list[str]) -> Callable[[int, int], int | None]:
    """A function from a range of lines to its shift by the edit; None for a range that the edit touches."""
    above = _alike(before, now)
    below = _alike(before[::-1], now[::-1])

    def shift(first: int, last: int) -> int | None:
        if last <= above:
            return 0
        return len(now) - len(before) if first > len(before) - below else None

    return shift


def _alike(one: list[str], other: list[str]) -> int:
    """Count the equal lines at the start of two texts."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other)))
