"""Programs whose values grow with each line: beyond the limits they are unknown, and every traversal ends."""

import pytest

from kerascheck.interpreter.limits import MAX_ITEMS
from kerascheck.interpreter.values import Constant, SequenceValue, UnionValue, flat, is_beyond
from kerascheck.lint.pipeline import lint
from kerascheck.project.config import Configuration, Settings
from kerascheck.project.discovery import File

HEAD = "import keras\nimport tensorflow as tf\nimport numpy as np\ndef g(a, b):\n    return [a, b]\n"
TAIL = "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, x)\n"
GROWING = [
    ("[1.0]", "x = [x, x]"),
    ("[1.0]", "x = (x, x, x)"),
    ("[1.0]", "x = {'a': x, 'b': x}"),
    ("[1.0]", "x = x + x"),
    ("[1.0]", "x += x"),
    ("[1.0]", "x.extend(x)"),
    ("[1.0]", "x = [*x, *x]"),
    ("[1.0]", "x = [x for _ in range(3)]"),
    ("[1.0]", "x = [x] if a else (x, x)"),
    ("[1.0]", "x = g(x, x)"),
    ("[1.0]", "y = {}\ny['a'] = x\ny['b'] = x\nx = y"),
    ("'ab'", "x = x + x"),
    ("3", "x = x * x"),
    ("tf.data.Dataset.range(3)", "x = x.concatenate(x)"),
    ("tf.data.Dataset.range(3)", "x = tf.data.Dataset.zip((x, x))"),
]


@pytest.mark.parametrize(("start", "line"), GROWING)
def test_a_container_doubling_in_each_line_is_cheap(tmp_path, start, line):
    path = tmp_path / "train.py"
    path.write_text(HEAD + f"x = {start}\n" + f"{line}\n" * 60 + TAIL)
    outcome = lint([File(str(path), Settings())], Configuration(isolated=True), jobs=1)
    assert outcome.errors == []


def test_a_size_counts_each_reference_to_a_container():
    inner = SequenceValue("list", [Constant(1), Constant(2)])
    outer = SequenceValue("list", [inner, inner, UnionValue((inner, Constant(3)))])
    # Three lists of two, the list itself, the union and its other option.
    assert is_beyond(outer, 11) and not is_beyond(outer, 12)
    assert list(flat(outer)) == [Constant(1), Constant(2), Constant(3)]
    assert is_beyond(SequenceValue("list", [Constant(0)] * (MAX_ITEMS + 1)), MAX_ITEMS)
