"""Evidence survives line moves and layout, and is dropped with the code, the versions or the machine that it is about."""

import json

import pytest

from kerascheck.finding import Applicability, Edit, Finding, Fix, Location, Severity
from kerascheck.source import Source
from kerascheck.verify import memory
from kerascheck.verify.compare import Comparison, Status, Variant, Verdict, machine
from kerascheck.verify.findings import Linted, Repair
from kerascheck.verify.result import Verification
from kerascheck.verify.rounds import Run
from kerascheck.verify.stats import Ratio

TEXT = "import tensorflow as tf\n\ndef make(ds):\n    ds = ds.map(f)\n    return ds.batch(3)\n"
VERSIONS = {"keras": "3.15.1", "tensorflow": "2.21.0"}


def finding(path, text, code="KC101"):
    line = next(number for number, content in enumerate(text.splitlines(), 1) if ".map(" in content)
    fix = Fix(Applicability.SAFE, "Do", (Edit(0, 0, "x"),))
    return Finding(code, "serial-map", Severity.WARNING, Location(path, None, line, 10, line, 19), "m", fix=fix)


@pytest.fixture
def remembered(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    path = str(tmp_path / "pkg" / "train.py")
    (tmp_path / "pkg").mkdir()
    found = finding(path, TEXT)
    verdict = Verdict("v", Status.CONFIRMED, "faster", Ratio(1.9, 1.8, 2.0))
    comparison = Comparison(path, Run(end={"facts": dict(VERSIONS)}), verdicts=[verdict])
    linted = Linted(path, {path: Source(path, TEXT)}, [found])
    repair = Repair(Variant("v", {path: "x" + TEXT}), (found,))
    file = memory.remember(Verification(comparison, linted, {"v": repair}, machine(), "python train.py"))
    assert file == tmp_path / ".kerascheck" / "evidence.json"
    return path


def recall(path, text, versions=VERSIONS):
    found = finding(path, text)
    return memory.recall([found], {path: Source(path, text)}, versions).get(found)


def test_evidence_is_shown_again(remembered):
    evidence = recall(remembered, TEXT)
    assert (evidence.status, evidence.ratio) == ("confirmed", 1.9)
    assert str(evidence) == "confirmed x1.90 [1.80-2.00]"


def test_line_moves_comments_and_layout_do_not_matter(remembered):
    moved = TEXT.replace("import", "# a comment\n\nimport").replace("map(f)", "map( f )  # noqa")
    assert recall(remembered, moved) is not None


def test_code_elsewhere_does_not_matter(remembered):
    assert recall(remembered, TEXT + "\nprint('done')\n") is not None


@pytest.mark.parametrize(
    "change", [("map(f)", "map(f, 1)"), ("batch(3)", "batch(4)"), ("def make", "def make_other")], ids=str
)
def test_changed_code_makes_evidence_stale(remembered, change):
    assert recall(remembered, TEXT.replace(*change)) is None


def test_other_versions_make_evidence_stale(remembered):
    assert recall(remembered, TEXT, {**VERSIONS, "tensorflow": "2.22.0"}) is None
    assert recall(remembered, TEXT, {}) is not None  # not installed here: nothing speaks against it


def test_another_machine_makes_evidence_stale(remembered, monkeypatch):
    monkeypatch.setattr("kerascheck.verify.compare.os.cpu_count", lambda: 512)
    assert recall(remembered, TEXT) is None


@pytest.mark.parametrize("content", ["", "[]", '{"version": 1, "evidence": 3}', '{"version": 99, "evidence": {}}'])
def test_a_broken_file_is_no_evidence(remembered, content, tmp_path):
    (tmp_path / ".kerascheck" / "evidence.json").write_text(content)
    assert recall(remembered, TEXT) is None


def test_broken_entries_are_no_evidence(remembered, tmp_path):
    file = tmp_path / ".kerascheck" / "evidence.json"
    content = json.loads(file.read_text())
    content["evidence"] = {key: {"state": entry["state"]} for key, entry in content["evidence"].items()}
    file.write_text(json.dumps(content))
    assert recall(remembered, TEXT) is None
