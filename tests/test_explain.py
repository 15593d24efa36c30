"""The pages of rules: what stands beside the evidence."""

import json

import pytest
from command import kerascheck

from kerascheck import measured, published, registry

ROOMS = {room.code: room for room in registry.rooms()}
UNCONVINCING = [row["code"] for row in measured.read_table() if row["cpu"]["status"] != "confirmed"]


@pytest.mark.parametrize("code", UNCONVINCING)
def test_a_page_that_shows_no_gain_says_why(code):
    note = ROOMS[code].evidence_note
    assert 0 < len(note) <= 110 and note.endswith(".")
    assert note in kerascheck("rule", code).out


@pytest.mark.parametrize("code", sorted({code for figure in published.PUBLISHED for code in figure.codes}))
def test_published_figures_are_named_as_such_while_our_own_are_missing(code, monkeypatch):
    page = kerascheck("rule", code).out.split("## Evidence")[1]
    assert "not measured by us" in page
    for figure in published.for_rule(code):
        assert figure.card in page and figure.source in page and figure.software in page
    assert len(json.loads(kerascheck("rule", code, "--output-format", "json").out)["published"]) == len(published.for_rule(code))
    row = {"code": code, "name": "x", "gpu": {"status": "slower", "ratio": None, "reason": "", "machine": {"gpu": "A100"}, "versions": {}, "date": "2026-01-01"}}
    monkeypatch.setattr("kerascheck.verify.evidence.read_table", lambda: [row])
    assert "not measured by us" not in kerascheck("rule", code).out.split("## Evidence")[1]


def test_published_figures_are_about_rules_that_exist():
    assert {code for figure in published.PUBLISHED for code in figure.codes} <= set(ROOMS)
