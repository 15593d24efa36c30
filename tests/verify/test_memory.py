"""Stored evidence: valid after line moves and layout changes, outdated by other code, versions or machines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import kerascheck
from verify.made_up import ended

from kerascheck.finding import Applicability, Edit, Finding, Fix, Location, Severity
from kerascheck.project.config import Configuration, overrides_from
from kerascheck.runtime.verify import memory
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.findings import Linted, Repair, findings_of, repairs
from kerascheck.runtime.verify.machine_class import machine
from kerascheck.runtime.verify.result import Verification
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status, Verdict
from kerascheck.source import Source

TEXT = """\
import tensorflow as tf

SIZE = 3

def g(x):
    return x * SIZE

def f(x):
    return g(x)

def other(x):
    return x

def make(ds):
    ds = ds.map(f)
    return ds.batch(3)
"""
VERSIONS = {"keras": "3.15.1", "tensorflow": "2.21.0"}


def finding(path, text, code="KC101", occurrence=0):
    lines = [number for number, content in enumerate(text.splitlines(), 1) if ".map(" in content]
    line = lines[occurrence]
    start, end = (text.splitlines()[line - 1].index(part) + 1 for part in ("ds.map", ")"))
    fix = Fix(Applicability.SAFE, "Do", (Edit(0, 0, "x"),))
    return Finding(code, "serial-map", Severity.WARNING, Location(path, None, line, start, line, end + 1), "m", fix=fix)


def remember(path, verdict):
    found = finding(path, TEXT)
    comparison = Comparison(path, ended(versions=VERSIONS), verdicts=[verdict])
    linted = Linted(path, {path: Source(path, TEXT)}, [found])
    repair = Repair(Variant("v", {path: "x" + TEXT}), (found,))
    return memory.remember(Verification(comparison, linted, {"v": repair}, machine(), "python train.py"))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "pkg").mkdir()
    return str(tmp_path / "pkg" / "train.py")


@pytest.fixture
def remembered(project, tmp_path):
    assert (
        remember(project, Verdict("v", Status.CONFIRMED, "faster", Ratio(1.9, 1.8, 2.0)))
        == tmp_path / ".kerascheck" / "evidence.json"
    )
    return project


def recall(path, text, versions=VERSIONS, target=None, occurrence=0):
    found = finding(path, text, occurrence=occurrence)
    return memory.recall([found], {path: Source(path, text)}, versions, lambda path: target).get(found)


def test_evidence_is_shown_again(remembered):
    evidence = recall(remembered, TEXT)
    assert (evidence.status, evidence.ratio) == ("confirmed", 1.9)
    assert str(evidence) == f"confirmed here: x1.90 [1.80-2.00], {evidence.date}"


def test_inconclusive_evidence_is_not_stored(project, tmp_path):
    assert remember(project, Verdict("v", Status.INCONCLUSIVE, "", Ratio(1.2, 0.6, 2.8))) is None
    assert not (tmp_path / ".kerascheck").exists()


def test_inconclusive_evidence_does_not_replace_known_evidence(remembered):
    remember(remembered, Verdict("v", Status.INCONCLUSIVE, "", Ratio(1.2, 0.6, 2.8)))
    assert recall(remembered, TEXT).status == "confirmed"


@pytest.mark.parametrize(
    "low, high, limit, kept",
    [(0.97, 1.03, 0.05, True), (0.57, 2.85, 0.05, False), (0.94, 1.08, 0.1, True), (0.94, 1.08, None, False)],
)
def test_old_no_effect_entries_that_are_inconclusive_are_dropped(project, tmp_path, low, high, limit, kept):
    remember(project, Verdict("v", Status.NO_EFFECT, "", Ratio(1.0, low, high), no_effect=limit or 0.05))
    file = tmp_path / ".kerascheck" / "evidence.json"
    content = json.loads(file.read_text())
    if limit is None:  # the format of older versions
        (entry,) = content["evidence"].values()
        del entry["no_effect"]
        file.write_text(json.dumps(content))
    assert (recall(project, TEXT) is not None) is kept
    other = project.replace("train.py", "other.py")
    remember(other, Verdict("v", Status.CONFIRMED, "", Ratio(1.9, 1.8, 2.0)))
    assert len(json.loads(file.read_text())["evidence"]) == 1 + kept


def test_line_moves_comments_and_layout_do_not_matter(remembered):
    moved = TEXT.replace("import", "# a comment\n\nimport").replace("map(f)", "map( f )  # noqa")
    assert recall(remembered, moved) is not None


def test_code_elsewhere_does_not_matter(remembered):
    assert recall(remembered, TEXT + "\nprint('done')\n") is not None
    assert recall(remembered, TEXT.replace("def other(x):\n    return x", "def other(x):\n    return -x")) is not None


def test_equal_code_elsewhere_has_no_evidence(remembered):
    twice = TEXT.replace("    ds = ds.map(f)\n", "    ds = ds.map(f)\n    ds = ds.map(f)\n")
    found = [recall(remembered, twice, occurrence=number) for number in (0, 1)]
    assert all(evidence is None or evidence.outdated for evidence in found)  # the function has changed
    other = remembered.replace("train.py", "other.py")
    assert recall(other, TEXT) is None


def test_equal_statements_have_different_keys():
    twice = TEXT.replace("    ds = ds.map(f)\n", "    ds = ds.map(f)\n    ds = ds.map( f )\n")
    source = Source("train.py", twice)
    first, second = (memory.key(finding("train.py", twice, occurrence=number), source) for number in (0, 1))
    assert first[0] != second[0] and first[1] == second[1]


def test_code_at_module_level_depends_on_the_whole_file():
    text = "import data\nds = data.make()\nds = ds.map(f)\n"
    states = {memory.key(finding("train.py", each), Source("train.py", each)) for each in (text, text + "x = 1\n")}
    assert len({identity for identity, _ in states}) == 1 and len(states) == 2


def test_equal_calls_of_one_chain_have_different_keys():
    text = "x = make().map(f).batch(2).map(f)\n"
    first, second = (text.index("map(f)"), text.rindex("map(f)"))
    keys = {
        memory.key(
            Finding("KC101", "serial-map", Severity.WARNING, Location("t.py", None, 1, start + 1, 1, start + 7), "m"),
            Source("t.py", text),
        )
        for start in (first, second)
    }
    assert len(keys) == 2


def test_unparsable_code_has_a_key():
    assert memory.key(finding("t.py", "ds = ds.map(f)\n(("), Source("t.py", "ds = ds.map(f)\n(("))


@pytest.mark.parametrize(
    "change",
    [
        ("map(f)", "map(f, 1)"),
        ("batch(3)", "batch(4)"),
        ("def make", "def make_other"),
        ("return g(x)", "return x"),
        ("SIZE = 3", "SIZE = 4"),
    ],
    ids=str,
)
def test_changed_code_makes_evidence_stale(remembered, change):
    stale = recall(remembered, TEXT.replace(*change))
    if change[0] in ("def make", "map(f)"):
        assert stale is None  # another function and statement, about which nothing is known
    else:
        assert stale.outdated == "the code has changed since" and not stale.confirmed
        assert (
            str(stale)
            == f"confirmed once (x1.90 [1.80-2.00], {stale.date}), but the code has changed since: measure again"
        )


def test_other_versions_make_evidence_stale(remembered):
    assert (
        recall(remembered, TEXT, {**VERSIONS, "tensorflow": "2.22.0"}).outdated
        == "with keras 3.15.1, tensorflow 2.21.0"
    )
    assert recall(remembered, TEXT, {}).outdated is None  # not installed here, so nothing contradicts it


def test_the_target_takes_precedence_over_installed_versions(remembered):
    assert recall(remembered, TEXT, target="2.15").outdated
    assert recall(remembered, TEXT, {"tensorflow": "2.15.0"}, target="2.21").outdated is None


def test_evidence_of_this_machine_takes_precedence_over_newer_evidence(remembered, tmp_path):
    file = tmp_path / ".kerascheck" / "evidence.json"
    content = json.loads(file.read_text())
    ((name, entry),) = content["evidence"].items()
    other = {**entry, "date": "2030-01-01", "status": "slower", "machine": {**entry["machine"], "cores": 64}}
    content["evidence"][name.partition("@")[0] + "@other"] = other
    file.write_text(json.dumps(content))
    assert recall(remembered, TEXT).outdated is None
    del content["evidence"][name]
    file.write_text(json.dumps(content))
    assert "(64 cores" in recall(remembered, TEXT).outdated


def test_evidence_of_another_machine_is_marked(remembered, monkeypatch):
    here = machine()
    monkeypatch.setattr("kerascheck.runtime.verify.machine_class.os.cpu_count", lambda: 512)
    foreign = recall(remembered, TEXT)
    assert foreign.outdated == f"on another machine ({here.cores} cores {here.processor})" and not foreign.confirmed


@pytest.mark.parametrize("content", ["", "[]", '{"version": 1, "evidence": 3}', '{"version": 99, "evidence": {}}'])
def test_a_malformed_file_is_ignored(remembered, content, tmp_path):
    (tmp_path / ".kerascheck" / "evidence.json").write_text(content)
    assert recall(remembered, TEXT) is None


def test_malformed_entries_are_ignored(remembered, tmp_path):
    file = tmp_path / ".kerascheck" / "evidence.json"
    content = json.loads(file.read_text())
    for change in ({"status": "\x1b[31m"}, {"date": "\x1b[31m"}, {"ratio": "fast"}, {"ratio": None}, {"versions": 3}, {"versions": {"keras": 3}},
                   {"machine": {"cores": 4, "processor": "\x1b[31m"}}, {"machine": 3}):  # fmt: skip
        entries = {key: {**entry, **change} for key, entry in content["evidence"].items()}
        file.write_text(json.dumps({**content, "evidence": entries}))
        assert recall(remembered, TEXT) is None, change
    file.write_text(
        json.dumps(
            {**content, "evidence": {key: {"state": entry["state"]} for key, entry in content["evidence"].items()}}
        )
    )
    assert recall(remembered, TEXT) is None


# --- the linter -----------------------------------------------------------------------------------------

SCRIPT = """\
import tensorflow as tf

