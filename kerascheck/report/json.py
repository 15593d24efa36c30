"""The report as one JSON document, for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kerascheck.finding import Evidence, FileError, Finding, Location, Severity
from kerascheck.report.common import is_fixable

if TYPE_CHECKING:
    from kerascheck.source import Source


def render(
    findings: list[Finding],
    errors: list[FileError],
    sources: Mapping[str, Source],
    files: int,
    evidence: Mapping[Finding, Evidence] = MappingProxyType({}),
) -> str:
    """The document; lines and columns are 1-based, ends exclusive; ``cell`` counts from 0, ``cell_number`` from 1, both null for scripts.

    Args:
        sources: the source of every path that has a finding, to place the edits of fixes.
        files: how many files were linted.
        evidence: what has been measured of some of the findings.
    """
    severities = Counter(finding.severity for finding in findings)
    document = {
        "version": 1,
        "findings": [_finding(finding, sources, evidence.get(finding)) for finding in findings],
        "errors": [{**_start(error.location), "code": error.code, "message": error.message} for error in errors],
        "summary": {
            "files": files,
            "findings": len(findings),
            **{str(severity): severities[severity] for severity in sorted(Severity, reverse=True)},
            "fixable": sum(map(is_fixable, findings)),
            "errors": len(errors),
            "rules": dict(sorted(Counter(finding.code for finding in findings).items())),
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _start(location: Location) -> dict[str, Any]:
    return {"path": location.path, **_cell(location), "line": location.line, "column": location.column}


def _cell(location: Location) -> dict[str, Any]:
    return {"cell": location.cell, "cell_number": location.cell_number}


def _end(location: Location) -> dict[str, Any]:
    return {"end_line": location.end_line, "end_column": location.end_column}


def _finding(finding: Finding, sources: Mapping[str, Source], evidence: Evidence | None) -> dict[str, Any]:
    return {
        **_start(finding.location),
        **_end(finding.location),
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "pedantic": finding.pedantic,
        "message": finding.message,
        "because": finding.because,
        "related": [
            {**_start(related.location), **_end(related.location), "message": related.message}
            for related in finding.related
        ],
        "fix": _fix(finding, sources[finding.location.path]),
        "evidence": None if evidence is None else asdict(evidence),
    }


def _fix(finding: Finding, source: Source) -> dict[str, Any] | None:
    if finding.fix is None:
        return None
    edits = []
    for edit in sorted(finding.fix.edits):
        location = source.locate(edit.start, edit.end)
        where = {"line": location.line, "column": location.column, **_end(location)}
        if location.cell is not None:
            # An import may belong into another cell than the finding.
            where = {**_cell(location), **where}
        edits.append({**where, "content": edit.content})
    return {"applicability": finding.fix.applicability.value, "message": finding.fix.message, "edits": edits}
