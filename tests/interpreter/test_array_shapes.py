"""Shapes of arrays and tables."""

import pytest
from snippets import load, shown

from kerascheck.interpreter.array_shapes import array_size, shape_of
from kerascheck.interpreter.values import constant


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("(x, y), (a, b) = keras.datasets.mnist.load_data()\nshow(x)", (60000, 28, 28)),
        (
            "(x, y), (a, b) = keras.datasets.mnist.load_data()\nshow(x.reshape(60000, 784).astype('float32') / 255)",
            (60000, 784),
        ),
        ("(x, y), (a, b) = keras.datasets.mnist.load_data()\nshow(np.expand_dims(x, -1))", (60000, 28, 28, 1)),
        ("(x, y), _ = keras.datasets.cifar10.load_data()\nshow(y)", (50000, 1)),
        ("(x, y), _ = keras.datasets.mnist.load_data()\nshow(x[5000:, ..., np.newaxis])", (55000, 28, 28, 1)),
        ("(x, y), _ = keras.datasets.mnist.load_data()\nshow(x[0])", (28, 28)),
        ("(x, y), _ = keras.datasets.mnist.load_data()\nshow(x[:n, None])", (None, 1, 28, 28)),
        ("(x, y), _ = keras.datasets.mnist.load_data()\nshow(x[mask])", None),
        ("(x, y), _ = keras.datasets.mnist.load_data()\nshow(x[y == 1])", None),
        (
            "(x, y), _ = keras.datasets.mnist.load_data()\norder = np.random.permutation(len(x))\nshow(x[order])",
            (60000, 28, 28),
        ),
        ("x = keras.utils.pad_sequences(load(), maxlen=80)\nshow(x[np.arange(len(x))][:200])", (200, 80)),
        ("x = keras.utils.pad_sequences(load(), maxlen=80)\nshow(x[100:300])", (200, 80)),
        ("x = keras.utils.pad_sequences(load(), maxlen=80)\nshow(x[100:])", (None, 80)),
        ("x = keras.utils.pad_sequences(load(), maxlen=80)\nshow(x[:-100])", (None, 80)),
        ("x = keras.utils.pad_sequences(load(), maxlen=80)\nshow(x[-300:200])", (None, 80)),
        ("(x, y), _ = keras.datasets.mnist.load_data()\nshow((x - x.mean()) / x.std())", (60000, 28, 28)),
        ("(x, y), _ = keras.datasets.mnist.load_data()\nshow(x - load())", None),
        ("if n: x = np.ones((3, 4))\nelse: x = np.zeros((3, 4))\nshow(x)", (3, 4)),
        ("if n: x = np.ones((3, 4))\nelse: x = np.zeros((4, 4))\nshow(x)", None),
        (
            "h = fetch_california_housing()\na, b, c, d = train_test_split(h.data, h.target)\nshow(StandardScaler().fit_transform(a))",
            (15480, 8),
        ),
        ("scaler = StandardScaler()\nscaler.fit(load())\nshow(scaler.transform(load()))", (None, None)),
        ("show(keras.Input(shape=StandardScaler().fit_transform(pd.read_csv('t.csv')).shape[1:]))", (None, None)),
        ("h = load_iris()\na, b, c, d = train_test_split(h.data, h.target, test_size=0.1)\nshow(b)", (15, 4)),
        ("h = load_iris()\na, b, c, d = train_test_split(h.data, h.target, train_size=100)\nshow(d)", (50,)),
        ("h = load_iris()\na, b, c, d = train_test_split(h.data, h.target, test_size=n)\nshow(a)", (None, 4)),
        ("show(keras.utils.to_categorical(load_iris().target, 3))", (150, 3)),
        ("show(keras.utils.pad_sequences(load(), maxlen=80))", (None, 80)),
        ("show(pd.get_dummies(load_iris().target))", (150, None)),
        ("x, y = load_iris(return_X_y=True)\nshow(y)", (150,)),
        ("x, y = make_moons(n_samples=500)\nshow(x)", (500, 2)),
        ("df = pd.read_csv('t.csv')\nx = df[['a', 'b', 'c']].values\nshow(x)", (None, 3)),
        ("df = pd.read_csv('t.csv')\na, b, c, d = train_test_split(df[['a', 'b']].to_numpy(), y)\nshow(a)", (None, 2)),
        ("df = pd.read_csv('t.csv')\nshow(df['a'].values)", None),
        ("show(np.random.default_rng(0).normal(size=(20, 3)).copy())", (20, 3)),
        ("show(np.random.rand(5, 6))", (5, 6)),
        ("show(np.array([[1, 2, 3], [4, 5, 6]]))", (2, 3)),
        ("show(np.ones((4, 1)) + np.ones(3))", (4, 3)),
        ("show(np.array(range(2001, 2101)))", (100,)),
        ("show(np.array(range(0, n)))", (None,)),
        ("show(np.array([range(100), range(301, 401)]))", (2, 100)),
        ("show(np.arange(3, 10, 2))", (4,)),
        ("show(np.arange(0.0, 1.0, 0.1))", (None,)),
        ("show(np.transpose(np.array([range(100), range(301, 401)])))", (100, 2)),
        ("show(np.array([range(100), range(301, 401)]).T)", (100, 2)),
        ("show(np.ones((2, 3, 4)).T.reshape(n, 4).T)", (4, None)),
        ("show(np.ones((2, 3, 4)).transpose(1, 0, 2))", (3, 2, 4)),
        ("show(np.transpose(np.ones((2, 3, 4)), (2, -2, 0)))", (4, 3, 2)),
        ("show(np.ones((2, 3, 4)).transpose(n))", None),
        ("show(keras.Input((10, 4)))", (None, 10, 4)),
        ("show(load()[0].iat[3].reshape([1, 1]))", (1, 1)),
        ("rows = []\nfor row in load(): rows.append(row.reshape(1, 3))\nshow(np.array(rows))", (None, 1, 3)),
        ("show(load().reshape(n))", None),
        ("show(np.transpose(np.ones((2, 3, 4)), axes=(0, 2, 1)))", None),
        ("show(np.ones((9, 3)).reshape(-1, n))", (None, None)),
        ("show(np.array(paths))", None),
        ("show(np.concatenate([np.ones((4, 3)), load()]))", (None, 3)),
        ("show(np.concatenate([np.ones((4, 3)), load()], axis=1))", None),
        ("show(np.append(np.ones((4, 3)), load()))", None),
        ("show(np.vstack([np.ones((4, 3)), load()]))", (None, 3)),
        ("show(keras.Input((10, 4)) + 1)", None),
        ("from own import load_wine\nshow(load_wine().data)", None),
    ],
)
def test_shapes(tmp_path, text, shape):
    head = "import keras, numpy as np, pandas as pd\nfrom sklearn.datasets import fetch_california_housing, load_iris, make_moons\nfrom sklearn.model_selection import train_test_split\nfrom sklearn.preprocessing import StandardScaler\nfrom somewhere import load, mask, n, paths, y, show\n"
    (value,) = shown(load(tmp_path, text, head))
    assert shape_of(value) == shape


