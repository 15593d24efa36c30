"""The probes in small trainings on the real frameworks. No assertion depends on time."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.compare import compare
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.rounds import run_alone
from kerascheck.runtime.verify.scouting import SCOUT, unusable_reason
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status

SCRIPTS = Path(__file__).parent / "scripts"
QUICK = Budget(seconds=10, start_limit=120, steps=240, rounds=2)
"""Settings with few steps and rounds, which suffice for the verdicts in this file."""
LOOK = replace(SCOUT, warmup_seconds=0.2, block_seconds=0.5)

pytestmark = pytest.mark.slow

LOOP = """\
import numpy as np
import tensorflow as tf
import keras

x = np.random.default_rng(0).random((100, 8), dtype="float32")
ds = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).map(lambda a, b: (a * 2, b)).batch(16)
total = sum(int(len(a)) for a, _ in ds)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(a) - b) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(2):
    for a, b in ds:
        loss = step(a, b)
    for a, b in ds.take(1):
        model(a)
"""
PREDICT = """\
import numpy as np
import keras

x = np.random.default_rng(0).random((40, 8), dtype="float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
for row in x:
    model.predict(row[None], verbose=0)
"""


@pytest.fixture(autouse=True)
def no_time_limit(monkeypatch):
    """Remove the time limit: on a busy machine a verdict may need more time, and too few blocks give none."""
    monkeypatch.setattr("kerascheck.runtime.verify.planning._LATE", 1000.0)


@pytest.fixture(autouse=True)
def short_scouting(monkeypatch):
    """Shorten the scouting run, which needs only few steps here."""
    monkeypatch.setattr("kerascheck.runtime.verify.scouting.SCOUT", LOOK)


def script_of(text, folder):
    path = str(folder / "train.py")
    return path, Script(path, {path: text}, directory=str(folder))


def variant(path, text, old, new, **options):
    line = text[: text.index(old)].count("\n") + 1
    return Variant(new, {path: text.replace(old, new)}, places=((path, line, line),), **options)


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def test_the_data_of_a_loop_is_repeated_after_its_end(tmp_path):
    needs("tensorflow")
    path, script = script_of(LOOP, tmp_path)
    natural = run_alone(script, LOOK, start_limit=120, block_limit=60)
    assert (natural.end.reason, natural.end.steps, natural.end.passes) == ("end", 14, 2)
    fed = run_alone(script, replace(LOOK, passes=2), start_limit=120, block_limit=60)
    assert fed.end.reason == "done" and fed.end.steps > 14
    assert fed.end.losses[:14] == natural.end.losses
    assert any("fed from the start again" in note for note in fed.end.notes)


def test_samples_and_ceiling_of_a_loop(tmp_path):
    needs("tensorflow")
    path, script = script_of(LOOP, tmp_path)
    result = compare(script, [variant(path, LOOP, "batch(16)", "batch(16, drop_remainder=True)")], QUICK)
    assert result.failure is None, result.scout.output
    assert result.analyses[0].input_bound is not None and not result.analyses[0].missing
    (verdict,) = result.verdicts
    assert (verdict.status, verdict.reason) == (Status.CHANGES_RESULTS, "the data has 96 samples instead of 100")


VALIDATES = """\
import time
import numpy as np
import tensorflow as tf
import keras

x = np.random.default_rng(0).normal(size=(640, 16)).astype("float32")


def shaped(row):
    row = tf.numpy_function(lambda values: (time.sleep(0.004), values)[1], [row], tf.float32)
    row = tf.ensure_shape(row, (16,))
    return row, row[0]


train = tf.data.Dataset.from_tensor_slices((x, x[:, 0])).batch(64)
held_out = tf.data.Dataset.from_tensor_slices(x[:64]).map(shaped).batch(64)
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(train, epochs=30, validation_data=held_out, verbose=0)
"""


def test_a_fix_of_validation_data_is_measured_with_validation(tmp_path):
    needs("tensorflow")
    path, script = script_of(VALIDATES, tmp_path)
    kept = variant(path, VALIDATES, ".map(shaped).batch(64)", ".map(shaped).batch(64).cache()", tolerance=1e-5)
    trains = variant(path, VALIDATES, "x[:, 0])).batch(64)", "x[:, 0])).batch(64).cache()", tolerance=1e-5)
    first, second = compare(script, [kept, trains], QUICK, ceilings=False).verdicts
    # A validation sleeps 64 times 4 ms; without it, an epoch of ten steps takes a few milliseconds.
    assert first.ratio is not None and first.ratio.value > 2, first
    assert "of epochs with their validation" in first.remark
    assert "of epochs with their validation" not in second.remark


def test_a_loop_inside_a_function_has_a_ceiling(tmp_path):
    needs("tensorflow")
    text = (SCRIPTS / "graph_loop.py").read_text()
    path, script = script_of(text, tmp_path)
    (analysis,) = compare(script, [], QUICK).analyses
    assert analysis.kind == "graph loop" and analysis.input_bound is not None, analysis.missing


def test_a_script_that_only_predicts(tmp_path):
    needs("tensorflow")
    path, script = script_of(PREDICT, tmp_path)
    about = variant(
        path,
        PREDICT,
        "model.predict(row[None], verbose=0)",
        "model.predict_on_batch(row[None])",
        predicts=True,
        tolerance=1e-5,
    )
    unused = variant(path, PREDICT, "import numpy as np", "import numpy as np, sys")
    first, second = compare(script, [about, unused], QUICK).verdicts
    assert first.ratio is not None and first.losses[0] == pytest.approx(first.losses[1], rel=1e-5)
    # On a busy machine the size of the effect may be unclear.
    assert "calls" in first.reason or first.status is Status.INCONCLUSIVE
    assert (second.status, second.reason) == (
        Status.NOT_RUN,
        "the script trains for no step, and no loop of predictions uses its lines",
    )


def test_predictions_after_a_training(tmp_path):
    needs("tensorflow")
    text = PREDICT.replace("for row", "model.fit(x, x[:, :1], epochs=10**6, batch_size=4, verbose=0)\nfor row")
    path, script = script_of(text, tmp_path)
    about = variant(
        path,
        text,
        "model.predict(row[None], verbose=0)",
        "model.predict_on_batch(row[None])",
        predicts=True,
        tolerance=1e-5,
    )
    eager = variant(path, text, '"mse"', '"mse", jit_compile=False', tolerance=1e-5)
    result = compare(script, [about, eager], QUICK, ceilings=False)
    first, second = result.verdicts
    assert [result.scouts[verdict.training].end.kind for verdict in (first, second)] == ["prediction loop", "fit"]
    assert first.ratio is not None and second.ratio is not None
    assert any("fit was stopped after its first steps" in note for note in result.notes)


TWO_FITS = """\
import numpy as np
import keras

x = np.random.default_rng(0).random((400, 8), dtype="float32")


def main():
    one = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    one.compile("sgd", "mse")
    one.fit(x, x[:, :1], epochs=10**6, batch_size=4, verbose=0)
    two = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    two.compile("sgd", "mse", run_eagerly=True)
    two.fit(x, x[:, :1], epochs=1, batch_size=8, verbose=0)


main()
"""


def test_a_later_training_reads_files_of_the_first_one(tmp_path):
    needs("tensorflow")
    text = TWO_FITS.replace(
        "batch_size=4, verbose=0)",
        "batch_size=4, verbose=0, callbacks=[keras.callbacks.ModelCheckpoint('best.keras')])",
    ).replace(
        "    two = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])",
        "    two = keras.models.load_model('best.keras')\n    one.load_weights('best.keras')",
    )
    path, script = script_of(text, tmp_path)
    run = run_alone(script, replace(LOOK, training=1), start_limit=120, block_limit=60)
    assert unusable_reason(run) is None, run.output
    assert run.end.order == 1 and not list(tmp_path.iterdir())


def test_each_fit_is_a_separate_training(tmp_path):
    needs("tensorflow")
    path, script = script_of(TWO_FITS, tmp_path)
    eager = variant(path, TWO_FITS, ", run_eagerly=True", "", tolerance=1e-5)
    other = variant(path, TWO_FITS, '"sgd", "mse")', '"sgd", "mse", jit_compile=False)', tolerance=1e-5)
    result = compare(script, [eager, other], QUICK)
    assert [verdict.training for verdict in result.verdicts] == [1, 0]
    assert [(a.number, a.place[1]) for a in result.analyses] == [(1, 10), (2, 13)]
    # The first fit does not complete, and says nothing about the epochs of the second.
    assert result.scouts[1].end.facts.epoch_lengths[:1] in ((50,), ())
    # The certainty depends on the load of this machine; the direction does not.
    assert result.verdicts[0].status in {Status.CONFIRMED, Status.INCONCLUSIVE} and result.verdicts[0].ratio.value > 1


@pytest.mark.parametrize(
    "name, module, backend, kind",
    [
        ("torch_loop", "torch", "torch", "optimizer loop"),
        ("jax_loop", "jax", "jax", "function loop"),
        ("legacy_keras", "tf_keras", None, "fit"),
        ("keras3_any_backend", "torch", "torch", "fit"),
        ("keras3_any_backend", "jax", "jax", "fit"),
        ("keras3_any_backend", "tensorflow", "tensorflow", "fit"),
    ],
)
def test_every_backend_is_supported(name, module, backend, kind, tmp_path):
    needs(module)
    path = str(SCRIPTS / f"{name}.py")
    environment = {"KERAS_BACKEND": backend} if backend else {}
    script = Script(path, {path: Path(path).read_text()}, directory=str(tmp_path), environment=environment)
    run = run_alone(script, LOOK, start_limit=300, block_limit=120)
    assert unusable_reason(run) is None, run.output
    assert run.end.kind == kind and len(run.end.losses) >= 3 and run.blocks
    facts = run.end.facts
    assert facts.backend.startswith(backend or "tensorflow (tf-keras)")
    assert facts.versions["tf-keras" if name == "legacy_keras" else "keras"]
    assert (facts.host_reads_per_step is None) == (backend in ("jax", "torch"))
    if kind == "fit":
        analysis = compare(script, [], QUICK).analyses[0]
        assert analysis.input_bound is not None, analysis.missing
