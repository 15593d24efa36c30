"""Reviewdog Diagnostic Format: one JSON document that reviewdog turns into comments of a review.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

from typing import Any

from kerascheck.finding import Applicability, FileError, Finding, Location, Severity
from kerascheck.report.report import Report
from kerascheck.source.escape import as_json

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
        "location": {"path": item.location.path, **_range(item.location)},
        "severity": _SEVERITIES[severity],
        "code": code,
    }
    suggestions = _suggestions(item, report) if isinstance(item, Finding) else []
    return {**found, "suggestions": suggestions} if suggestions else found


def _range(where: Location) -> dict[str, Any]:
    if where.cell is not None:
        return {}
    start = {"line": where.line, "column": where.column}
    return {"range": {"start": start, "end": {"line": where.end_line, "column": where.end_column}}}


def _suggestions(finding: Finding, report: Report) -> list[dict[str, Any]]:
    """The edits of a safe fix, if there is one edit: reviewdog applies suggestions one by one."""
    fix, source = finding.fix, report.sources.get(finding.location.path)
    if fix is None or fix.withheld or fix.applicability is not Applicability.SAFE or len(fix.edits) != 1:
        return []
    if source is None or source.cells is not None:
        return []
    (edit,) = fix.edits
    return [{**_range(source.locate(edit.start, edit.end)), "text": edit.content}]
