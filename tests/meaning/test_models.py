"""Keras models of a program: layers in order, ends, sizes, and uses."""

import pytest
from snippets import IMPORTS, load

from kerascheck.interpreter.values import Instance
from kerascheck.meaning.models.models import UNKNOWN_WIDTH

HEAD = IMPORTS + "from tensorflow.keras import Input, Model, Sequential, layers\n"
NET = (
    HEAD
    + "class Net(Model):\n    def __init__(self):\n        super().__init__()\n        self.first, self.last = layers.Dense(8), layers.Dense(1)\n"
)


def names(layers):
    return layers and [
        (layer.name or layer.value.cls.name).rpartition(".")[2] + "?" * (not layer.certain) for layer in layers
    ]


def model(folder, text, head=HEAD, files=None):
    """The last model of a script."""
    return load(folder, {"train.py": head + text, **(files or {})}).models[-1]


@pytest.mark.parametrize(
    ("text", "expected", "ends"),
    [
        ("Sequential([layers.Flatten(), layers.Dense(3)])", "Flatten Dense", "Dense"),
        ("Sequential(layers=[Input((3,)), layers.Dense(3), layers.Softmax()])", "Dense Softmax", "Softmax"),
        ("m = Sequential()\nm.add(Input((3,)))\nm.add(layers.Dense(3))\nm.add(layers.ReLU())", "Dense ReLU", "ReLU"),
        ("m = Sequential([layers.Dense(3)])\nm.add(layers.ReLU())", "Dense ReLU", "ReLU"),
        ("m = Sequential()\nfor n in (8, 4): m.add(layers.Dense(n))\nm.add(layers.Softmax())", "Dense Softmax", "Softmax"),
        ("m = Sequential()\nif wide: m.add(layers.Conv2D(3, 3))\nm.add(layers.Dense(3))", "Conv2D? Dense", "Dense"),
        ("parts = [layers.Dense(3)]\nparts.append(layers.ReLU())\nSequential(parts)", "Dense ReLU", "ReLU"),
        ("Sequential([layers.Dropout(.1) if wide else layers.ReLU(), layers.Dense(3)])", "Dropout? ReLU? Dense", "Dense"),
        ("Sequential([Sequential([layers.Rescaling(2), layers.RandomFlip()]), layers.Dense(3)])", "Sequential Rescaling RandomFlip Dense", "Dense"),
        ("Sequential([layers.ReLU(), layers.Bidirectional(layers.LSTM(3))])", "ReLU Bidirectional LSTM", "Bidirectional"),
        ("def head(): return [layers.Dense(3)]\nSequential([layers.ReLU(), *head()])", "ReLU Dense", "Dense"),
        ("i = Input((3,))\nModel(i, layers.Dense(3)(i))", "Dense", "Dense"),
        ("i = Input((3,))\nx = layers.Dense(3)(i)\ny = layers.Dense(4)(x)\nModel(inputs=i, outputs=[layers.ReLU()(x), layers.Softmax()(y)])", "Dense Dense ReLU Softmax", "ReLU Softmax"),
        ("i = Input((3,))\nx = layers.concatenate([layers.Dense(3)(i), layers.ReLU()(i)])\nModel(i, {'a': layers.Dense(1)(x)})", "Dense ReLU Dense", "Dense"),
        ("i = Input((3,))\nx = tf.nn.relu(layers.Dense(3)(i) * 2 + i)\nModel(i, layers.Dense(1)(x[:, 0]))", "Dense Dense", "Dense"),
        ("def block(x, n): return layers.ReLU()(layers.Dense(n)(x))\ni = Input((3,))\nModel(i, block(block(i, 3), 4))", "Dense ReLU Dense ReLU", "ReLU"),
        ("i = x = Input((3,))\nfor n in (3, 4): x = layers.Dense(n)(x)\nModel(i, layers.Softmax()(x))", "Dense Softmax", "Softmax"),
        ("i = x = Input((3,))\nif wide: x = layers.Dense(3)(x)\nModel(i, layers.Softmax()(x))", "Dense? Softmax", "Softmax"),
        ("i = Input((9, 9, 3))\nbase = keras.applications.VGG16()\nModel(i, layers.Dense(1)(base(i, training=False)))", "VGG16 Dense", "Dense"),
        ("inner = Sequential([layers.ReLU(), layers.Dense(3)])\ni = Input((3,))\nModel(i, inner(layers.Dense(4)(i)))", "Dense Sequential ReLU Dense", "Dense"),
    ],
)  # fmt: skip
def test_layers_and_ends(tmp_path, text, expected, ends):
    found = model(tmp_path, text)
    assert names(found.layers) == expected.split()
    assert names(found.outputs) == ends.split()
    assert found.complete


