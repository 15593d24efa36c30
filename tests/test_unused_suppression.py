"""Unused suppressions that depend on several files or on the selected rules."""

import json

import pytest
from command import kerascheck

from kerascheck.lint.session import Session
from kerascheck.project.config import Configuration, overrides_from
from kerascheck.source import read

DATA = """import tensorflow as tf

def flip(image):
    return tf.image.random_flip_left_right(image)

def prepare(dataset):
    return dataset.map(flip).batch(32).prefetch(2)  # noqa: KC101
"""
TRAIN = """import numpy as np
import keras
import tensorflow as tf
from data import prepare

model = keras.Sequential([keras.Input((28, 28, 1)), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(prepare(tf.data.Dataset.from_tensor_slices(np.zeros((64, 28, 28, 1)))))
"""


@pytest.fixture
def unused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def unused(files, *arguments, target="."):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        ran = kerascheck("--isolated", "--output-format", "json", "--exit-zero", *arguments, target)
        return [(each["path"], each["line"]) for each in json.loads(ran.out)["findings"] if each["code"] == "KC900"]

    return unused


def test_comment_is_used_if_another_file_causes_the_finding(unused):
    files = {"data.py": DATA, "train.py": TRAIN}
    assert unused(files) == []
    assert unused({}, target="data.py") == []
    assert unused({"train.py": TRAIN.replace("fit(prepare(", "fit((")}) == [("data.py", 7)]


def test_only_rules_that_ran_are_considered(unused):
    files = {"train.py": "import keras\nkeras.Input((1,))  # noqa: KC101, KC126\n"}
    assert unused(files, "--select", "KC900") == []
    assert unused(files, "--select", "KC900,KC2") == []
    assert unused(files, "--select", "KC900,KC101") == [("train.py", 2)]
    assert unused({"train.py": "import keras\nx = 1  # noqa: KC1\ny = 2  # noqa: KC126\n"}) == [("train.py", 2)]
    assert unused({}, "--select", "KC900,KC12") == [("train.py", 3)]
    assert unused({"train.py": "import keras\nx = 1  # kerascheck: ignore\n"}, "--select", "KC900,KC1") == []
    assert unused({}, "--ignore", "KC900") == []


def test_file_with_only_comments_is_checked(unused):
    assert unused({"a.py": "x = 1  # noqa: KC101\n", "b.py": "x = 1  # noqa: E501\n"}) == [("a.py", 1)]


def test_incompletely_checked_files_are_skipped(unused):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [cell | {"source": "import keras\nx = 1  # noqa: KC101"}, cell | {"source": "y = ("}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assert unused({"a.ipynb": json.dumps(notebook), "b.py": "import keras  # noqa: KC101\ny = (\n"}) == []
    assert unused({"a.ipynb": json.dumps(notebook | {"cells": cells[:1]})}) == [("a.ipynb", 2)]


def test_requirements_comments_are_checked(unused):
    assert unused({"requirements.txt": "tensorflow-cpu==2.15  # noqa: KC701\n"}) == []
    assert unused({"requirements.txt": "tensorflow==2.15\nnumpy  # noqa: KC701\n"}) == [("requirements.txt", 2)]


def test_fix_keeps_line_endings_and_other_words(tmp_path):
    script = tmp_path / "a.py"
    script.write_bytes(
        b"import keras\r\n# noqa: KC101\r\nx = 1  # why  # noqa: KC101\r\ny = 2  # noqa:KC101,E501 # why"
    )
    kerascheck("--isolated", "--fix", script)
    assert script.read_bytes() == b"import keras\r\nx = 1  # why\r\ny = 2  # noqa:E501 # why"


@pytest.mark.parametrize(
    ("comment", "said", "left"),
    [
        ("kerascheck: ignore[nope]", "No rule is called 'nope'; remove it.", ""),
        (
            "kerascheck: ignore[serial-mop]",
            "No rule is called 'serial-mop'; did you mean 'serial-map'?",
            "kerascheck: ignore[serial-mop]",
        ),
        (
            "kerascheck: ignore[Serial-Map]",
            "No rule is called 'Serial-Map'; did you mean 'serial-map'?",
            "kerascheck: ignore[Serial-Map]",
        ),
        ("kerascheck: ignore[101]", "No rule is called '101'; remove it.", ""),
        ("kerascheck: ignore[KC555] why", "No rule has the code KC555; remove it.", "why"),
        ("kerascheck: ignore-file[nope]", "No rule is called 'nope'; remove it.", ""),
        ("noqa: KC555, E501", "No rule has the code KC555; remove it.", "noqa: E501"),
        (
            "kerascheck: ignore[KC101, serial-mop, nope]",
            "KC101 silences nothing; remove it before it hides the next finding. "
            "No rule is called 'serial-mop'; did you mean 'serial-map'? No rule is called 'nope'; remove it.",
            "kerascheck: ignore[serial-mop]",
        ),
    ],
)
def test_unknown_rule_is_named_and_kept_if_it_resembles_one(tmp_path, comment, said, left):
    script = tmp_path / "a.py"
    script.write_text(f"import keras\nx = 1  # {comment}\n")
    report = json.loads(kerascheck("--isolated", "--output-format", "json", script).out)
    assert [finding["message"] for finding in report["findings"]] == [said]
    kerascheck("--isolated", "--fix", script)
    assert script.read_text() == f"import keras\nx = 1  # {left}".rstrip("# ") + "\n"


@pytest.mark.parametrize(("data", "expected"), [(DATA, [[], []]), (DATA.replace("KC101", "KC105"), [[], ["KC900"]])])
def test_comment_is_unused_only_after_cross_file_analysis(tmp_path, data, expected):
    (tmp_path / ".git").mkdir()
    (tmp_path / "data.py").write_text(data)
    (tmp_path / "train.py").write_text(TRAIN)
    steps = Session(Configuration(overrides_from({"select": ("KC101", "KC105", "KC9")}))).steps(
        read(str(tmp_path / "data.py"))
    )
    codes = [[finding.code for finding in outcome.findings] for outcome, _ in steps]
    assert [[code for code in each if code == "KC900"] for each in codes] == expected
