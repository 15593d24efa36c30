"""Azure Pipelines logging commands: each line annotates a file in the log of a run.

https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands
"""

from __future__ import annotations

from kerascheck.finding import FileError, Finding, Severity
from kerascheck.report.common import place
from kerascheck.report.report import Report
from kerascheck.source.escape import escaped

_ESCAPES = (("%", "%AZP25"), (";", "%3B"), ("\r", "%0D"), ("\n", "%0A"), ("]", "%5D"))


def render(report: Report) -> str:
    """One command per finding and file error, sorted by location; Azure knows errors and warnings only."""
    return "\n".join(map(_command, report.items))


def _command(item: Finding | FileError) -> str:
    where = item.location
    is_error = not isinstance(item, Finding) or item.severity is Severity.ERROR
    properties: dict[str, object] = {"type": "error" if is_error else "warning", "sourcepath": where.path}
    # Lines of a cell are not those of the file.
    if where.cell is None:
        properties |= {"linenumber": where.line, "columnnumber": where.column}
    properties["code"] = item.code
    listed = "".join(f"{key}={_escaped(str(value))};" for key, value in properties.items())
    return f"##vso[task.logissue {listed}]{_escaped(f'{place(where)}: {item.code} {item.message}')}"


def _escaped(text: str) -> str:
    text = escaped(text, keep="\r\n\t")
    for character, code in _ESCAPES:
        text = text.replace(character, code)
    return text
