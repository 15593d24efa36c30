"""Steps at other batch sizes: where the measurement stops, and which size the report takes."""

import json
import subprocess
import sys
import types

import pytest

from kerascheck.runtime.verify.batch_sizes import NOT_REACHED, BatchSizes, SizeTiming
from kerascheck.runtime.verify.child import batch_sizes as child
from kerascheck.runtime.verify.child.larger_batch import Resizable
from kerascheck.runtime.verify.messages import TrainingFacts, parse_facts
from kerascheck.runtime.why import batch_sizes
from kerascheck.runtime.why.step import Step


def sizes(rates, own=32, stopped="no gain", **more):
    """Sizes from half of ``own`` on, with these examples per second."""
    rows = [own // 2 * 2**number for number in range(len(rates))]
    timings = tuple(SizeTiming(each, each / rate, 1 << 30) for each, rate in zip(rows, rates))
    return BatchSizes(own, timings, stopped, **more)


def step(found, alone=None):
    facts = TrainingFacts(batch_sizes=found, alone_seconds_per_batch=alone)
    return Step("fit", 0.1, {}, None, (), steps_per_epoch=1000, facts=facts)


def told(found, alone=None):
    return " ".join(batch_sizes.sentences(found, step(found, alone)))


@pytest.mark.parametrize(
    "rates, rows",
    [
        ([50, 100, 200, 390, 400, 405], 128),  # the smallest within 10 % of the best
        ([95, 100, 104, 103], 32),  # its own size, although half of it is as fast
        ([115, 100, 90, 85], 32),  # not smaller for 15 %
        ([200, 100, 90, 85], 16),
        ([50, 100, 200, 400], 128),
    ],
)
def test_the_smallest_size_that_is_about_as_fast_as_the_best_is_chosen(rates, rows):
    assert sizes(rates).chosen.rows == rows


def test_without_timings_there_is_no_choice():
    assert BatchSizes().chosen is None
    assert told(NOT_REACHED) == "No batch size was measured: an earlier measurement did not end."


def test_the_size_its_epochs_and_the_learning_rate_are_told():
    text = told(sizes([50, 100, 200, 390, 400, 405]))
    assert "Take 128 rows: 3.9 times the examples per second of 32 rows" in text
    assert "250 steps per epoch instead of 1,000" in text
    assert "multiplies the learning rate by 4 too" in text
    assert "Beyond 128 rows, two doublings gained less than 10%." in text


def test_a_flat_throughput_keeps_the_batch():
    text = told(sizes([98, 100, 104, 103]))
    assert text.startswith("Keep 32 rows")
    assert "earning rate" not in text


def test_no_rule_scales_the_learning_rate_by_a_thousand():
    text = told(sizes([2**number for number in range(12)], stopped="time"))
    assert "at 1,024 times the size no rule predicts them" in text
    assert "1 steps" not in text and "So few steps" in text
    assert "A larger batch may be faster still." in text


@pytest.mark.parametrize(
    "alone, words",
    [(0.5, "it is the limit now"), (0.1, "it may become the limit"), (0.01, "which is enough"), (None, "")],
)
def test_the_rate_of_the_input_is_compared(alone, words):
    text = told(sizes([50, 100, 200, 390, 400, 405]), alone)
    assert words in text and ("input" in text) == (alone is not None)


@pytest.mark.parametrize(
    "stopped, words",
    [
        ("out of memory", "256 rows do not fit into memory."),
        ("half of memory", "256 rows may need over half"),
        ("time", "256 rows take too long"),
        ("epoch", "An epoch has fewer than 256 rows."),
        (None, "The process ended or hung at 256 rows"),
    ],
)
def test_the_reason_to_stop_is_told(stopped, words):
    assert words in told(sizes([50, 100, 200, 400], stopped=stopped))


def test_the_load_of_the_machine_is_told():
    assert "Other programs used 50%" in told(sizes([50, 100, 101, 101], other_load=0.5))
    assert "Other programs" not in told(sizes([50, 100, 101, 101], other_load=0.05))


@pytest.mark.parametrize("width", [60, 80])
def test_the_table_fits_the_terminal(width):
    lines = list(batch_sizes.lines(step(sizes([5e5 * 2**number for number in range(14)], own=2048)), width))
    assert max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines[3:5]] == ["1,024", "2,048"]
    assert lines[4].endswith("yours")


def test_nothing_is_reported_without_the_option():
    assert list(batch_sizes.lines(step(None), 80)) == list(batch_sizes.html(step(None))) == []
    assert batch_sizes.as_json(step(None)) is None


