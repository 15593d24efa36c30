"""Operations and bytes of graphs and of compiled programs, against numbers counted by hand and by XLA."""

import inspect
import json
from types import SimpleNamespace

import pytest

from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify.child import cpu_peaks, hlo, layer_costs
from kerascheck.runtime.verify.child.hlo_costs import Cost, costs_of, flops_of
from kerascheck.runtime.verify.child.layer_costs import Costs
from kerascheck.runtime.verify.peaks import Peaks

ROWS = 32


def total(costs, kind):
    amounts = [getattr(each, kind) for each in costs]
    return None if None in amounts else sum(amounts)


# Programs of XLA --------------------------------------------------------------------------------------------------

LOOP = """\
HloModule jit_loop

%body (p: (s32[], f32[4,8])) -> (s32[], f32[4,8]) {
  %p = (s32[], f32[4,8]{1,0}) parameter(0)
  %x = f32[4,8]{1,0} get-tuple-element(%p), index=1
  %w = f32[8,8]{1,0} constant({...})
  %dot = f32[4,8]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/kerascheck0x/dot"}
  ROOT %out = (s32[], f32[4,8]{1,0}) tuple(%p, %dot)
}

%cond (q: (s32[], f32[4,8])) -> pred[] {
  %q = (s32[], f32[4,8]{1,0}) parameter(0)
  ROOT %less = pred[] compare(%q, %q), direction=LT
}

ENTRY %main (a: f32[4,8]) -> f32[4,8] {
  %a = f32[4,8]{1,0} parameter(0)
  %t = (s32[], f32[4,8]{1,0}) tuple(%a, %a)
  %while = (s32[], f32[4,8]{1,0}) while(%t), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"10"}}
  ROOT %r = f32[4,8]{1,0} get-tuple-element(%while), index=1
}
"""
FUSED = """\
HloModule jit_gather

%inside (table: f32[1000,16], rows: s32[5,1]) -> f32[5,16] {
  %table = f32[1000,16]{1,0} parameter(0)
  %rows = s32[5,1]{1,0} parameter(1)
  %taken = f32[5,16]{1,0} gather(%table, %rows), metadata={op_name="jit(f)/kerascheck0x/gather"}
  ROOT %twice = f32[5,16]{1,0} add(%taken, %taken), metadata={op_name="jit(f)/kerascheck1x/add"}
}

ENTRY %main (t: f32[1000,16], i: s32[5,1]) -> f32[5,16] {
  %t = f32[1000,16]{1,0} parameter(0)
  %i = s32[5,1]{1,0} parameter(1)
  ROOT %fusion = f32[5,16]{1,0} fusion(%t, %i), kind=kLoop, calls=%inside
}
"""


def test_a_loop_counts_as_often_as_it_runs():
    found = Costs(costs_of(hlo.of_text(LOOP)))
    assert found.of([0]) == [10 * 2 * 4 * 8 * 8, 10 * 4 * (4 * 8 + 8 * 8 + 4 * 8), "float32"]


def test_a_loop_of_unknown_length_is_unknown():
    found = Costs(costs_of(hlo.of_text(LOOP.replace("known_trip_count", "other"))))
    assert found.of([0]) == [None, None, ""] and found.total()[:2] == [None, None]


def test_a_fused_operation_reads_only_the_rows_that_it_takes():
    """Each owner has its own operations; they share the bytes like the time."""
    found = Costs(costs_of(hlo.of_text(FUSED)))
    size = 4 * (5 * 16 + 5 * 1 + 5 * 16)
    assert found.of([0]) == [0, size / 2, ""] and found.of([1]) == [5 * 16, size / 2, ""]


def test_an_owner_without_operations_is_unknown():
    assert Costs(()).of([3]) == [None, None, ""]


def test_calls_of_libraries():
    """cuBLAS and cuDNN compute the products of a GPU; other calls are unknown."""

    def made(text):
        (instructions,) = hlo.of_text(f"ENTRY %main (a: f32[8,4]) -> f32[8,2] {{\n{text}\n}}").values()
        return flops_of(instructions[-1], {each.name: each for each in instructions})

    operands = "  %a = f32[8,4]{1,0} parameter(0)\n  %b = f32[4,2]{1,0} parameter(1)\n"
    config = 'backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}'
    call = '  ROOT %c = (f32[8,2]{1,0}, s8[9]{0}) custom-call(%a, %b), custom_call_target="%s", ' + config
    assert made(operands + call.replace("%s", "__cublas$gemm")) == 2 * 8 * 2 * 4
    assert made(operands + call.replace("%s", "TopK")) is None
    image = "  %a = f32[2,9,9,3]{3,2,1,0} parameter(0)\n  %b = f32[3,3,3,8]{3,2,1,0} parameter(1)\n"
    conv = (
        "  ROOT %c = (f32[2,7,7,8]{3,2,1,0}, u8[0]{0}) custom-call(%a, %b), window={size=3x3}, "
        'dim_labels=b01f_01io->b01f, custom_call_target="__cudnn$convForward"'
    )
    assert made(image + conv) == 2 * (2 * 7 * 7 * 8) * (3 * 3 * 3)
    backward = conv.replace("2,7,7,8", "3,3,3,8").replace("Forward", "BackwardFilter")
    gradient = image.replace("%b = f32[3,3,3,8]", "%b = f32[2,7,7,8]")
    assert made(gradient + backward) == 2 * (2 * 7 * 7 * 8) * (3 * 3 * 3)


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


