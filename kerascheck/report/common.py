"""What several output formats share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kerascheck.finding import Applicability, FileError, Finding, Location, Severity


def place(location: Location) -> str:
    """``path:line:column``, or ``path:cell 3:line:column`` in a notebook."""
    cell = "" if location.cell is None else f"cell {location.cell}:"
    return f"{location.path}:{cell}{location.line}:{location.column}"


def option(finding: Finding) -> str | None:
    """The option that applies the fix of a finding; None where kerascheck applies none."""
    if finding.fix is None or finding.location.cell is not None:
        # Fixes are shown for notebooks, but not written into them.
        return None
    return "--fix" if finding.fix.applicability is Applicability.SAFE else "--unsafe-fixes"


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def summary(findings: list[Finding], errors: list[FileError], files: int) -> str:
    """One line about a whole run."""
    if not findings and not errors:
        return f"No problems found in {count(files, 'file')}."
    severities = Counter(finding.severity for finding in findings)
    parts = []
    if findings:
        listed = ", ".join(
            count(severities[severity], str(severity)) if severity is not Severity.INFO else f"{severities[severity]} info"
            for severity in sorted(Severity, reverse=True)
            if severities[severity]
        )
        options = Counter(map(option, findings))
        fixable = [f"{options[name]} fixable with {name}" for name in ("--fix", "--unsafe-fixes") if options[name]]
        parts.append(f"Found {count(len(findings), 'problem')} ({listed})" + "".join(f"; {text}" for text in fixable))
    if errors:
        parts.append(f"{count(len(errors), 'file error')}")
    return ". ".join(parts) + "."


def statistics(findings: Iterable[Finding], seconds: dict[str, float]) -> str:
    """Findings and time per rule, most frequent first."""
    findings = list(findings)
    counts = Counter((finding.code, finding.name) for finding in findings)
    fixable = Counter(finding.code for finding in findings if option(finding))
    names = dict(counts)
    lines = ["  count  fixable      ms  rule"]
    for (code, name), number in sorted(names.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"{number:7}{fixable[code]:9}{seconds.get(code, 0.0) * 1000:8.1f}  {code} {name}")
    quiet = sum(spent for code, spent in seconds.items() if code not in {code for code, _ in counts})
    lines.append(f"{0:7}{0:9}{quiet * 1000:8.1f}  all other rules")
    return "\n".join(lines)
