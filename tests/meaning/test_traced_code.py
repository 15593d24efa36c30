"""Compiled code, its compilers, and the Python in it that runs once."""

import pytest
from snippets import load

from kerascheck.interpreter.values import holds_tensor
from kerascheck.meaning.graph.first_trace import only_in_first_trace
from kerascheck.meaning.graph.recursive_calls import recursive_calls
from kerascheck.meaning.graph.side_effects import Effect, side_effects
from kerascheck.meaning.graph.stale_globals import stale_globals
from kerascheck.meaning.graph.traced_code import compiled_by, traced_calls, trains_in
from kerascheck.meaning.graph.unrolled_loops import unrolled_loops

HEAD = "import os\nimport random\nimport time\nimport numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras\nfrom z import mark, cond\n"
METRIC = "class M(keras.metrics.Metric):\n    def update_state(self, y_true, y_pred, sample_weight=None): mark()\n"
SETTING = "class L(keras.layers.Layer):\n    def __init__(self, causal):\n        self.causal = causal\n    def call(self, x):\n        if not self.causal: mark()\n        {}\n"
LAYER = "class L(keras.layers.Layer):\n    def call(self, x):\n"


def marks(module):
    return [how for call, how in traced_calls(module) if call.name == "z.mark"]


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("mark()", []),
        (f"{LAYER}        mark()", ["call"]),
        (f"{LAYER}        mark()\ny = L()(keras.Input((3,)))", ["call"]),
        ("@tf.function\ndef f(): mark()", ["tf.function"]),
        ("def g(): mark()\n@tf.function\ndef f(): g()\nf()", ["tf.function"]),
        ("class M(keras.Model):\n    def train_step(self, data): mark()", ["train_step"]),
        ("def loss(a, b): mark()\nkeras.Sequential([]).compile(loss=loss)", ["loss"]),
        ("keras.layers.Lambda(lambda x: mark())", ["Lambda"]),
        (f"{METRIC}keras.Sequential([]).compile('adam', 'mse', metrics=['mae', M()])", ["metric"]),
        # According to visible code, only for eager evaluation.
        (METRIC, []),
        (f"{METRIC}m = M()\nm.update_state(1, 2)", []),
        # Real values, or Python again.
        ("@tf.function\ndef f(x): tf.py_function(lambda v: mark(), [x], tf.float32)", []),
        ("@tf.function\ndef f():\n    with tf.init_scope(): mark()", []),
        ("@tf.function\ndef f():\n    if tf.executing_eagerly(): mark()", []),
        (f"{LAYER}        if keras.backend.backend() == 'torch': mark()", []),
        (f"{LAYER}        if keras.backend.backend() == 'tensorflow': mark()", ["call"]),
        (f"{LAYER}        if keras.backend.backend() == 'tensorflow': pass\n        else: mark()", []),
        (
            f"{LAYER}        if keras.backend.backend() == 'theano': pass\n        elif keras.backend.backend() == 'tensorflow': mark()",
            ["call"],
        ),
        (
            f"{LAYER}        if keras.backend.backend() == 'jax' or tf.executing_eagerly(): pass\n        else: mark()",
            [],
        ),
        ("keras.Sequential([]).compile(run_eagerly=True)\n" + f"{LAYER}        mark()", []),
        ("os.environ['KERAS_BACKEND'] = 'torch'\n" + f"{LAYER}        mark()", []),
        # Only called by an eager loop.
        (
            f"{LAYER}        mark()\nl, o = L(), keras.optimizers.SGD()\nfor i in range(500):\n"
            "    with tf.GradientTape() as t: y = l(1)\n    o.apply_gradients(zip(t.gradient(y, l.weights), l.weights))",
            [],
        ),
    ],
)
def test_the_compiler_of_a_call(tmp_path, code, how):
    assert marks(load(tmp_path, HEAD + code)) == how


def test_a_layer_called_on_symbols_gets_tensors(tmp_path):
    module = load(tmp_path, HEAD + f"{LAYER}        return mark(tf.abs(x))\ny = L()(keras.Input((3,)))")
    (call,) = (call for call in module.run.calls if call.name == "z.mark")
    assert compiled_by(call.path) == "call"
    assert type(call.first).__name__ == "Tensor"