def test_a_program_counts_as_often_as_it_runs():
    """An instruction that two threads compute has two events."""
    events = [(0, 1, name, name, "jit") for name in ("fusion", "fusion", "fusion", "fusion", "r", "r")]
    program = hlo.of_text(FUSED.replace("ROOT %fusion", "%fusion").replace("kind=kLoop, calls=%inside\n", "kind=kLoop, calls=%inside\n  ROOT %r = f32[5,16]{1,0} negate(%fusion)\n"))  # fmt: skip
    found = Costs(layer_costs._of_programs({"jit": program, "unused": program}, events), 2)
    assert found.of([1])[0] == 5 * 16


# Graphs of TensorFlow ---------------------------------------------------------------------------------------------


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


def test_loops_run_as_often_as_their_operations():
    name = "StatefulPartitionedCall/lstm/while/body/_3/lstm/while/"
    events = [(at, at + 1, f"{name}{kind}:{kind}", None, None) for at, kind in enumerate(["MatMul"] * 40 + ["Add"] * 3)]
    assert layer_costs._runs_of_loops(lambda: (2, [("t", events)]), 1) == {"StatefulPartitionedCall/lstm/while": 20}
    inner = [(0, 1, f"{name}again/while/body/_9/Mul:Mul", None, None)] * 80
    found = layer_costs._runs_of_loops(lambda: (2, [("t", events + inner)]), 1)
    assert found["StatefulPartitionedCall/lstm/while/lstm/while/again/while"] == 40


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


def test_activity_of_a_gpu():
    streams = [("Stream #1", [(0, 10, "a", None, None), (5, 20, "b", None, None)]), ("Stream #2", [(90, 100, "c", None, None)])]  # fmt: skip
    assert layer_costs.kernels(streams, 1) == {"kernels": 3, "busy_seconds": pytest.approx(30e-9)}
    assert layer_costs.kernels([("tf_Compute/1", streams[0][1])], 1) == {}


# Peaks of the processor -------------------------------------------------------------------------------------------


class Recording:
    """A state of the probes, with the peaks of one framework known."""

    def __init__(self, **facts):
        self.recorder = SimpleNamespace(facts={"backend": "jax", "versions": {"jax": "1.0"}, **facts})
        self.run = {"plan": {"known_peaks": ["jax 1.0"]}}


def test_peaks_are_measured_only_where_they_are_unknown():
    fit = SimpleNamespace(kind="fit")
    assert cpu_peaks.cpu_peaks(Recording(), fit) == {"peaks_of": "jax 1.0"}
    assert cpu_peaks.cpu_peaks(Recording(gpus=["a card"]), fit) is None
    assert cpu_peaks.cpu_peaks(Recording(backend="torch"), fit) is None
    assert cpu_peaks.cpu_peaks(Recording(), SimpleNamespace(kind="optimizer loop")) is None


@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_the_framework_measures_its_peaks(backend, monkeypatch):
    framework = pytest.importorskip(backend)
    monkeypatch.setattr(cpu_peaks, "_SIZE", 64)
    monkeypatch.setattr(cpu_peaks, "_array_bytes", lambda: 1 << 16)
    state = Recording(backend=backend, versions={backend: framework.__version__})
    found = cpu_peaks.cpu_peaks(state, SimpleNamespace(kind="fit"))
    peaks = restored(Peaks, json.loads(json.dumps(found["peaks"])), "peaks")
    assert peaks.measured and peaks.flops["float32"] > 0 and peaks.bytes > 0
    assert found["peaks_of"] == f"{backend} {framework.__version__}"


def test_the_array_exceeds_the_caches_and_fits_into_the_memory(monkeypatch):
    monkeypatch.setattr(cpu_peaks, "available_bytes", lambda: None)
    assert cpu_peaks._SMALLEST <= cpu_peaks._array_bytes() <= cpu_peaks._LARGEST
    monkeypatch.setattr(cpu_peaks, "available_bytes", lambda: 80 << 20)
    assert cpu_peaks._array_bytes() == 10 << 20