@pytest.mark.parametrize(
    ("text", "expected", "ends"),
    [
        ("Sequential(parts)", "", None),
        ("Sequential([layers.Dense(3), part])", "Dense", None),
        ("Sequential([layers.Dense(3), make_part()])", "Dense", None),
        ("m = Sequential([layers.Dense(3), layers.ReLU()])\nm.pop()", "Dense ReLU", None),
        ("parts = [layers.Dense(n) for n in sizes]\nSequential(parts)", "Dense", None),
        ("i = Input((3,))\nModel(i, part(i))", "", None),
        ("i = Input((3,))\nModel(i, layers.Dense(1)(part(i)))", "Dense", "Dense"),
        ("base = keras.applications.VGG16()\nModel(base.input, layers.Dense(1)(base.output))", "Dense", "Dense"),
        ("base = keras.models.load_model('x')\ni = Input((3,))\nModel(i, layers.Dense(1)(base(i)))", "load_model Dense", "Dense"),
        ("class Own(layers.Layer):\n    def __init__(self): self.a = layers.Dense(3)\nSequential([Own(), layers.ReLU()])", "Own Dense ReLU", "ReLU"),
        ("class Own(layers.Layer):\n    def __init__(self): self.a, self.me = layers.Dense(3), self\nSequential([Own()])", "Own Dense", "Own"),
    ],
)  # fmt: skip
def test_models_with_invisible_parts(tmp_path, text, expected, ends):
    found = model(tmp_path, text)
    assert names(found.layers) == expected.split()
    assert names(found.outputs) == (ends and ends.split())
    assert not found.complete


@pytest.mark.parametrize(
    ("heads", "complete"),
    [
        ("heads = [layers.ReLU()(i), layers.Dense(3)(i)]", True),
        ("heads = [layers.Dense(3)(i) for n in sizes]", False),
        ("heads = [layers.ReLU()(i)]\nif wide: heads.append(layers.Dense(3)(i))", False),
        ("heads = {'a': layers.ReLU()(i)}\nheads.update(load())", False),
        ("parts = [layers.Dense(3)(i) for n in sizes]\nheads = layers.Concatenate()(parts)", False),
    ],
)
def test_a_model_with_an_unknown_number_of_heads_is_not_complete(tmp_path, heads, complete):
    assert model(tmp_path, f"i = Input((3,))\n{heads}\nModel(i, heads)").complete is complete


@pytest.mark.parametrize(
    ("body", "expected", "ends"),
    [
        ("    def call(self, x): return self.last(self.first(x))", "Dense Dense", "Dense"),
        ("    def call(self, x):\n        x = tf.nn.relu(self.first(x))\n        return self.last(x)", "Dense Dense", "Dense"),
        ("    def head(self, x): return self.last(x)\n    def call(self, x): return self.head(x)", "Dense", "Dense"),
        ("    def call(self, x): return tf.nn.softmax(self.last(x))", "Dense", None),
        ("        self.all = [layers.ReLU(), layers.Softmax()]\n    def call(self, x):\n        for l in self.all: x = l(x)\n        return x", "ReLU Softmax", None),
        ("        self.eye = Sequential([layers.RandomZoom(.1)])\n    def call(self, x): return self.last(self.eye(x))", "Sequential RandomZoom Dense", "Dense"),
        ("    def call(self, x, training=None):\n        if training: x = self.first(x)\n        return self.last(x)", "Dense Dense", "Dense"),
        ("    def prepare(self, x): return self.first(x)\n    def call(self, x): return self.last(x)", "Dense", "Dense"),
    ],
)  # fmt: skip
def test_classes(tmp_path, body, expected, ends):
    module = load(tmp_path, NET + body + "\nnet = Net()\nnet.compile('adam')\nnet.fit(x, y, epochs=2)\n")
    (found,) = [one for one in module.models if isinstance(one.value, Instance)]
    assert sorted(names(found.layers)) == sorted(expected.split())
    assert names(found.outputs) == (ends and ends.split())
    assert (len(found.compiles), len(found.fits)) == (1, 1)