@pytest.mark.parametrize(
    ("parameter", "body", "tensor"),
    [
        # Sizes and switches, or no evidence.
        ("height", "tf.reshape(x, [-1, height, 4])", False),
        ("height", "tf.cast(height, tf.float32) / 2", False),
        ("side", "self.cut(x, side)", False),
        ("mode", "mode.lower()", False),
        ("sizes", "x[:, sizes[0]]", False),
        # Judged by the name.
        ("query", "0", True),
        ("enc_output", "0", True),
        ("x2", "0", True),
        ("query_size", "0", False),
        # Judged by its use.
        ("side", "tf.reduce_sum(side)", True),
        ("side", "tf.concat([x, side], -1)", True),
        ("side", "tf.matmul(x, side)", True),
        ("side", "x @ side", True),
        ("side", "side[:, 0]", True),
        ("side", "side.shape[0]", True),
        ("side", "self.dense(side)", True),
        ("side", "self.cut(side)", False),
    ],
)
def test_later_parameters_of_a_layer_may_be_no_tensors(tmp_path, parameter, body, tensor):
    code = f"class L(keras.layers.Layer):\n    def cut(self, a, b=None): return a\n    def call(self, x, {parameter}):\n        mark({parameter})\n        return {body}\n"
    (call,) = (call for call in load(tmp_path, HEAD + code).run.calls if call.name == "z.mark")
    assert holds_tensor(call.first) is tensor


@pytest.mark.parametrize(
    ("given", "tensors"),
    [
        ("x, 7", [True, False]),
        ("x, x.shape[1]", [True, False]),
        ("x, tf.abs(x)", [True, True]),
        ("self.rows[0], 7", [True, False]),
    ],
)
def test_arguments_of_a_layer_are_known_from_its_call(tmp_path, given, tensors):
    code = (
        "class L(keras.layers.Layer):\n    def call(self, x, states): mark(x, states)\n"
        f"class M(keras.Model):\n    def __init__(self):\n        self.inner = L()\n    def call(self, x): return self.inner({given})\n"
    )
    (call,) = (call for call in load(tmp_path, HEAD + code).run.calls if call.name == "z.mark")
    assert [holds_tensor(call.first), holds_tensor(call.arguments.get(1, None))] == tensors


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("print(x)", ["print"]),
        ("print('x', x.shape)", []),
        ("print('tracing', x)", []),
        ("print(self.units)", []),
        ("print('called')", []),
        ("print(f'x: {x}')", ["print"]),
        ("print('x: ' + str(x))", ["print"]),
        ("print('x: %s' % x)", ["print"]),
        ("print('x: {}'.format(x), end='')", ["print"]),
        ("print(f'tracing {x}')", []),
        ("print(f'{x.shape} {self.units}')", []),
        # A TypeError.
        ("print(f'{x:.3f}')", []),
        ("print('%.3f' % x)", []),
        ("print('{:.3f}'.format(x))", []),
        # A comment is not part of the text that is printed.
        ("print(x,  # shape while tracing\n        )", ["print"]),
        ("x = x + np.random.normal()", ["np.random.normal"]),
        ("rng = np.random.default_rng(0)", []),
        ("if random.random() < 0.5: x = x + 1", ["random.random"]),
        ("start = time.time()", ["time.time"]),
        ("self.seen.append(x)", ["append"]),
        ("found = []\n        found.append(x)", []),
        ("found = [[], []]\n        [each.append(x) for each in found]", []),
        # Variables created in the first trace, which keep their values.
        ("if not self.seen: self.seen.extend([tf.Variable(0.0) if g is not None else g for g in [x]])", []),
        ("if not self.seen: self.seen.extend([x, tf.Variable(0.0)])", ["extend"]),
        ("self.steps += 1", ["self.steps"]),
        ("self.total += x", []),
        ("self.steps += 1\n        y = tf.identity(x, name=f'step_{self.steps}')", []),
    ],
)
def test_side_effects_that_happen_once(tmp_path, body, what):
    init = "class L(keras.layers.Layer):\n    def __init__(self):\n        self.seen, self.steps, self.total = [], 0, 0\n    def call(self, x):\n"
    module = load(tmp_path, f"{HEAD}{init}        {body}\n        return x\n")
    assert [effect.what for effect in side_effects(module)] == what


STEPS = "@tf.function\ndef step(x):\n    {}\n    return x\n"


