"""Facts about lines on which no rule looked at anything."""

import pytest
from snippets import load

from kerascheck.cli.line_facts import facts_of_line

HEAD = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras
from settings import BATCH, parse
model = keras.Sequential([keras.layers.Dense(1)])
"""


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("ds = tf.data.TFRecordDataset('a').batch(8)  # here\nmodel.fit(ds)", ["`TFRecordDataset` is part of a dataset for training.", "`batch` is part of a dataset for training."]),
        ("ds = tf.data.Dataset.range(9)\nds = ds.batch(BATCH)  # here\nmodel.evaluate(ds)", ["`batch` is part of a dataset for evaluation.", "`batch` gets `BATCH`, whose value is unknown (imported in line 4)."]),
        ("def f(config, ds):\n    ds = tf.data.Dataset.range(9)\n    ds.batch(config.size)  # here", ["`batch` is part of a dataset that nothing consumes.", "`batch` gets `config.size`, whose value is unknown (a parameter in line 6)."]),
        ("ds = tf.data.Dataset.range(9).take(2)\nds = ds.cache()  # here\nmodel.fit(ds)", ["`cache` gets a handful of elements, which a literal limits."]),
        ("if args.debug:\n    ds = tf.data.Dataset.range(9)\n    ds = ds.cache()  # here\n    model.fit(ds)", ["`cache` is part of a dataset for debugging or a benchmark."]),
        ("model.compile('adam', **load())  # here", ["`compile` spreads `load()`, whose items may be unknown.", "`compile` runs outside of all loops, as plain Python."]),
        ("for x in load():\n    if x:\n        model.predict(x)  # here", ["`predict` gets `x`, whose value is unknown (bound in line 6).", "`predict` runs in the loop of line 6, as plain Python.", "`predict` runs only in one branch of `if x`."]),
        ("thing = object()\nthing.fit(1)  # here", ["`fit` is not known to be a method of a Keras model: the value of `thing` (bound in line 6) is unknown."]),
        ("@tf.function\ndef f(x):\n    return np.sqrt(4)  # here\nf(tf.ones(3))", ["`sqrt` is in code that is compiled (tf.function).", "`sqrt` is not seen to get a tensor."]),
        ("@tf.function  # here\ndef f(x): return x\nf(1)", ["`f` is compiled (tf.function)."]),
        ("def f():\n    return 1\n    model.fit(2)  # here", ["No path that kerascheck follows reaches this line."]),
        ("work(1)  # here", []),
    ],
)  # fmt: skip
def test_facts_of_a_line(tmp_path, text, facts):
    module = load(tmp_path, HEAD + text + "\n")
    line = next(number for number, each in enumerate(module.text.splitlines(), 1) if "# here" in each)
    assert list(facts_of_line(module, line)) == facts
