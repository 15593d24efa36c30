"""One line per finding, as editors and other programs read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kerascheck.finding import FileError, Finding
from kerascheck.report.common import place

if TYPE_CHECKING:
    from kerascheck.source import Source


def render(findings: list[Finding], errors: list[FileError], sources: Mapping[str, Source]) -> Iterator[str]:
    """The lines of the report, sorted by place."""
    for item in sorted([*findings, *errors], key=lambda item: item.sort_key):
        yield f"{place(item.location)}: {item.code} {item.message}"
