"""One line per finding below the name of its file."""

from __future__ import annotations

from itertools import groupby

from kerascheck.finding import FileError, Finding, Severity
from kerascheck.report.report import Report
from kerascheck.source.escape import escaped


def render(report: Report) -> str:
    """The lines of the report, sorted by location, with a blank line between files."""
    files = groupby(report.items, key=lambda item: item.location.path)
    return "\n\n".join("\n".join([f"{escaped(path)}:", *map(_line, items)]) for path, items in files)


def _line(item: Finding | FileError) -> str:
    where = item.location
    cell = "" if where.cell_number is None else f"cell {where.cell_number}:"
    severity = item.severity if isinstance(item, Finding) else Severity.ERROR
    return f"  {cell}{where.line}:{where.column} {severity} {item.code} {escaped(item.message)}"
