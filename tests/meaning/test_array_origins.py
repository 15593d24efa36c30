"""Origins of arrays."""

import pytest
from snippets import load, shown

from kerascheck.interpreter.values import ExternalInstance
from kerascheck.knowledge.callables import IMAGE_DECODERS
from kerascheck.knowledge.python import IMAGE_READERS
from kerascheck.meaning.data.array_origins import ingredients, made_as_double

HEAD = "import cv2, keras, numpy as np, tensorflow as tf\nfrom PIL import Image\nfrom sklearn.model_selection import train_test_split\nfrom somewhere import paths, y, show\n"


def read_by(module):
    (value,) = shown(module)
    return {inner.name for inner in ingredients(value) if isinstance(inner, ExternalInstance)} & (
        IMAGE_READERS | IMAGE_DECODERS
    )


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        ("x = []\nfor p in paths:\n    x.append(cv2.imread(p))\nshow(np.array(x))", "cv2.imread"),
        (
            "x = []\nfor p in paths:\n    im = cv2.resize(cv2.imread(p), (9, 9))\n    x += [im / 255.0]\nshow(np.array(x))",
            "cv2.imread",
        ),
        ("show(np.asarray([np.array(Image.open(p).convert('L')) for p in paths]))", "PIL.Image.open"),
        (
            "from tensorflow.keras.preprocessing.image import load_img, img_to_array\nshow(np.stack([img_to_array(load_img(p)) for p in paths]) / 255)",
            "keras.utils.load_img",
        ),
        ("def one(p):\n    return cv2.imread(p)\nshow(np.array(list(map(one, paths[:3]))))", None),
        (
            "def all():\n    x = [cv2.imread(p) for p in paths]\n    return np.array(x), y\na, b = all()\nshow(a[:100])",
            "cv2.imread",
        ),
        ("x = np.array([cv2.imread(p) for p in paths])\na, b, c, d = train_test_split(x, y)\nshow(a)", "cv2.imread"),
        ("x = np.array([cv2.imread(p) for p in paths])\na, b, c, d = train_test_split(x, y)\nshow(c)", None),
        (
            "x = np.zeros((9, 9))\nfor i, p in enumerate(paths):\n    x[i] = cv2.imread(p)\nshow(x.astype('float32').reshape(-1, 9))",
            "cv2.imread",
        ),
        ("x = -np.array([cv2.imread(p) for p in paths])\nshow(x)", "cv2.imread"),
        (
            "class Data:\n    def __init__(self):\n        self.x = []\n        for p in paths:\n            self.x.append(cv2.imread(p))\nshow(np.array(Data().x))",
            "cv2.imread",
        ),
        ("show(np.load('x.npy'))", None),
        (
            "x = []\nfor p in paths:\n    im = tf.io.decode_jpeg(tf.io.read_file(p))\n    x.append(tf.image.resize(im, (9, 9)) / 255.0)\nshow(tf.stack(x))",
            "tensorflow.io.decode_jpeg",
        ),
        (
            "def one(p):\n    return tf.cast(tf.image.decode_bmp(tf.io.read_file(p)), tf.float32) - 1\nshow(np.array([one(p).numpy() for p in paths]))",
            "tensorflow.io.decode_bmp",
        ),
        ("show(np.stack([tf.io.decode_png(tf.io.read_file(p)) for p in paths]))", "tensorflow.io.decode_png"),
        ("show(tf.data.Dataset.from_tensor_slices(paths).map(lambda p: tf.io.decode_png(tf.io.read_file(p))))", None),
        ("show(paths)", None),
    ],
)
def test_the_reader_of_an_array(tmp_path, text, reader):
    assert read_by(load(tmp_path, text, HEAD)) == ({reader} if reader else set())


@pytest.mark.parametrize(
    ("text", "maker"),
    [
        ("show(np.random.rand(9, 9))", "numpy.random.rand"),
        ("r = np.random.default_rng(0)\nshow(r.normal(size=(9, 9)) * 2 + 1)", "numpy.random.default_rng.normal"),
        ("show(np.load('x.npy').astype(np.float64)[:10])", "numpy.load.astype"),
        ("show(np.load('x.npy').astype('float64').reshape(-1, 1))", "numpy.load.astype"),
        ("show(np.concatenate([np.zeros(9), np.ones(9)]))", "numpy.zeros"),
        ("a, b = train_test_split(np.linspace(0, 1, 9))\nshow(a)", "numpy.linspace"),
        ("x = []\nfor p in paths:\n    x.append(float(p))\nshow(np.array(x)[:9])", "numpy.array"),
        ("show(np.asarray([1, 2.5]))", "numpy.asarray"),
        ("show(np.array([float(p) for p in paths]) / 2)", "numpy.array"),
        ("x = []\nfor p in paths:\n    x.append(int(p))\nshow(np.array(x))", None),
        ("x = []\nfor p in paths:\n    x.append(p)\n    x.append(2.5)\nshow(np.array(x))", None),
        ("show(np.array([True, 2.5], dtype='float32'))", None),
        ("show(np.random.rand(9, 9).astype('float32'))", None),
        ("show(np.random.rand(9, 9).astype(np.float32) / 255)", None),
        ("show(np.zeros((9, 9), np.float32))", None),
        ("show(np.zeros((9, 9), dtype='float32'))", None),
        ("show(np.array(np.random.rand(9, 9), dtype=np.float32))", None),
        ("show(np.random.rand(9, 9).argmax(axis=1))", None),
        ("show(np.load('x.npy') / 255)", None),
        ("(x, _), _ = keras.datasets.mnist.load_data()\nshow(x / 255)", "numpy.divide"),
        (
            "(x, _), _ = keras.datasets.cifar10.load_data()\nx = (x.reshape(-1, 3072) - 127.5) / 127.5\nshow(x[:9])",
            "numpy.subtract",
        ),
        (
            "(x, _), (z, _) = keras.datasets.fashion_mnist.load_data()\nx, z = x / 255.0, z / 255.0\nshow(np.expand_dims(z, -1))",
            "numpy.divide",
        ),
        ("x = np.random.randint(0, 256, (9, 9))\nshow(x * 0.5)", "numpy.multiply"),
        ("x = np.random.randint(0, 256, (9, 9))\nshow((x + 1) / x)", "numpy.divide"),
        ("show(np.load('x.npy').astype(np.uint8) / 255)", "numpy.divide"),
        ("(x, _), _ = keras.datasets.mnist.load_data()\nshow(x - 1)", None),
        ("(x, _), _ = keras.datasets.mnist.load_data()\nshow(x / np.float32(255))", None),
        ("(x, _), _ = keras.datasets.mnist.load_data()\nshow(x / scale())", None),
        ("(x, _), _ = keras.datasets.mnist.load_data()\nshow(x.astype('float32') / 255.0)", None),
        ("(x, _), _ = keras.datasets.mnist.load_data()\nshow((x / 255.0).astype('float32'))", None),
        ("(x, _), _ = keras.datasets.imdb.load_data()\nshow(x / 2)", None),
        ("x = np.random.randint(0, 256, (9, 9), dtype=kind())\nshow((x // 2) / 255)", None),
        ("show(np.random.randint(0, 9, 9))", None),
        ("show(np.ndarray((9, 9)))", None),
    ],
)
def test_arrays_of_64_bit_floats(tmp_path, text, maker):
    (value,) = shown(load(tmp_path, text, HEAD))
    call = made_as_double(value)
    assert (call and call.name) == maker
