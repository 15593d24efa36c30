"""Canonical names: all spellings of a symbol map to one, and rebinding shadows it."""

import operator

import pytest
from snippets import load, shown

from kerascheck.interpreter.values import UNKNOWN, Constant, External
from kerascheck.syntax.names import canonical


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("tensorflow.keras.layers.Dense", "keras.layers.Dense"),
        ("tf_keras.layers.Dense", "keras.layers.Dense"),
        ("keras.api.layers.Dense", "keras.layers.Dense"),
        ("keras.src.layers.core.dense.Dense", "keras.layers.Dense"),
        ("keras.layers.recurrent.LSTM", "keras.layers.LSTM"),
        ("tensorflow.python.keras.layers.LSTM", "keras.layers.LSTM"),
        ("tensorflow.compat.v1.keras.layers.LSTM", "keras.layers.LSTM"),
        ("tensorflow.compat.v2.keras.layers.LSTM", "keras.layers.LSTM"),
        ("tensorflow._api.v2.data.Dataset", "tensorflow.data.Dataset"),
        ("tensorflow.compat.v1.data.Dataset", "tensorflow.data.Dataset"),
        ("keras.layers.experimental.preprocessing.RandomFlip", "keras.layers.RandomFlip"),
        ("tensorflow.keras.layers.experimental.preprocessing.Rescaling", "keras.layers.Rescaling"),
        ("tensorflow.keras.optimizers.legacy.Adam", "keras.optimizers.Adam"),
        ("keras.models.Sequential", "keras.Sequential"),
        ("tensorflow.keras.preprocessing.image_dataset_from_directory", "keras.utils.image_dataset_from_directory"),
        ("tensorflow.keras.utils.Sequence", "keras.utils.PyDataset"),
        ("tensorflow.keras.mixed_precision.experimental.set_policy", "keras.mixed_precision.set_global_policy"),
        ("keras.config.set_dtype_policy", "keras.mixed_precision.set_global_policy"),
        ("tensorflow.data.experimental.AUTOTUNE", "tensorflow.data.AUTOTUNE"),
        ("tensorflow.config.experimental.list_physical_devices", "tensorflow.config.list_physical_devices"),
        ("tensorflow.distribute.experimental.TPUStrategy", "tensorflow.distribute.TPUStrategy"),
        ("tensorflow.compat.v1.random.uniform", "tensorflow.random.uniform"),
        ("tensorflow.compat.v1.GradientTape", "tensorflow.GradientTape"),
        ("tensorflow.compat.v1.GradientTape.gradient", "tensorflow.GradientTape.gradient"),
        ("tensorflow.compat.v1.compat.v1.math.sqrt", "tensorflow.math.sqrt"),
        ("tensorflow.compat.v1.compat.v2.reduce_mean", "tensorflow.reduce_mean"),
        ("tensorflow.compat.v1.config.list_physical_devices", "tensorflow.config.list_physical_devices"),
        ("tensorflow.compat.v1.log", "tensorflow.math.log"),
        ("tensorflow.random_uniform", "tensorflow.random.uniform"),
        ("tensorflow.py_func", "tensorflow.py_function"),
        ("tensorflow.image.decode_jpeg", "tensorflow.io.decode_jpeg"),
        ("keras._tf_keras.keras.models.load_model", "keras.models.load_model"),
        ("keras.api._v2.keras.Sequential", "keras.Sequential"),
        ("tensorflow._api.v2.v2.keras.layers.LSTM", "keras.layers.LSTM"),
        ("keras.optimizers.optimizer_v2.adam.Adam", "keras.optimizers.Adam"),
        ("tensorflow.python.data.ops.dataset_ops.DatasetV2", "tensorflow.data.Dataset"),
        # Similar, but different, names.
        ("keras_tuner.layers.Dense", "keras_tuner.layers.Dense"),
        ("mytensorflow.keras.Model", "mytensorflow.keras.Model"),
        ("tensorflow.compat.v1.placeholder", "tensorflow.compat.v1.placeholder"),
        ("tensorflow.compat.v1.reduce_mean", "tensorflow.compat.v1.reduce_mean"),
        ("tensorflow.compat.v1.train.AdamOptimizer.minimize", "tensorflow.compat.v1.train.AdamOptimizer.minimize"),
        ("keras.layers.experimental_thing", "keras.layers.experimental_thing"),
    ],
)
def test_canonical_names(spelling, name):
    assert canonical(spelling) == name
    assert canonical(name) == name


@pytest.mark.slow
@pytest.mark.parametrize("namespace", "layers callbacks losses metrics models optimizers optimizers.schedules".split())
def test_classes_map_from_private_modules_to_public_names(namespace):
    keras = pytest.importorskip("keras")
    exported = vars(operator.attrgetter(namespace)(keras))
    home = f"keras.src.{namespace}"
    classes = {
        name: value
        for name, value in exported.items()
        if isinstance(value, type) and value.__name__ == name and value.__module__.startswith(home)
    }
    assert classes
    for name, value in classes.items():
        assert canonical(f"{value.__module__}.{name}") == canonical(f"keras.{namespace}.{name}")


