"""Compiled functions in loops: their creation, and the arguments of each iteration."""

import pytest
from snippets import IMPORTS, load, written

from kerascheck.interpreter.values import holds_tensor
from kerascheck.meaning.graph.compiled_loops import (
    changing_constants,
    changing_shapes,
    compiled_in_iterations,
    shapes_for_xla,
)
from kerascheck.meaning.graph.training_loops import calls_beside_training

STEP = IMPORTS + "import random\nimport numpy as np\n@tf.function\ndef step(x, i=0): return x\n"
PADDED = STEP + "ds = tf.data.Dataset.from_generator(g).padded_batch(4)\n"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("for x in data:\n    f = tf.function(g)\n    f(x)", 1),
        ("for x in data:\n    tf.function(lambda a: a)(x)", 1),
        ("for x in data:\n    @tf.function(jit_compile=True)\n    def f(): return x\n    f()", 1),
        ("def call(x):\n    f = tf.function(lambda a: a)\n    return f(x)\nwhile True: call(1)", 1),
        ("def make():\n    return tf.function(lambda a: a)\nfor x in data: make()(x)", 1),
        ("class A:\n    def go(self, x):\n        @tf.function\n        def f(a): return a\n        return f(x)\na = A()\nfor x in data: a.go(x)", 1),
        ("model = keras.Sequential()\nfor x in data:\n    f = tf.function(model)\n    f(x)", 1),
        ("import functools\nfor x in data:\n    @functools.partial(tf.function, jit_compile=True)\n    def f(a): return a\n    f(x)", 1),
        ("f = tf.function(lambda a: a)\nfor x in data: f(x)", 0),
        ("for x in data:\n    f = tf.function(lambda a: a)\n    for y in x: f(y)", 0),
        ("for x in data:\n    if x is first: f = tf.function(lambda a: a)\n    f(x)", 0),
        ("for x in range(10):\n    f = tf.function(lambda a: a)\n    f(x)", 0),
        ("for x in data:\n    f = tf.function(lambda a: a)\n    save(f)", 0),
        ("import jax\nfor x in data:\n    f = jax.jit(lambda a: a)\n    f(x)", 0),
    ],
)  # fmt: skip
def test_functions_compiled_in_each_iteration(tmp_path, text, made):
    text = IMPORTS + ("def g(a): return a\n" + text)
    assert len(list(compiled_in_iterations(load(tmp_path, text)))) == made


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("for i in range(n): step(x, i)", ["i"]),
        ("for i, x in enumerate(data): step(x, i + 1)", ["i + 1"]),
        ("for i, x in enumerate(data): step(x, i=0.5 ** i)", ["0.5 ** i"]),
        ("for i in range(n): step(x, min(1.0, i / 100))", ["min(1.0, i / 100)"]),
        ("def call(x, k): step(x, k)\nfor i in range(n): call(x, i)", ["k"]),
        ("[step(x, i) for i in range(n)]", ["i"]),
        ("n = 0\nwhile True:\n    step(x, n)\n    n += 1", ["n"]),
        ("for x in data: step(x, random.random())", ["random.random()"]),
        ("for x in data: step(x, np.random.randint(0, 9))", ["np.random.randint(0, 9)"]),
        ("class A:\n    @tf.function\n    def f(self, x, i): return x\na = A()\nfor i in range(n): a.f(x, i)", ["i"]),
        ("class A:\n    def __init__(self): self.f = tf.function(self.g)\n    def g(self, x, i): return x\na = A()\nfor i in range(n): a.f(x, i)", ["i"]),
        ("for x in data: step(x, np.random.rand(3))", []),
        ("for x in data: step(x, np.random.randint(0, 9, 5))", []),
        ("for i in range(n): step(x, i % 4)", []),
        ("for i in range(9): step(x, i)", []),
        ("for i in range(n): step(x, tf.constant(i))", []),
        ("for i in range(n): step(x, np.float32(i))", []),
        ("for i in range(n): step(x, i > 3)", []),
        ("for i in values: step(x, i)", []),
        ("for i in range(n): step([x, 2 * i])", ["[x, 2 * i]"]),
        ("for i in range(n): step({'x': x, 'i': i})", ["{'x': x, 'i': i}"]),
        ("for line in open(name): step(x, float(line))", ["float(line)"]),
        ("tf.config.run_functions_eagerly(True)\nfor i in range(n): step(x, i)", []),
    ],
)  # fmt: skip
def test_changing_numbers(tmp_path, text, numbers):
    module = load(tmp_path, STEP + text)
    assert [written(module, found.arg.value) for found in changing_constants(module)] == numbers


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("for i in range(n): step(f'{i}.png')", ["f'{i}.png'"]),
        ("for i in range(n): step('%d.png' % i)", ["'%d.png' % i"]),
        ("for i in range(n): step('{}.png'.format(i))", ["'{}.png'.format(i)"]),
        ("for i in range(n): step(str(i) + '.png')", ["str(i) + '.png'"]),
        ("for i in range(n): step((x, str(i)))", ["x, str(i)"]),
        ("for name in os.listdir(d): step(os.path.join(d, name))", ["os.path.join(d, name)"]),
        ("for name in tqdm(sorted(glob.glob(d))): step(name)", ["name"]),
        ("for line in open(d): step(line.strip())", ["line.strip()"]),
        ("with open(d) as f:\n    for line in f: step(line.split())", ["line.split()"]),
        ("lines = open(d).read().splitlines()\nfor i in range(0, n, 8): step(lines[i:i + 8])", ["lines[i:i + 8]"]),
        ("lines = [line.lower() for line in open(d)]\nfor i in range(n): step(lines[i])", ["lines[i]"]),
        ("lines = [line.lower() for line in open(d)]\nfor line in lines: step(line)", ["line"]),
        ("lines = []\nfor line in open(d): lines.append(line.lower())\nfor line, y in zip(lines, z): step(line)", ["line"]),
        ("for word in 'a b c d e f g h i j k l'.split(): step(word)", ["word"]),
        ("for word in ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']: step(word)", ["word"]),
        ("@tf.function\ndef cut(t): return tf.strings.split(t)\nfor line in open(d): cut(line)", ["line"]),
        ("texts = table['text'].tolist()\nfor i in range(0, n, 8): step(texts[i:i + 8])", ["texts[i:i + 8]"]),
        ("for i, text in enumerate(table.text.to_list()): step(text)", ["text"]),
        ("for x in np.arange(99).tolist(): step(x)", ["x"]),
        # Few, constant, or unknown.
        ("for text in table['text'].tolist()[:5]: step(text)", []),
        ("for x in data: step(table['text'].tolist())", []),
        ("for word in ['a', 'b', 'c']: step(word)", []),
        ("for i in range(n): step(f'{i % 4}.png')", []),
        ("for x in data: step(f'{x.dtype}')", []),
        ("for word in words: step(word)", []),
        ("lines = [line.lower() for line in open(d)]\nfor x in data: step(lines)", []),
        ("for line in open(d, 'rb'): step(line)", []),
        # Tensors.
        ("for i in range(n): step(tf.constant(str(i)))", []),
        ("for i in range(n): step(np.array([str(i)]))", []),
        # The function reads it in Python, which a tensor forbids.
        ("@tf.function\ndef f(t): return t == 'x'\nfor line in open(d): f(line)", []),
        ("@tf.function\ndef f(t): return t.lower()\nfor line in open(d): f(line)", []),
        ("@tf.function\ndef f(t): return x[t]\nfor line in open(d): f(line)", []),
        ("@tf.function\ndef f(t): return open(t)\nfor line in open(d): f(line)", []),
        ("@tf.function\ndef f(t): tf.summary.scalar(t, x)\nfor line in open(d): f(line)", []),
        ("@tf.function\ndef f(t): return tf.identity(x, name=t)\nfor line in open(d): f(line)", []),
        ("def g(s, t): return f'{t}'\n@tf.function\ndef f(t): return g(1, t)\nfor line in open(d): f(line)", []),
    ],
)  # fmt: skip
def test_changing_texts(tmp_path, code, texts):
    module = load(tmp_path, STEP + "import glob, os\nfrom tqdm import tqdm\n" + code)
    assert [written(module, found.arg.value) for found in changing_constants(module)] == texts


