"""Distribution strategies: their construction and their steps."""

import pytest
from snippets import IMPORTS, load

from kerascheck.meaning.training.distribution import (
    eager_strategy_runs,
    given_models,
    unconditional_mirrors,
    unplaced_in_steps,
    unplaced_models,
    unplaced_optimizers,
    unscaled_batches,
)
from kerascheck.meaning.training.replicated_batches import replicated_batches

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
    assert len(list(eager_strategy_runs(load(tmp_path, STRATEGY + text)))) == found


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
def test_unconditional_mirrors(tmp_path, text, found):
    assert len(list(unconditional_mirrors(load(tmp_path, IMPORTS + text)))) == found


PLACED = (
    IMPORTS
    + "def build(): return keras.Sequential([keras.layers.Dense(1)])\nstrategy = tf.distribute.MirroredStrategy()\n"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("model = build()\nmodel.compile('adam')\nmodel.fit(x)", [False]),
        ("model = build()\nwith strategy.scope(): model.compile('adam')\nmodel.fit(x)", [True]),
        (
            "def train():\n    s = tf.distribute.TPUStrategy(r)\n    model = build()\n    model.compile('adam')\n    model.fit(x)\ntrain()",
            [False],
        ),
        ("class M(keras.Model): pass\nmodel = M()\nmodel.compile('adam')\nmodel.fit(x)", [False]),
        ("model = keras.models.load_model('m.keras')\nmodel.fit(x)", [False]),
        ("with strategy.scope(): model = build()\nmodel.fit(x)", []),
        ("with strategy.scope(): model = build()\nmodel.fit(x)\nother = build()\nother.fit(x)", []),
        ("with scope(strategy): model = build()\nmodel.fit(x)", []),
        ("model = build()\nwith scope(strategy): model.compile('adam')\nmodel.fit(x)", []),
        ("model = make()\nmodel.fit(x)", []),
        ("model = build()\nmodel.predict(x)", []),
    ],
)
def test_models_outside_of_scopes(tmp_path, text, found):
    assert [each.compiled_inside is not None for each in unplaced_models(load(tmp_path, PLACED + text))] == found


GIVEN = "def train(model, x, strategy=None):\n    {}\n    with strategy.scope():\n        model.compile(optimizer='adam', loss='mse')\n    model.fit(x)\n"


@pytest.mark.parametrize(
    ("begin", "found"),
    [
        ("strategy = tf.distribute.MirroredStrategy()", 1),
        ("strategy = tf.distribute.OneDeviceStrategy('cpu')", 0),
        ("pass", 0),
        ("strategy, model = tf.distribute.MirroredStrategy(), load(model)", 0),
        ("strategy = tf.distribute.MirroredStrategy()\n    model = load(model)", 0),
    ],
)
def test_models_from_outside_of_the_scope(tmp_path, begin, found):
    assert len(list(given_models(load(tmp_path, IMPORTS + GIVEN.format(begin))))) == found


IN_STEPS = IMPORTS + (
    "strategy = {strategy}\n"
    "{model}model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])\n"
    "{optimizer}opt = keras.optimizers.Adam({rate})\n"
    "def step(x):\n    with tf.GradientTape() as t: loss = model(x)\n    opt.apply_gradients(zip(t.gradient(loss, model.weights), model.weights))\n"
    "@tf.function\ndef run(x): {runs}\nfor x in load(): run(x)\n"
)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"model": ""}, ["model"]),
        ({"optimizer": ""}, ["optimizer"]),
        ({"model": "", "optimizer": ""}, ["model", "optimizer"]),
        ({"optimizer": "", "rate": "lr=1"}, []),
        ({"optimizer": "with make(): "}, []),
        ({"model": "", "strategy": "tf.distribute.OneDeviceStrategy('cpu')"}, []),
        ({"model": "", "strategy": "make()"}, []),
        (
            {"model": "", "strategy": "tf.distribute.MirroredStrategy() if several else tf.distribute.get_strategy()"},
            [],
        ),
        ({"model": "", "runs": "step(x)"}, []),
    ],
)
def test_objects_of_steps_from_outside_of_scopes(tmp_path, change, found):
    parts = {
        "strategy": "tf.distribute.MirroredStrategy()",
        "model": "with strategy.scope(): ",
        "optimizer": "with strategy.scope(): ",
        "rate": "",
        "runs": "strategy.run(step, args=(x,))",
    }
    module = load(tmp_path, IN_STEPS.format(**parts | change))
    assert ["optimizer" if used.is_optimizer else "model" for used in unplaced_in_steps(module)] == found


COMPILED = PLACED + "opt = keras.optimizers.Adam()\nwith strategy.scope():\n    model, other = build(), build()\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("    model.compile(opt)\nmodel.fit(x)", 1),
        # Only a compile of this model replaces the optimizer of this model.
        ("    model.compile(opt)\n    other.compile('adam')\nmodel.fit(x)", 1),
        ("    model.compile(opt)\n    model.compile('adam')\nmodel.fit(x)", 0),
        ("    model.compile(opt)\n    other.compile('adam')\nother.fit(x)", 0),
        ("    model.compile(opt)\nmodel.fit(x)\nwith strategy.scope(): model.compile('adam')", 1),
        ("    model.compile(opt)\n    either = model if x else other\n    either.compile('adam')\nmodel.fit(x)", 0),
        ("    model.compile('adam')\nmodel.fit(x)", 0),
        ("    model.compile(opt)\nmodel.predict(x)", 0),
    ],
)
def test_optimizers_from_outside_of_the_scope(tmp_path, text, found):
    assert len(list(unplaced_optimizers(load(tmp_path, COMPILED + text)))) == found


