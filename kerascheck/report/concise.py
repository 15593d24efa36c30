"""One line per finding, as editors and other programs read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from kerascheck.finding import Evidence, FileError, Finding
from kerascheck.report.common import place

if TYPE_CHECKING:
    from kerascheck.source import Source


def render(
    findings: list[Finding],
    errors: list[FileError],
    sources: Mapping[str, Source],
    evidence: Mapping[Finding, Evidence] = MappingProxyType({}),
) -> Iterator[str]:
    """The lines of the report, sorted by place, with what has been measured of some of the findings."""
    for item in sorted([*findings, *errors], key=lambda item: item.sort_key):
        measured = f" ({evidence[item]})" if item in evidence else ""
        yield f"{place(item.location)}: {item.code} {item.message}{measured}"