@pytest.mark.parametrize(
    ("code", "certain"),
    [
        (STEPS.format("print('a step')") + "for x in data: step(x)", [False]),
        (STEPS.format("print(f'a step')") + "for x in data: step(x)", [False]),
        (STEPS.format("for y in tf.range(9): print('a turn')") + "step(1)", [False]),
        (STEPS.format("for i, y in enumerate(tf.data.Dataset.range(9)): print('a turn')") + "step(1)", [False]),
        (STEPS.format("if tf.zeros(()) > 3: print('large')") + "step(1)", [False]),
        ("class M(keras.Model):\n    def train_step(self, data): print('a step')", [False]),
        (STEPS.format("print('loss', tf.zeros(()))") + "for x in data: step(x)", [True]),
        # Once, by its text or its call.
        (STEPS.format("print('a step')") + "step(1)", []),
        (STEPS.format("print('a step')"), []),
        (STEPS.format("print('Tracing!')") + "for x in data: step(x)", []),
        (STEPS.format("print('building the graph')") + "for x in data: step(x)", []),
        (STEPS.format("for i in range(3): print('a turn')") + "step(1)", []),
        (STEPS.format("if mode: print('a mode')") + "for x in data: step(x)", []),
        (STEPS.format("print('rate', rate)") + "for x in data: step(x)", []),
        (STEPS.format("print()") + "for x in data: step(x)", []),
        ("def step(x): print('a step')\nfor x in data: step(x)", []),
    ],
)  # fmt: skip
def test_prints_of_words(tmp_path, code, certain):
    assert [effect.effect is not Effect.PRINTS_WORDS for effect in side_effects(load(tmp_path, HEAD + code))] == certain


@pytest.mark.parametrize(
    ("loop", "turns"),
    [
        ("for i in range(40): y = x[:, i]", [40]),
        ("for i in range(x.shape[1]): y = x[:, i]", [None]),
        ("for t in range(self.timesteps): y = x[:, t]", [None]),
        ("for t in tf.unstack(x, axis=1): y = t", [None]),
        ("for i, t in enumerate(tf.unstack(x, 40, 1)): y = t", [40]),
        ("steps = tf.unstack(x, axis=1)\n        for t, i in zip(steps, range(9)): y = t", [9]),
        ("for t in tf.split(x, 40, axis=1): y = t", [40]),
        ("for t in keras.ops.unstack(x, axis=-2): y = t", [None]),
        ("for t in tf.unstack(tf.transpose(x, [1, 0, 2])): y = t", [None]),
        ("y = [self.cell(t) for t in tf.unstack(x, axis=1)]", [None]),
        ("for t in tf.unstack(x): y = t", []),
        ("for t in tf.unstack(x, axis=-1): y = t", []),
        ("for t in tf.unstack(tf.transpose(x, [0, 2, 1])): y = t", []),
        ("a, b = tf.unstack(x, axis=1)", []),
        ("for i in range(self.depth): y = x[:, i]", []),
        ("for i in range(40): y = self.layers[i](x)", []),
        ("for i in tf.range(40): y = x[:, i]", []),
        ("for i in range(40): y = x[:, 0]", []),
    ],
)
def test_unrolled_loops(tmp_path, loop, turns):
    assert [
        each.turns for each in unrolled_loops(load(tmp_path, f"{HEAD}{LAYER}        {loop}\n        return y\n"))
    ] == turns


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("y = L()(tf.zeros((1, 10, 4)))", False),
        ("layer = L()\nlayer(tf.zeros((1, 10, 4)))", False),
        # Another class of that name.
        (
            "y = L()(tf.zeros((1, 10, 4)))\nclass L(keras.layers.Layer):\n    def call(self, x): return x\nkeras.Sequential([L()])",
            False,
        ),
        ("", True),
        ("y = L()(keras.Input((10, 4)))", True),
        ("y = L()(tf.zeros((1, 10, 4)))\nz = L()(keras.Input((10, 4)))", True),
        ("layer = L()\ny = layer(tf.zeros((1, 10, 4)))\nkeras.Sequential([layer])", True),
        ("@tf.function\ndef f(x): return L()(x)", True),
    ],
)
def test_eager_calls_are_not_unrolled(tmp_path, use, found):
    text = f"{HEAD}{LAYER}        for i in range(x.shape[1]): y = x[:, i]\n        return y\n{use}\n"
    assert bool(list(unrolled_loops(load(tmp_path, text)))) is found


STEP = "def step(x):\n    with tf.GradientTape() as tape: y = f(x)\n    return tape.gradient(y, x)\n"


