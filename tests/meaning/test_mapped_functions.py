"""Functions passed to tf.data: their state, and their behaviour on batches."""

import pytest
from snippets import MODEL, load, operation

BASE = MODEL + "base = tf.data.Dataset.range(9)\n"


def facts(folder, before, body, parameters="x"):
    """Facts about ``def f(parameters)`` with this body, mapped over a dataset."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return operation(load(folder, f"{BASE}{before}\ndef f({parameters}):\n{lines}\nmodel.fit(base.map(f))\n")).facts


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("return x + tf.random.uniform([])", ""),
        ("return x + tf.random.normal([], seed=1)", ""),
        ("return tf.random.shuffle(x)", ""),
        ("return x + tf.compat.v1.random_uniform([])", ""),
        ("return tf.image.random_flip_left_right(x)", ""),
        ("return tf.image.random_crop(x, [3, 3])", ""),
        ("return crop(x, [3, 3])", "from tensorflow.image import random_crop as crop"),
        ("return tf.nn.dropout(x, .1)", ""),
        ("return x + keras.random.normal([])", ""),
        ("return x + keras.random.normal([], seed=seeds)", "seeds = keras.random.SeedGenerator(1)"),
        ("return x + rng.uniform([])", "rng = tf.random.Generator.from_seed(1)"),
        ("return x + rng.normal([])", "rng = tf.random.get_global_generator()"),
        (
            "return x + tf.random.stateless_uniform([], rng.make_seeds(1)[:, 0])",
            "rng = tf.random.Generator.from_non_deterministic_state()",
        ),
        ("tf.print(x)\nreturn x", ""),
        ("return tf.py_function(g, [x], tf.float32)", "def g(x): return x"),
        ("return tf.py_function(func=g, inp=[x], Tout=tf.float32)", "def g(x): return x"),
        ("return tf.numpy_function(g, [x], tf.float32)", "def g(x): return x"),
        ("return tf.compat.v1.py_func(g, [x], tf.float32)", "def g(x): return x"),
        ("return x + v", "v = tf.Variable(1.)"),
        ("return x + v.read_value()", "v = tf.Variable(1.)"),
        ("v.assign_add(1.)\nreturn x", "v = tf.Variable(1.)"),
        ("return table.lookup(x)", "table = tf.lookup.StaticHashTable(load(), 0)"),
        ("return table[x]", "table = tf.lookup.StaticHashTable(load(), 0)"),
        ("return layer(x)", "layer = keras.layers.StringLookup(vocabulary=['a'])"),
        ("return layer(x)", "layer = keras.layers.TextVectorization()"),
        ("return layer(x, training=True)", "layer = keras.layers.RandomFlip()"),
        ("return layer(x)", "layer = keras.layers.experimental.preprocessing.RandomRotation(.1)"),
        ("return layer(x)", "layer = keras.layers.Dense(3)"),
        ("return layer(x)", "layer = keras.Sequential([keras.layers.Rescaling(2), keras.layers.RandomFlip()])"),
        ("return layer(x)", "layer = keras.Sequential()\nlayer.add(keras.layers.RandomFlip())"),
        ("return layer(x)", "layers = [keras.layers.RandomFlip()]\nlayer = keras.Sequential(layers)"),
        (
            "for layer in layers:\n    x = layer(x)\nreturn x",
            "layers = [keras.layers.Rescaling(2), keras.layers.RandomZoom(.1)]",
        ),
        ("return make()(x)", "def make():\n    return keras.Sequential([keras.layers.RandomFlip()])"),
        ("return net(x)", "net = keras.applications.ResNet50()"),
        ("return net(x)", "net = keras.models.load_model('x')"),
        (
            "return Augment()(x)",
            "class Augment(keras.layers.Layer):\n    def call(self, x):\n        return tf.image.random_flip_left_right(x)",
        ),
        (
            "return a(x)",
            "class A(keras.layers.Layer):\n    def build(self, s): self.w = self.add_weight(shape=[1])\n    def call(self, x): return x * self.w\na = A()",
        ),
        (
            "return a(x)",
            "class B(keras.Layer):\n    def __init__(self):\n        super().__init__()\n        self.w = tf.Variable(1.)\nclass A(B):\n    def call(self, x): return x * self.w\na = A()",
        ),
        ("return A(3)(x)", "class A(keras.layers.Dense): pass"),
        (
            "return a(x)",
            "class A(keras.Model):\n    def __init__(self):\n        super().__init__()\n        self.d = keras.layers.Dense(3)\n    def call(self, x): return self.d(x)\na = A()",
        ),
        (
            "return a(x)",
            "class A:\n    def __init__(self): self.l = keras.layers.RandomFlip()\n    def __call__(self, x): return self.l(x)\na = A()",
        ),
        ("return g(x)", "def g(x): return h(x)\ndef h(x): return x + tf.random.normal([])"),
        ("return g(x)", "@tf.function\ndef g(x): return x + tf.random.normal([])"),
        ("return tf.cond(x > 3, lambda: x, lambda: x + tf.random.normal([]))", ""),
        ("return tf.map_fn(lambda v: v + tf.random.normal([]), x)", ""),
        ("if x > 3:\n    x = tf.image.random_hue(x, .1)\nreturn x", ""),
        ("if AUGMENT:\n    x = tf.image.random_hue(x, .1)\nreturn x", "AUGMENT = False"),
        ("return g(x, True)", "def g(x, training):\n    return tf.image.random_hue(x, .1) if training else x"),
    ],
)
def test_stateful(tmp_path, body, before):
    assert facts(tmp_path, before, body).state is not None


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("return x * 2", ""),
        ("return x + random.random()", "import random"),
        ("return x + np.random.rand()", "import numpy as np"),
        ("return x + tf.random.stateless_uniform([], seed=(1, 2))", ""),
        ("return tf.image.stateless_random_flip_left_right(x, seed=(1, 2))", ""),
        ("return x + keras.random.normal([], seed=3)", ""),
        ("tf.random.set_seed(1)\nreturn x", ""),
        ("return x + c", "c = tf.constant(1.)"),
        ("return x + c", "import numpy as np\nc = np.ones(3)"),
        ("print(x)\nreturn x", ""),
        ("tf.debugging.assert_equal(x, x)\nreturn x", ""),
        ("return tf.io.decode_jpeg(tf.io.read_file(x))", ""),
        ("return tf.numpy_function(g, [x], tf.float32, stateful=False)", "def g(x): return x"),
        ("return tf.numpy_function(g, [x], tf.float32, False)", "def g(x): return x"),
        ("return layer(x)", "layer = keras.layers.Rescaling(1/255)"),
        ("return layer(x)", "layer = keras.layers.CategoryEncoding(3)"),
        ("return layer(x)", "layer = keras.Sequential([keras.layers.Resizing(3, 3), keras.layers.Rescaling(2)])"),
        (
            "return a(x)",
            "class A(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n        self.k = 2\n    def call(self, x): return x * self.k\na = A()",
        ),
        ("return g(x)", "@tf.function\ndef g(x): return x * 2"),
        ("return x", "v = tf.Variable(1.)"),
        ("return g(x)", "def g(x, training=False):\n    return tf.image.random_hue(x, .1) if training else x"),
        (
            "return g(x, training=False)",
            "def g(x, training):\n    if training:\n        x = tf.image.random_hue(x, .1)\n    return x",
        ),
        ("def unused():\n    return tf.random.normal([])\nreturn x", ""),
    ],
)
def test_stateless(tmp_path, body, before):
    found = facts(tmp_path, before, body)
    assert found.state is None
    assert found.known


OWNER = """
class Owner:
    count = 0
    def __init__(self):
        self.variable, self.number, self.items, self.table, self.unseen = tf.Variable(0), 0, [], {{}}, load()
    def step(self, x):
        {}
        return x
    def bump(self):
        self.variable.assign_add(1)
    @classmethod
    def counted(cls):
        cls.count += 1
    @property
    def next(self):
        self.number += 1
        return self.number
