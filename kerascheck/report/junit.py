"""JUnit XML for Jenkins, GitLab, Azure DevOps and CircleCI: a test suite per file, a test case per finding.

Findings that fail the run are failures. Others are skipped cases, which these programs show without failing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from kerascheck.finding import FileError, Finding
from kerascheck.report.common import plain
from kerascheck.report.report import Report


def render(report: Report) -> str:
    """The XML document; a clean run gets one passing case, because an empty document counts as a broken job."""
    items = report.items
    root = ElementTree.Element("testsuites", name="kerascheck")
    for path, group in groupby(items, key=lambda item: item.location.path):
        _suite(root, path, list(group), report)
    if not items:
        suite = ElementTree.SubElement(
            root, "testsuite", name="kerascheck", tests="1", failures="0", errors="0", skipped="0"
        )
        ElementTree.SubElement(suite, "testcase", name="no problems found", classname="kerascheck")
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _suite(root: ElementTree.Element, path: str, items: Sequence[Finding | FileError], report: Report) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=plain(path))
    outcomes = [_case(suite, item, report) for item in items]
    suite.set("tests", str(len(items)))
    for count, outcome in ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"):
        suite.set(count, str(outcomes.count(outcome)))


def _case(suite: ElementTree.Element, item: Finding | FileError, report: Report) -> str:
    """Add a test case; returns its outcome."""
    where = item.location
    cell = f"cell {where.cell_number}, " if where.cell is not None else ""
    name = f"{item.code} {item.name}" if isinstance(item, Finding) else item.code
    case = ElementTree.SubElement(
        suite, "testcase", name=f"{name} ({cell}line {where.line})", classname=plain(where.path), file=plain(where.path),
        line=str(where.line),
    )  # fmt: skip
    outcome = "error" if isinstance(item, FileError) else "failure" if item in report.failing else "skipped"
    ended = ElementTree.SubElement(case, outcome, message=plain(item.message))
    because = f"\n{item.because}" if isinstance(item, Finding) and item.because else ""
    ended.text = plain(f"{cell}line {where.line}, column {where.column}: {item.message}{because}")
    return outcome
