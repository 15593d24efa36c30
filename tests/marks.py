"""Marks of expected findings in a text: ``# KC101`` at the end of a line.

``# KC101:info`` also expects a severity, and ``# KC101:pedantic`` a finding that only --pedantic reports. A repeated
code expects several findings on the line.
"""

import re

_MARKS = re.compile(r"[ \t]*# *(KC[A-Z]?\d{3}(?::\w+)?(?: +KC[A-Z]?\d{3}(?::\w+)?)*)[ \t]*$", re.MULTILINE)


def expectations(text):
    """(line, code, severity) of every mark; a severity of None accepts any but "pedantic"."""
    expected = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := _MARKS.search(line):
            for mark in match[1].split():
                code, _, severity = mark.partition(":")
                expected.append((number, code, severity or None))
    return expected


def unmarked(text):
    return _MARKS.sub("", text)


def differences(expected, findings):
    """One (location, sentence) for each mark without a finding and each finding without a mark.

    Args:
        expected: (location, code, severity) of every mark; a location may be any comparable value.
        findings: (location, code, severity) of every finding; pedantic findings have the severity "pedantic".
    """
    problems, unexplained = [], list(findings)
    for place, code, severity in expected:
        there = [each for each in unexplained if each[:2] == (place, code)]
        fits = [each for each in there if each[2] == severity or severity is None and each[2] != "pedantic"]
        if fits:
            unexplained.remove(fits[0])
        else:
            problems.append((place, f"{code}{f' as {severity}' if severity else ''} is missing"))
    return sorted(problems + [(place, f"{code} is not marked: {severity}") for place, code, severity in unexplained])


def severity_of(finding):
    """The severity of a finding in the JSON report, in the notation of marks."""
    return "pedantic" if finding["pedantic"] else finding["severity"]
