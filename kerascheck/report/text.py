"""The text report: each finding with its code, its cost, its reason and its fix."""

from __future__ import annotations

import shutil
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING

from kerascheck.finding import Evidence, FileError, Finding, Location, Severity
from kerascheck.report.common import UNSAFE_OPTION, option, place
from kerascheck.source.escape import escaped

if TYPE_CHECKING:
    from kerascheck.source import Source

Style = Callable[..., str]
"""Colours a text; called like ``click.style``."""

WIDTH = 100
"""Columns of output without a terminal."""


def terminal_columns(otherwise: int = WIDTH) -> int:
    """The columns of the terminal, by ``COLUMNS`` or the terminal itself; ``otherwise`` without one."""
    return shutil.get_terminal_size((otherwise, 0)).columns


COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
NO_BREAK = "\N{NO-BREAK SPACE}"
_TAB = 4
_NARROWEST, _WIDEST = 40, 120
_CONTEXT = 2
_CUT = "..."
_FIRST_WORDS = 30
_STEERING = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))
"""Categories of characters that terminals do not show as one character."""


def columns(width: int) -> int:
    """The columns for wrapping text on a terminal of ``width``, limited to readable lines."""
    return min(max(width, _NARROWEST), _WIDEST)


def render(
    findings: list[Finding],
    errors: list[FileError],
    sources: Mapping[str, Source],
    style: Style,
    evidence: Mapping[Finding, Evidence] = MappingProxyType({}),
    width: int = WIDTH,
    addresses: Mapping[Finding, str] = MappingProxyType({}),
    *,
    no_fix: Mapping[str, str] = MappingProxyType({}),
    errors_first: bool = False,
    applied_by: Callable[[Finding], str | None] = option,
) -> Iterator[str]:
    """One block of lines per finding, sorted by location; consecutive findings with the same text share a block.

    Args:
        sources: the source of every path that has a finding.
        style: colours a text, or returns it unchanged.
        evidence: the measurements of some findings.
        width: the columns of the terminal.
        addresses: the addresses of rule pages, for links in the terminal.
        no_fix: by code, the reasons for findings without a fix; those of other codes show none.
        errors_first: whether severity precedes the location as sort key; unreadable files count as errors.
        applied_by: gives the command or the options that apply the fix of a finding; None if there are none.
    """
    width = columns(width)
    items: list[Finding | FileError] = [*findings, *errors]
    items.sort(key=lambda item: item.sort_key)
    if errors_first:
        items.sort(key=lambda item: -(Severity.ERROR if isinstance(item, FileError) else item.severity))
    for _, alike in groupby(items, _content_key):
        first, *others = alike
        if isinstance(first, FileError):
            yield from (
                f"{style(place(error.location), bold=True)}: {style(error.code, fg='red', bold=True)} {escaped(error.message)}"
                for error in (first, *others)
            )
        else:
            yield from _block(
                first,
                sources[first.location.path],
                style,
                evidence.get(first),
                width,
                addresses.get(first),
                applied_by(first),
            )
            if first.fix is None and (reason := no_fix.get(first.code)):
                yield from _note("no fix", reason, style, width)
            if others:
                yield from _note(
                    "also",
                    f"line{'s' * (len(others) > 1)} {', '.join(str(other.location.line) for other in others)}",
                    style,
                    width,
                )
        yield ""


def _content_key(item: Finding | FileError) -> tuple[object, ...]:
    """The content of a block without its line; consecutive findings with equal content are shown once."""
    place = (item.code, item.location.path, item.location.cell, item.message)
    if isinstance(item, FileError):
        return place
    return (
        *place,
        item.severity,
        item.because,
        item.fix and (item.fix.message, item.fix.applicability, item.fix.unproven),
        tuple(related.message for related in item.related),
    )


def linked(text: str, address: str | None) -> str:
    """``text`` as a terminal link to ``address``; unchanged if that is None.

    The escape sequence is OSC 8; terminals without support show only the text.
    """
    return text if address is None else f"\033]8;;{address}\033\\{text}\033]8;;\033\\"


def _block(
    finding: Finding,
    source: Source,
    style: Style,
    evidence: Evidence | None,
    width: int,
    address: str | None,
    applied_by: str | None,
) -> Iterator[str]:
    colour = COLOURS[finding.severity]
    where, severity = place(finding.location), str(finding.severity)
    words = f"  ({_first_words(finding.location, source)})".replace("  ()", "")
    what = f"{style(severity, fg=colour, bold=True)}  {linked(style(finding.code, bold=True), address)} {finding.name}"
    room = width - len(f"{where}  {severity}  {finding.code} {finding.name}")
    if not words or room >= len(words):
        yield f"{style(where, bold=True)}  {what}{words}"
    elif room >= 0:
        yield f"{style(where, bold=True)}  {what}"
        yield words
    else:
        # Free to split: no tool parses the notation for notebook cells.
        yield style(where, bold=True)
        yield f"  {what}{words}"
    yield from wrapped(finding.message, width, "  ", "  ")
    yield from _frame(finding.location, source, colour, style, width)
    if finding.because:
        yield from _note("because", finding.because, style, width)
    if evidence is not None:
        yield from _note("measured", str(evidence), style, width)
    for related in finding.related:
        # The excerpt shows the finding's own line already.
        if _line_of(related.location) == _line_of(finding.location):
            continue
        yield from _note("see", f"{_seen_from(finding.location, related.location)}: {related.message}", style, width)
    if finding.fix is not None:
        applied = applied_by or f"not applied: {finding.fix.withheld}"
        yield from _note("fix", f"{finding.fix.message} [{applied}]", style, width)
        if finding.fix.objections:
            yield from _note("unsafe", finding.fix.objections, style, width)


