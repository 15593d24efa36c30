"""What linting some files gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kerascheck.finding import FileError, Finding

if TYPE_CHECKING:
    from kerascheck.source import Source


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Findings that a run has, and does not report."""

    in_baseline: int = 0
    gone: int = 0
    """Entries of the baselines whose finding is gone."""
    baselines: tuple[str, ...] = ()
    """The names of the baselines that were read."""
    unchanged: int = 0
    """Findings on lines that have not changed."""
    since: str | None = None
    """The revision since which lines had to change."""


@dataclass
class LintResult:
    """What linting some files gave."""

    findings: list[Finding] = field(default_factory=list)
    """Sorted by place and code; duplicates merged."""
    tallied: list[Finding] = field(default_factory=list)
    """Findings that are counted in one line for the run, see :class:`~kerascheck.finding.Tally`; sorted like the others."""
    errors: list[FileError] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    """The source of every path that has a finding or an error with a place in it."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time spent in each rule, by code; includes the analysis that it was the first to ask for."""
    checked_from: dict[str, set[str]] = field(default_factory=dict)
    """Paths with findings to the other files whose check found them."""
    files: int = 0
    """How many files were asked for."""
    rules: Mapping[str, tuple[str, bool]] | None = None
    """By code the summary of each rule that found something, and whether it is about speed; None where the registry tells."""
    is_certain: bool = True
    """Whether another run finds the same, as long as what was read is the same: not where a check failed or took too long."""
    withheld: set[str] = field(default_factory=set)
    """Paths of which nothing is reported, since their baseline cannot be used."""
    left_out: LeftOut = field(default_factory=LeftOut)
    skipped: dict[Finding, str] = field(default_factory=dict)
    """Findings whose fixes were dropped, with the reasons: "leaves its finding"."""
