"""Fixes in notebooks: nothing but the code of the changed cells differs."""

import json

import pytest
from command import kerascheck

LINES = [
    ["import tensorflow as tf\n", "!pip install tensorflow"],
    ["%matplotlib inline\n", 'name = "\u00e9"\n', "ds = tf.data.Dataset.range(10)"],
    ["ds = ds.map(lambda x: x + tf.random.uniform([], maxval=9, dtype=tf.int64))\n", "ds = ds.batch(2)"],
    ["%%bash\n", "echo ds.map(f)"],
    ["model = tf.keras.Sequential()\n", "model.fit(ds)"],
]
OLD, NEW = "ds = ds.batch(2)", "ds = ds.batch(2).prefetch(tf.data.AUTOTUNE)"


def cells(as_text=False):
    codes = [
        {
            "cell_type": "code",
            "execution_count": 3,
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["1e-07 \u00e9\n"]}],
            "source": "".join(lines) if as_text else lines,
        }
        for lines in LINES
    ]
    return [{"cell_type": "markdown", "metadata": {}, "source": ["# ds.map(f)"]}, *codes]


def notebook(**style):
    as_text = style.pop("as_text", False)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"nbformat": 4, "cells": cells(as_text), "metadata": {"kernelspec": kernel}, "nbformat_minor": 2}
    return json.dumps(content, **style)


STYLES = {
    "indented": {"indent": 1, "ensure_ascii": False},
    "four spaces, escaped": {"indent": 4},
    "one line": {"separators": (",", ":")},
    "text": {"indent": 1, "as_text": True},
}


def fix(path, *options):
    return kerascheck("--isolated", "--pedantic", "--select", "KC102", *options, path)


@pytest.mark.parametrize("newline", ["\n", ""], ids=["newline", "no newline"])
@pytest.mark.parametrize("style", STYLES)
def test_only_code_of_the_cell_changes(style, newline, tmp_path):
    path = tmp_path / "train.ipynb"
    before = notebook(**STYLES[style]) + newline
    path.write_bytes(before.encode())
    fix(path, "--fix")
    after = path.read_bytes().decode()
    assert after == before.replace(OLD, NEW)
    assert NEW in after
    fix(path, "--fix")
    assert path.read_bytes().decode() == after


def test_result_is_a_valid_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    path = tmp_path / "train.ipynb"
    path.write_text(notebook(indent=1))
    fix(path, "--fix")
    nbformat.validate(nbformat.read(path, as_version=nbformat.NO_CONVERT))


def test_patch_names_the_cell(tmp_path):
    path = tmp_path / "train.ipynb"
    path.write_text(notebook(indent=1))
    shown = fix(path, "--diff").out
    assert path.read_text() == notebook(indent=1)
    assert "train.ipynb:cell 4" in shown
    assert f"-{OLD}\n" in shown and f"+{NEW}\n" in shown


def test_notebook_on_standard_input_is_fixed(tmp_path):
    given = notebook(indent=1)
    ran = kerascheck(
        "--isolated",
        "--pedantic",
        "--select",
        "KC102",
        "--fix",
        "--stdin-filename",
        tmp_path / "train.ipynb",
        "-",
        stdin=given.encode(),
    )
    assert ran.out == given.replace(OLD, NEW)


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_exported_script_keeps_its_commands(ending, tmp_path):
    path = tmp_path / "train.py"
    before = "".join(
        f"# In[{number}]:\n{''.join(lines)}\n" for number, lines in enumerate(LINES) if "%%" not in lines[0]
    )
    path.write_bytes(before.replace("\n", ending).encode())
    fix(path, "--fix")
    expected = before.replace(OLD, NEW).replace("\n", ending)
    assert path.read_bytes().decode() == expected


def test_notebook_on_standard_input_is_detected_without_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = (
        "from tensorflow import keras\nmodel = keras.models.load_model('a')\nfor row in rows:\n    model.predict(row)\n"
    )
    cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": [], "execution_count": None}
    given = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    ran = kerascheck("-", "--output-format", "concise", stdin=given)
    assert ran.code == 0 and ran.out.startswith("-:cell 1:4:11: info: KC405 ")
    (fixed,) = json.loads(kerascheck("-", "--fix", "--unsafe-fixes", stdin=given).out)["cells"]
    assert fixed["source"] == code.replace("predict(", "predict_on_batch(")
    ran = kerascheck("-", stdin=given[:60])
    assert ran.code == 2 and ran.out.count("KC999 is not a notebook") == 1


def test_finding_does_not_join_all_cells(tmp_path, monkeypatch, in_this_process):
    """Joining takes time linear in the notebook for each finding."""
    from kerascheck.source import notebook as module

    calls = []
    joined = module.joined
    monkeypatch.setattr(module, "joined", lambda *given: calls.append(1) or joined(*given))
    monkeypatch.chdir(tmp_path)
    code = "for row in rows:\n    model.predict(row)\n"
    codes = ["from tensorflow import keras\nmodel = keras.models.load_model('a')\n", *[code] * 50]
    cells = [{"cell_type": "code", "source": each, "metadata": {}, "outputs": []} for each in codes]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    ran = kerascheck("n.ipynb", "--output-format", "json")
    findings = json.loads(ran.out)["findings"]
    assert len(findings) == 50 and all(each["fix"]["withheld"] is None for each in findings)
    assert len(calls) < 10
