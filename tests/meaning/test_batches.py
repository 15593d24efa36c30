"""Batch sizes of training steps."""

import pytest
from snippets import IMPORTS, load

from kerascheck.meaning.models.batches import batches_of

HEAD = IMPORTS + "from tensorflow.keras import Input, Model, Sequential, layers\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m.fit(x, y)", 32),
        ("m.fit(x, y, batch_size=None)", 32),
        ("m.fit(x, y, 8)", 8),
        ("N = 4\nm.fit(x, y, batch_size=N * 2)", 8),
        ("m.fit(x, y, batch_size=n)", None),
        ("m.fit(x, y, **options)", None),
        ("m.fit(x)", None),
        ("m.fit(ds.batch(8).prefetch(2))", 8),
        ("m.fit(ds.shuffle(9).batch(batch_size=8).map(f))", 8),
        ("m.fit(ds.batch(n))", None),
        ("m.fit(ds.apply(tf.data.experimental.map_and_batch(f, 8)))", 8),
        ("m.fit(ds.bucket_by_sequence_length(f, [9], [8, 8]))", None),
        ("m.fit(ds.batch(8).unbatch())", None),
        ("if small: ds = ds.batch(2)\nm.fit(ds)", None),
        ("m.fit(ds)", None),
        ("m.fit_generator(flow(), 8)", None),
    ],
)
def test_batches(tmp_path, text, expected):
    module = load(tmp_path, f"{HEAD}m = Sequential([layers.Dense(1)])\nds = tf.data.Dataset.range(99)\n{text}\n")
    (fit,) = module.models[0].fits
    found = batches_of(fit)
    assert (found and found.size) == expected
