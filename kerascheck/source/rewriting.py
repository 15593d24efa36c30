"""Translation of edits to the content of a file: cells of a notebook, and lines with commands."""

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
    """Return the parts that have to parse by themselves: the script, or every cell with its header."""
    if source.cells is None:
        return (source.text,)
    codes = [source.text[cell.start : cell.end] for cell in source.cells]
    return [notebook.header_for(code) + code for code in codes]


def edited(source: Source, edits: Sequence[Edit]) -> Source | None:
    """Apply edits to a source; None if they touch non-code, or span cells."""
    if source.cells is not None:
        return _edited_cells(source, edits)
    text = with_edits(source.text, edits)
    if source.original is None:
        changed = source.with_text(text)
        return changed if changed.survives() else None
    original = with_edits(source.original, edits)
    # The commands have to stay the same.
    if any(_is_beside_command(source, edit) for edit in edits) or notebook.blank(original) != text:
        return None
    changed = replace(source, text=text, original=original)
    return changed if changed.survives() else None


def _edited_cells(source: Source, edits: Sequence[Edit]) -> Source | None:
    changed = _changed_codes(source, edits)
    return None if changed is None else notebook.joined(source, {**notebook.codes_of(source), **changed}.items())


def _changed_codes(source: Source, edits: Sequence[Edit]) -> dict[int, str] | None:
    """Return the new code of edited cells by index; None if the edits are impossible."""
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
    """Adapt a fix to the cells of a notebook and to commands; withhold it if that is impossible.

    Lines inserted between two cells go into the cell that they concern, imports into the cell with the other imports.

    Args:
        source: the source.
        fix: the fix.
        offset: the offset of the finding.
    """
    if source.is_lossy:
        return replace(fix, withheld=f"the encoding {source.encoding} would change the rest of the file")
    if source.cells is None and source.original is None:
        return fix
    edits = fix.edits if source.cells is None else tuple(_assign_cells(source, fix.edits, source.cell_at(offset)))
    return replace(fix, edits=edits, withheld=_obstacle(source, edits))


def _obstacle(source: Source, edits: Sequence[Edit]) -> str:
    """Return why edits are impossible; empty if they are possible."""
    if source.cells is not None:
        changed = {_cell_of(source, edit) for edit in edits if not _is_import(edit)}
        if len(changed) > 1 or None in changed:
            return "it changes several cells"
    # Joining all cells of a notebook for each finding would take quadratic time.
    is_possible = (edited if source.cells is None else _changed_codes)(source, edits) is not None
    if any(_is_beside_command(source, edit) for edit in edits):
        return "it changes a line with a command of IPython"
    return "" if is_possible else "a command of IPython is in the way"


def _is_import(edit: Edit) -> bool:
    """Whether an edit only inserts imports."""
    lines = [line for line in NEWLINE.split(edit.content) if line.strip()]
    return edit.start == edit.end and bool(lines) and all(map(_IMPORT.match, lines))


def _cells_at(source: Source, edit: Edit) -> list[Cell]:
    """Return the candidate cells of an edit: two for lines inserted at the border of two cells."""
    return source.cells_around(edit.start, edit.end)


def _cell_of(source: Source, edit: Edit) -> Cell | None:
    """Return the cell of an edit, of two the later one; None if it reaches beyond one."""
    if edit.start < edit.end:
        return next(iter(_cells_at(source, edit)), None)
    return next(reversed(_cells_at(source, edit)), None)


def _is_beside_command(source: Source, edit: Edit) -> bool:
    """Whether an edit changes a line with a command; insertions of whole lines above are allowed."""
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


def _assign_cells(source: Source, edits: Sequence[Edit], near: Cell | None) -> Iterator[Edit]:
    """Assign each edit to one cell, as :func:`_cell_of` chooses."""
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
    """Move an insertion at the end of a cell before its last newline, behind which the next cell begins."""
    newline = _LAST_NEWLINE.search(source.text[cell.start : cell.end])
    assert newline is not None, "every cell ends a line"
    place = cell.start + newline.start()
    return Edit(place, place, newline[0] + _LAST_NEWLINE.sub("", edit.content))


def _at_top(source: Source, cell: Cell, edit: Edit) -> Edit:
    """Move imports above the first line of code in a cell."""
    place = cell.start
    for line in source.text[cell.start : cell.end].splitlines(True):
        if _CODE.match(line) and source.written.startswith(line, place):
            break
        place += len(line)
    newline = _LAST_NEWLINE.search(edit.content)
    return Edit(place, place, edit.content.strip("\r\n") + (newline[0] if newline else "\n"))
