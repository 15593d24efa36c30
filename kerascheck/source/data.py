"""Long data in code: literal tables, and strings in thousands of pieces.

libcst takes some 20 microseconds and 4 kB per number of a table, and fails on more than three thousand adjacent strings. No rule
depends on their content.
"""

from __future__ import annotations

import keyword
import re

from kerascheck.source.code import STRING

_LONG = 2000
"""Minimum values of a table, and minimum pieces of a string, to omit it."""
_TOKEN = re.compile(
    rf"(?P<prefix>[rRbBuUfF]{{0,2}}){STRING}|(?P<space>(?:[ \t\f\r\n]+|\\\r?\n|#[^\r\n]*)+)|(?P<open>[(\[{{])|(?P<close>[)\]}}])"
    # The content of a table besides strings and brackets, in runs as long as possible.
    r"|(?P<plain>(?:[-+,:*/ \t\r\n\d.]+|(?<=[\d.])\w+|(?:True|False|None|nan|inf)\b){1,5000})|(?P<word>[^\W\d]\w*)|.",
    re.S,
)
_CHARACTER = re.compile(r"[^\r\n]")
# A single character, since every value may have its own line; a letter of no alphabet in use for programs.
_UNKNOWN = "ǂ"
_QUOTES = "'''"


class _Bracket:
    """The content of an open bracket so far: the number of values, and whether there is nothing else."""

    def __init__(self, start: int, plain: bool):
        self.start, self.plain, self.values = start, plain, 0


class _AdjacentStrings:
    """Adjacent strings, which Python concatenates."""

    def __init__(self) -> None:
        self._range, self._count, self._computed = (0, 0), 0, False

    def add(self, token: re.Match[str], computed: bool) -> None:
        self._range = self._range[0] if self._count else token.start(), token.end()
        self._count, self._computed = self._count + 1, self._computed or computed

    def end(self, found: list[tuple[int, int]]) -> None:
        """End the run: another token follows."""
        if self._count >= _LONG and not self._computed:
            found.append(self._range)
        self._count, self._computed = 0, False


def without_long_data(text: str) -> str:
    """Replace every long table, and every string in many pieces, by an unknown expression.

    Other text keeps its offsets. Text with syntax errors is read up to the last matching quote or bracket.
    """
    if text.count(",") < _LONG and text.count("'") + text.count('"') < 2 * _LONG:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in _long_data(text):
        pieces += (text[done:start], _anything(text[start:end]))
        done = end
    return "".join((*pieces, text[done:]))


def _anything(data: str) -> str:
    """Return an unknown expression with the length and the lines of ``data``.

    The form is ``(x['''   '''])``, or ``(x   )`` if the lines are too short. White space costs libcst 140 bytes a character, a string
    nothing.
    """
    blank = _CHARACTER.sub(" ", data)
    written, begin = _put(blank, ("(", _UNKNOWN, "[", _QUOTES))
    backwards, end = _put(written[::-1], (")", "]", _QUOTES))
    if begin and end and begin + end <= len(data):
        return backwards[::-1]
    return f"({blank[1:-1].replace(' ', _UNKNOWN, 1)})"


def _put(blank: str, parts: tuple[str, ...]) -> tuple[str, int]:
    """Place some parts at the start of a blank text, each on the first line with room.

    Returns the text and the end of the last part, or 0 if there is no room.
    """
    end = 0
    for part in parts:
        place = blank.find(" " * len(part), end)
        if place < 0:
            return blank, 0
        end = place + len(part)
        blank = blank[:place] + part + blank[end:]
    return blank, end


def _long_data(text: str) -> list[tuple[int, int]]:
    """Return the ranges of long data, in order, without nested ones."""
    found: list[tuple[int, int]] = []
    groups = [_Bracket(0, plain=False)]
    pieces = _AdjacentStrings()
    # Decides the meaning of a following bracket: arguments of a call, or index of a subscript.
    after_value = False
    for token in _TOKEN.finditer(text):
        kind, group = token.lastgroup, groups[-1]
        if kind == "space":
            continue
        if kind == "prefix":
            computed = "f" in token["prefix"].lower()
            pieces.add(token, computed)
            group.values += 1
            group.plain = group.plain and not computed
            after_value = True
            continue
        pieces.end(found)
        if kind == "open":
            groups.append(_Bracket(token.start(), plain=not after_value))
            after_value = False
        elif kind == "close":
            if len(groups) > 1:
                _close(groups, token.end(), found)
            after_value = True
        elif kind == "plain":
            group.values += text.count(",", *token.span())
            after_value = token[0].rstrip()[-1:].isalnum()
        else:
            group.plain = False
            after_value = kind == "word" and not keyword.iskeyword(token[0])
    pieces.end(found)
    return found


def _close(groups: list[_Bracket], end: int, found: list[tuple[int, int]]) -> None:
    group, outer = groups.pop(), groups[-1]
    if not group.plain:
        outer.plain = False
        return
    outer.values += group.values + 1
    if group.values >= _LONG:
        while found and found[-1][0] >= group.start:
            found.pop()
        found.append((group.start, end))