@pytest.mark.parametrize(
    ("code", "trains"),
    [
        ("@tf.function\ndef f(x):\n    with tf.GradientTape(): y = x\n    mark()", True),
        ("@tf.function\ndef f(x): mark()\n@tf.function\n" + STEP, True),
        ("@tf.function\ndef f(x): mark()\n" + STEP, True),
        ("@tf.function\ndef f(x): mark()\nwith tf.GradientTape() as tape: y = v * v\nf(1)", False),
        ("@tf.function\ndef f(x): mark()\ndef main():\n    with tf.GradientTape() as tape: y = v * v\n    f(1)", False),
    ],
)
def test_compiled_code_of_a_training_step(tmp_path, code, trains):
    module = load(tmp_path, HEAD + code)
    (path,) = {call.path for call, _ in traced_calls(module) if call.name == "z.mark"}
    assert trains_in(module, path) is trains


@pytest.mark.parametrize(
    ("code", "conditional"),
    [
        ("@tf.function\ndef f(x): mark()\nf(1)", False),
        ("@tf.function\ndef f(x, v=None):\n    if v is None: mark()\nf(1)", True),
        ("@tf.function\ndef f(x, v=None):\n    if v is not None: v = 1\n    else: mark()\nf(1)", True),
        # Passed-on arguments.
        ("def g(v):\n    if v is None: mark()\n@tf.function\ndef f(x, v=None): g(v)\nf(1)", True),
        (
            "def g(v):\n    if v is None: mark()\nclass L(keras.layers.Layer):\n    def call(self, x): g(x)\nclass M(keras.Model):\n    def go(self): L()(None)",
            True,
        ),
        # The function itself decides.
        ("def g(v=None):\n    if v is None: mark()\n@tf.function\ndef f(x): g()\nf(1)", False),
        ("def g(v):\n    if v is None: mark()\n@tf.function\ndef f(x): g(None)\nf(1)", False),
        ("def g(v=2):\n    if v == 2: mark()\n@tf.function\ndef f(x, v=2): g(v)\nf(1)", False),
        # A constructor setting is constant in every trace, unless call sets it, too.
        (SETTING.format("1"), False),
        (SETTING.format("self.causal = True"), True),
    ],
)
def test_conditions_on_the_caller_of_a_compiled_function(tmp_path, code, conditional):
    (call,) = [call for call, _ in traced_calls(load(tmp_path, HEAD + code)) if call.name == "z.mark"]
    assert only_in_first_trace(call) is conditional


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("@tf.function\ndef f(n): return f(n - 1)", ["f"]),
        ("class A:\n    @tf.function\n    def f(self, n): return self.f(n - 1)", ["f"]),
        ("def f(n): return f(n - 1)", []),
        ("@tf.function\ndef f(n):\n    def g(m): return f(m)\n    return g", []),
        ("@tf.function\ndef f(a): return a.f(1)", []),
    ],
)
def test_recursive_functions(tmp_path, code, names):
    assert [each.name for each in recursive_calls(load(tmp_path, HEAD + code))] == names


FUNCTION = "@tf.function\ndef f(x): return x * rate\n"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("rate = 0.1\n" + FUNCTION + "for i in range(9):\n    rate *= 0.9\n    f(1)", ["rate"]),
        ("rate = 0.1\n" + FUNCTION + "def slower():\n    global rate\n    rate = 0.01", ["rate"]),
        ("rate = 0.1\n" + FUNCTION, []),
        # Two sections of a script.
        ("rate = 0.1\n" + FUNCTION + "f(1)\nrate = 0.2", []),
        ("rate = tf.Variable(0.1)\n" + FUNCTION + "for i in range(9): rate *= 0.9", []),
        ("rate = 0.1\n@tf.function\ndef f(rate): return rate\nfor i in range(9): rate *= 0.9", []),
        ("rate = 0.1\n@tf.function\ndef f(x): return g(rate=x)\nfor i in range(9): rate *= 0.9", []),
        ("rate = 0.1\n@tf.function\ndef f(x):\n    global rate\n    rate += 1\n    return x * rate", []),
        ("rate = 0.1\ndef f(x): return x * rate\nfor i in range(9): rate *= 0.9", []),
    ],
)
def test_globals_that_change_after_the_trace(tmp_path, code, names):
    assert [each.name for each in stale_globals(load(tmp_path, HEAD + code))] == names