owner = Owner()
"""
WRITES = """
import queue
from elsewhere import shared
v, w, number, items, table = tf.Variable(0), tf.Variable([1, 2]), 0, [], {}
mean, waiting, words = keras.metrics.Mean(), queue.Queue(), tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
def bump(): v.assign_add(1)
def put(where, x): where['a'] = x
def note(where, x): where.append(x)
@tf.function
def compiled(x):
    bump()
    return x
"""


@pytest.mark.parametrize(
    "body",
    [
        "v.assign(1)", "v.assign_add(1)", "v.assign_sub(1)", "v.scatter_update(s)", "w.scatter_nd_add(s, s)", "w[0].assign(1)", "shared.assign_add(1)",
        "tf.compat.v1.assign_add(v, 1)", "tf.compat.v1.scatter_update(v, s, s)", "tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=1)", "keras.backend.update_add(v, 1)",
        "x = x + v.assign_add(1)", "if x > 3:\n    v.assign_add(1)", "tf.cond(x > 3, lambda: v.assign_add(1), lambda: v)",
        "mean.update_state(x)", "mean(x)", "mean.reset_state()", "shared.update_state(x)", "words.insert(x, 1)", "waiting.put(x)",
        "tf.summary.scalar('x', x, step=1)", "tf.io.write_file('a', x)",
        "global number\nnumber += 1", "global number\nnumber = x",
        "items.append(x)", "items += [x]", "items.clear()", "items[0] = x", "shared.append(x)", "shared.add(x)", "del table['a']",
        "table['a'] = x", "table.update(a=x)", "table.setdefault('a', x)", "shared['a'] = x", "shared.number = 1",
        "bump()", "put(table, x)", "put(shared, x)", "note(items, x)", "compiled(x)", "alias = items\nalias.append(x)", "append = items.append\nappend(x)",
        "[items.append(i) for i in (1, 2)]", "x = tf.map_fn(lambda y: (bump(), y)[1], x)", "x = tf.py_function(lambda y: (items.append(y), y)[1], [x], tf.int64)",
    ],
)  # fmt: skip
def test_writes_to_outer_state(tmp_path, body):
    assert facts(tmp_path, WRITES, body + "\nreturn x").written is not None


@pytest.mark.parametrize(
    "mapped",
    ["owner.step", "lambda x: owner.step(x)", "Owner().step", "partial(owner.step)", "tf.function(owner.step)"],
)
@pytest.mark.parametrize(
    "line",
    [
        "self.variable.assign_add(1)", "self.unseen.assign_add(1)", "self.bump()", "self.number += 1", "self.number = x", "self.new = x", "self.items.append(x)",
        "self.table['a'] = x", "self.table.update(a=x)", "Owner.count += 1", "self.counted()", "n = self.next", "them = self.items; them.append(x)", "setattr(self, 'number', x)",
    ],
)  # fmt: skip
def test_writes_to_an_attribute_of_an_outer_object(tmp_path, line, mapped):
    text = f"from functools import partial\n{OWNER.format(line)}\nmodel.fit(base.map({mapped}))\n"
    assert operation(load(tmp_path, BASE + text)).facts.written is not None


def test_writes_by_a_callable_object_and_by_a_closure(tmp_path):
    text = OWNER.format("pass").replace("def step", "def __call__").replace("pass", "self.variable.assign_add(1)")
    assert operation(load(tmp_path, BASE + text + "model.fit(base.map(owner))\n")).facts.written is not None
    text = "def make():\n    n = 0\n    def f(x):\n        nonlocal n\n        n += 1\n        return x\n    return base.map(f)\nmodel.fit(make())\n"
    assert operation(load(tmp_path, BASE + text)).facts.written is not None


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("return x + v", "v = tf.Variable(1.)"),
        ("y = x['a']\ny = y + 1\nx['a'] = y\nreturn x", ""),
        ("parts = []\nparts.append(x)\nparts += [x]\nreturn tf.stack(parts)", ""),
        ("out = {}\nout['a'] = x\nout.update(b=x)\nreturn out", ""),
        ("out = dict(a=x)\ndel out['a']\nreturn x", ""),
        ("return put({}, x)", "def put(where, x):\n    where['a'] = x\n    return where"),
        ("return [y for y in (x, x)]", ""),
        ("return Box(x).held", "class Box:\n    def __init__(self, x):\n        self.held = x\n        self.again = [x]\n        self.again.append(x)"),
        ("parts = tf.TensorArray(tf.int64, 3)\nparts = parts.write(0, x)\nreturn parts.stack()", ""),
        ("def inner():\n    nonlocal n\n    n = n + x\nn = x\ninner()\nreturn n", ""),
        ("return tf.tensor_scatter_nd_update(x, [[0]], [1]) + tf.scatter_nd([[0]], [1], [3])", ""),
        ("return x + tf.random.normal([])", ""),
        ("return table.lookup(x)", "table = tf.lookup.StaticHashTable(load(), 0)"),
        ("return x + sum(items) + table['a']", "items, table = [1, 2], {'a': 3}"),
    ],
)  # fmt: skip
def test_functions_without_writes_to_outer_state(tmp_path, body, before):
    assert facts(tmp_path, before, body).written is None


@pytest.mark.parametrize(
    "mapped",
    [
        "aug",
        "lambda x: aug(x)",
        "lambda x, y: (aug(x), y)",
        "partial(pick, training=True)",
        "tf.function(aug)",
        "tf.autograph.experimental.do_not_convert(aug)",
        "A().method",
        "A.static",
        "A()",
        "make()",
        "keras.layers.RandomFlip()",
        "FUNCTIONS['aug']",
        "aug if flag else plain",
        "tf.image.random_hue",
    ],
)
def test_forms_of_function_arguments(tmp_path, mapped):
    text = f"""