def test_the_page_and_the_json_have_the_same_numbers():
    found = step(sizes([50, 100, 200, 390, 400, 405], on_gpu=True), alone=0.1)
    page, report = "".join(batch_sizes.html(found)), batch_sizes.as_json(found)
    assert '<tr class="knee"><td>128</td>' in page
    assert report["chosen"] == 128 and report["steps_per_epoch"] == 250 and report["memory"] == "gpu"
    assert report["input_examples_per_second"] == pytest.approx(320)
    assert [each["rows"] for each in report["sizes"]] == [16, 32, 64, 128, 256, 512]
    json.dumps(report)


class StandInMemory:
    on_gpu = False

    def __init__(self, most=1 << 40):
        self._most = most

    def begin(self):
        pass

    def peak(self):
        return 1 << 20

    def has_room(self, times, least):
        return least <= self._most


def swept(monkeypatch, seconds_of, rows=32, epoch_rows=None, memory=None, clock=lambda: 0.0):
    """The fact after all sizes; ``seconds_of``: seconds of a step by its rows."""
    monkeypatch.setattr(child, "step_seconds", lambda call, **_: [call()])
    batch = Resizable(rows, rows * 100, lambda rows: lambda: seconds_of(rows))
    sweep = child.Sweep(batch, epoch_rows, memory or StandInMemory(), clock)
    while sweep.stopped is None:
        sweep.measure_next()
    return parse_facts({"batch_sizes": json.loads(json.dumps(sweep.found()))}).batch_sizes


def rows_of(found):
    return [timing.rows for timing in found.timings]


def test_it_stops_two_doublings_after_the_knee(monkeypatch):
    found = swept(monkeypatch, lambda rows: max(0.01, rows / 12_800))
    assert rows_of(found) == [16, 32, 64, 128, 256, 512]
    assert found.stopped == "no gain" and found.chosen.rows == 128


def test_a_flat_throughput_stops_after_two_doublings(monkeypatch):
    assert rows_of(swept(monkeypatch, lambda rows: rows / 100)) == [16, 32, 64]


def test_an_odd_batch_is_measured_itself(monkeypatch):
    assert rows_of(swept(monkeypatch, lambda rows: rows / 100, rows=33)) == [16, 33, 66]
    assert rows_of(swept(monkeypatch, lambda rows: rows / 100, rows=1)) == [1, 2, 4]


def test_it_stops_at_the_rows_of_an_epoch(monkeypatch):
    found = swept(monkeypatch, lambda rows: 0.01, epoch_rows=200)
    assert rows_of(found)[-1] == 128 and found.stopped == "epoch"


def test_it_stops_before_half_of_the_memory(monkeypatch):
    found = swept(monkeypatch, lambda rows: 0.01, memory=StandInMemory(most=100_000))
    assert rows_of(found)[-1] == 128 and found.stopped == "half of memory"


def test_it_stops_after_a_minute(monkeypatch):
    moments = iter(range(0, 1000, 5))
    found = swept(monkeypatch, lambda rows: 0.01, clock=lambda: next(moments))
    assert found.stopped == "time" and len(found.timings) == 5


def test_long_steps_stop_it_after_the_own_size(monkeypatch):
    found = swept(monkeypatch, lambda rows: rows / 10)
    assert rows_of(found) == [16, 32] and found.stopped == "time"


