"""--ignore-noqa: findings that comments suppress are reported."""

import json

import pytest
from command import kerascheck

DATA = """import tensorflow as tf

def prepare(dataset):
    return dataset.map(lambda x: x + tf.random.normal([])).batch(32).prefetch(2){}
"""
TRAIN = """import keras
import tensorflow as tf
from data import prepare

model = keras.Sequential()
model.fit(prepare(tf.data.Dataset.range(64)))
"""
COMMENTS = ["  # noqa", "  # noqa: KC101", "  # kerascheck: ignore[serial-map]", "\n# kerascheck: ignore-file", "\n# flake8: noqa"]  # fmt: skip


@pytest.fixture
def found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)

    def found(comment, *arguments):
        (tmp_path / "data.py").write_text(DATA.format(comment))
        options = ("--isolated", "--exit-zero", "--select", "KC101,KC900", "--output-format", "json")
        return [each["code"] for each in json.loads(kerascheck(*options, *arguments, ".").out)["findings"]]

    return found


@pytest.mark.parametrize("comment", COMMENTS)
def test_suppressed_findings_are_reported(found, comment):
    assert found(comment) == []
    assert found(comment, "--ignore-noqa") == ["KC101"]


def test_comments_are_not_reported_as_unused(found):
    unused = "  # noqa: KC101, KC555"
    assert found(unused) == ["KC900"]
    assert found(unused, "--ignore-noqa") == ["KC101"]


def test_fix_changes_suppressed_code_and_keeps_the_comment(found, tmp_path):
    found(COMMENTS[1])
    assert kerascheck("--isolated", "--select", "KC101", "--fix", "--unsafe-fixes", "--ignore-noqa", ".").code == 0
    line = (tmp_path / "data.py").read_text().splitlines()[-1]
    assert "num_parallel_calls=tf.data.AUTOTUNE" in line and line.endswith(COMMENTS[1])


def test_no_comments_are_added_at_the_same_time(found):
    ran = kerascheck("--add-noqa", "--ignore-noqa", ".")
    assert (ran.code, ran.err) == (2, "kerascheck: error: --add-noqa cannot be combined with --ignore-noqa\n")