@pytest.mark.parametrize(
    ("text", "value"),
    [("x.shape[1]", 28), ("x.shape[1:][0]", 28), ("len(x)", 60000), ("x.shape[0] // 2", 30000), ("x.size", None)],
)
def test_sizes_are_numbers(tmp_path, text, value):
    (found,) = shown(
        load(
            tmp_path,
            f"(x, y), _ = keras.datasets.mnist.load_data()\nshow({text})",
            "import keras\nfrom somewhere import show\n",
        )
    )
    assert constant(found) == value


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("np.random.rand(9, 5)", 45),
        ("np.zeros((9, 2))", 18),
        ("np.random.normal(0, 1, (3, 2))", 6),
        ("np.random.uniform(size=7)", 7),
        ("np.random.rand(n)", None),
        ("np.linspace(0, 1, 8)", 8),
        ("np.random.normal(0, 1, 4)", 4),
        ("np.random.random((3, 3))", 9),
        ("np.random.multivariate_normal(n, n, size=5)", None),
    ],
)
def test_sizes(tmp_path, text, size):
    (value,) = shown(load(tmp_path, f"show({text})", "import numpy as np\nfrom somewhere import n, show\n"))
    assert array_size(value) == size


@pytest.mark.parametrize(
    ("rows", "length"),
    [
        ("[1, 2, 3]", 3),
        ("([1, 2, 3], [4, 5, 6])", 3),
        ("{'a': [1, 2, 3]}", 3),
        ("[[1, 2], [3, 4], [5, 6]]", 3),
        ("([[1], [2]], [3, 4])", 2),
        ("n", None),
        ("[i for i in n]", None),
    ],
)
def test_a_dataset_has_one_element_per_literal_row(tmp_path, rows, length):
    text = f"for x in tf.data.Dataset.from_tensor_slices({rows}): show(x)"
    (loop,) = load(tmp_path, text, "import tensorflow as tf\nfrom somewhere import n, show\n").run.loops[-1:]
    assert loop.trips == length
