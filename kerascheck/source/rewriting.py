"""Edits of the text that rules see, made in what the file holds: the cells of a notebook, and lines with commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kerascheck.finding import Edit, Fix, with_edits
from kerascheck.source import notebook
from kerascheck.source.text import NEWLINE, Cell, Source

_IMPORT = re.compile(r"(?:import|from)\b")
_IMPORT_LINE = re.compile(r"(?:import|from)\b", re.M)
_CODE = re.compile(r"[ \t\f]*[^\s#]")
_LAST_NEWLINE = re.compile(r"(?:\r\n|\r|\n)\Z")


def programs(source: Source) -> Sequence[str]:
    """What has to parse by itself: the script, or every cell with what has to stand above it."""
    if source.cells is None:
        return (source.text,)
    codes = [source.text[cell.start : cell.end] for cell in source.cells]
    return [notebook.header_for(code) + code for code in codes]


def edited(source: Source, edits: Sequence[Edit]) -> Source | None:
    """The source with edits of its text; None where they reach into what is not code, or across cells."""
    if source.cells is not None:
        return _edited_cells(source, edits)
    text = with_edits(source.text, edits)
    if source.original is None:
        changed = source.with_text(text)
        return changed if changed.survives() else None
    original = with_edits(source.original, edits)
    # The commands have to be read as before.
    if any(_is_beside_command(source, edit) for edit in edits) or notebook.blank(original) != text:
        return None
    changed = replace(source, text=text, original=original)
    return changed if changed.survives() else None


def _edited_cells(source: Source, edits: Sequence[Edit]) -> Source | None:
    changed = _changed_codes(source, edits)
    return None if changed is None else notebook.joined(source, {**notebook.codes_of(source), **changed}.items())


def _changed_codes(source: Source, edits: Sequence[Edit]) -> dict[int, str] | None:
    """The code of the cells that edits change, by index; None where they cannot be made."""
    by_cell: dict[Cell, list[Edit]] = {}
    for edit in edits:
        cell = _cell_of(source, edit)
        if cell is None or _is_beside_command(source, edit):
            return None
        within = Edit(edit.start - cell.start, edit.end - cell.start, edit.content)
        by_cell.setdefault(cell, []).append(within)
    codes = {}
    for cell, own in by_cell.items():
        code = with_edits(source.written[cell.start : cell.end], own)
        expected = with_edits(source.text[cell.start : cell.end], own)
        if cell.is_closed and code.endswith("\n"):
            code, expected = code[:-1], expected[:-1]
        if notebook.as_python(code) != expected:
            return None
        codes[cell.index] = code
    return codes


def suited(source: Source, fix: Fix, offset: int) -> Fix:
    """A fix as the file can have it, in the cells of a notebook and between commands; withheld where it cannot be made there.

    Lines that it inserts between two cells go into the one that they concern, imports into that with the other imports.

    Args:
        offset: where the finding is.
    """
    if source.is_lossy:
        return replace(fix, withheld=f"the encoding {source.encoding} would change the rest of the file")
    if source.cells is None and source.original is None:
        return fix
    edits = fix.edits if source.cells is None else tuple(_settled(source, fix.edits, source.cell_at(offset)))
    return replace(fix, edits=edits, withheld=_obstacle(source, edits))


def _obstacle(source: Source, edits: Sequence[Edit]) -> str:
    """Why edits cannot be made; empty where they can."""
    if source.cells is not None:
        changed = {_cell_of(source, edit) for edit in edits if not _is_import(edit)}
        if len(changed) > 1 or None in changed:
            return "it changes several cells"
    # Of a notebook, to join all cells again would take as long for each finding as it is long.
    is_possible = (edited if source.cells is None else _changed_codes)(source, edits) is not None
    if any(_is_beside_command(source, edit) for edit in edits):
        return "it changes a line with a command of IPython"
    return "" if is_possible else "a command of IPython is in the way"


def _is_import(edit: Edit) -> bool:
    """Whether nothing but imports is inserted."""
    lines = [line for line in NEWLINE.split(edit.content) if line.strip()]
    return edit.start == edit.end and bool(lines) and all(map(_IMPORT.match, lines))


def _cells_at(source: Source, edit: Edit) -> list[Cell]:
    """The cells that an edit can belong to: two for lines that are inserted where one ends and the next begins."""
    return source.cells_around(edit.start, edit.end)


def _cell_of(source: Source, edit: Edit) -> Cell | None:
    """The cell that an edit changes: of two the later one; None where it reaches beyond one."""
    if edit.start < edit.end:
        return next(iter(_cells_at(source, edit)), None)
    return next(reversed(_cells_at(source, edit)), None)


def _is_beside_command(source: Source, edit: Edit) -> bool:
    """Whether an edit changes a line with a command; whole lines may be put in above one."""
    if source.original is None:
        return False
    start, end = _start_of_line(source, edit.start), edit.end
    is_whole = start == edit.start and edit.content[-1:] in ("", "\n", "\r") and end == _start_of_line(source, end)
    if not is_whole:
        following = NEWLINE.search(source.text, end)
        end = following.start() if following else len(source.text)
    return source.text[start:end] != source.original[start:end]


def _start_of_line(source: Source, offset: int) -> int:
    return source.line_starts[source.line_of(offset) - 1]


def _settled(source: Source, edits: Sequence[Edit], near: Cell | None) -> Iterator[Edit]:
    """The edits, each in one cell as :func:`_cell_of` has it."""
    sure = [cells[0] for edit in edits if not _is_import(edit) and len(cells := _cells_at(source, edit)) == 1]
    concerned = min(sure, key=lambda cell: cell.start, default=near)
    for edit in edits:
        cells = _cells_at(source, edit)
        if _is_import(edit) and concerned is not None:
            holders = [cell for cell in cells if _IMPORT_LINE.search(source.text, cell.start, cell.end)]
            if not holders or holders[0].start > concerned.start:
                yield _at_top(source, concerned, edit)
                continue
            cells = holders[:1]
        chosen = next((cell for cell in cells if cell in sure or cell == near), cells[-1] if cells else None)
        yield edit if chosen in (None, _cell_of(source, edit)) else _at_end(source, chosen, edit)


def _at_end(source: Source, cell: Cell, edit: Edit) -> Edit:
    """Lines that are inserted where a cell ends, before its last newline: behind that the next cell begins."""
    newline = _LAST_NEWLINE.search(source.text[cell.start : cell.end])
    assert newline is not None, "every cell ends a line"
    place = cell.start + newline.start()
    return Edit(place, place, newline[0] + _LAST_NEWLINE.sub("", edit.content))


def _at_top(source: Source, cell: Cell, edit: Edit) -> Edit:
    """Imports above the first line of code in a cell."""
    place = cell.start
    for line in source.text[cell.start : cell.end].splitlines(True):
        if _CODE.match(line) and source.written.startswith(line, place):
            break
        place += len(line)
    newline = _LAST_NEWLINE.search(edit.content)
    return Edit(place, place, edit.content.strip("\r\n") + (newline[0] if newline else "\n"))
