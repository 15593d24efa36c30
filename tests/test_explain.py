"""Pages of rules: the text beside the evidence."""

import json

import pytest
from command import kerascheck

from kerascheck.catalog import measured, published, registry

SPECS = {spec.code: spec for spec in registry.rule_specs()}
UNCONVINCING = [
    row["code"]
    for row in measured.read_table()
    if any(row[device]["status"] != "confirmed" for device in measured.DEVICES if device in row)
]


@pytest.mark.parametrize("code", UNCONVINCING)
def test_page_without_a_gain_says_why(code):
    note = SPECS[code].evidence_note
    assert 0 < len(note) <= 110 and note.endswith(".")
    assert note in kerascheck("rule", code).out


@pytest.mark.parametrize("code", sorted({code for figure in published.PUBLISHED for code in figure.codes}))
def test_published_figures_are_labelled_without_own_measurements(code, monkeypatch):
    monkeypatch.setattr("kerascheck.catalog.measured.read_table", list)
    page = kerascheck("rule", code).out.split("## Evidence")[1]
    assert "not measured by us" in page
    for figure in published.for_rule(code):
        assert figure.card in page and figure.source in page and figure.software in page
    assert len(json.loads(kerascheck("rule", code, "--output-format", "json").out)["published"]) == len(
        published.for_rule(code)
    )
    row = {
        "code": code,
        "name": "x",
        "gpu": {
            "status": "slower",
            "ratio": None,
            "low": None,
            "high": None,
            "reason": "",
            "machine": {"gpu": "A100"},
            "versions": {},
            "date": "2026-01-01",
        },
    }
    monkeypatch.setattr("kerascheck.catalog.measured.read_table", lambda: [row])
    assert "not measured by us" not in kerascheck("rule", code).out.split("## Evidence")[1]


def test_published_figures_refer_to_existing_rules():
    assert {code for figure in published.PUBLISHED for code in figure.codes} <= set(SPECS)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_pages_fit_the_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    page = kerascheck("rule", "KC405").out
    code = False
    for line in page.splitlines():
        code ^= line.startswith("```")
        assert len(line) <= width or code or line.startswith(("|", "#")) or " " not in line.strip("- "), line
    # No text is lost, and tables and code stay unchanged.
    monkeypatch.delenv("COLUMNS")
    plain = kerascheck("rule", "KC405").out
    assert page.split() == plain.split() and page != plain
    assert [line for line in page.splitlines() if line.startswith(("|", "+", "#"))] == [
        line for line in plain.splitlines() if line.startswith(("|", "+", "#"))
    ]


def test_examples_do_not_show_test_marks(monkeypatch):
    pages = kerascheck("rule", "--all").out
    assert "KC102" in pages and "# KC" not in pages.replace("# noqa: KC", "").replace("# kerascheck", "")