def _line_of(where: Location) -> tuple[str, int | None, int]:
    return where.path, where.cell, where.line


def _seen_from(here: Location, there: Location) -> str:
    """A location relative to another: without the file or cell that they share."""
    if here.path != there.path:
        return place(there)
    return f"line {there.line}" if here.cell == there.cell else f"cell {there.cell_number}, line {there.line}"


def _first_words(location: Location, source: Source) -> str:
    """The first words of a location's cell, since notebooks show no cell numbers; empty in scripts."""
    if location.cell is None:
        return ""
    # Reading the notebook replaced its commands by `pass`.
    said = (line.strip() for line in _lines(location, source) if line.strip() not in ("", "pass"))
    first = " ".join(next(said, "").split())
    short, _ = _visible(textwrap.shorten(first, _FIRST_WORDS, placeholder="") or first[:_FIRST_WORDS])
    return short + " ..." * (len(short) < len(first) or next(said, None) is not None)


def _frame(location: Location, source: Source, colour: str, style: Style, width: int) -> Iterator[str]:
    lines = _lines(location, source)
    first = max(location.line - _CONTEXT, 1)
    # Skip blank lines before the code.
    while first < location.line and not lines[first - 1].strip():
        first += 1
    gutter = len(str(location.line))
    room = width - gutter - len(" | ")
    line = lines[location.line - 1]
    start = min(location.column - 1, len(line))
    end = max(min(location.end_column - 1, len(line)) if location.end_line == location.line else len(line), start + 1)
    left = _left_of_window(line, start, end, room)
    for number in range(first, location.line + 1):
        text, _ = _cropped(lines[number - 1], left, room)
        if text == _CUT:
            continue
        yield f"{style(f'{number:{gutter}} |', fg='blue')} {text}".rstrip()
    _, offsets = _cropped(line, left, room)
    begin, behind = (offsets[min(at - left, len(offsets) - 1)] for at in (start, end))
    carets = style("^" * max(behind - begin, 1), fg=colour, bold=True)
    yield f"{' ' * gutter} {style('|', fg='blue')} {' ' * begin}{carets}"


def _left_of_window(line: str, start: int, end: int, room: int) -> int:
    """The index of the first character to show, so that the start of the marked range is visible, with context."""
    seen = min(end, start + room // 4)
    if (
        len(line) <= room
        and _visible(line)[1][-1] <= room
        or seen <= room
        and _visible(line[:seen])[1][-1] <= room - len(_CUT)
    ):
        return 0
    room -= 2 * len(_CUT)
    latest = max(start - room // 4, 0)
    return next((left for left in range(max(end - room, 0), latest) if _visible(line[left:end])[1][-1] <= room), latest)


def _cropped(line: str, left: int, room: int) -> tuple[str, list[int]]:
    """The part of a line from index ``left`` that fits ``room`` columns, and the columns of its characters and end."""
    text, offsets = _visible(line[left : left + room])
    mark = _CUT if left and line else ""
    if len(mark) + offsets[-1] <= room and len(line) <= left + room:
        return mark + text, [len(mark) + offset for offset in offsets]
    kept = max(count for count, offset in enumerate(offsets) if len(mark) + offset <= room - len(_CUT))
    text, offsets = _visible(line[left : left + kept])
    return mark + text + _CUT, [len(mark) + offset for offset in offsets]


def _lines(location: Location, source: Source) -> list[str]:
    """The lines of the location's cell, or of the script."""
    cell = source.cell(location.cell)
    text = source.text if cell is None else source.text[cell.start : cell.end]
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _visible(line: str) -> tuple[str, list[int]]:
    """``line`` as a terminal shows it, and the column of each of its characters and of the end."""
    shown, offsets, width = [], [], 0
    for character in line:
        offsets.append(width)
        if character == "\t":
            piece = " " * (_TAB - width % _TAB)
        elif unicodedata.category(character) in _STEERING:
            # Control characters of the linted file do not reach the terminal.
            piece = " "
        else:
            piece = character
        shown.append(piece)
        if not unicodedata.combining(character):
            width += 2 if unicodedata.east_asian_width(character) in "WF" else len(piece)
    return "".join(shown), [*offsets, width]


def _note(label: str, text: str, style: Style, width: int) -> Iterator[str]:
    head = f"  = {label}: "
    first, *rest = wrapped(text, width, head, " " * len(head))
    yield f"  = {style(label, bold=True)}: {first[len(head) :]}"
    yield from rest


def wrapped(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """Wrap ``text`` for a terminal of ``width`` columns, never at :data:`NO_BREAK`.

    Args:
        first, others: the prefixes of the first line and of the other lines.
    """
    kept = escaped(text, keep="\n\t").replace(UNSAFE_OPTION, UNSAFE_OPTION.replace(" ", NO_BREAK))
    lines = textwrap.wrap(
        kept,
        columns(width),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(NO_BREAK, " ") for line in lines] or [first]
