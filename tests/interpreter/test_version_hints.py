"""Version hints in the code of a module."""

import pytest
from snippets import load

from kerascheck.interpreter.version_hints import HintsOfModule

KERAS = "import keras\n"


def hints(folder, files):
    return HintsOfModule(load(folder, files))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model.fit(x, y, nb_epoch=3)", True),
        ("model.fit_generator(g(x), samples_per_epoch=3)", True),
        ("model.fit(x,\n    nb_epoch = 3)", True),
        ("Convolution2D(8, 3, 3, border_mode='same')", True),
        ("from keras.utils.visualize_util import plot", True),
        ("Dense(64, 10)", True),
        ("Dense(64, inner_init='orthogonal')", True),
        ("import os\nos.environ['KERAS_BACKEND'] = 'theano'", True),
        ("import plaidml.keras", True),
        ("def f():\n    os.environ['KERAS_BACKEND'] = 'theano'", False),
        ("# model.fit(x, nb_epoch=3)", False),
        ("print('model.fit(x, nb_epoch=3)')", False),
        ("nb_epoch = 3\nmodel.fit(x, epochs=nb_epoch)", False),
        ("Dense(64, 'relu')", False),
        ("Dense(units=64)", False),
        ("model.fit(x, y, epochs=3)", False),
    ],
)
def test_arguments_removed_in_keras_2_hint_at_an_older_keras(tmp_path, text, expected):
    assert hints(tmp_path, f"{KERAS}{text}\n").is_of_multi_backend_keras is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import tf_keras", True),
        ("from tf_keras import layers", True),
        ("os.environ['TF_USE_LEGACY_KERAS'] = '1'", True),
        ("os.environ['TF_USE_LEGACY_KERAS'] = 'True'", True),
        ("os.environ['TF_USE_LEGACY_KERAS'] = '0'", False),
        ("from tensorflow.python.keras.models import Model", True),
        ("from tensorflow.python.keras import layers", True),
        ("import tensorflow.python.keras as k", True),
        ("from tensorflow.python import keras", True),
        ("from tensorflow.python.keras import backend", False),
        ("import tensorflow as tf\ntf.compat.v1.disable_eager_execution()", True),
        ("print('disable_eager_execution()')", False),
        ("# import tf_keras", False),
        ("from tensorflow import keras", False),
    ],
)
def test_the_package_of_keras_2_hints_at_keras_2(tmp_path, text, expected):
    assert hints(tmp_path, f"{text}\n").is_of_keras_2 is expected


@pytest.mark.parametrize(
    ("text", "backend"),
    [
        ("os.environ['KERAS_BACKEND'] = 'jax'", "jax"),
        ('os.environ["KERAS_BACKEND"]="torch"', "torch"),
        ("os.environ.setdefault('KERAS_BACKEND', 'tensorflow')", "tensorflow"),
        ("os.environ.update({'KERAS_BACKEND': 'jax'})", "jax"),
        ("os.environ['KERAS_BACKEND'] = 'theano'", None),
        ("os.environ['KERAS_BACKEND'] = backend", None),
        ("# os.environ['KERAS_BACKEND'] = 'jax'", None),
        ("", None),
    ],
)
def test_code_selects_the_backend(tmp_path, text, backend):
    assert hints(tmp_path, f"{KERAS}{text}\n").backend == backend


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train.py": "import tensorflow as tf\nx = tf.to_float(y)\n"}, True),
        ({"train.py": "from tensorflow import to_float\n"}, True),
        ({"train.py": "import tensorflow as tf\nx = tf.to_float(y) if tf.__version__ < '2' else y\n"}, False),
        ({"train.py": "import tensorflow as tf\nx = tf.to_float(y)\nt = tf.GradientTape()\n"}, False),
        ({"train.py": "from tensorflow.contrib import slim\n"}, True),
        ({"train.py": "import net\n", "net.py": "import tensorflow.contrib.slim as slim\n"}, True),
        ({"train.py": "import net\n", "net.py": "def f():\n    import tensorflow.contrib.slim\n"}, False),
        (
            {"train.py": "import net, tensorflow as tf\ntf.function(f)\n", "net.py": "import tensorflow.contrib\n"},
            False,
        ),
        ({"train.py": "import tensorflow as tf\nx = tf.compat.v1.to_float(y)\n"}, False),
        ({"train.py": "import tensorflow as tf\nx = tf.zeros(3)\n"}, False),
    ],
)
def test_names_of_tensorflow_1_alone_hint_at_it(tmp_path, files, expected):
    assert hints(tmp_path, files).is_of_tensorflow_1 is expected
