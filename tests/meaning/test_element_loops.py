"""Functions in compiled code that process a batch element by element."""

import pytest
from snippets import IMPORTS, load

from kerascheck.meaning.graph.element_loops import element_loops


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("tf.map_fn(lambda e: e * 2, x)", True),
        ("keras.ops.map(lambda e: e * 2, x)", True),
        ("keras.ops.map(lambda e: e * 2, self.numbers)", False),
        ("tf.map_fn(lambda e: e * 2, self.numbers)", False),
        ("tf.map_fn(lambda e: tf.io.decode_jpeg(e), x)", False),
        ("tf.map_fn(lambda e: tf.where(e > 0), x)", False),
        ("tf.map_fn(lambda e: tf.where(e > 0, e, 0), x)", True),
        ("tf.map_fn(lambda e: self.w.assign(e), x)", False),
        ("tf.map_fn(lambda e: x[:, e:], x)", False),
        ("tf.map_fn(lambda e: e, x, fn_output_signature=tf.RaggedTensorSpec([None]))", False),
        ("tf.map_fn(unknown, x)", True),
        ("tf.scan(lambda a, e: e * 2, x, initializer=0.0)", True),
        ("tf.scan(lambda a, e: e * 2, x)", False),
        ("tf.scan(lambda a, e: a + e, x, initializer=0.0)", False),
    ],
)
def test_loops_replaceable_by_batches(tmp_path, body, found):
    layer = "class L(keras.layers.Layer):\n    def __init__(self): self.numbers = tf.range(9)\n"
    module = load(tmp_path, IMPORTS + layer + f"    def call(self, x): return {body}\nL()(x)")
    assert bool(list(element_loops(module))) is found


def test_eager_code_has_no_element_loops(tmp_path):
    assert list(element_loops(load(tmp_path, IMPORTS + "tf.map_fn(lambda e: e * 2, load())"))) == []