@pytest.mark.parametrize(
    ("imports", "expression"),
    [
        ("import tensorflow", "tensorflow.keras.layers.Dense"),
        ("import tensorflow as tf", "tf.keras.layers.Dense"),
        ("import tensorflow.keras as k", "k.layers.Dense"),
        ("import tensorflow.keras.layers", "tensorflow.keras.layers.Dense"),
        ("import tensorflow.keras.layers as L", "L.Dense"),
        ("import tensorflow.compat.v2 as tf", "tf.keras.layers.Dense"),
        ("import keras", "keras.layers.Dense"),
        ("import tf_keras as keras", "keras.layers.Dense"),
        ("import os, keras as K", "K.layers.Dense"),
        ("from tensorflow import keras", "keras.layers.Dense"),
        ("from tensorflow.keras import layers as L", "L.Dense"),
        ("from tensorflow.keras.layers import (Conv2D, Dense)", "Dense"),
        ("from keras.layers.core import Dense as D", "D"),
        ("from tensorflow.python.keras.layers import Dense", "Dense"),
        ("from keras.layers import *", "Dense"),
        ("from keras.models import *\nfrom keras.layers import *", "Dense"),
        ("import tensorflow as tf\nkl = tf.keras.layers\nD = kl.Dense", "D"),
        ("import tensorflow as tf\nD, N = tf.keras.layers.Dense, 3", "D"),
        ("import keras\nD = getattr(keras.layers, 'Dense')", "D"),
        ("try:\n    import keras\nexcept ImportError:\n    from tensorflow import keras", "keras.layers.Dense"),
        (
            "try:\n    from keras.layers import Dense\nexcept ImportError:\n    from tensorflow.keras.layers import Dense",
            "Dense",
        ),
        ("if new:\n    import tf_keras as keras\nelse:\n    from tensorflow import keras", "keras.layers.Dense"),
        ("import keras\nclass K:\n    D = keras.layers.Dense", "K.D"),
        ("import keras\nlayers = {'dense': keras.layers.Dense}", "layers['dense']"),
    ],
)
def test_imports_and_aliases_resolve(tmp_path, imports, expression):
    module = load(tmp_path, f"{imports}\nshow({expression})\n")
    assert shown(module) == [External("keras.layers.Dense")]


@pytest.mark.parametrize(
    ("star", "name", "meant"),
    [
        ("keras.models", "Sequential", "keras.Sequential"),
        ("tensorflow.keras.optimizers", "Adam", "keras.optimizers.Adam"),
        ("tensorflow", "data", "tensorflow.data"),
        ("tensorflow.keras", "Input", "keras.Input"),
    ],
)
def test_star_imports_bind_exported_names(tmp_path, star, name, meant):
    module = load(tmp_path, f"from {star} import *\nshow({name})\nshow(Whatever)\nshow(something)\nshow(print)\n")
    found = shown(module)
    assert found[0] == External(meant)
    assert found[2:] == [UNKNOWN, External("builtins.print")]


@pytest.mark.parametrize(
    "shadow",
    [
        "tf = object()",
        "def tf(): return 1",
        "class tf: random = 3",
        "from mine import tf",
        "import other as tf",
        "for tf in libraries: pass",
        "with open('x') as tf: pass",
        "tf, other = load()",
        "[*tf] = load()",
        "(tf := load())",
        "match load():\n    case {'tf': tf}:\n        pass\n    case [*tf]:\n        pass\n    case tf:\n        pass",
        "def replace():\n    global tf\n    tf = load()\nreplace()",
        "del tf",
    ],
)
def test_rebinding_shadows_an_import(tmp_path, shadow):
    module = load(tmp_path, f"import tensorflow as tf\n{shadow}\nshow(tf.random)\n")
    assert External("tensorflow.random") not in shown(module)


@pytest.mark.parametrize(
    "inner",
    [
        "def f(tf):\n    show(tf.random)\nf(load())",
        "def f():\n    tf = load()\n    show(tf.random)\nf()",
        "def f(*tf, **options):\n    show(tf)\nf(load())",
        "[show(tf.random) for tf in load()]",
        "(lambda tf: show(tf.random))(load())",
    ],
)
def test_shadows_end_with_their_scope(tmp_path, inner):
    module = load(tmp_path, f"import tensorflow as tf\n{inner}\nshow(tf.random)\n")
    assert [value == External("tensorflow.random") for value in shown(module)] == [False, True]


def test_methods_do_not_see_class_scope(tmp_path):
    module = load(
        tmp_path, "n = 1\nclass A:\n    n = 2\n    def f(self):\n        show(n)\n        show(self.n)\nA().f()\n"
    )
    assert shown(module) == [Constant(1), Constant(2)]