ds = tf.data.Dataset.range(10)
ds = ds.map(lambda x: x + tf.random.uniform([], maxval=9, dtype=tf.int64))
ds = ds.batch(2).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential()
model.compile("sgd", "mse", run_eagerly=True)
model.fit(ds)
"""
LINT = ("--select", "KC101,KC309", "--output-format", "concise", "-q")


@pytest.fixture
def verified(tmp_path, monkeypatch):
    """A project with two findings and made-up evidence from verify, with these verdicts by code."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.setattr(memory, "installed_versions", lambda: VERSIONS)

    def verified(**statuses):
        linted = findings_of("train.py", Configuration(overrides_from({"select": ["KC101,KC309"]})))
        made = {repair.variant.name: repair for repair in repairs(linted)}
        verdicts = [
            Verdict(name, statuses[repair.findings[0].code], "", Ratio(1.9, 1.8, 2.0))
            for name, repair in made.items()
            if len(repair.findings) == 1
        ]
        comparison = Comparison(str(tmp_path / "train.py"), ended(versions=VERSIONS), verdicts=verdicts)
        return memory.remember(Verification(comparison, linted, made, machine(), "python train.py"))

    return verified


def test_the_linter_shows_evidence_and_can_require_it(verified):
    assert kerascheck(*LINT, "--gate", "confirmed", ".").code == 0
    assert kerascheck(*LINT, ".").code == 1
    verified(KC101=Status.CONFIRMED, KC309=Status.SLOWER)
    ran = kerascheck(*LINT, "--gate", "confirmed", ".")
    first, second = ran.out.splitlines()
    assert "KC101" in first and "(confirmed here: x1.90 [1.80-2.00], 20" in first
    assert "KC309" in second and "(slower here: x1.90 [1.80-2.00], 20" in second
    assert ran.code == 1
    assert kerascheck(*LINT, "--gate", "confirmed", "--exit-zero", ".").code == 0
    assert kerascheck(*LINT, "--ignore", "KC101", "--gate", "confirmed", ".").code == 0
    assert kerascheck("--select", "KC101", "--output-format", "json", ".").out.count('"status": "confirmed"') == 1


