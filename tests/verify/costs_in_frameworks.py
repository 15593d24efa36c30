"""Operations and bytes in real graphs and programs; :mod:`test_costs` runs this file in a process of its own."""

import inspect
import json
from types import SimpleNamespace

import pytest

from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify.child import cpu_peaks, hlo
from kerascheck.runtime.verify.child.hlo_costs import Cost, costs_of
from kerascheck.runtime.verify.child.layer_costs import Costs
from kerascheck.runtime.verify.peaks import Peaks

ROWS = 32


def total(costs, kind):
    amounts = [getattr(each, kind) for each in costs]
    return None if None in amounts else sum(amounts)


def test_costs_agree_with_those_of_xla():
    jax = pytest.importorskip("jax")
    jnp, zeros = jax.numpy, jax.numpy.zeros

    def convolution(strides, groups):
        return lambda x, w: jax.lax.conv_general_dilated(
            x, w, (strides, strides), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups
        )

    def attention(q, k, v):
        return jnp.einsum("bhts,bshd->bthd", jnp.einsum("bthd,bshd->bhts", q, k), v)

    x, kernel = zeros((8, 32, 32, 16)), zeros((3, 3, 16, 32))
    heads = zeros((4, 64, 2, 16))
    for function, *arguments in (
        (lambda x, w, b: jax.nn.relu(x @ w + b), zeros((32, 64)), zeros((64, 128)), zeros(128)),
        (convolution(2, 1), x, kernel),
        (convolution(1, 4), x, zeros((3, 3, 4, 32))),
        (convolution(1, 16), x, zeros((3, 3, 1, 16))),
        (jax.grad(lambda x, w: convolution(2, 1)(x, w).sum(), argnums=(0, 1)), x, kernel),
        (attention, heads, heads, heads),
    ):
        compiled = jax.jit(function).lower(*arguments).compile()
        expected, found = compiled.cost_analysis(), costs_of(hlo.of_text(compiled.as_text()))
        assert total(found, "flops") == pytest.approx(expected["flops"], rel=0.001)
        assert total(found, "bytes") == pytest.approx(expected["bytes accessed"], rel=0.001)


def test_a_scan_is_counted_by_its_length():
    jax = pytest.importorskip("jax")
    zeros = jax.numpy.zeros

    def scan(x, w):
        return jax.lax.scan(lambda h, a: (jax.numpy.tanh(h @ w + a), 0), zeros((32, 64)), x)[0]

    compiled = jax.jit(scan).lower(zeros((20, 32, 64)), zeros((64, 64))).compile()
    products = sum(each.products for each in costs_of(hlo.of_text(compiled.as_text())))
    assert products == 20 * 2 * 32 * 64 * 64


@pytest.fixture
def trained():
    """Costs of a step of a model by layer: (forward, backward) products."""
    tf = pytest.importorskip("tensorflow")
    keras = pytest.importorskip("keras")
    if keras.backend.backend() != "tensorflow":
        pytest.skip("Keras runs on another backend")
    from kerascheck.runtime.verify.child.graph_costs import costs_of

    def costs(layers, shape, runs=lambda loop: None, dtype="float32"):
        model = keras.Sequential(
            [keras.Input(shape, dtype=dtype), *layers, keras.layers.Flatten(), keras.layers.Dense(1)]
        )
        model.compile("sgd", "mse")
        dataset = (
            tf.data.Dataset.from_tensors((tf.zeros((100, *shape), dtype), tf.zeros((100, 1)))).unbatch().batch(ROWS)
        )
        model.fit(dataset, verbose=0)
        nonlocals = inspect.getclosurevars(inspect.unwrap(model.train_function)).nonlocals.values()
        (step,) = (each for each in nonlocals if hasattr(each, "get_concrete_function"))
        batch = [(tf.as_dtype(dtype), (ROWS, *shape)), (tf.float32, (ROWS, 1))]
        return costs_of(step.get_concrete_function(iter(dataset)), batch, runs)

    return costs


def products(costs, name):
    """Operations of products of a layer, forward and backward, by the name of its class."""
    mine = [each for each in costs if f"/{name}" in each.name]
    assert all(each.flops is not None for each in mine)
    backward = sum(each.products for each in mine if "gradient_tape/" in each.name)
    return sum(each.products for each in mine) - backward, backward


