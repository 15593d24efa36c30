"""GitHub Actions workflow commands: each line annotates a file in the pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from kerascheck.finding import FileError, Finding, Severity
from kerascheck.report.common import place
from kerascheck.report.report import Report
from kerascheck.source.escape import escaped

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """One command per finding and file error, sorted by location."""
    return "\n".join(map(_command, report.items))


def _command(item: Finding | FileError) -> str:
    where, name = item.location, f" {item.name}" if isinstance(item, Finding) else ""
    severity = item.severity if isinstance(item, Finding) else Severity.ERROR
    properties: dict[str, object] = {"title": f"kerascheck {item.code}{name}", "file": where.path}
    # GitHub shows a notebook as JSON, where the lines of a cell have other numbers.
    if where.cell is None:
        properties |= {"line": where.line, "endLine": where.end_line}
        if where.line == where.end_line:  # GitHub rejects columns across several lines
            properties |= {"col": where.column, "endColumn": where.end_column}
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[severity]} {listed}::{_data(f'{place(where)}: {item.code} {item.message}')}"


def _data(text: str) -> str:
    return escaped(text, keep="\r\n\t").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
