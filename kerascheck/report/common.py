"""Functions shared by several output formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kerascheck.finding import Applicability, FileError, Finding, Location, Severity
from kerascheck.result import LeftOut
from kerascheck.source.escape import escaped

SAFE_OPTION, UNSAFE_OPTION = "--fix", "--fix --unsafe-fixes"
_PLACES = 3
"""Most locations in a line about several findings."""
_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "hint"}


def place(location: Location) -> str:
    """``path:line:column``, or ``path:cell 3:line:column`` in a notebook."""
    cell = "" if location.cell is None else f"cell {location.cell_number}:"
    return f"{escaped(location.path)}:{cell}{location.line}:{location.column}"


def option(finding: Finding) -> str | None:
    """The options that apply the fix of a finding; None if there are none."""
    if finding.fix is None or finding.fix.withheld:
        return None
    if finding.fix.applicability is Applicability.ON_REQUEST:
        return f"--select {finding.code} {SAFE_OPTION}"
    return SAFE_OPTION if finding.fix.applicability is Applicability.SAFE else UNSAFE_OPTION


def is_fixable(finding: Finding) -> bool:
    """Whether ``--fix``, with or without ``--unsafe-fixes``, fixes a finding under the current rule selection."""
    return option(finding) in (SAFE_OPTION, UNSAFE_OPTION)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: ``1 file``, ``2 files``."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def summary(
    findings: Sequence[Finding],
    errors: Sequence[FileError],
    files: int,
    *,
    fixed: int = 0,
    unsafe: bool = False,
    left_out: LeftOut = LeftOut(),
    clean: int = 0,
    broken: str | None = None,
) -> str:
    """One line that summarises a run.

    Args:
        findings: the remaining findings.
        files: the number of linted files.
        fixed: the number of fixed findings.
        unsafe: whether ``--unsafe-fixes`` was given.
        left_out: the counts of unreported findings.
        clean: the number of files without findings and errors.
        broken: the pattern that excludes the files with errors; None if no option excludes them.
    """
    if not findings and not errors and not fixed:
        new = "new " * bool(left_out.baselines or left_out.since)
        return " ".join((f"No {new}problems found in {count(files, 'file')}.", *not_reported(left_out)))
    severities = Counter(finding.severity for finding in findings)
    parts = []
    if findings or fixed:
        listed = ", ".join(
            count(severities[severity], _NOUNS[severity])
            for severity in sorted(Severity, reverse=True)
            if severities[severity]
        )
        if fixed:
            listed = f"{fixed} fixed, {len(findings)} remaining{': ' if listed else ''}{listed}"
        parts.append(
            f"Found {count(len(findings) + fixed, 'problem')} ({listed}) in {count(files, 'file')}"
            + "".join(f"; {text}" for text in _fixable(findings, unsafe))
        )
    if errors:
        others = f"; {count(clean, 'other file')} {'is' if clean == 1 else 'are'} clean" if clean else ""
        parts.append(f"{count(len(errors), 'file error')}{others}")
        if broken is not None:
            parts.append(f"Leave {'it' if len(errors) == 1 else 'them'} out with --extend-exclude {broken}")
    return " ".join((*(f"{part}." for part in parts), *not_reported(left_out)))


def not_reported(left_out: LeftOut) -> Iterator[str]:
    """Sentences about unreported findings, if any."""
    baselines = " and ".join(map(escaped, left_out.baselines))
    reasons = []
    if left_out.in_baseline:
        reasons.append(f"{left_out.in_baseline} in {baselines}")
    if left_out.unchanged:
        reasons.append(f"{left_out.unchanged} on lines unchanged since {escaped(str(left_out.since))}")
    if reasons:
        yield f"Not reported: {', '.join(reasons)}."
    if left_out.gone == 1:
        yield f"1 finding of {baselines} no longer exists; --write-baseline drops it."
    elif left_out.gone:
        yield f"{left_out.gone} findings of {baselines} no longer exist; --write-baseline drops them."


def _fixable(findings: Sequence[Finding], unsafe: bool) -> Iterator[str]:
    options = Counter(map(option, findings))
    safe, others = options[SAFE_OPTION], options[UNSAFE_OPTION]
    if unsafe and safe + others:
        yield f"{safe + others} fixable with {UNSAFE_OPTION}"
        return
    if safe:
        yield f"{safe} fixable with {SAFE_OPTION}"
    if others:
        yield f"{others} {'more' if safe else 'fixable'} with {UNSAFE_OPTION}"


def fixed(path: str, findings: Iterable[Finding]) -> str:
    """One line about a changed file and its fixed findings."""
    rules = Counter((finding.code, finding.name) for finding in findings)
    return f"Fixed {escaped(path)}: " + ", ".join(
        f"{number} x {code} ({name})" for (code, name), number in sorted(rules.items())
    )


def would_fix(repaired: int, files: int, findings: Iterable[Finding], *, unsafe: bool) -> str:
    """One line about a patch that fixes ``repaired`` of all ``findings`` in ``files`` files."""
    others = 0 if unsafe else sum(option(finding) == UNSAFE_OPTION for finding in findings)
    done = f"{count(repaired, 'problem')} in {count(files, 'file')}" if repaired else "nothing"
    return f"Would fix {done}" + (f"; {others}{' more' if repaired else ''} with --unsafe-fixes." if others else ".")


def skipped(reasons: Mapping[Finding, str]) -> Iterator[str]:
    """Lines about dropped fixes, one per reason."""
    for reason in dict.fromkeys(reasons.values()):
        findings = [finding for finding, each in reasons.items() if each == reason]
        places = [f"{place(finding.location).rpartition(':')[0]} {finding.code}" for finding in findings[:_PLACES]]
        more = [f"{len(findings) - _PLACES} more"] if len(findings) > _PLACES else []
        which = "it" if len(findings) == 1 else "each"
        yield f"{count(len(findings), 'fix', 'fixes')} dropped: {which} {reason} ({', '.join(places + more)})"


def not_silenced(left: Iterable[tuple[Finding, str]]) -> Iterator[str]:
    """Lines about findings that no comment could suppress, one per file and reason."""
    places: dict[tuple[str, str], list[Finding]] = {}
    for finding, reason in left:
        places.setdefault((finding.location.path, reason), []).append(finding)
    for (path, reason), findings in places.items():
        one = findings[0]
        where, what = (
            (place(one.location), one.code) if len(findings) == 1 else (escaped(path), f"{len(findings)} findings")
        )
        yield f"{where}: {what} not silenced: {reason}"


def statistics(findings: Iterable[Finding], seconds: dict[str, float]) -> str:
    """A table of findings and time per rule, the most frequent first."""
    findings = list(findings)
    counts = Counter((finding.code, finding.name) for finding in findings)
    fixable = Counter(finding.code for finding in findings if is_fixable(finding))
    names = dict(counts)
    lines = ["  count  fixable      ms  rule"]
    for (code, name), number in sorted(names.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"{number:7}{fixable[code]:9}{seconds.get(code, 0.0) * 1000:8.1f}  {code} {name}")
    quiet = sum(spent for code, spent in seconds.items() if code not in {code for code, _ in counts})
    lines.append(f"{0:7}{0:9}{quiet * 1000:8.1f}  all other rules")
    return "\n".join(lines)


def plain(text: str) -> str:
    """``text`` with control characters and direction marks escaped: names and output come from the linted script."""
    return escaped(text, keep="\n\t")