def test_a_compiled_function_of_another_module(tmp_path):
    files = {"train.py": "from steps import step\nfor i in range(n): step(x, i)", "steps.py": STEP}
    assert len(list(changing_constants(load(tmp_path, files)))) == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for x in ds: step(x)", 1),
        ("for i, x in enumerate(ds.prefetch(1)): step(x)", 1),
        ("def epoch(d):\n    for x in d: step(x)\nfor e in range(9): epoch(ds)", 1),
        ("for x in tf.data.Dataset.from_generator(g).bucket_by_sequence_length(f, [9], [8, 8]): step(x)", 1),
        ("for i in range(n): step(data[:, :i])", 1),
        ("x = tf.zeros([1])\nwhile True:\n    y = step(x)\n    x = tf.concat([x, y], 0)", 1),
        ("for x in ds.take(3): step(x)", 0),
        ("for x in ds.map(f): step(x)", 0),
        ("for x in ds: print(step)", 0),
        ("for i in range(n): step(data[i:i + 4])", 0),
        ("x = tf.zeros([1])\nwhile True:\n    y = step(x)\n    x = tf.concat([x[1:], y], 0)", 0),
        ("x = tf.zeros([1])\nwhile True:\n    y = step(x)\n    x = tf.concat([x, y], 0)\n    x = cut(x)", 0),
    ],
)  # fmt: skip
def test_changing_shapes(tmp_path, text, found):
    assert len(list(changing_shapes(load(tmp_path, PADDED + text)))) == found