@pytest.mark.parametrize(
    ("text", "shape", "parameters"),
    [
        ("Sequential([Input((4,)), layers.Dense(3), layers.ReLU(), layers.Dense(2)])", (None, 4), 23),
        ("Sequential([layers.Dense(3, input_shape=(4,)), layers.BatchNormalization()])", (None, 4), 27),
        ("Sequential([Input((5, 5, 1)), layers.Conv2D(2, 3), layers.PReLU()])", (None, 5, 5, 1), 20 + 18),
        ("Sequential([Input((5, 5, 1)), layers.Conv2D(2, 3), layers.PReLU('zeros', None, None, [1, 2])])", (None, 5, 5, 1), None),
        ("Sequential([layers.Dense(3, input_dim=4)])", (None, 4), 15),
        ("Sequential([layers.Dense(3, input_dim=x.shape[1])])", (None, None), None),
        # Counted by Keras 3.15.
        ("Sequential([Input((60, 151, 1)), layers.Conv2D(8, (1, 64), padding='same'), layers.BatchNormalization(), layers.DepthwiseConv2D((60, 1), depth_multiplier=2), layers.AvgPool2D((1, 4)), layers.SeparableConvolution2D(16, (1, 16), padding='same'), layers.Flatten(), layers.Dense(4)])", (None, 60, 151, 1), 4428),
        ("N = 6\nSequential([Input((N, N, 1)), layers.Conv2D(2, 3), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(1)])", (None, 6, 6, 1), 29),
        ("Sequential([Input((6, 1)), layers.Conv1D(2, 3, padding='same'), layers.Flatten(), layers.Dense(1)])", (None, 6, 1), 21),
        ("Sequential([layers.Embedding(10, 4), layers.GlobalAveragePooling1D(), layers.Dense(1)])", None, None),
        ("Sequential([Input((7,)), layers.Embedding(10, 4), layers.GlobalAveragePooling1D(), layers.Dense(1)])", (None, 7), 45),
        ("Sequential([layers.Embedding(10, 4, input_length=7), layers.GlobalAveragePooling1D(), layers.Dense(1)])", (None, 7), 45),
        ("Sequential([layers.Embedding(10, 4, input_length=n), layers.GlobalAveragePooling1D(), layers.Dense(1)])", None, None),
        # A step reads some rows of a frozen table, whatever the table's size.
        ("Sequential([layers.Embedding(n, 4, input_length=7, trainable=False), layers.LSTM(2), layers.Dense(1)])", (None, 7), 59),
        ("Sequential([layers.Embedding(n, 4, input_length=7), layers.LSTM(2), layers.Dense(1)])", (None, 7), None),
        ("Sequential([layers.Embedding(n, 4, input_length=7, trainable=n), layers.LSTM(2), layers.Dense(1)])", (None, 7), None),
        ("e = layers.Embedding(10, 4, input_length=7)\ne.trainable = False\nSequential([e, layers.GlobalAveragePooling1D(), layers.Dense(1)])", (None, 7), 5),
        ("e = layers.Embedding(10, 4, input_length=7, trainable=False)\ne.trainable = True\nSequential([e, layers.GlobalAveragePooling1D(), layers.Dense(1)])", (None, 7), 45),
        ("Sequential([Input((7, 2)), layers.LSTM(3, return_sequences=True), layers.Dense(1)])", (None, 7, 2), 76),
        # Counted by Keras.
        ("Sequential([Input((3, 1)), layers.LSTM(10, return_sequences=True), layers.Bidirectional(layers.LSTM(10)), layers.Dense(20)])", (None, 3, 1), 2580),
        ("Sequential([Input((3, 1)), layers.Bidirectional(layers.LSTM(10), merge_mode='sum'), layers.Dense(20)])", (None, 3, 1), 1180),
        ("i = Input(shape=(4,))\nModel(i, layers.Dense(2)(layers.Dense(3)(i)))", (None, 4), 23),
        ("i = Input((4,))\nx = layers.concatenate([layers.Dense(3)(i), i])\nModel(i, layers.Dense(1)(x))", (None, 4), 23),
        ("i = Input((4,))\nx = layers.Concatenate()([layers.Dense(3)(i), i])\nModel(i, layers.Dense(1)(x))", (None, 4), 23),
        ("i = Input((4,))\nx = layers.Add()([layers.Dense(4)(i), i])\nModel(i, layers.Dense(1)(x))", (None, 4), None),
        ("i = Input((4,))\nd = layers.Dense(4)\nModel(i, d(d(i)))", (None, 4), 20),
        ("Sequential([Input((4,)), layers.Dense(n)])", (None, 4), None),
        ("Sequential([Input((n,)), layers.Dense(2)])", (None, None), None),
        ("m = Sequential([Input((4,))])\nfor _ in range(3): m.add(layers.Dense(4))", (None, 4), None),
        ("m = Sequential([Input((4,))])\nif wide: m.add(layers.Dense(4))", (None, 4), None),
        ("Sequential([Input((4,)), layers.RepeatVector(3), layers.LSTM(2, return_sequences=True), layers.Flatten(), layers.Dense(1)])", (None, 4), 63),
        ("Sequential([Input((4, 4, 1)), layers.Conv2DTranspose(4, 2)])", (None, 4, 4, 1), None),
    ],
)  # fmt: skip
def test_sizes(tmp_path, text, shape, parameters):
    found = model(tmp_path, text)
    assert found.inputs == ([shape] if shape else [])
    assert found.parameters == parameters
    assert parameters is None or found.most_parameters == parameters


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("Sequential([layers.Dense(3, input_dim=x.shape[1]), layers.Dense(1)])", 3 * (UNKNOWN_WIDTH + 1) + 4),
        ("Sequential([layers.Dense(3), layers.ReLU(), layers.Dense(1)])", None),
        ("Sequential([Input((n, n)), layers.Dense(3)])", None),
        ("Sequential([Input((4,)), layers.Dense(3), layers.Dense(classes)])", 15 + 4 * UNKNOWN_WIDTH),
        ("i = Input((n,))\nModel(i, layers.Dense(2)(layers.Dense(3)(i)))", 3 * (UNKNOWN_WIDTH + 1) + 8),
        (
            "Sequential([Input((n,)), layers.BatchNormalization(), layers.Dense(2)])",
            4 * UNKNOWN_WIDTH + 2 * (UNKNOWN_WIDTH + 1),
        ),
        ("m = Sequential()\nfor _ in range(3): m.add(layers.Dense(4))", None),
        ("m = Sequential()\nif wide: m.add(layers.Dense(4))", None),
        ("Sequential([layers.Embedding(n, 4), layers.Flatten(), layers.Dense(1)])", None),
        ("Sequential([layers.Flatten(), layers.Dense(1)])", None),
        ("Sequential([*load(), layers.Dense(1)])", None),
        (
            "m = Sequential([layers.Dense(3), layers.Flatten(), layers.Dense(1)])\nm.fit(load(), load())",
            3 * (UNKNOWN_WIDTH + 1) + 4,
        ),
        ("m = Sequential([layers.Dense(3)])\nm.fit(np.ones((9, 5)), load())", 18),
        (
            "m = Sequential([layers.Dense(3)])\nm.fit(tf.data.Dataset.from_tensor_slices((np.ones((9, 5)), load())).shuffle(9).batch(3))",
            18,
        ),
        (
            "m = Sequential([layers.Dense(3)])\nm.fit(tf.data.Dataset.from_tensor_slices((np.ones((9, 5)), load())).map(load).batch(3))",
            3 * (UNKNOWN_WIDTH + 1),
        ),
        ("m = Sequential([layers.Flatten(), layers.Dense(3)])\nm.fit(np.ones((9, 5, 2)), load())", 33),
        ("m = Sequential([layers.Flatten(), layers.Dense(3)])\nm.fit(load(), load())", None),
        # Counted by loop iterations, at their largest width.
        ("i = x = Input((4,))\nfor _ in range(3): x = layers.Dense(5)(x)\nModel(i, x)", 3 * 5 * (5 + 1)),
        ("i = x = Input((4,))\nfor n in [5, 7]: x = layers.Dense(n)(x)\nModel(i, x)", 2 * 7 * (7 + 1)),
        ("i = x = Input((4,))\nfor n in sizes: x = layers.Dense(5)(x)\nModel(i, x)", None),
        # Convolutions: with the channels of the widest one, or of all together.
        (
            "i = x = Input((9, 9, 3))\nfor _ in range(2): x = layers.Conv2D(8, 3)(x)\nModel(i, layers.Dense(2)(layers.GlobalAveragePooling2D()(x)))",
            2 * 8 * (72 + 1) + 2 * 9,
        ),
        (
            "i = x = Input((9, 9, 3))\nfor _ in range(2): x = layers.Concatenate()([x, layers.Conv2D(8, 1)(x)])\nModel(i, x)",
            2 * 8 * (19 + 1),
        ),
        (
            "i = x = Input((9, 9, 3))\nfor _ in range(2): x = layers.Conv2D(8, 3)(x)\nModel(i, layers.Dense(2)(layers.Flatten()(x)))",
            None,
        ),
        ("i = x = Input((9, 9, None))\nfor _ in range(2): x = layers.Conv2D(8, 3)(x)\nModel(i, x)", None),
    ],
)
def test_upper_bounds_of_sizes(tmp_path, text, most):
    found = model(tmp_path, text, HEAD + "import numpy as np\n")
    assert found.most_parameters == most


