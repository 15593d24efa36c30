"""Insertion of suppression comments; nothing else changes."""

import ast
import json

import pytest

from kerascheck.lint.session import Session
from kerascheck.project.config import Configuration
from kerascheck.project.suppress import suppression
from kerascheck.source.reading import decode, from_text

HEAD = "import tensorflow as tf\n\nds = tf.data.Dataset.range(10)\n"
TAIL = "model = tf.keras.Sequential()\nmodel.fit(ds.batch(2))\n"
RANDOM = "x + tf.random.uniform([], maxval=9, dtype=tf.int64)"
MAP = f"ds = ds.map(lambda x: {RANDOM})"
IGNORE = "# kerascheck: ignore[serial-map]"


def silenced(source):
    """The text with the first finding suppressed; fails if another finding vanishes, or this one stays."""
    found = codes(source)
    finding = next(each for each in Session(Configuration(isolated=True)).lint(source).findings)
    edit = suppression(source, finding)
    text = source.text[: edit.start] + edit.content + source.text[edit.end :]
    assert codes(source.with_text(text)) == found[1:]
    return text


def codes(source):
    outcome = Session(Configuration(isolated=True)).lint(source)
    assert not outcome.errors
    return [finding.code for finding in outcome.findings]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (MAP, f"{MAP}  {IGNORE}"),
        (f"{MAP}   ", f"{MAP}  {IGNORE}   "),
        (f"{MAP}  # why", f"{MAP}  # why  {IGNORE}"),
        (f"{MAP}  # type: ignore[x]", f"{MAP}  # type: ignore[x]  {IGNORE}"),
        (f"{MAP}  # noqa: E501", f"{MAP}  # noqa: E501  {IGNORE}"),
        (
            f"{MAP}  # kerascheck: ignore[print-in-step] why",
            f"{MAP}  # kerascheck: ignore[print-in-step, serial-map] why",
        ),
        # No comment can follow a backslash or be inside a string.
        (f"ds = ds \\\n    .map(lambda x: {RANDOM}) \\\n    .skip(1)", f"    .skip(1)  {IGNORE}"),
        (f'ds = ds.map(lambda x: {RANDOM}, name="""\na""")', f'a""")  {IGNORE}'),
        (f"ds = (\n    ds\n    .map(lambda x: {RANDOM})\n)", f"    .map(lambda x: {RANDOM})  {IGNORE}"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_scripts(statement, expected, newline):
    text = silenced(from_text("train.py", (HEAD + statement + "\n" + TAIL).replace("\n", newline)))
    ast.parse(text)
    assert [line for line in text.split(newline) if "ignore[" in line and "serial" in line] == [
        expected.split("\n")[-1]
    ]
    assert "\r" not in text.replace("\r\n", "") and (newline == "\r\n") == ("\r" in text)


def test_a_cell_of_a_notebook():
    texts = [f"%pip list\nimport ray\n{HEAD}", f"\n{MAP}\n{TAIL}"]
    source = notebook(texts)
    finding = Session(Configuration(isolated=True)).lint(source).findings[0]
    edit = suppression(source, finding)
    start = edit.start - source.cells[1].start
    after = texts[1][:start] + edit.content + texts[1][start:]
    assert after == f"\n{MAP}  {IGNORE}\n{TAIL}" and edit.start == edit.end
    assert codes(notebook([texts[0], after])) == codes(source)[1:] != []


def notebook(texts):
    cells = [{"cell_type": "code", "source": text} for text in texts]
    return decode("train.ipynb", json.dumps({"cells": cells}).encode())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Dockerfile", "FROM python\nRUN pip install tensorflow-gpu==2.12.0\n"),
        ("requirements.txt", "numpy\r\ntensorflow-gpu==2.12.0\r\n"),
    ],
)
def test_requirements_get_the_comment_above(path, text):
    source = from_text(path, text)
    newline = "\r\n" if "\r" in text else "\n"
    first, second, _ = text.split(newline)
    finding = Session(Configuration(isolated=True)).lint(source).findings[0]
    after = silenced(source)
    assert after.split(newline)[:3] == [first, f"# kerascheck: ignore[{finding.name}]", second]
    other = from_text(path, after.replace(finding.name, "print-in-step"))
    finding = next(each for each in Session(Configuration(isolated=True)).lint(other).findings if each.code != "KC900")
    edit = suppression(other, finding)
    assert edit.content == f", {finding.name}" and other.text[: edit.start].endswith("[print-in-step")


def test_no_comment_fits_inside_an_instruction():
    source = from_text("Dockerfile", "FROM python\nRUN pip install \\\n    tensorflow-gpu==2.12.0\n")
    (finding,) = Session(Configuration(isolated=True)).lint(source).findings
    assert suppression(source, finding) is None
