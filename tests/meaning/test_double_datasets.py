"""Datasets of 64-bit floats."""

import pytest
from snippets import LOOP, STEP, load

from kerascheck.meaning.data.double_datasets import double_datasets

HEAD = "import numpy as np\n" + STEP
SLICES = "tf.data.Dataset.from_tensor_slices"


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (f"{SLICES}(np.zeros((9, 4)))", ("numpy.zeros", False, 36)),
        (f"{SLICES}((np.ones(9, 'int32'), {{'a': np.zeros((9, 4))}}))", ("numpy.zeros", False, 36)),
        (f"{SLICES}(np.zeros((9, 4), 'float32'))", None),
        (f"{SLICES}(np.ones(9, 'int32').astype('float64'))", ("numpy.ndarray.astype", True, 0)),
        (f"{SLICES}(np.zeros((9, 4))).map(lambda x: tf.cast(x, tf.float32))", None),
        (f"{SLICES}(np.zeros((9, 4))).map(unknown)", None),
        ("tf.data.Dataset.from_generator(g, output_types=tf.float64)", (None, True, 0)),
        ("tf.data.Dataset.from_generator(g, output_types=tf.float32)", None),
    ],
)
def test_datasets_of_64_bit_floats(tmp_path, chain, expected):
    module = load(tmp_path, HEAD + f"model.fit({chain}.batch(3))")
    found = [(each.maker and each.maker.name, each.is_asked_for, each.numbers) for each in double_datasets(module)]
    assert [(name and name.replace("numpy.ones.", "numpy.ndarray."), *rest) for name, *rest in found] == (
        [expected] if expected else []
    )


@pytest.mark.parametrize(
    ("body", "heavy"),
    [("tf.matmul(x, x)", ["tensorflow.matmul"]), ("x", [None]), ("tf.matmul(tf.cast(x, tf.float32), w)", [])],
)
def test_loops_computing_with_64_bit_floats(tmp_path, body, heavy):
    loop = LOOP.replace("load()", f"{SLICES}(np.zeros((9, 4)))").replace("step(x)", f"step({body})")
    module = load(tmp_path, HEAD + loop)
    assert [each.heavy and each.heavy.name for each in double_datasets(module)] == heavy
