"""Reviewdog Diagnostic Format: one JSON document that reviewdog turns into comments of a review.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kerascheck.finding import Applicability, FileError, Finding, Location, Severity
from kerascheck.report.report import Report
from kerascheck.source.escape import as_json

if TYPE_CHECKING:
    from kerascheck.source import Source

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def render(report: Report) -> str:
    """The report as one document. A safe fix is a suggestion; cells of a notebook have no lines of their file."""
    document = {"source": {"name": "kerascheck"}, "diagnostics": [_diagnostic(item, report) for item in report.items]}
    return as_json(document, indent=2)


def _diagnostic(item: Finding | FileError, report: Report) -> dict[str, Any]:
    severity = item.severity if isinstance(item, Finding) else Severity.ERROR
    code = {"value": item.code}
    if isinstance(item, Finding) and item in report.addresses:
        code["url"] = report.addresses[item]
    found: dict[str, Any] = {
        "message": item.message,
        "location": {"path": item.location.path, **_range(item.location, report.sources.get(item.location.path))},
        "severity": _SEVERITIES[severity],
        "code": code,
    }
    suggestions = _suggestions(item, report) if isinstance(item, Finding) else []
    return {**found, "suggestions": suggestions} if suggestions else found


def _range(where: Location, source: Source | None) -> dict[str, Any]:
    if where.cell is not None:
        return {}
    start = {"line": where.line, "column": _bytes_before(where.line, where.column, source) + 1}
    end = {"line": where.end_line, "column": _bytes_before(where.end_line, where.end_column, source) + 1}
    return {"range": {"start": start, "end": end}}


def _bytes_before(line: int, column: int, source: Source | None) -> int:
    """The bytes of UTF-8 in a line before a column: the format counts these, not characters."""
    if source is None:
        return column - 1
    return len(source.line_text(source.offset(line, 1))[: column - 1].encode("utf-8", "surrogatepass"))


def _suggestions(finding: Finding, report: Report) -> list[dict[str, Any]]:
    """The edits of a safe fix, if there is one edit: reviewdog applies suggestions one by one."""
    fix, source = finding.fix, report.sources.get(finding.location.path)
    if fix is None or fix.withheld or fix.applicability is not Applicability.SAFE or len(fix.edits) != 1:
        return []
    if source is None or source.cells is not None:
        return []
    (edit,) = fix.edits
    return [{**_range(source.locate(edit.start, edit.end), source), "text": edit.content}]
