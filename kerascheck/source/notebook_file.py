"""Replacement of code in the cells of a notebook file; all other bytes stay."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_SPELLED = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
_ESCAPED = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_decode = json.JSONDecoder(parse_int=str, strict=True).raw_decode


class NotRewritable(ValueError):
    """Code cannot be written into the notebook without changing other bytes."""


@dataclass(frozen=True)
class _Value:
    """One JSON value, ``text[start:end]``."""

    start: int
    end: int


def rewritten(data: bytes, codes: Mapping[int, str]) -> bytes:
    """Return the bytes of a notebook with new code in some cells.

    Unchanged parts of a cell keep their spelling. A list of lines stays a list, and a string a string. New characters beyond ASCII are
    escaped if those of the cell, or else of the file, are.

    Args:
        data: the bytes of the notebook.
        codes: the new code by cell index, which counts cells of every type.

    Raises:
        NotRewritable: a cell has no replaceable code, or the result differs from the request.
    """
    text = data.decode("utf-8")
    pieces: list[str] = []
    position = 0
    for index, value in sorted(_sources(text, codes).items(), key=lambda item: item[1].start):
        pieces += (text[position : value.start], _spelled(text, value, codes[index]))
        position = value.end
    result = "".join((*pieces, text[position:]))
    if not _differ_in_codes_only(text, result, codes):
        raise NotRewritable("cannot be rewritten: more than its code would change")
    return result.encode("utf-8")


def _differ_in_codes_only(before: str, after: str, codes: Mapping[int, str]) -> bool:
    def load(text: str) -> Any:
        # Numbers as written: NaN is unequal to itself, and not every float is read exactly.
        return json.loads(text.removeprefix("\ufeff"), parse_float=str, parse_int=str, parse_constant=str)

    old, new = load(before), load(after)
    for index, code in codes.items():
        source = new["cells"][index]["source"]
        if type(source) is not type(old["cells"][index]["source"]) or "".join(source) != code:
            return False
        old["cells"][index]["source"] = source
    return bool(old == new)


def _sources(text: str, wanted: Mapping[int, str]) -> dict[int, _Value]:
    """Return the locations of the code of some cells."""
    cells = _members(text, _past_space(text, int(text.startswith("\ufeff")))).get("cells")
    found = {}
    for index, cell in enumerate(_elements(text, cells.start) if cells else ()):
        if index in wanted and (source := _members(text, cell.start).get("source")) is not None:
            found[index] = source
    if len(found) < len(wanted):
        raise NotRewritable("cannot be rewritten: a cell has no source")
    return found


def _past_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _members(text: str, start: int) -> dict[str, _Value]:
    """Return the values of an object by key; of equal keys the last, as all readers do."""
    found: dict[str, _Value] = {}
    position = _past_space(text, start + 1)
    while text[position] != "}":
        key, position = _decode(text, position)
        value = _value(text, _past_space(text, _past_space(text, position) + 1))
        found[key] = value
        position = _past_space(text, value.end)
        if text[position] == ",":
            position = _past_space(text, position + 1)
    return found


def _elements(text: str, start: int) -> Iterator[_Value]:
    position = _past_space(text, start + 1)
    while text[position] != "]":
        value = _value(text, position)
        yield value
        position = _past_space(text, value.end)
        if text[position] == ",":
            position = _past_space(text, position + 1)


def _value(text: str, start: int) -> _Value:
    return _Value(start, _decode(text, start)[1])


def _spelled(text: str, value: _Value, code: str) -> str:
    """Spell code as JSON in the style of the value that it replaces."""
    if text[value.start] == '"':
        spelling = _kept(_spellings(text[value.start + 1 : value.end - 1]), code, _escapes(text, value))
        return f'"{"".join(spelling)}"'
    if text[value.start] != "[":
        raise NotRewritable("cannot be rewritten: the source of a cell is neither text nor lines")
    elements = list(_elements(text, value.start))
    if any(text[element.start] != '"' for element in elements):
        raise NotRewritable("cannot be rewritten: a line of a cell is not text")
    old = [_spellings(text[element.start + 1 : element.end - 1]) for element in elements]
    spelling = _kept([one for line in old for one in line], code, _escapes(text, value))
    position, lines = 0, []
    # Some programs split lines for JSON as Python does, others only at "\n".
    given = ["".join(character for character, _ in line) for line in old]
    for line in (
        code.splitlines(True) if given == "".join(given).splitlines(True) else re.findall(r"[^\n]*\n|[^\n]+", code)
    ):
        lines.append(f'"{"".join(spelling[position : position + len(line)])}"')
        position += len(line)
    opening, between, closing = _gaps(text, value, elements)
    return f"[{opening}{between.join(lines)}{closing}]" if lines else "[]"


def _gaps(text: str, value: _Value, elements: list[_Value]) -> tuple[str, str, str]:
    """Return the text of a list before its first element, between two, and after the last."""
    if not elements:
        return "", ", ", ""
    opening = text[value.start + 1 : elements[0].start]
    closing = text[elements[-1].end : value.end - 1]
    if len(elements) > 1:
        return opening, text[elements[0].end : elements[1].start], closing
    # As after the colon: a file without line breaks has spaces everywhere, or nowhere.
    return opening, f",{opening or ' ' * text[: value.start].endswith(' ')}", closing


def _spellings(literal: str) -> list[tuple[str, str]]:
    """Return the characters of a JSON string, each with its spelling."""
    pieces = _SPELLED.findall(literal)
    return [(piece if len(piece) == 1 else json.loads(f'"{piece}"'), piece) for piece in pieces]


def _escapes(text: str, value: _Value) -> bool:
    """Whether characters beyond ASCII are escaped in a value, or, if it has none, in the file."""
    for part in (text[value.start : value.end], text):
        if _NOT_ASCII.search(part, int(part.startswith("\ufeff"))):
            return False
        if _ESCAPED.search(part):
            return True
    return False


def _kept(old: list[tuple[str, str]], code: str, escapes: bool) -> list[str]:
    """Return the spelling of each character of ``code``; unchanged characters keep theirs."""
    before = "".join(character for character, _ in old)
    # Whole lines first: comparing characters alone takes quadratic time.
    lines, others = before.splitlines(True), code.splitlines(True)
    spelling: list[str] = []
    position = 0
    for tag, first, last, start, end in difflib.SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
        length, new = sum(map(len, lines[first:last])), "".join(others[start:end])
        part = old[position : position + length]
        position += length
        if tag == "equal":
            spelling += (piece for _, piece in part)
            continue
        head = _common(before[position - length : position], new)
        rest = min(length, len(new)) - head
        tail = min(_common(before[position - length : position][::-1], new[::-1]), rest)
        spelling += (piece for _, piece in part[:head])
        spelling += (json.dumps(one, ensure_ascii=escapes)[1:-1] for one in new[head : len(new) - tail])
        spelling += (piece for _, piece in part[length - tail :])
    return spelling


def _common(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return next((index for index, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
