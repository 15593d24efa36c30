"""Long data in code: tables that are written out, and strings in thousands of pieces.

libcst takes some 20 microseconds and 4 kB for every number of a table, and gives up where
more than three thousand strings stand side by side. Nothing that a rule asks about is in them.
"""

from __future__ import annotations

import keyword
import re

from kerascheck.source.code import STRING

_LONG = 2000
"""Values from which a table is left out, and pieces from which a string is."""
_TOKEN = re.compile(
    rf"(?P<prefix>[rRbBuUfF]{{0,2}}){STRING}|(?P<space>(?:[ \t\f\r\n]+|\\\r?\n|#[^\r\n]*)+)|(?P<open>[(\[{{])|(?P<close>[)\]}}])"
    # What a table consists of beside strings and brackets, as much of it as stands together.
    r"|(?P<plain>(?:[-+,:*/ \t\r\n\d.]+|(?<=[\d.])\w+|(?:True|False|None|nan|inf)\b){1,5000})|(?P<word>[^\W\d]\w*)|.",
    re.S,
)
_CHARACTER = re.compile(r"[^\r\n]")
# One character, since every value may stand on a line of its own, and a letter of no alphabet that programs are written in.
_UNKNOWN = "ǂ"
_QUOTES = "'''"


class _Group:
    """What an open bracket holds so far: how many values, and whether nothing else."""

    def __init__(self, start: int, plain: bool):
        self.start, self.plain, self.values = start, plain, 0


class _Pieces:
    """Strings that stand side by side, which Python joins."""

    def __init__(self) -> None:
        self._range, self._count, self._computed = (0, 0), 0, False

    def add(self, token: re.Match[str], computed: bool) -> None:
        self._range = self._range[0] if self._count else token.start(), token.end()
        self._count, self._computed = self._count + 1, self._computed or computed

    def end(self, found: list[tuple[int, int]]) -> None:
        """Something else follows."""
        if self._count >= _LONG and not self._computed:
            found.append(self._range)
        self._count, self._computed = 0, False


def without_long_data(text: str) -> str:
    """A text with every long table, and every string in very many pieces, replaced by what may be anything; nothing else moves.

    A text that does not parse is read as far as its quotes and brackets match.
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
    """An expression of which nothing is known, as long as ``data`` and in as many lines: ``(x['''   '''])``, or ``(x   )`` where the lines are too short.

    White space takes libcst 140 bytes a character, a string nothing.
    """
    blank = _CHARACTER.sub(" ", data)
    written, begin = _put(blank, ("(", _UNKNOWN, "[", _QUOTES))
    backwards, end = _put(written[::-1], (")", "]", _QUOTES))
    if begin and end and begin + end <= len(data):
        return backwards[::-1]
    return f"({blank[1:-1].replace(' ', _UNKNOWN, 1)})"


def _put(blank: str, parts: tuple[str, ...]) -> tuple[str, int]:
    """A blank text with some parts at its beginning, each as soon as a line has room, and where they end; 0 where there is no room."""
    end = 0
    for part in parts:
        place = blank.find(" " * len(part), end)
        if place < 0:
            return blank, 0
        end = place + len(part)
        blank = blank[:place] + part + blank[end:]
    return blank, end


def _long_data(text: str) -> list[tuple[int, int]]:
    """Where the long data is, in order; none of it within another."""
    found: list[tuple[int, int]] = []
    groups = [_Group(0, plain=False)]
    pieces = _Pieces()
    # What a bracket after it means: the arguments of a call, the index of a subscript.
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
            groups.append(_Group(token.start(), plain=not after_value))
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


def _close(groups: list[_Group], end: int, found: list[tuple[int, int]]) -> None:
    group, outer = groups.pop(), groups[-1]
    if not group.plain:
        outer.plain = False
        return
    outer.values += group.values + 1
    if group.values >= _LONG:
        while found and found[-1][0] >= group.start:
            found.pop()
        found.append((group.start, end))
