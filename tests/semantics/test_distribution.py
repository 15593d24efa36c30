"""Distribution strategies: what they run, and where they are made."""

import pytest
from snippets import IMPORTS, load

from kerascheck.semantics.distribution import eager_runs, unconditional_mirrors

STRATEGY = IMPORTS + (
    "strategy = tf.distribute.MirroredStrategy()\nopt = keras.optimizers.Adam()\n"
    "def step(x):\n    with tf.GradientTape() as t: loss = model(x)\n    opt.apply_gradients(zip(t.gradient(loss, v), v))\n    return loss\n"
    "def run(x): return strategy.run(step, args=(x,))\n"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for x in data: run(x)", 1),
        ("for e in range(1000): strategy.run(step, (e,))", 1),
        ("for x in data: strategy.experimental_run_v2(step, args=(x,))", 1),
        ("class T:\n    def __init__(self): self.s = tf.distribute.MirroredStrategy()\n    def go(self, d):\n        for x in d: self.s.run(step, args=(x,))\nT().go(data)", 1),
        ("run = tf.function(run)\nfor x in data: run(x)", 0),
        ("if fast: run = tf.function(run)\nfor x in data: run(x)", 0),
        ("step = tf.function(step)\nfor x in data: strategy.run(step, args=(x,))", 0),
        ("@tf.function\ndef epoch(d):\n    for x in d: run(x)\nepoch(data)", 0),
        ("for x in data: tf.distribute.get_strategy().run(step, args=(x,))", 0),
        ("for x in data: strategy.run(print, args=(x,))", 0),
        ("for x in data: strategy.run(lambda a: a, args=(x,))", 0),
        ("for x in range(50): run(x)", 0),
        ("run(1)", 0),
    ],
)  # fmt: skip
def test_steps_that_run_eagerly(tmp_path, text, found):
    assert len(list(eager_runs(load(tmp_path, STRATEGY + text)))) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s = tf.distribute.MirroredStrategy()", 1),
        ("def make(): return tf.distribute.MirroredStrategy()", 1),
        ("with tf.distribute.MirroredStrategy().scope(): pass", 1),
        ("s = tf.distribute.MirroredStrategy(['GPU:0'])", 0),
        ("if gpus: s = tf.distribute.MirroredStrategy()", 0),
        ("s = tf.distribute.MirroredStrategy()\nn = s.num_replicas_in_sync", 0),
    ],
)
def test_strategies_for_whatever_there_is(tmp_path, text, found):
    assert len(list(unconditional_mirrors(load(tmp_path, IMPORTS + text)))) == found
