"""The sections below the findings of the text report: hints by rule, where to start, and the next command."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from kerascheck.finding import Evidence, Finding, Location, Severity
from kerascheck.report.common import SAFE_OPTION, UNSAFE_OPTION, count, option
from kerascheck.report.text import COLOURS, NO_BREAK, Style, linked, wrapped
from kerascheck.source.escape import escaped, shell_word

_PLACES = 3
_STARTS = 3
_LONGEST_COMMAND = 100
_WRITING = ("--fix", "--unsafe-fixes")


def is_hint(finding: Finding, evidence: Mapping[Finding, Evidence]) -> bool:
    """Whether to summarise a finding with others of its rule: an info without a confirmation on this machine."""
    return finding.severity is Severity.INFO and not (finding in evidence and evidence[finding].confirmed)


def hints(
    findings: Sequence[Finding],
    summaries: Mapping[str, str],
    style: Style,
    width: int,
    *,
    last: Collection[str] = (),
    addresses: Mapping[Finding, str] = MappingProxyType({}),
) -> Iterator[str]:
    """One entry per rule, the most frequent first: the number of hints, a summary, and the first locations.

    Args:
        summaries: a summary of each rule, by code.
        style: colours a text, or returns it unchanged.
        width: the columns of the terminal.
        last: the codes of rules to list after the others, such as those that are not about speed.
        addresses: the addresses of rule pages, for links in the terminal.
    """
    rules = sorted(_by_rule(findings), key=lambda rule: (rule[0].code in last, -len(rule), rule[0].code))
    if not rules:
        return
    digits = len(str(max(map(len, rules))))
    total = count(len(findings), "hint")
    yield from wrapped(
        f"{total} (info), by rule. All in full: --min-severity info; one rule: --select {rules[0][0].code}.", width
    )
    for rule in rules:
        code = rule[0].code
        head = f"  {len(rule):{digits}}  {code}  "
        styled = linked(style(code, bold=True), addresses.get(rule[0]))
        yield from _entry(head, f"{summaries.get(code, rule[0].name)}: {_places(rule)}", width, code, styled)
    yield ""


def tallied(findings: Sequence[Finding]) -> Iterator[str]:
    """The lines for findings that are only counted: one for those that TensorFlow repairs, then one for each other rule."""
    repaired: dict[str, list[Finding]] = {}
    others: dict[str, list[Finding]] = {}
    versions = set()
    for finding in findings:
        if finding.tally is not None and finding.tally.repaired_since:
            repaired.setdefault(finding.tally.noun, []).append(finding)
            versions.add(finding.tally.repaired_since)
        elif finding.tally is not None:
            others.setdefault(finding.code, []).append(finding)
    if repaired:
        kinds = ", ".join(
            f"{_counted(noun, len(each))} ({_places(each)})"
            for noun, each in sorted(repaired.items(), key=lambda kind: (-len(kind[1]), kind[0]))
        )
        latest = max(versions, key=lambda version: [int(part) for part in version.split(".")])
        yield f"Repaired by TensorFlow {latest} and later itself: {kinds}; --pedantic shows {_them(findings)}."
    for code, each in sorted(others.items()):
        assert each[0].tally is not None
        yield f"{code}: {_counted(each[0].tally.noun, len(each))} ({_places(each)}); --select {code} shows {_them(each)}."


def _counted(noun: str, number: int) -> str:
    """``1 map without parallel calls``, ``2 maps without parallel calls``: the first word takes the plural."""
    first, _, rest = noun.partition(" ")
    return f"{count(number, first, first + 'es' if first.endswith('ch') else None)} {rest}".rstrip()


def _them(findings: Sequence[Finding]) -> str:
    return "it" if len(findings) == 1 else "them"


def by_urgency(findings: Sequence[Finding], gains: Mapping[str, float]) -> list[list[Finding]]:
    """Group findings by rule: rules with errors first, then by speed-up; within a rule, the most severe first.

    Args:
        gains: the speed-up of each rule's fixed example, by code.
    """
    rules = [sorted(rule, key=lambda finding: -finding.severity) for rule in _by_rule(findings)]
    return sorted(rules, key=lambda rule: (-rule[0].severity, -gains.get(rule[0].code, 1.0), rule[0].code))


def start(rules: Sequence[Sequence[Finding]], summaries: Mapping[str, str], style: Style, width: int) -> Iterator[str]:
    """The rules to look at first; nothing if there are only a few findings.

    Args:
        rules: see :func:`by_urgency`.
        summaries: a summary of each rule, by code.
        style: colours a text, or returns it unchanged.
        width: the columns of the terminal.
    """
    if sum(map(len, rules)) <= _STARTS:
        return
    errors = "the errors, then with " * (rules[0][0].severity is Severity.ERROR)
    yield from wrapped(f"Start with {errors}the rules whose examples gained most when fixed:", width)
    for rule in rules[:_STARTS]:
        first = rule[0]
        others = f" and {count(len(rule) - 1, 'other place')}" * (len(rule) > 1)
        text = (
            f"{summaries.get(first.code, first.name)}: {escaped(first.location.path)}:{_line(first.location)}{others}"
        )
        severity = str(first.severity)
        head = f"  {severity:7}  {first.code}  "
        yield from _entry(head, text, width, severity, style(severity, fg=COLOURS[first.severity], bold=True))
    yield ""


def next_command(
    findings: Sequence[Finding],
    rules: Sequence[Sequence[Finding]],
    arguments: Sequence[str],
    width: int,
    *,
    fixing: bool,
) -> str | None:
    """One line with the most useful next command; None if there is nothing to do.

    Args:
        findings: all findings.
        rules: the findings that are shown in full, see :func:`by_urgency`.
        arguments: the arguments of this run.
        width: the columns of the terminal.
        fixing: whether this run applied fixes.
    """
    options = set(map(option, findings))
    is_repeatable = "-" not in arguments
    if is_repeatable and not fixing and SAFE_OPTION in options:
        unsafe = "--unsafe-fixes" in arguments
        return _next(
            _again(arguments, "--diff"), "what all fixes would change" if unsafe else "what --fix would change", width
        )
    if is_repeatable and not fixing and UNSAFE_OPTION in options:
        command = _again(arguments, "--diff" + " --unsafe-fixes" * ("--unsafe-fixes" not in arguments))
        return _next(command, "what all fixes would change", width)
    if rules:
        first = rules[0][0]
        command = " ".join(("kerascheck", "rule", first.code, *map(shell_word, _folders_of_rules(arguments))))
        return _next(command, f"what {first.name} costs, and what to write", width)
    reading = [argument for argument in arguments if argument not in _WRITING]
    return (
        _next(_again(reading, "--min-severity info"), "the hints in full", width)
        if is_repeatable and findings
        else None
    )


def with_baseline(arguments: Sequence[str], width: int) -> str:
    """The line with the command that reports only findings that are not in a new baseline.

    Args:
        arguments: the arguments of the run that wrote the baseline.
        width: the columns of the terminal.
    """
    name = "--write-baseline"
    reading = [name.replace("write-", "") + each[len(name) :] if each.startswith(name) else each for each in arguments]
    return _next(" ".join(("kerascheck", *map(shell_word, reading))), "what is new", width)


def _folders_of_rules(arguments: Sequence[str]) -> list[str]:
    """The options ``--rules DIR`` among the arguments of a run."""
    before = ("", *arguments)
    return [each for last, each in zip(before, arguments) if "--rules" in (last, each) or each.startswith("--rules=")]


def _again(arguments: Sequence[str], options: str) -> str:
    command = " ".join(("kerascheck", *map(shell_word, arguments), options))
    return command if len(command) <= _LONGEST_COMMAND else f"the same command with {options}"


def _next(command: str, shows: str, width: int) -> str:
    line = f"Next: {command}    ({shows})"
    return line if len(line) <= width else f"Next: {command}"


def _by_rule(findings: Sequence[Finding]) -> list[list[Finding]]:
    ordered = sorted(findings, key=lambda finding: (finding.code, finding.sort_key))
    return [list(rule) for _, rule in groupby(ordered, key=lambda finding: finding.code)]


def _places(findings: Sequence[Finding]) -> str:
    """The first locations; consecutive ones in a file name it once."""
    shown, path = [], None
    for finding in findings[:_PLACES]:
        place = finding.location
        shown.append(_line(place) if place.path == path else f"{escaped(place.path)}:{_line(place)}")
        path = place.path
    return ", ".join(shown) + f",{NO_BREAK}..." * (len(findings) > _PLACES)


def _line(place: Location) -> str:
    return str(place.line) if place.cell is None else f"cell{NO_BREAK}{place.cell_number}:{place.line}"


def _entry(head: str, text: str, width: int, word: str, styled: str) -> Iterator[str]:
    """Lines that begin with ``head``, with ``word`` in it styled; continuation lines are indented to the text."""
    first, *rest = wrapped(text, width, head, " " * len(head))
    yield f"{head.replace(word, styled)}{first[len(head) :]}"
    yield from rest
