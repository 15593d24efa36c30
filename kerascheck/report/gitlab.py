"""GitLab's code quality report (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format)."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from kerascheck.finding import FileError, Location, Severity
from kerascheck.report.common import place
from kerascheck.report.report import Report, fingerprints
from kerascheck.source.escape import as_json

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def render(report: Report) -> str:
    """A JSON array of issues; in a GitLab job, paths are relative to the project root."""
    prints = fingerprints(report.findings, report.sources)
    issues = [
        _issue(
            finding.location,
            f"{finding.code} {finding.name}",
            finding.message,
            _SEVERITIES[finding.severity],
            prints[finding],
        )
        for finding in report.findings
    ]
    issues += [
        _issue(error.location, error.code, error.message, "blocker", _fingerprint(error)) for error in report.errors
    ]
    return as_json(issues, indent=2)


def _issue(where: Location, name: str, message: str, severity: str, fingerprint: str) -> dict[str, Any]:
    cell = f"{place(where)}: " if where.cell is not None else ""
    return {
        "type": "issue",
        "check_name": name,
        "description": f"{cell}{message}",
        "categories": ["Performance"],
        "severity": severity,
        "fingerprint": fingerprint,
        "location": {
            "path": _path(where.path),
            "positions": {
                "begin": {"line": where.line, "column": where.column},
                "end": {"line": where.end_line, "column": where.end_column},
            },
        },
    }


def _path(path: str) -> str:
    root = os.environ.get("CI_PROJECT_DIR")
    absolute = os.path.abspath(path)
    if root and os.path.commonpath([os.path.abspath(root), absolute]) == os.path.abspath(root):
        return Path(absolute).relative_to(os.path.abspath(root)).as_posix()
    return Path(path).as_posix()


def _fingerprint(error: FileError) -> str:
    return hashlib.sha256(
        f"{error.code}\0{error.location.path}\0{error.message}".encode("utf-8", "surrogatepass")
    ).hexdigest()[:32]
