"""``--add-noqa`` suppresses all findings and changes nothing else."""

import ast
import json

import pytest
from command import kerascheck

from kerascheck.finding import Edit
from kerascheck.lint import add_noqa
from kerascheck.project.suppress import Suppressor

RANDOM = "x + tf.random.uniform([], maxval=9, dtype=tf.int64)"
HEAD = "import tensorflow as tf\n\nds = tf.data.Dataset.range(10)\n"
MAP = f"ds = ds.map(lambda x: {RANDOM})"
TAIL = "model = tf.keras.Sequential()\nmodel.fit(ds.batch(2).prefetch(2))\n"
IGNORE = "# kerascheck: ignore[serial-map]"
ONLY = ("--isolated", "--select", "serial-map")


@pytest.fixture
def folder(tmp_path, monkeypatch, in_this_process):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "statement",
    [
        MAP,
        f"{MAP}  # noqa: E501",
        f"{MAP}  # kerascheck: ignore[print-in-step] why",
        f"ds = ds \\\n    .map(lambda x: {RANDOM}) \\\n    .skip(1)",
        f'ds = ds.map(lambda x: {RANDOM}, name="""\na""")',
        f"ds = (\n    ds\n    .map(lambda x: {RANDOM})\n)",
        f"{MAP}.map(lambda x: {RANDOM})",
        f"{MAP}; {MAP}",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"# coding: latin-1\n# caf\xe9\n"])
def test_second_run_is_a_no_op(folder, statement, newline, start):
    script = folder / "train.py"
    before = start + (HEAD + statement + "\n" + TAIL).replace("\n", newline).encode()
    script.write_bytes(before)
    assert kerascheck(*ONLY, script).code == 1
    ran = kerascheck(*ONLY, "--add-noqa", script)
    assert (ran.code, ran.err) == (0, "") and ran.out.startswith("Silenced ")
    after = script.read_bytes()
    assert (
        kerascheck("--isolated", "--select", "serial-map,unused-suppression", script).out
        == ("No problems found in 1 file.\n")
        or b"print-in-step" in after
    )
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(before))
    assert after.replace(f"  {IGNORE}".encode(), b"").replace(b", serial-map", b"") == before
    assert kerascheck(*ONLY, "--add-noqa", script).out == "Silenced 0 findings in 0 files.\n"
    assert script.read_bytes() == after


def test_unselected_findings_stay(folder):
    text = HEAD + MAP + "\n" + TAIL
    (folder / "train.py").write_text(text)
    assert kerascheck("--isolated", "--select", "KC5", "--add-noqa").code == 0
    assert (folder / "train.py").read_text() == text


def test_rules_on_one_line_share_a_comment(folder):
    script = folder / "train.py"
    script.write_text(
        f"import ray\n{HEAD}model = tf.keras.Sequential()\nmodel.fit(ds.map(lambda x: {RANDOM}).batch(2))\n"
    )
    found = json.loads(kerascheck("--isolated", "--select", "ALL", script, "--output-format", "json").out)["findings"]
    assert len(found) == 2 > len({each["line"] for each in found})
    ran = kerascheck("--isolated", "--select", "ALL", "--add-noqa", script)
    assert ran.out == f"Silenced {len(found)} findings in 1 file.\n"
    assert script.read_text().count("ignore[") == len({each["line"] for each in found})
    assert kerascheck("--isolated", "--select", "ALL", script).out.endswith("No problems found in 1 file.\n")


def test_comments_for_requirements_go_on_the_line_above(folder):
    names = ("Dockerfile", "FROM python\nRUN pip install tensorflow-gpu==2.12.0\n")
    lines = ("requirements.txt", "numpy\r\ntensorflow-gpu==2.12.0\r\ntensorflow-gpu==2.11.0")
    for name, text in (names, lines):
        (folder / name).write_bytes(text.encode())
    ran = kerascheck("--isolated", "--add-noqa")
    assert (ran.code, ran.err) == (0, "")
    assert kerascheck("--isolated").out.startswith("No problems found")
    for name, text in (names, lines):
        kept = [line for line in (folder / name).read_bytes().splitlines(keepends=True) if b"# kerascheck" not in line]
        assert b"".join(kept) == text.encode()


def test_notebook_is_skipped_with_one_line(folder):
    cells = [{"cell_type": "code", "source": HEAD + MAP + "\n" + MAP + "\n" + TAIL}]
    text = json.dumps({"cells": cells})
    (folder / "train.ipynb").write_text(text)
    ran = kerascheck(*ONLY, "--add-noqa")
    assert (ran.code, ran.out) == (1, "Silenced 0 findings in 0 files.\n")
    assert ran.err == "train.ipynb: 2 findings not silenced: comments are not written into notebooks\n"
    assert (folder / "train.ipynb").read_text() == text


def test_finding_without_room_for_a_comment_is_reported(folder):
    text = "FROM python\nRUN pip install \\\n    tensorflow-gpu==2.12.0\n"
    (folder / "Dockerfile").write_text(text)
    ran = kerascheck("--isolated", "--add-noqa")
    assert ran.err == "Dockerfile:3:5: KC701 not silenced: no comment can stand on its lines\n"
    assert (folder / "Dockerfile").read_text() == text


