"""One line per finding as Pylint's format "parseable": ``path:line: [code] message``; Jenkins and others read it."""

from __future__ import annotations

from kerascheck.finding import FileError, Finding
from kerascheck.report.report import Report
from kerascheck.source.escape import escaped


def render(report: Report) -> str:
    """The lines of the report, sorted by location."""
    return "\n".join(map(_line, report.items))


def _line(item: Finding | FileError) -> str:
    where = item.location
    cell = "" if where.cell_number is None else f"cell {where.cell_number}: "
    name = f"({item.name})" if isinstance(item, Finding) else ""
    return f"{escaped(where.path)}:{where.line}: [{item.code}{name}] {escaped(cell + item.message)}"
