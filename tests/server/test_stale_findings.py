"""Findings of an earlier text, moved to their lines in a later text."""

import pytest

from kerascheck.finding import Applicability, Edit, Finding, Fix, Location, Related, Severity
from kerascheck.lsp.stale_findings import carried_over
from kerascheck.source import Source
from kerascheck.source.text import Cell

BEFORE = "a\nb\nc\nd\ne\nf\n"


def found(line, end_line=None, statement=(0, 0), cell=None):
    place = Location("x.py", cell, line, 3, end_line or line, 5)
    fix = Fix(Applicability.SAFE, "Change it", (Edit(0, 1, "x"),))
    related = (Related(place, "here"),)
    return Finding("KC101", "name", Severity.WARNING, place, "Message.", None, fix, related, statement)


def lines(findings):
    return [(each.location.line, each.location.end_line) for each in findings]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (BEFORE, [1, 2, 3, 4, 5, 6]),
        ("a\nb\nnew\nc\nd\ne\nf\n", [1, 2, 4, 5, 6, 7]),
        ("a\nb\nchanged\nd\ne\nf\n", [1, 2, 4, 5, 6]),
        ("a\nf\n", [1, 2]),
        ("new\na\nb\nc\nd\ne\nf\n", [2, 3, 4, 5, 6, 7]),
        ("", []),
        ("changed\nb\nc\nd\ne\nchanged\n", []),
        ("a\nb\nc\nc\nc\nd\ne\nf\n", [1, 2, 3, 6, 7, 8]),
        ("a\r\n\x0cb\x0c\nc\rd\ne\nf\n", [1, 3, 4, 5, 6]),
    ],
)
def test_findings_in_unchanged_lines_are_carried_over(now, expected):
    findings = [found(line) for line in range(1, 7)]
    assert lines(carried_over(findings, Source("x.py", BEFORE), Source("x.py", now))) == [
        (each, each) for each in expected
    ]


def test_change_in_the_finding_or_its_statement_drops_it():
    now = Source("x.py", "a\nchanged\nc\nd\ne\nf\nnew\n")
    findings = [
        found(3, 4),
        found(1, 3),
        found(3, statement=(2, 4)),
        found(4, statement=(3, 5)),
        found(6, statement=(1, 6)),
    ]
    assert lines(carried_over(findings, Source("x.py", BEFORE), now)) == []
    now = Source("x.py", "new\na\nchanged\nc\nd\ne\nf\n")
    kept = carried_over(findings, Source("x.py", BEFORE), now)
    assert lines(kept) == [(4, 5), (5, 5)]
    assert [each.statement_lines for each in kept] == [(0, 0), (4, 6)]


def test_fix_and_related_locations_are_dropped():
    (kept,) = carried_over([found(1)], Source("x.py", BEFORE), Source("x.py", BEFORE))
    assert (kept.fix, kept.related, kept.message) == (None, (), "Message.")


def notebook(*cells):
    text, listed = "", []
    for index, cell in cells:
        listed.append(Cell(index, len(text), len(text) + len(cell)))
        text += cell
    return Source("x.ipynb", text, cells=tuple(listed))


def test_each_cell_is_compared_separately():
    before = notebook((1, "a\nb\n"), (3, "c\nd\n"), (4, "e\n"))
    now = notebook((1, "a\nnew\nb\n"), (3, "c\nd\n"))
    kept = carried_over([found(2, cell=1), found(2, cell=3), found(1, cell=4)], before, now)
    assert [(each.location.cell, each.location.line) for each in kept] == [(1, 3), (3, 2)]
