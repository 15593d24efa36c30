"""The data of a report, and functions shared by the formats for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kerascheck.finding import Evidence, FileError, Finding
from kerascheck.result import LeftOut
from kerascheck.source.code import without_comments

if TYPE_CHECKING:
    from kerascheck.source import Source

_LINES = 5


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run."""

    findings: Sequence[Finding]
    errors: Sequence[FileError]
    sources: Mapping[str, Source]
    """The source of every path that has a finding."""
    files: int
    """The number of linted files."""
    evidence: Mapping[Finding, Evidence] = field(default_factory=dict)
    """The measurements of some findings."""
    failing: frozenset[Finding] = frozenset()
    """The findings that fail the run."""
    addresses: Mapping[Finding, str] = field(default_factory=dict)
    """The addresses of rule pages, for rules that have one."""
    tallied: Sequence[Finding] = ()
    """Findings that one line for the run counts."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """The counts of unreported findings."""

    @property
    def items(self) -> list[Finding | FileError]:
        """Findings and errors, sorted by location."""
        both: list[Finding | FileError] = [*self.findings, *self.errors]
        return sorted(both, key=lambda item: item.sort_key)


def fingerprints(findings: Sequence[Finding], sources: Mapping[str, Source]) -> dict[Finding, str]:
    """Fingerprints of findings that survive edits elsewhere in the file: 32 hexadecimal digits each.

    They hash the path, the rule and the code of the finding's lines. Findings that agree in all of these are numbered
    in the order of their locations.
    """
    import hashlib

    seen: Counter[str] = Counter()
    found = {}
    for finding in sorted(findings, key=lambda each: each.sort_key):
        path = finding.location.path
        identity = "\0".join((path, finding.code, code_of(finding, sources.get(path))))
        seen[identity] += 1
        found[finding] = hashlib.sha256(f"{identity}\0{seen[identity]}".encode("utf-8", "surrogatepass")).hexdigest()[
            :32
        ]
    return found


def code_of(finding: Finding, source: Source | None) -> str:
    """The lines of a finding, five at most, without white space and comments; empty without the source."""
    if source is None:
        return ""
    place = finding.location
    before = source.lines_above(place.cell)
    lines = range(place.line, min(place.end_line, place.line + _LINES - 1) + 1)
    text = "\n".join(source.line_text(source.offset(before + line, 1)) for line in lines)
    # A finding about a comment has no other text, so keep the comment.
    return "".join((without_comments(text, expression=True).strip() or text).split())