@pytest.mark.parametrize(
    "error, stopped",
    [
        (MemoryError("Unable to allocate 3 TiB"), "out of memory"),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 17179869184 bytes."), "out of memory"),
        (type("ResourceExhaustedError", (Exception,), {})("failed to allocate memory"), "out of memory"),
        (type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory."), "out of memory"),
        (ValueError("Incompatible shapes: [64,3] vs. [32,3]\nmore"), "failed"),
    ],
)
def test_an_error_ends_it_and_keeps_the_earlier_sizes(monkeypatch, error, stopped):
    def step(rows):
        if rows > 32:
            raise error
        return 0.01

    found = swept(monkeypatch, step)
    assert rows_of(found) == [16, 32] and found.stopped == stopped
    assert found.detail == (
        None if stopped != "failed" else "64 rows: ValueError: Incompatible shapes: [64,3] vs. [32,3]"
    )


def test_available_memory_is_positive():
    assert child.available_bytes() is None or child.available_bytes() > 0


def test_a_peak_of_jax_that_an_earlier_one_hides_is_unknown(monkeypatch):
    peak = {"peak_bytes_in_use": 500}
    device = types.SimpleNamespace(device_kind="GPU", platform="gpu", memory_stats=lambda: peak)
    jax = types.SimpleNamespace(local_devices=lambda: [device], devices=lambda: [device])
    monkeypatch.setitem(sys.modules, "jax", jax)
    memory = child.Memory(None, types.SimpleNamespace(framework="jax"))
    assert memory.on_gpu and memory.peak() is None
    peak["peak_bytes_in_use"] = 700
    memory.begin()
    assert memory.peak() == 700 and memory.peak() is None


FIT = """\
import numpy as np
import keras
class Model(keras.Model):
    def __init__(self, *layers):
        super().__init__()
        self.net = keras.Sequential(layers)
    def call(self, x):
        return self.net(x)
{step}
x, y = np.ones(({rows}, *{shape}), "float32"), np.ones(({rows}, 1), "float32")
model = Model({layers})
model.compile("sgd", "mse")
model.fit(x, y, batch_size=8, epochs=3, verbose=0)
"""
MLP = "keras.layers.Dense(16), keras.layers.Dense(1)"
NO_MEMORY = """\
    def train_step(self, state, data):
        if data[0].shape[0] > 8:
            raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 17179869184 bytes.")
        return super().train_step(state, data)
"""
LOOP = """\
import tensorflow as tf
weights = tf.Variable(tf.ones((8, 1)))
optimizer = tf.keras.optimizers.SGD()
@tf.function{signature}
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ weights - y) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss
data = tf.data.Dataset.from_tensor_slices((tf.ones((40000, 8)), tf.ones((40000, 1)))).batch(8, drop_remainder=True)
for x, y in data.repeat():
    train_step(x, y)
"""
JAX_LOOP = """\
import functools
import jax
import numpy as np
def loss_of(weights, x, y):
    return ((x @ weights - y) ** 2).mean()
@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, key, x, y):
    weights, count = state
    loss, gradient = jax.value_and_grad(loss_of)(weights, x, y)
    return (weights - 0.01 * gradient, count + 1), loss
state, key = (jax.numpy.ones((16, 1)), jax.numpy.zeros(16)), jax.random.PRNGKey(0)
x, y = np.ones((4096, 16), "float32"), np.ones((4096, 1), "float32")
for _ in range(100000):
    for start in range(0, 4096, 8):
        state, loss = train_step(state, key, x[start : start + 8], y[start : start + 8])
"""
FIXED = "(input_signature=[tf.TensorSpec((8, 8)), tf.TensorSpec((8, 1))])"


def answer(tmp_path, text, backend="tensorflow"):
    script = tmp_path / "train.py"
    script.write_text(f"import os\nos.environ['KERAS_BACKEND'] = {backend!r}\n{text}")
    command = [sys.executable, "-m", "kerascheck", "why", script, "--python", sys.executable, "--batch-sizes"]
    result = subprocess.run(
        [*command, "--output-format", "json"], capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["batch_sizes"]


def is_measured(found):
    """Whether half the batch, the batch and its double were timed; the chosen size depends on the machine."""
    rows = [each["rows"] for each in found["sizes"]]
    return found["own"] == 8 and rows[:3] == [4, 8, 16] and found["chosen"] in rows


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_the_batches_of_fit_are_measured(tmp_path, backend):
    pytest.importorskip(backend)
    found = answer(tmp_path, FIT.format(step="", rows=20000, shape=(8,), layers=MLP), backend)
    assert is_measured(found)
    assert found["text"][0].startswith(("Take", "Keep"))
    assert all(each["peak_bytes"] > 1 << 20 for each in found["sizes"])


@pytest.mark.slow
@pytest.mark.alone
def test_the_end_of_memory_ends_the_measurement(tmp_path):
    pytest.importorskip("jax")
    found = answer(tmp_path, FIT.format(step=NO_MEMORY, rows=20000, shape=(8,), layers=MLP), "jax")
    assert found["stopped"] == "out of memory"
    assert [each["rows"] for each in found["sizes"]] == [4, 8]
    assert "16 rows do not fit into memory. A larger batch may be faster still." in " ".join(found["text"])


@pytest.mark.slow
@pytest.mark.alone
def test_a_compiled_loop_is_measured_and_a_fixed_batch_is_named(tmp_path):
    found = answer(tmp_path, LOOP.format(signature=""))
    assert is_measured(found)
    found = answer(tmp_path, LOOP.format(signature=FIXED))
    assert found["sizes"] == [] and "No batch size was measured: 4 rows: " in found["text"][0]


@pytest.mark.slow
@pytest.mark.alone
def test_a_jitted_loop_that_donates_its_state_is_measured(tmp_path):
    pytest.importorskip("jax")
    found = answer(tmp_path, JAX_LOOP)
    assert is_measured(found)
