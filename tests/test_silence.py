"""--explain-silence: the conditions that kept rules from speaking about a line."""

import json

import pytest
from command import kerascheck

from kerascheck import registry

SCRIPT = '''\
import numpy as np
import tensorflow as tf
from tensorflow import keras

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
ds = tf.data.Dataset.from_tensor_slices((np.zeros((64, 8)), np.zeros(64)))
ds = ds.map(lambda x, y: (tf.image.random_flip_left_right(x), y), num_parallel_calls=4)
model.fit(ds.batch(8), epochs=3)
for i in range(5):
    model.predict(np.zeros((1, 8)) + i)
for i in range(500):
    model.predict(np.zeros((1, 8)) + i)  # noqa: KC405
for i in range(500):
    model.predict(np.zeros((1, 8)) + i)
'''


@pytest.fixture
def explained(tmp_path):
    def run(line, text=SCRIPT, name="train.py", select="ALL"):
        (tmp_path / name).write_text(text)
        return kerascheck("--isolated", "--select", select, tmp_path / name, "--explain-silence", str(line))

    return run


def test_the_condition_that_turned_a_call_away_is_told_with_its_meaning(explained):
    out = explained(11).out
    assert "KC405 predict-in-loop: silent about `model.predict(np.zeros((1, 8)) + i)`" in out
    held = out.split("KC405")[1]
    assert "turns(call.scope) <= _A_FEW" in held and "How often a place runs at most" in held
    assert "is None" not in held.split("KC")[0], "a condition that did not hold is no reason"


def test_an_operation_that_has_the_argument_says_so(explained):
    out = explained(8, select="KC101").out
    assert "given is not None" in out
    assert "num_parallel_calls" in out


def test_what_is_reported_or_silenced_by_a_comment_is_said(explained):
    assert "KC405 predict-in-loop: silenced by a comment: model.predict" in explained(13).out
    assert "KC405 predict-in-loop: reported: model.predict" in explained(15).out


def test_what_costs_nothing_is_said_to(explained):
    text = SCRIPT.replace(", num_parallel_calls=4", "").replace("random_flip", "flip")
    assert "KC101 serial-map: costs nothing, so only --pedantic shows it: This map leaves" in explained(8, text=text).out


def test_what_semantics_turns_away_is_told_too(explained):
    # Which datasets lack a buffer is decided in the semantics; the rule only reads the list.
    assert "runs_ahead(last)" in explained(9, select="KC102").out


def test_rules_that_look_for_other_names_are_only_counted(explained):
    out = explained(2).out
    assert "KC405" not in out
    assert "other rules found nothing to look at here" in out


def test_what_stands_in_a_test_is_left_alone_and_that_is_said(explained):
    text = "import tensorflow as tf\n\ndef test_pipeline(names):\n    ds = tf.data.TFRecordDataset(names)\n    return ds.map(tf.io.decode_png)\n"
    assert "in test_pipeline, which is a test" in explained(5, text).out
    assert "which is a test" not in explained(5, text.replace("test_", "make_")).out


def test_graphs_of_tensorflow_1_are_named_as_such(explained):
    text = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a')\nds = ds.map(parse).batch(8)\nx = ds.make_one_shot_iterator().get_next()\nwith tf.Session() as s:\n    s.run(x)\n"
    assert "written for the graphs of TensorFlow 1" in explained(3, text).out


def test_a_notebook_takes_cell_and_line(explained):
    cells = [{"cell_type": "markdown", "source": "# text", "metadata": {}}]
    cells += [{"cell_type": "code", "source": part, "metadata": {}, "outputs": [], "execution_count": None} for part in SCRIPT.split("for i in range(500):\n    model.predict(np.zeros((1, 8)) + i)  # noqa: KC405\n")]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    shown = explained("3:2", notebook, "train.ipynb").out
    assert "KC405 predict-in-loop: reported" in shown and "train.ipynb:cell 3:2: " in shown
    for nowhere in ("0:1", "1:1", "4:1"):
        assert f"train.ipynb: there is no code cell {nowhere[0]}" in explained(nowhere, notebook, "train.ipynb").err
    assert "this is a notebook: name the cell too, as in --explain-silence 1:2" in explained("2", notebook, "train.ipynb").err
    assert "train.py: this is no notebook" in explained("1:2").err
    broken = notebook.replace("# text", "def f(:").replace("markdown", "code")
    assert "KC405 predict-in-loop: reported" in explained("3:2", broken, "train.ipynb").out


@pytest.mark.parametrize("place", ["x", "0", "99", "1:2:3", "-1"])
def test_a_line_that_is_not_there_is_one_clear_error(explained, place):
    ran = explained(place)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1 and "error" in ran.err


def test_a_file_that_does_not_parse_is_one_clear_error(explained):
    ran = explained(1, "def f(:\n")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "train.py" in ran.err


def test_what_holds_of_a_model_is_told_where_it_is_compiled_and_fitted(explained):
    text = SCRIPT.replace("keras.layers.Dense(1)])", "keras.layers.Dense(1), keras.layers.Attention()])")
    for line in (6, 9):
        assert "model.consists_of(_CHEAP" in explained(line, text, select="KC407").out
    # A condition over all that is fitted is evaluated with the names of the rule.
    assert "_is_long(fit, batch)" in explained(6, SCRIPT.replace("epochs=3", "epochs=1"), select="KC407").out


def test_a_rule_that_fails_is_told_and_costs_no_other(explained, monkeypatch):
    room = registry.find("KC405")

    def broken(module):
        yield from ()
        raise KeyError("lost")

    monkeypatch.setattr(room.rule, "check", broken)
    result = explained(8, select="KC101,KC405")
    assert result.code == 0
    assert "KC405 predict-in-loop: failed: KeyError: 'lost'; this is a fault of kerascheck" in result.out
    assert "KC101 serial-map: silent" in result.out