def test_comment_that_would_change_the_program_is_not_written(folder, monkeypatch):
    text = HEAD + MAP + "\n" + TAIL
    (folder / "train.py").write_text(text)
    monkeypatch.setattr(Suppressor, "suppression", lambda suppressor, finding: Edit(0, 0, "import os\n"))
    ran = kerascheck(*ONLY, "--add-noqa")
    assert (ran.code, ran.err) == (1, "train.py:4:9: KC101 not silenced: no comment can stand on its lines\n")
    assert (folder / "train.py").read_text() == text


def test_comment_that_would_change_the_program_does_not_block_others(folder, monkeypatch):
    (folder / "train.py").write_text(HEAD + f"{MAP}\n" * 9 + TAIL)
    suppression = Suppressor.suppression

    def wrong_on_line_7(suppressor, finding):
        edit = suppression(suppressor, finding)
        return Edit(0, 0, "import os\n") if finding.location.line == 7 else edit

    monkeypatch.setattr(Suppressor, "suppression", wrong_on_line_7)
    ran = kerascheck(*ONLY, "--add-noqa")
    assert (ran.code, ran.err) == (1, "train.py:7:9: KC101 not silenced: no comment can stand on its lines\n")
    lines = (folder / "train.py").read_text().splitlines()
    assert [number for number, line in enumerate(lines, 1) if line.endswith(IGNORE)] == [4, 5, 6, 8, 9, 10, 11, 12]


def test_number_of_parses_is_independent_of_number_of_findings(folder, monkeypatch):
    (folder / "train.py").write_text(HEAD + f"{MAP}\n" * 60 + TAIL)
    asked = []
    dump = add_noqa._dump
    monkeypatch.setattr(add_noqa, "_dump", lambda text: asked.append(text) or dump(text))
    assert kerascheck(*ONLY, "--add-noqa").code == 0
    assert (folder / "train.py").read_text().count(IGNORE) == 60 and len(asked) < 10


def test_finding_about_a_comment_is_not_suppressed(folder):
    text = "import keras\n\nmodel = keras.Sequential()  # kerascheck: ignore[serial-map]\n"
    (folder / "train.py").write_text(text)
    ran = kerascheck("--isolated", "--add-noqa")
    assert ran.err.endswith("not silenced: it is about a comment; correct that\n")
    assert (folder / "train.py").read_text() == text


def test_unwritable_file_is_one_error_and_other_files_are_written(folder, monkeypatch):

    from kerascheck.source import writing

    for name in ("a.py", "b.py"):
        (folder / name).write_text(HEAD + MAP + "\n" + TAIL)
    write = writing.write_atomically

    def refuse(path, data):
        if path == "a.py":
            raise PermissionError(13, "The file is read-only")
        write(path, data)

    monkeypatch.setattr(writing, "write_atomically", refuse)
    ran = kerascheck(*ONLY, "--add-noqa")
    assert (ran.code, ran.out) == (2, "Silenced 1 finding in 1 file.\n")
    assert ran.err == "a.py:1:1: error: KC999 cannot be written: The file is read-only\n"
    assert IGNORE in (folder / "b.py").read_text()


@pytest.mark.parametrize("others", [("--fix",), ("--diff",), ("-o", "x.txt"), ("-",)])
def test_incompatible_options_are_rejected(folder, others):
    ran = kerascheck("--add-noqa", *others)
    assert ran.code == 2 and ran.err.startswith("kerascheck: error: --add-noqa cannot be combined with ")


def test_rule_name_in_a_comment_does_not_suppress_another_rule(folder):
    layers = "keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])"
    code = f"from tensorflow import keras\nmodel = {layers}\nmodel.fit(x, y, epochs=9, batch_size=10)"
    script = folder / "train.py"
    options = ("--isolated", "--select", "tiny-batch,missing-memory-growth,unused-suppression", script)
    script.write_text(f"{code}\n")
    assert kerascheck(*options, "--add-noqa").out == "Silenced 2 findings in 1 file.\n"
    assert kerascheck(*options).out == "No problems found in 1 file.\n"
    script.write_text(f"{code}  # kerascheck: ignore[missing-memory-growth] more fills the memory\n")
    found = kerascheck(*options).out
    assert "KC411" in found and "KC306" not in found


def test_findings_hidden_by_a_merged_finding_are_suppressed(folder):
    script = folder / "train.py"
    data = "ds = tf.data.Dataset.from_tensor_slices(load())\nmodel = tf.keras.Sequential()\n"
    script.write_text(f"import tensorflow as tf\n{data}model.fit(ds.batch(4).shuffle(100))\n")
    options = ("--isolated", "--pedantic", "--select", "shuffle-after-batch,missing-prefetch", script)
    assert "Found 1 problem " in kerascheck(*options).out
    assert kerascheck(*options, "--add-noqa").out == "Silenced 2 findings in 1 file.\n"
    assert kerascheck(*options).out == "No problems found in 1 file.\n"
