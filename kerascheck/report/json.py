"""The report for programs: one JSON document, or one JSON object per line."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kerascheck.finding import FileError, Finding, Location, Severity
from kerascheck.report.common import is_fixable
from kerascheck.report.report import Report
from kerascheck.source.escape import as_json

if TYPE_CHECKING:
    from kerascheck.source import Source


def render(report: Report) -> str:
    """The report as one document.

    Lines and columns are 1-based, end columns exclusive. ``cell`` counts from 0 and ``cell_number`` from 1; both are
    null for scripts.
    """
    document = {
        "version": 1,
        "findings": [_finding(each, report) for each in report.findings],
        "repaired": [_tallied(each) for each in report.tallied if each.tally and each.tally.repaired_since],
        "tallied": [_tallied(each) for each in report.tallied if each.tally and not each.tally.repaired_since],
        "errors": [_error(each) for each in report.errors],
        "summary": _summary(report),
    }
    return as_json(document, indent=2)


def render_lines(report: Report) -> str:
    """One JSON object per line: findings, tallied places, errors and summary of the document, each with its ``kind``."""
    objects = [
        *({"kind": "finding", **_finding(each, report)} for each in report.findings),
        *({"kind": "tallied", **_tallied(each)} for each in report.tallied),
        *({"kind": "error", **_error(each)} for each in report.errors),
        {"kind": "summary", **_summary(report)},
    ]
    return "\n".join(map(as_json, objects))


def _summary(report: Report) -> dict[str, Any]:
    severities = Counter(finding.severity for finding in report.findings)
    return {
        "files": report.files,
        "findings": len(report.findings),
        **{str(severity): severities[severity] for severity in sorted(Severity, reverse=True)},
        "fixable": sum(map(is_fixable, report.findings)),
        "errors": len(report.errors),
        "not_reported": {"in_baseline": report.left_out.in_baseline, "on_unchanged_lines": report.left_out.unchanged},
        "gone_from_baseline": report.left_out.gone,
        "rules": dict(sorted(Counter(finding.code for finding in report.findings).items())),
    }


def _error(error: FileError) -> dict[str, Any]:
    return {**_start(error.location), "code": error.code, "message": error.message}


def _start(location: Location) -> dict[str, Any]:
    return {"path": location.path, **_cell(location), "line": location.line, "column": location.column}


def _cell(location: Location) -> dict[str, Any]:
    return {"cell": location.cell, "cell_number": location.cell_number}


def _end(location: Location) -> dict[str, Any]:
    return {"end_line": location.end_line, "end_column": location.end_column}


def _finding(finding: Finding, report: Report) -> dict[str, Any]:
    evidence = report.evidence.get(finding)
    return {
        **_start(finding.location),
        **_end(finding.location),
        "code": finding.code,
        "name": finding.name,
        "url": report.addresses.get(finding),
        "severity": str(finding.severity),
        "pedantic": finding.pedantic,
        "message": finding.message,
        "because": finding.because,
        "related": [
            {**_start(related.location), **_end(related.location), "message": related.message}
            for related in finding.related
        ],
        "fix": _fix(finding, report.sources[finding.location.path]),
        "evidence": None if evidence is None else asdict(evidence),
    }


def _tallied(finding: Finding) -> dict[str, Any]:
    assert finding.tally is not None, "only such findings are tallied"
    return {
        **_start(finding.location),
        "code": finding.code,
        "name": finding.name,
        "noun": finding.tally.noun,
        "repaired_since": finding.tally.repaired_since or None,
    }


def _fix(finding: Finding, source: Source) -> dict[str, Any] | None:
    if finding.fix is None:
        return None
    edits = []
    for edit in sorted(finding.fix.edits):
        location = source.locate(edit.start, edit.end)
        where = {"line": location.line, "column": location.column, **_end(location)}
        if location.cell is not None:
            # The fix may add an import to another cell.
            where = {**_cell(location), **where}
        edits.append({**where, "content": edit.content})
    return {
        "applicability": finding.fix.applicability.value,
        "message": finding.fix.message,
        "unproven": [asdict(each) for each in finding.fix.unproven],
        "withheld": finding.fix.withheld or None,
        "edits": edits,
    }
