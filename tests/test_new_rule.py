"""Rule folders that ``kerascheck new-rule`` writes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cases import problems, read_cases
from command import kerascheck
from test_rule_folders import HEADINGS, left_to_fill_in

from kerascheck.catalog import registry
from kerascheck.report.rule_page import sections

CHECKOUT = Path(__file__).parents[1]
NAMES = ["cases.md", "fast.py", "quiet.py", "rule.py", "slow.py"]


@pytest.fixture
def rules(tmp_path, monkeypatch):
    folder = tmp_path / "rules"
    for spec in registry.rule_specs():
        place = folder / spec.folder.relative_to(registry.rules_folder())
        place.mkdir(parents=True)
        shutil.copy(spec.folder / "rule.py", place)
    monkeypatch.setattr(registry, "rules_folder", lambda: folder)
    registry.invalidate()
    yield folder
    registry.invalidate()


def written(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def last_code(digit):
    return max(spec.code for spec in registry.rule_specs() if spec.code.startswith(f"KC{digit}"))


@pytest.mark.parametrize(("family", "digit"), [("layers", 2), ("training", 4), ("galaxies", 8)])
def test_new_rule_gets_the_next_code_of_its_family(rules, family, digit):
    last = last_code(digit) if digit != 8 else "KC800"
    ran = kerascheck("new-rule", f"{family}/print-in-step")
    folder = rules / family / "print_in_step"
    code = f"KC{int(last[2:]) + 1}"
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"Wrote {folder}: {code} print-in-step, with its rule, its examples and its cases.",
        "Replace every FILL IN: first slow.py and fast.py, which show the problem and its repair, then rule.py.",
        "Its tests say what is left: pytest tests/test_rule_folders.py tests/test_cases.py -k print-in-step",
    ]
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    registry.invalidate()
    spec = registry.find("print-in-step")
    assert (spec.code, spec.folder) == (code, folder)
    assert spec.rule_as(spec.kind).summary == spec.summary
    assert list(sections(spec)) == [*HEADINGS[:3], "When it stays silent", *HEADINGS[3:]]


def test_tests_of_a_new_rule_name_the_missing_parts(rules, tmp_path):
    kerascheck("new-rule", "layers/print-in-step")
    registry.invalidate()
    spec = registry.find("print-in-step")
    left = left_to_fill_in(spec.folder)
    assert {line.split(":")[0].strip() for line in left} == set(NAMES)
    assert '  slow.py:1: """FILL IN: a small training script that has the problem."""' in left
    ((case,), (program,)) = (cases := read_cases(spec.folder / "cases.md"), cases[0].programs)
    assert case.heading.startswith("FILL IN")
    (tmp_path / "program").mkdir()
    assert problems(program, spec.code, tmp_path / "program") == [f"train.py line 4: {spec.code} is missing"]


def test_new_rule_passes_ruff(rules):
    kerascheck("new-rule", "layers/print-in-step")
    for command in (["check"], ["format", "--check"]):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--config", CHECKOUT / "pyproject.toml", "--no-cache", rules / "layers" / "print_in_step"],
            capture_output=True, text=True,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("print-in-step", "'print-in-step' names no rule: write FAMILY/NAME"),
        ("layers/print_in_step", "names no rule"),
        ("layers/Print", "names no rule"),
        ("layers/", "names no rule"),
        ("../layers/print", "names no rule"),
        ("a/b/c", "names no rule"),
        ("layers/predict-in-loop", "there is a rule 'predict-in-loop' already (KC405, "),
        ("layers/python-loop-in-call", "there is a rule 'python-loop-in-call' already"),
        ("layers/half-done", "half_done is there already"),
    ],
)
def test_invalid_rule_is_one_error_line_and_writes_nothing(rules, place, problem):
    (rules / "layers" / "half_done").mkdir()
    (rules / "layers" / "half_done" / "slow.py").write_text("mine")
    before = written(rules.parent)
    ran = kerascheck("new-rule", place)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1 and problem in ran.err
    assert written(rules.parent) == before


def test_family_is_limited_to_100_codes(rules):
    rule = rules / "layers" / "numpy_in_call" / "rule.py"
    rule.write_text(rule.read_text().replace(registry.find("numpy-in-call").code, "KC297"))
    registry.invalidate()
    ran = kerascheck("new-rule", "layers/print-in-step")
    assert ran.code == 2 and "no code is left for 'layers'" in ran.err


def test_unwritable_folder_is_one_error_line(rules, monkeypatch):
    (rules / "fresh").write_text("a file")
    ran = kerascheck("new-rule", "fresh/print-in-step")
    assert ran.code == 2 and len(ran.err.splitlines()) == 1 and "cannot be written: " in ran.err