SAMPLING = "class Sampling(layers.Layer):\n    def call(self, pair):\n        mean, spread = pair\n        return mean + tf.exp(0.5 * spread) * tf.random.normal(tf.shape(mean))\n"
OWN = (
    SAMPLING
    + "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n        self.one, self.two, self.draw, self.three = layers.Dense(4), layers.Dense(4), Sampling(), layers.Dense(2)\n"
    "    def call(self, x):\n        return self.three(self.draw((self.one(x), self.two(x))))\n"
)


@pytest.mark.parametrize(
    ("text", "most"),
    [
        (OWN + "m = Net()\nm(load())", 8 * (UNKNOWN_WIDTH + 1) + 2 * (UNKNOWN_WIDTH + 1)),
        # The program calls another object of the class, not this one.
        (OWN + "Net()(load())\nm = Net()", 8 * (UNKNOWN_WIDTH + 1) + 2 * (UNKNOWN_WIDTH + 1)),
        (
            SAMPLING
            + "i = Input((6,))\nm = Model(i, layers.Dense(2)(Sampling()((layers.Dense(3)(i), layers.Dense(3)(i)))))",
            42 + 2 * (UNKNOWN_WIDTH + 1),
        ),
        # Own weights, own work, and an invisible layer.
        (OWN.replace("tf.exp(0.5 * spread)", "tf.Variable(1.0)") + "m = Net()\nm(load())", None),
        (OWN.replace("tf.exp(0.5 * spread)", "tf.linalg.inv(spread)") + "m = Net()\nm(load())", None),
        (OWN.replace("layers.Dense(2)\n", "load()\n") + "m = Net()\nm(load())", None),
    ],
)
def test_sizes_of_models_with_custom_code(tmp_path, text, most):
    module = load(tmp_path, text, HEAD)
    assert module.models[-1].most_parameters == most


@pytest.mark.parametrize(
    "text",
    [
        "def build():\n    return Sequential([layers.Dense(1)])\nm = build()\nm.compile('adam')\nm.fit(x, y, epochs=2)",
        "def build():\n    m = Sequential([layers.Dense(1)])\n    m.compile('adam')\n    return m\nbuild().fit(x, y, epochs=2)",
        "def train(m):\n    m.compile('adam')\n    m.fit(x, y, epochs=2)\ntrain(Sequential([layers.ReLU()]))\ntrain(Sequential([layers.Dense(1)]))",
        "class Job:\n    def __init__(self):\n        self.m = Sequential([layers.Dense(1)])\n        self.m.compile('adam')\n    def go(self): self.m.fit(x, y, epochs=2)\nJob().go()",
        "from nets import build\nm = build()\nm.compile('adam')\nm.fit(x, y, epochs=2)",
    ],
)
def test_uses_of_a_model(tmp_path, text):
    found = model(tmp_path, text, files={"nets.py": HEAD + "def build(): return Sequential([layers.Dense(1)])\n"})
    assert names(found.layers) == ["Dense"]
    assert (len(found.compiles), len(found.fits), found.is_trained) == (1, 1, True)
