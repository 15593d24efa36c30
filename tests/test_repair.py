"""Failing fixes and files that cannot be rewritten, in --fix, --diff and an editor's "fix all"."""

import json

import pytest
from command import kerascheck

from kerascheck.catalog import registry
from kerascheck.lint.report_filter import ReportFilter
from kerascheck.lint.session import Session
from kerascheck.lsp.fixes import safe_edits
from kerascheck.project.config import Configuration, Settings
from kerascheck.project.discovery import File
from kerascheck.source import decode

RULE = '''
from kerascheck.api import Rule, Severity, fixes, proofs


class {cls}(Rule):
    """A step {attribute}s."""

    code = "{code}"
    name = "{attribute}ing-step"
    summary = "a step {attribute}s"
    severity = Severity.WARNING
    triggers = ("{attribute}(", "{new}(")

    def check(self, module):
        for call in module.run.calls:
            if call.attribute in {found}:
                fix = fixes.rename_method(call, "{new}", proofs.SAME_OUTPUT.unless(None))
                yield self.finding(call, "This {attribute}s.", fix=fix)
'''
# The fix of the first rule leaves its finding.
SCRIPT = "import keras\n\nmodel = keras.Sequential()\nmodel.shout()\nmodel.mumble()\n"
FIXED = SCRIPT.replace("mumble", "speak")
DROPPED = "1 fix dropped: it leaves its finding (train.py:4 KCX201)\n"


@pytest.fixture
def rules(tmp_path):
    for code, attribute, new, found in (
        ("KCX201", "shout", "yell", ("shout", "yell")),
        ("KCX202", "mumble", "speak", ("mumble",)),
    ):
        folder = tmp_path / "rules" / "layers" / f"{attribute}ing_step"
        folder.mkdir(parents=True)
        text = RULE.format(cls=f"{attribute.title()}ingStep", code=code, attribute=attribute, new=new, found=found)
        (folder / "rule.py").write_text(text)
    yield tmp_path / "rules"
    registry.use_folders(())
    registry.invalidate()


@pytest.fixture
def folder(tmp_path, monkeypatch, in_this_process):
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def lint(rules, *arguments, stdin=b""):
    return kerascheck("check", "--isolated", "--select", "KCX", "--rules", rules, *arguments, stdin=stdin)


def notebook(text):
    cells = [{"cell_type": "code", "source": line, "metadata": {}} for line in text.splitlines()]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_fix_that_leaves_its_finding_is_dropped_and_reported(folder, rules):
    (folder / "train.py").write_text(SCRIPT)
    for option in ("--fix", "--diff"):
        ran = lint(rules, option, "train.py")
        assert DROPPED in ran.err, option
    assert (folder / "train.py").read_text() == FIXED
    ran = lint(rules, "--diff", "train.py")
    assert (ran.code, ran.out) == (0, "") and DROPPED in ran.err


def test_only_removed_findings_count_as_fixed(folder, rules):
    (folder / "train.py").write_text(SCRIPT)
    assert "Would fix 1 problem in 1 file." in lint(rules, "--diff", "train.py").err
    ran = lint(rules, "--fix", "train.py")
    assert ran.out.count("KCX201 shouting-step") == 1 and "fix:" not in ran.out
    assert "Found 2 problems (1 fixed, 1 remaining: 1 warning) in 1 file.\n" in ran.out
    assert "Fixed train.py: 1 x KCX202 (mumbleing-step)\n" in ran.err
    # Without applicable fixes, the file stays unchanged and no fix is offered.
    again = lint(rules, "--fix", "train.py")
    assert (again.err, again.out.count("fix:")) == (DROPPED, 0)
    assert "Found 1 problem (1 warning) in 1 file.\n" in again.out
    assert (folder / "train.py").read_text() == FIXED
    assert lint(rules, "--fix", "-q", "train.py").err == ""


def test_dropped_fix_on_standard_input_is_reported(folder, rules):
    ran = lint(rules, "--fix", "--stdin-filename", "train.py", "-", stdin=SCRIPT.encode())
    assert ran.out == FIXED and DROPPED in ran.err


def test_dropped_fix_in_a_notebook_is_reported(folder, rules):
    (folder / "train.ipynb").write_text(notebook(SCRIPT))
    ran = lint(rules, "--fix", "train.ipynb")
    assert "1 fix dropped: it leaves its finding (train.ipynb:cell 4:1 KCX201)\n" in ran.err
    assert (folder / "train.ipynb").read_text() == notebook(FIXED)


def test_dropped_fixes_are_reported_in_one_line(folder, rules):
    (folder / "train.py").write_text(SCRIPT + "model.shout()\n" * 4)
    ran = lint(rules, "--fix", "train.py")
    places = ", ".join(f"train.py:{line} KCX201" for line in (4, 6, 7))
    assert f"5 fixes dropped: each leaves its finding ({places}, 2 more)\n" in ran.err


def test_fix_that_cannot_be_encoded_is_dropped(folder, rules):
    line = f"model.mumble({'a' * 50!r})\n"
    before = f"# coding: idna\nimport keras\nmodel = keras.Sequential()\n{line}".encode()
    rule = rules / "layers" / "mumbleing_step" / "rule.py"
    rule.write_text(rule.read_text().replace('"speak"', '"speak_louder_than_that"'))
    (folder / "train.py").write_bytes(before)
    ran = lint(rules, "--fix", "train.py")
    assert (ran.code, ran.err) == (1, "1 fix dropped: it breaks the program (train.py:4 KCX202)\n")
    assert (folder / "train.py").read_bytes() == before


def test_fix_all_of_an_editor_skips_dropped_fixes(folder, rules):
    registry.use_folders((str(rules),))
    source, file = decode("train.py", SCRIPT.encode()), File("train.py", Settings())
    outcome = Session(Configuration(isolated=True)).lint(source)
    (edit,) = safe_edits(source, file, outcome, [], ReportFilter())
    assert SCRIPT[: edit.start] + edit.content + SCRIPT[edit.end :] == FIXED


LOSSY = {
    # The encoding rejects long words.
    "idna": SCRIPT.encode() + b"#" * 80 + b"\n",
    "unicode_escape": SCRIPT.encode(),
    # Two byte sequences encode the same character.
    "cp932": SCRIPT.encode() + b"# \x87\x90\n",
}


@pytest.mark.parametrize("encoding", LOSSY)
def test_file_with_a_lossy_encoding_is_not_rewritten(folder, rules, encoding):
    before = f"# coding: {encoding}\n".encode() + LOSSY[encoding].replace(b"shout", b"mumble")
    (folder / "train.py").write_bytes(before)
    reason = f"the encoding {encoding} would change the rest of the file"
    ran = lint(rules, "--fix", "train.py")
    assert (ran.code, ran.err) == (1, "")
    assert f"[not applied: {reason}]" in " ".join(ran.out.split())
    ran = lint(rules, "--add-noqa", "train.py")
    assert (ran.code, ran.err) == (1, f"train.py: 2 findings not silenced: {reason}\n")
    assert lint(rules, "--diff", "train.py").code == 0
    assert (folder / "train.py").read_bytes() == before