@pytest.mark.parametrize(
    ("choice", "sizes"),
    [
        ("strategy = tf.distribute.MirroredStrategy()", [8]),
        ("if tpu: strategy = tf.distribute.TPUStrategy(tpu)\nelse: strategy = tf.distribute.MirroredStrategy()", [8]),
        ("if tpu: strategy = tf.distribute.TPUStrategy(tpu)\nelse: raise ValueError", [8]),
        ("if tpu: strategy = tf.distribute.TPUStrategy(tpu)\nelse: strategy = tf.distribute.get_strategy()", []),
        ("strategy = tf.distribute.get_strategy()\nif tpu: strategy = tf.distribute.TPUStrategy(tpu)", []),
        ("if tpu: strategy = tf.distribute.TPUStrategy(tpu)\nelse: strategy = load()", []),
        ("strategy = tf.distribute.MirroredStrategy()\nn = len(x) // strategy.num_replicas_in_sync\nuse(n)", []),
        ("strategy = tf.distribute.MirroredStrategy()\nparser.add_argument('--num_gpus')", []),
        # Printed or unused sizes do not scale, nor do comments.
        ("strategy = tf.distribute.MirroredStrategy()\nprint('devices:', strategy.num_replicas_in_sync)", [8]),
        ("strategy = tf.distribute.MirroredStrategy()\nn = strategy.num_replicas_in_sync\nprint(f'devices: {n}')", [8]),
        (
            "strategy = tf.distribute.MirroredStrategy()\nn = strategy.num_replicas_in_sync\nGLOBAL_BATCH_SIZE = 8 * n",
            [8],
        ),
        (
            "strategy = tf.distribute.MirroredStrategy()\nGLOBAL_BATCH_SIZE = 8 * strategy.num_replicas_in_sync\nlogging.info(GLOBAL_BATCH_SIZE)",
            [8],
        ),
        ("strategy = tf.distribute.MirroredStrategy()  # num_replicas_in_sync", [8]),
    ],
)
def test_batches_for_one_device(tmp_path, choice, sizes):
    text = f"{choice}\nx = np.load('x.npy')\nwith strategy.scope():\n    model = keras.Sequential([keras.layers.Dense(1)])\n    model.compile('adam')\nmodel.fit(x, x, batch_size=8)"
    assert [batch.size for batch in unscaled_batches(load(tmp_path, IMPORTS + "import numpy as np\n" + text))] == sizes


@pytest.mark.parametrize(
    ("sizes", "batch", "found"),
    [
        ("BATCH_SIZE_PER_REPLICA = 8", "BATCH_SIZE_PER_REPLICA", [(True, False)]),
        ("per_gpu = 8\nbatch = per_gpu * strategy.num_replicas_in_sync\nuse(batch)", "per_gpu", [(True, False)]),
        ("BATCH = 8\nGLOBAL_BATCH = BATCH * strategy.num_replicas_in_sync", "BATCH", [(False, True)]),
        ("BATCH = 8\nGLOBAL_BATCH = BATCH * strategy.num_replicas_in_sync\nuse(GLOBAL_BATCH)", "BATCH", []),
        ("BATCH = 8\nGLOBAL_BATCH = BATCH * strategy.num_replicas_in_sync", "GLOBAL_BATCH", []),
        ("GLOBAL_BATCH = 8", "GLOBAL_BATCH", []),
        ("per_gpu, gpus = 8, 4", "per_gpu * gpus", []),
        # These examples are not visible.
        ("BATCH = 8", "BATCH", []),
    ],
)
def test_sizes_by_name(tmp_path, sizes, batch, found):
    text = (
        f"strategy = tf.distribute.MirroredStrategy()\n{sizes}\nwith strategy.scope():\n    model = keras.Sequential([keras.layers.Dense(1)])\n    model.compile('adam')\n"
        f"model.fit(tf.data.Dataset.from_tensor_slices(load()).batch({batch}))\n"
    )
    assert [
        (each.is_for_one, each.unused is not None) for each in unscaled_batches(load(tmp_path, IMPORTS + text))
    ] == found


PLAIN = (
    STRATEGY + "data = tf.data.Dataset.range(999).batch(8)\nsplit = strategy.experimental_distribute_dataset(data)\n"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for x in data: run(x)", 1),
        ("for i, x in enumerate(data): run(x)", 1),
        ("for x in data: strategy.run(step, (x,))", 1),
        ("@tf.function\ndef epoch(d):\n    for x in d: run(x)\nepoch(data)", 1),
        ("class T:\n    def __init__(self): self.s = strategy\n    def go(self, d):\n        for x in d: self.s.run(step, args=(x,))\nT().go(data)", 1),
        ("for x in data: run(x)\nfor x in data: run(x)", 1),
        ("for x in split: run(x)", 0),
        ("for x in data: run(x)\nfor x in split: run(x)", 0),
        ("for x in split: run(x)\nfor x in data: run(x)", 0),
        ("for x in data: run(x + 1)", 0),
        ("for x in data:\n    x = x[:4]\n    run(x)", 0),
        ("for x in unknown: run(x)", 0),
        ("for x in tf.data.Dataset.range(999): run(x)", 0),
        ("for x in tf.data.Dataset.range(999).repeat(): run(x)", 0),
        ("for x in data: strategy.run(step, args)", 0),
        ("for x in data: strategy.run(step, args=(1,))", 0),
        ("for x in data.take(9): run(x)", 0),
        ("for x in data: tf.distribute.get_strategy().run(step, args=(x,))", 0),
        ("for x in data.shard(2, 0): run(x)", 0),
        ("for x in data: run(x)\nc = tf.distribute.get_replica_context()", 0),
    ],
)  # fmt: skip
def test_batches_that_all_replicas_get(tmp_path, text, found):
    assert len(list(replicated_batches(load(tmp_path, PLAIN + text)))) == found