TRAINED = IMPORTS + (
    "model = keras.Sequential([keras.layers.Dense(1)])\nopt = keras.optimizers.Adam()\nm = keras.metrics.Mean()\n"
    "def update(x):\n    with tf.GradientTape() as t: loss = model(x)\n    opt.apply_gradients(zip(t.gradient(loss, v), v))\n    return loss\n"
    "@tf.function\ndef step(x): return update(x)\n"
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("for x in data:\n    loss = step(x)\n    m(loss)", ["keras.Metric.__call__"]),
        (
            "def run():\n    for x in data:\n        step(x)\n        m.reset_state()\nfor e in range(9): run()",
            ["keras.Metric.reset_state"],
        ),
        ("run = tf.function(update)\nfor x in data:\n    run(x)\n    m.result()", ["keras.Metric.result"]),
        ("for x in data: step(x)\nfor x in data: m(x)", []),
        ("for x in data: update(x), m(x)", []),
        ("for x in data:\n    step(x)\n    if x: m(x)", []),
        ("for x in range(100): step(x), m(x)", []),
        ("tf.config.run_functions_eagerly(True)\nfor x in data: step(x), m(x)", []),
    ],
)
def test_calls_beside_a_compiled_step(tmp_path, text, names):
    module = load(tmp_path, TRAINED + text)
    assert [
        call.name for call, _, _ in calls_beside_training(module) if (call.name or "").startswith("keras.Metric")
    ] == names


@pytest.mark.parametrize(
    ("body", "read", "is_tensor"),
    [
        ("return loss(x)", "step(x)", True),
        ("return loss(x), {'score': score(x)}", "step(x)[1]['score']", True),
        ("return 3", "step(x)", True),
        ("return loss(x) if ready else None", "step(x)", True),
        ("x + 1", "step(x)", False),
        ("return None", "step(x)", False),
    ],
)
def test_compiled_functions_return_tensors(tmp_path, body, read, is_tensor):
    module = load(tmp_path, IMPORTS + f"@tf.function\ndef step(x):\n    {body}\nfound = {read}\nprint(found)\n")
    (call,) = [call for call in module.run.calls if call.name == "builtins.print"]
    assert holds_tensor(call.first) is is_tensor


def test_the_result_of_one_of_two_compiled_functions(tmp_path):
    text = (
        "def make(strategy):\n    @tf.function\n    def one(x): return update(x)\n    if strategy is None: return one\n"
        "    @tf.function\n    def many(x): return strategy.reduce(strategy.run(one, (x,)))\n    return many\n"
        "step = make(load())\nfor x in data: print(step(x))\n"
    )
    module = load(tmp_path, TRAINED + text)
    (call,) = [call for call, _, _ in calls_beside_training(module) if call.name == "builtins.print"]
    assert holds_tensor(call.first)


@pytest.mark.parametrize(
    ("options", "retraced", "recompiled"),
    [
        ("", 1, 0),
        ("reduce_retracing=True", 0, 0),
        ("jit_compile=True", 0, 1),
        ("jit_compile=True, reduce_retracing=True", 0, 1),
        ("experimental_compile=True", 0, 1),
        ("jit_compile=unknown", 1, 0),
    ],
)
def test_xla_compiles_changing_shapes(tmp_path, options, retraced, recompiled):
    text = PADDED + f"@tf.function({options})\ndef f(x): return x\nfor x in ds: f(x)"
    module = load(tmp_path, text)
    assert len(list(changing_shapes(module))) == retraced
    assert len(list(shapes_for_xla(module))) == recompiled