def test_notebooks_have_evidence_too(verified, tmp_path):
    cells = [{"cell_type": "code", "source": part} for part in ("import tensorflow as tf\n", SCRIPT)]
    (tmp_path / "train.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    linted = findings_of("train.ipynb", Configuration(overrides_from({"select": ["KC101"]})))
    (repair,) = repairs(linted)
    verdict = Verdict(repair.variant.name, Status.CONFIRMED, "", Ratio(1.9, 1.8, 2.0))
    comparison = Comparison("train.ipynb", ended(versions=VERSIONS), verdicts=[verdict])
    memory.remember(Verification(comparison, linted, {verdict.name: repair}, machine(), ""))
    (line,) = kerascheck("--select", "KC101", "--output-format", "concise", "-q", "train.ipynb").out.splitlines()
    assert "cell 2:" in line and "(confirmed here" in line


def test_a_target_on_the_command_line_counts(verified):
    verified(KC101=Status.CONFIRMED, KC309=Status.CONFIRMED)
    assert "confirmed here" in kerascheck(*LINT, "--target-tensorflow", "2.21", ".").out
    other = kerascheck(*LINT, "--target-tensorflow", "2.15", "--gate", "confirmed", ".")
    assert "confirmed here" not in other.out and "but with keras 3.15.1, tensorflow 2.21.0: measure again" in other.out
    assert other.code == 0


def test_verify_is_not_imported_without_evidence(verified):
    code = "import sys\nfrom kerascheck.cli.main import main\ntry: main(['.'])\nfinally: print([m for m in sys.modules if 'verify' in m])"
    environment = {**os.environ, "PYTHONPATH": str(Path(memory.__file__).parents[2])}
    run = lambda: subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    ).stdout.splitlines()[-1]
    assert run() == "[]"
    verified(KC101=Status.CONFIRMED, KC309=Status.CONFIRMED)
    assert "kerascheck.runtime.verify.memory" in run()