from functools import partial
def aug(x): return x + tf.random.normal([])
def plain(x): return x
def pick(x, training): return aug(x) if training else x
def make():
    def inner(x): return aug(x)
    return inner
class A:
    def method(self, x): return aug(x)
    @staticmethod
    def static(x): return aug(x)
    def __call__(self, x): return aug(x)
FUNCTIONS = {{'aug': aug}}
model.fit(base.map({mapped}))
"""
    assert operation(load(tmp_path, BASE + text)).facts.state is not None


@pytest.mark.parametrize(
    "mapped",
    [
        "load()",
        "lambda x: load()(x)",
        "module.function",
        "partial(load(), k=1)",
        "lambda x: helper(x)",
        "lambda x: self.f(x)",
        "*args",
    ],
)
def test_unfollowed_functions_are_unknown(tmp_path, mapped):
    text = (
        f"from functools import partial\nimport module\nfrom somewhere import helper\nmodel.fit(base.map({mapped}))\n"
    )
    found = operation(load(tmp_path, BASE + text)).facts
    assert (found.known, found.state, found.elementwise) == (False, None, False)


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("x", "return tf.cast(x, tf.float32) / 255."),
        ("x, y", "return tf.cast(x, tf.float32) / 255., y"),
        ("x, y", "return x / 255., tf.one_hot(y, 10)"),
        ("x", "return tf.one_hot(x, depth=10, axis=-1)"),
        ("x", "return {'a': x['a'] / 255., 'b': x['b']}"),
        ("x", "return x * MEAN - 1"),
        ("x", "return -x ** 2 % 3"),
        ("x", "x += 1\nreturn x"),
        ("x", "return 1 / x"),
        ("x", "return tf.clip_by_value(x, 0., 1.)"),
        ("x", "return tf.image.convert_image_dtype(x, tf.float32)"),
        ("x", "return tf.maximum(x, 0.)"),
        ("x", "return tf.image.flip_left_right(x)"),
        ("x", "return layer(x)"),
        ("x", "return helper(x)"),
        ("x", "return keras.ops.cast(x, 'float32') / 255"),
        ("x, y", "(a, b), c = (x, y), x\nreturn a / 255, c"),
        ("x", "return tf.strings.lower(x)"),
        ("x", "return tf.squeeze(x, axis=-1) / 255."),
        ("x", "return tf.squeeze(x, [-1])"),
    ],
)
def test_elementwise(tmp_path, parameters, body):
    before = "MEAN = 3.0\nlayer = keras.layers.Rescaling(2)\ndef helper(x): return x * 2"
    assert facts(tmp_path, before, body, parameters).elementwise


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        # Shapes and axes.
        ("x", "return tf.expand_dims(x, -1)"),
        ("x", "return x[..., tf.newaxis] / 255"),
        ("x", "return x[0] / 255"),
        ("x", "return x / tf.reduce_max(x)"),
        ("x", "return x - tf.reduce_mean(x)"),
        ("x", "return tf.reshape(x, [784]) / 255"),
        ("x", "return tf.transpose(x) * 2"),
        ("x", "return tf.squeeze(x) * 2"),
        ("x", "return tf.squeeze(x, 0) * 2"),
        ("x", "return x @ x"),
        ("x", "return tf.stack([x, x]) * 2"),
        ("x", "x = x / 255\nx.set_shape([28, 28])\nreturn x"),
        ("x", "return x * 2 if x.shape[0] else x"),
        ("x", "assert x.shape == (3,)\nreturn x * 2"),
        ("x", "return tf.shape(x) * 2"),
        ("x", "return len(x) * x"),
        ("x", "return tf.nn.softmax(x) * 2"),
        ("x", "return tf.image.resize(x, [3, 3]) / 255"),
        ("x", "return tf.image.per_image_standardization(x)"),
        ("x", "return tf.one_hot(x, 10, axis=0)"),
        ("x", "return tf.one_hot(x, 10, 1., 0., 0)"),
        ("x", "return keras.ops.one_hot(x, 10, axis=0)"),
        # Two tensors, or arrays, need not align.
        ("x, y", "return x + y"),
        ("x, y", "return tf.maximum(x, y)"),
        ("x, y", "return tf.clip_by_value(x, 0., y)"),
        ("x, y", "return tf.one_hot(x, y)"),
        ("x", "return tf.clip_by_value(x, tf.reduce_min(x), 3)"),
        ("x", "return x - MEANS"),
        ("x", "return x / SCALE"),
        ("x", "return x * [1., 2., 3.]"),
        ("x", "return x * (1 if SWITCH else ARRAY)"),
        # One decision or draw for a whole batch.
        ("x", "if x > 3:\n    return x * 2\nreturn x"),
        ("x", "return tf.cond(x > 1, lambda: x * 2, lambda: x)"),
        ("x", "return tf.image.random_flip_left_right(x)"),
        ("x", "return x + tf.random.uniform([])"),
        # Results that differ for a batch.
        ("x", "return [x * 2, x]"),
        ("x", "return tf.cast(x, tf.float32) * 2, 1"),
        ("x", "return tf.cast(x, tf.float32) * 2, tf.ones([3])"),
        ("x", "return [v * 2 for v in (x, x)]"),
        ("x", "out = []\nfor v in x:\n    out.append(v * 2)\nreturn out"),
        ("x, y", "return x / 255, {'a': y[..., 0]}"),
        # Python.
        ("x", "return tf.py_function(helper, [x], tf.float32)"),
        ("x", "return np.array(x) / 255"),
        ("x", "return tf.strings.split(x)"),
        ("x", "return unknown(x) / 255"),
    ],
)
def test_not_proven_elementwise(tmp_path, parameters, body):
    before = "import numpy as np\nMEANS = np.array([1, 2, 3])\nSCALE = args.scale\nARRAY = np.ones(3)\ndef helper(x): return x * 2"
    assert not facts(tmp_path, before, body, parameters).elementwise


def test_randomness_is_state_that_changes_from_call_to_call(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert (
        facts(tmp_path / "a", "", "tf.print(x)\nreturn x + tf.random.normal([])").randomness.call.name
        == "tensorflow.random.normal"
    )
    assert facts(tmp_path / "b", "v = tf.Variable(1.)", "return x + v").randomness is None


def test_the_body_of_a_py_function_is_plain_python(tmp_path):
    found = facts(
        tmp_path,
        "import numpy as np\ndef g(v):\n    return np.flip(v.numpy())",
        "return tf.py_function(g, [x], tf.float32)",
    )
    (flip,) = [call for call in found.calls if call.name == "numpy.flip"]
    assert flip.path.traced_by() is None
    assert found.python_function.path.traced_by() == "map"


@pytest.mark.parametrize(
    ("body", "deterministic"),
    [
        ("return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(x)), (8, 8)) / 255.", True),
        ("tf.print(x)\nreturn x", True),
        ("return tf.image.stateless_random_flip_left_right(x, (1, 2))", True),
        ("return keras.layers.StringLookup()(x)", True),
        ("return tf.image.random_flip_left_right(x)", False),
        ("import numpy as np\nreturn x + np.random.rand()", False),
        ("return keras.layers.RandomFlip()(x)", False),
        ("return keras.layers.Dense(2)(x)", False),
        ("return load(x)", False),
        ("return tf.py_function(load, [x], tf.float32)", False),
    ],
)
def test_deterministic(tmp_path, body, deterministic):
    assert facts(tmp_path, "", body).deterministic is deterministic


@pytest.mark.parametrize(
    ("body", "pixels"),
    [
        ("return tf.image.resize(x, (8, 4))", 32),
        ("return tf.image.resize(x, size=[8, 4])", 32),
        ("return tf.image.resize_with_pad(x, 8, 4)", 32),
        ("return tf.image.random_crop(tf.image.resize(x, (8, 4)), (2, 2, 3))", 4),
        ("return tf.reshape(x, [28, 28, 1])", 784),
        ("return tf.reshape(x, [-1])", None),
        ("return tf.image.resize(x, load())", None),
        ("return x", None),
    ],
)
def test_size_of_the_resulting_image(tmp_path, body, pixels):
    assert facts(tmp_path, "", body).pixels == pixels
