"""SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), for code scanning by GitHub and Azure DevOps.

A notebook is one artifact. Its findings have the cell as logical location, and line numbers within that cell.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import kerascheck
from kerascheck.catalog import registry
from kerascheck.finding import Applicability, Finding, Fix, Location, Severity
from kerascheck.report.report import Report, fingerprints
from kerascheck.source.escape import as_json

if TYPE_CHECKING:
    from kerascheck.catalog.registry import RuleSpec
    from kerascheck.source import Source

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report) -> str:
    """The log of one run, with findings as results and file errors as tool notifications."""
    used = {finding.code for finding in report.findings}
    specs = [spec for spec in registry.rule_specs() if spec.code in used]
    # SARIF allows one page per rule; if settings differ by folder, the first finding's page is used.
    addresses = {each.code: report.addresses[each] for each in reversed(report.findings) if each in report.addresses}
    index = {spec.code: position for position, spec in enumerate(specs)}
    prints = fingerprints(report.findings, report.sources)
    run = {
        "tool": {
            "driver": {
                "name": "kerascheck",
                "version": kerascheck.__version__,
                "rules": [_rule(spec, addresses.get(spec.code)) for spec in specs],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not report.errors,
                "toolExecutionNotifications": [
                    {
                        "level": "error",
                        "message": {"text": error.message},
                        "descriptor": {"id": error.code},
                        "locations": [_location(error.location)],
                    }
                    for error in report.errors
                ],
            }
        ],
        "results": [_result(finding, index[finding.code], prints[finding], report) for finding in report.findings],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return as_json(document, indent=2)


def _rule(spec: RuleSpec, address: str | None) -> dict[str, Any]:
    return {
        "id": spec.code,
        "name": spec.name,
        "shortDescription": {"text": spec.summary},
        "fullDescription": {"text": spec.summary},
        **({"helpUri": address} if address else {}),
        "help": {"text": spec.documentation, "markdown": spec.documentation},
        "defaultConfiguration": {"level": _LEVELS[spec.severity]},
        "properties": {"tags": ["performance" if spec.speed else "correctness", "keras"]},
    }


def _result(finding: Finding, index: int, fingerprint: str, report: Report) -> dict[str, Any]:
    reason = f" {finding.because}" if finding.because else ""
    measured = f" ({report.evidence[finding]})" if finding in report.evidence else ""
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}{reason}{measured}"},
        "locations": [_location(finding.location)],
        "partialFingerprints": {"kerascheck/v1": fingerprint},
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, **_location(related.location), "message": {"text": related.message}}
            for number, related in enumerate(finding.related, 1)
        ]
    source = report.sources.get(finding.location.path)
    # A region in a notebook would count lines of its JSON, but fixes count lines of cells.
    if finding.fix is not None and not finding.fix.withheld and source is not None and source.cells is None:
        fix, objections = finding.fix, finding.fix.objections
        doubts = [fix.applicability.value] if fix.applicability is not Applicability.SAFE else []
        doubts += [objections] if objections else []
        result["fixes"] = [
            {
                "description": {"text": fix.message + (f" ({': '.join(doubts)})" if doubts else "")},
                "artifactChanges": _changes(finding.fix, source),
            }
        ]
    return result


def _changes(fix: Fix, source: Source) -> list[dict[str, Any]]:
    replacements = [
        {"deletedRegion": _region(source.locate(edit.start, edit.end)), "insertedContent": {"text": edit.content}}
        for edit in sorted(fix.edits)
    ]
    return [{"artifactLocation": _artifact(source.path), "replacements": replacements}]


def _location(place: Location) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(place.path), "region": _region(place)}
    if place.cell is None:
        return {"physicalLocation": physical}
    return {"physicalLocation": physical, "logicalLocations": [{"name": f"cell {place.cell_number}", "kind": "module"}]}


def _artifact(path: str) -> dict[str, str]:
    if os.path.isabs(path):
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(os.fsencode(Path(path).as_posix())), "uriBaseId": "%SRCROOT%"}


def _region(place: Location) -> dict[str, int]:
    return {
        "startLine": max(1, place.line),
        "startColumn": max(1, place.column),
        "endLine": max(1, place.end_line),
        "endColumn": max(1, place.end_column),
    }
