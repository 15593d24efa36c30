"""benchmarks/fuzz.py finds planted faults."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kerascheck.fixes import apply
from kerascheck.lint import analyze_file, fixing
from kerascheck.project.suppress import Suppressor
from kerascheck.source import Source

PATH = Path(__file__).parents[1] / "benchmarks" / "fuzz.py"
TEXT = """\
import tensorflow as tf

ds = tf.data.Dataset.range(10)
ds = ds.batch(2)
rows = 10  # here
model = tf.keras.Sequential()
model.fit(ds)
"""


@pytest.fixture
def fuzz(monkeypatch, in_this_process):
    spec = importlib.util.spec_from_file_location("fuzz", PATH)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fuzz", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def kinds(fuzz, tmp_path):
    checker = fuzz.Checker(tmp_path)
    return lambda text=TEXT: {fault.kind for fault in checker.faults(fuzz.Program("train.py", text.encode()))}


def test_programs_are_deterministic_for_a_seed(fuzz):
    made = [fuzz.program(0, number) for number in range(60)]
    assert made == [fuzz.program(0, number) for number in range(60)]
    assert len(set(made)) > 55 and len(set(made) & {fuzz.program(1, number) for number in range(60)}) < 5
    assert {each.name for each in made} == {"train.py", "train.ipynb"}
    assert 3 < sum(fuzz.refused(each.data, each.name) for each in made) < 40


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.replace("\n", "\r\n"), "\ufeff" + TEXT.rstrip(), "x = (\n", "# coding: idna\n"]
)
def test_correct_programs_have_no_faults(kinds, text):
    assert kinds(text) == set()


def raising(*arguments, **keywords):
    raise ZeroDivisionError("planted")


def test_planted_traceback_is_found(kinds, monkeypatch):
    monkeypatch.setattr(fixing, "fix", raising)
    assert kinds() == {"traceback"}


def test_planted_rule_failure_is_found(kinds, monkeypatch):
    monkeypatch.setattr(analyze_file, "said_of", raising)
    assert kinds() == {"KC998"}


def test_planted_rejection_is_found(kinds, monkeypatch):
    monkeypatch.setattr(
        analyze_file.Analysis, "load", lambda self, source, settings, checked: self._refuse(checked, source, "", 0)
    )
    assert kinds() == {"refused"}


def test_planted_loss_of_the_last_newline_is_found(kinds, monkeypatch):
    monkeypatch.setattr(Source, "encode", lambda self: self.written.rstrip().encode())
    assert "end" in kinds()


def test_planted_line_ending_change_is_found(kinds, monkeypatch):
    monkeypatch.setattr(Source, "encode", lambda self: self.written.replace("\n", "\r\n").encode())
    assert "line ends" in kinds()


def test_planted_unrelated_change_is_found(kinds, monkeypatch):
    made = apply.with_edits
    monkeypatch.setattr(
        "kerascheck.source.rewriting.with_edits", lambda *given: made(*given).replace("# here", "# there")
    )
    assert kinds() == {"lines"}


def test_planted_second_change_is_found(kinds, monkeypatch):
    fixed = fixing.fix

    def fix_more(*given, **named):
        done = fixed(*given, **named)
        return replace(done, source=done.source.with_text(f"{done.text}# \n"))

    monkeypatch.setattr(fixing, "fix", fix_more)
    assert kinds() == {"idempotent"}


def test_planted_change_without_a_fix_is_found(kinds, monkeypatch):
    fixed = fixing.fix
    monkeypatch.setattr(fixing, "fix", lambda *given, **named: replace(fixed(*given, **named), applied=[]))
    assert "count" in kinds()


def test_planted_fix_that_leaves_its_finding_is_found(kinds, monkeypatch):
    fixed = fixing.fix

    def fix_nothing(source, file, outcome, **named):
        done = fixed(source, file, outcome, **named)
        findings = [replace(each, fix=None) for each in outcome.findings]
        return replace(done, source=source.with_text(f"{source.text}#\n"), remaining=findings)

    monkeypatch.setattr(fixing, "fix", fix_nothing)
    assert "still there" in kinds()


def test_planted_ineffective_suppression_is_found(kinds, monkeypatch):
    monkeypatch.setattr(Suppressor, "is_silenced", lambda suppressor, finding: True)
    assert kinds() == {"noqa leaves"}


def test_failing_program_is_minimised(fuzz, tmp_path, monkeypatch):
    monkeypatch.setattr(analyze_file, "said_of", raising)
    checker, program = fuzz.Checker(tmp_path), fuzz.Program("train.py", TEXT.encode())
    fault = next(iter(checker.faults(program)))
    assert b"rows" not in fuzz.shortened(checker, program, fault, 60).data


# The process of the first batch crashes in its second program; the next process starts after it.
CHILD = """
import json, os, signal, sys
first, last = map(int, sys.argv[-1].split("-"))
for number in range(first, last + 1):
    print(json.dumps({"program": number}), flush=True)
    if number == 1:
        os.kill(os.getpid(), signal.%s)
print(json.dumps({"done": True}))
"""


@pytest.mark.parametrize(
    ("signal", "what"), [("SIGKILL", "ends the process (-9)"), ("SIGPROF", "takes more than 20 s")]
)
def test_crashed_process_affects_one_program(fuzz, tmp_path, monkeypatch, capsys, signal, what):
    monkeypatch.setattr(fuzz, "COMMAND", [sys.executable, "-c", CHILD % signal])
    assert fuzz.main(["--programs", "0-3", "--keep", str(tmp_path / "keep")]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"seed 0, program 1: process: : {what}")
    assert last == "4 programs, 1 faults of 1 kinds"
    (kept,) = (tmp_path / "keep").iterdir()
    assert kept.read_bytes() == fuzz.program(0, 1).data


def test_programs_are_checked_in_separate_processes(fuzz, capsys):
    code = fuzz.main(["--programs", "0-1", "--jobs", "2"])
    # The exit code depends on the findings.
    assert capsys.readouterr().out.splitlines()[-1].startswith("2 programs, ") and code in (0, 1)
