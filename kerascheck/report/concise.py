"""One line per finding, in the compiler format that editors and other programs parse.

``path:line:column: severity: message`` is the form of the GNU coding standards ("Formatting Error Messages"): GCC, Clang and
mypy write it, and Vim's ``compiler gcc``, Emacs's ``compilation-mode`` and VS Code's ``$gcc`` take the severity from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from kerascheck.finding import Evidence, FileError, Finding, Severity
from kerascheck.report.common import place
from kerascheck.source.escape import escaped

if TYPE_CHECKING:
    from kerascheck.source import Source


def render(
    findings: list[Finding],
    errors: list[FileError],
    sources: Mapping[str, Source],
    evidence: Mapping[Finding, Evidence] = MappingProxyType({}),
) -> Iterator[str]:
    """The lines of the report, sorted by location, with available measurements."""
    items: list[Finding | FileError] = [*findings, *errors]
    for item in sorted(items, key=lambda item: item.sort_key):
        measured = f" ({evidence[item]})" if isinstance(item, Finding) and item in evidence else ""
        severity = Severity.ERROR if isinstance(item, FileError) else item.severity
        yield f"{place(item.location)}: {severity}: {item.code} {escaped(item.message)}{measured}"
