"""Batching before and after an operation."""

import pytest
from snippets import DATA, MODEL, load, operation

from kerascheck.interpreter.values import constant
from kerascheck.meaning.data.batching import is_batched, next_batch


@pytest.mark.parametrize(
    ("chain", "batched"),
    [
        ("base", False),
        ("base.batch(2)", True),
        ("base.batch(2).map(aug).prefetch(2)", True),
        ("base.batch(2).unbatch()", None),
        ("base.apply(tf.data.experimental.dense_to_sparse_batch(2, [9]))", True),
        ("base.apply(load())", None),
        ("keras.utils.image_dataset_from_directory('d')", True),
        ("keras.utils.image_dataset_from_directory('d', batch_size=None)", False),
        ("keras.utils.image_dataset_from_directory('d', batch_size=load())", None),
        ("base.window(3).flat_map(lambda w: w.batch(3))", None),
    ],
)
def test_batched_elements(tmp_path, chain, batched):
    module = load(tmp_path, f"{DATA}model.fit({chain}.shuffle(3))\n")
    assert is_batched(operation(module, "shuffle").stages[0].input) is batched


@pytest.mark.parametrize(
    ("chain", "found"),
    [
        ("map(f).batch(2)", True),
        ("map(f).shuffle(9).cache().repeat().batch(2)", True),
        ("map(f).filter(f).batch(2)", False),
        ("map(f).padded_batch(2)", False),
        ("map(f).take(3).batch(2)", False),
        ("map(f)", False),
    ],
)
def test_the_next_batch(tmp_path, chain, found):
    module = load(
        tmp_path,
        f"{MODEL}def f(x):\n    return tf.io.decode_raw(x, tf.uint8)\nmodel.fit(tf.data.Dataset.range(3).{chain})\n",
    )
    assert (next_batch(module, operation(module)) is not None) is found


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("model.fit(ds.batch(8))", 8),
        ("layer.adapt(ds.batch(4))\nmodel.fit(ds.batch(8))", 8),
        ("keras.layers.Normalization().adapt(ds.batch(4))\nmodel.fit(ds.shuffle(9).padded_batch(8))", None),
        ("done = ds.batch(4)", 4),
    ],
)
def test_the_training_batch(tmp_path, rest, found):
    module = load(tmp_path, MODEL + "ds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: x * 2)\n" + rest)
    (op,) = module.pipelines.operations("map")
    batch = next_batch(module, op)
    assert (batch and constant(batch.given("batch_size"))) == found