def test_dense(trained):
    """The input of the first layer needs no gradient."""
    import keras

    found = trained([keras.layers.Dense(128)], (64,))
    assert products(found, "dense") == (2 * ROWS * (64 * 128 + 128), 2 * ROWS * (64 * 128 + 2 * 128))
    assert total(found, "bytes") > 4 * 64 * 128


def test_convolutions(trained):
    import keras

    convolution = keras.layers.Conv2D(32, 3, strides=2, padding="same")
    found = trained([convolution, keras.layers.DepthwiseConv2D(3, padding="same")], (16, 16, 16))
    outputs = ROWS * 8 * 8 * 32
    assert products(found, "conv2d") == (2 * outputs * 9 * 16, 2 * outputs * 9 * 16)
    assert products(found, "depthwise_conv2d") == (2 * outputs * 9, 2 * 2 * outputs * 9)


def test_grouped_convolution(trained):
    """Keras compiles it: its operations are in a function of their own."""
    import keras

    found = trained([keras.layers.Conv2D(32, 3, groups=4, padding="same")], (8, 8, 16))
    assert products(found, "conv2d")[0] == 2 * (ROWS * 8 * 8 * 32) * (9 * 4)


def test_attention(trained):
    import keras

    class Attention(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = keras.layers.MultiHeadAttention(2, 4)

        def call(self, x):
            return self.inner(x, x)

    found = trained([Attention()], (16, 8))
    projections, scores = 4 * 2 * ROWS * 16 * 8 * 8, 2 * 2 * ROWS * 2 * 16 * 16 * 4
    # Of the inputs of the four projections, only that of the last one needs a gradient.
    assert products(found, "attention") == (projections + scores, projections * 5 / 4 + 2 * scores)


def test_lstm(trained):
    import keras

    forward = 2 * ROWS * (8 + 12) * 4 * 12
    found = trained([keras.layers.LSTM(12)], (20, 8), runs=lambda loop: 20)
    assert products(found, "lstm") == (20 * forward, 20 * (forward + 2 * ROWS * 12 * 4 * 12))
    unknown = Costs(Cost(each.name.replace("lstm", "kerascheck0x"), each.flops, each.bytes) for each in trained([keras.layers.LSTM(12)], (20, 8)))  # fmt: skip
    assert unknown.of([0])[:2] == [None, None]


def test_embedding_reads_the_rows_of_the_batch(trained):
    import keras

    found = trained([keras.layers.Embedding(1000, 16)], (20,), dtype="int32")
    (gather,) = (each for each in found if "/embedding" in each.name and each.name.endswith("GatherV2"))
    assert gather.bytes == ROWS * 20 * (4 + 2 * 16 * 4)


def test_a_loop_in_a_loop_runs_as_often_as_it_was_seen():
    """Three times in each of two runs of the outer loop."""
    tf = pytest.importorskip("tensorflow")
    from kerascheck.runtime.verify.child.graph_costs import costs_of

    @tf.function(autograph=False)
    def nested(x):
        def outer(at, y):
            _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y @ y), (0, y), name="inner")
            return at + 1, y

        return tf.while_loop(lambda at, y: at < 2, outer, (0, x), name="outer")[1]

    concrete = nested.get_concrete_function(tf.TensorSpec((4, 4)))
    found = costs_of(concrete, [], lambda loop: 6 if loop.endswith("inner") else 2)
    assert sum(each.products for each in found) == 6 * 2 * 4 * 4 * 4


@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_the_framework_measures_its_peaks(backend, monkeypatch):
    framework = pytest.importorskip(backend)
    monkeypatch.setattr(cpu_peaks, "_SIZE", 64)
    monkeypatch.setattr(cpu_peaks, "_array_bytes", lambda: 1 << 16)
    facts = {"backend": backend, "versions": {backend: framework.__version__}}
    state = SimpleNamespace(recorder=SimpleNamespace(facts=facts), run={"plan": {"known_peaks": []}})
    found = cpu_peaks.cpu_peaks(state, SimpleNamespace(kind="fit"))
    peaks = restored(Peaks, json.loads(json.dumps(found["peaks"])), "peaks")
    assert peaks.measured and peaks.flops["float32"] > 0 and peaks.bytes > 0
    assert found["peaks_of"] == f"{backend} {framework.__version__}"
