"""The report for people: the code, what it costs and why here, and what to write instead."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from kerascheck.finding import Evidence, FileError, Finding, Location, Severity
from kerascheck.report.common import option, place

if TYPE_CHECKING:
    from kerascheck.source import Source

Style = Callable[..., str]
"""Colours a text; called like ``click.style``."""

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_TAB = 4
_WIDTH = 100
_CONTEXT = 2


def render(
    findings: list[Finding],
    errors: list[FileError],
    sources: Mapping[str, Source],
    style: Style,
    evidence: Mapping[Finding, Evidence] = MappingProxyType({}),
) -> Iterator[str]:
    """One block of lines per finding, sorted by place.

    Args:
        sources: the source of every path that has a finding.
        style: colours a text, or returns it as it is.
        evidence: what has been measured of some of the findings.
    """
    for item in sorted([*findings, *errors], key=lambda item: item.sort_key):
        if isinstance(item, FileError):
            yield f"{style(place(item.location), bold=True)}: {style(item.code, fg='red', bold=True)} {item.message}"
            yield ""
            continue
        yield from _block(item, sources[item.location.path], style, evidence.get(item))


def _block(finding: Finding, source: Source, style: Style, evidence: Evidence | None) -> Iterator[str]:
    colour = _COLOURS[finding.severity]
    head = f"{finding.severity} {finding.code}"
    yield (
        f"{style(place(finding.location), bold=True)}: {style(head, fg=colour, bold=True)} "
        f"[{finding.name}] {finding.message}"
    )
    yield from _frame(finding.location, source, colour, style)
    if finding.because:
        yield from _note("because", finding.because, style)
    if evidence is not None:
        yield from _note("measured", str(evidence), style)
    for related in finding.related:
        yield from _note("see", f"{place(related.location)}: {related.message}", style)
    if finding.fix is not None:
        applied = option(finding)
        marker = f"[{applied}]" if applied else "[not written into notebooks]"
        yield from _note("fix", f"{finding.fix.message} {marker}", style)
    yield ""


def _frame(location: Location, source: Source, colour: str, style: Style) -> Iterator[str]:
    lines = _lines(location, source)
    first = max(location.line - _CONTEXT, 1)
    # Blank lines before the code say nothing.
    while first < location.line and not lines[first - 1].strip():
        first += 1
    gutter = len(str(location.line))
    for number in range(first, location.line + 1):
        text, _ = _visible(lines[number - 1])
        yield f"{style(f'{number:{gutter}} |', fg='blue')} {text}".rstrip()
    line = lines[location.line - 1]
    last = location.end_column - 1 if location.end_line == location.line else len(line)
    _, offsets = _visible(line)
    start = offsets[min(location.column - 1, len(line))]
    width = max(offsets[min(last, len(line))] - start, 1)
    carets = style("^" * width, fg=colour, bold=True)
    yield f"{' ' * gutter} {style('|', fg='blue')} {' ' * start}{carets}"


def _lines(location: Location, source: Source) -> list[str]:
    """The lines that the numbers of ``location`` count: those of its cell, or of the script."""
    cell = next((cell for cell in source.cells or () if cell.index == location.cell), None)
    text = source.text if cell is None else source.text[cell.start : cell.end]
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _visible(line: str) -> tuple[str, list[int]]:
    """``line`` as a terminal can show it, and the column at which each of its characters stands then."""
    shown, offsets, width = [], [], 0
    for character in line:
        offsets.append(width)
        if character == "\t":
            piece = " " * (_TAB - width % _TAB)
        elif unicodedata.category(character).startswith("C"):
            # Control characters of the linted file do not reach the terminal.
            piece = " "
        else:
            piece = character
        shown.append(piece)
        if not unicodedata.combining(character):
            width += 2 if unicodedata.east_asian_width(character) in "WF" else len(piece)
    return "".join(shown), [*offsets, width]


def _note(label: str, text: str, style: Style) -> Iterator[str]:
    head = f"  = {label}: "
    wrapped = textwrap.wrap(text, _WIDTH - len(head), break_long_words=False, break_on_hyphens=False) or [""]
    yield f"  = {style(label, bold=True)}: {wrapped[0]}"
    yield from (" " * len(head) + line for line in wrapped[1:])
