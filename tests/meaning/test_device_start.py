"""Calls that start the TensorFlow runtime."""

import pytest
from snippets import IMPORTS, load

from kerascheck.meaning.program.device_start import initialising_call


@pytest.mark.parametrize(
    ("text", "initialises"),
    [
        ("tf.constant(1)", True),
        ("tf.Variable(1)", True),
        ("tf.random.normal([2])", True),
        ("tf.config.list_logical_devices()", True),
        ("tf.config.experimental.list_logical_devices('GPU')", True),
        # It has separate devices, so later settings still apply (tested on TensorFlow 2.21).
        ("tf.test.is_gpu_available()", False),
        ("tf.distribute.MirroredStrategy()", True),
        ("tf.data.Dataset.range(3)", True),
        ("keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])", True),
        ("keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])", True),
        ("keras.layers.Dense(1)(keras.Input((3,)))", True),
        ("keras.models.load_model('x')", True),
        ("keras.applications.ResNet50()", True),
        ("def f():\n    tf.constant(1)\nf()", True),
        ("keras.Sequential([keras.layers.Dense(1)])", False),
        ("keras.Input((3,))", False),
        ("keras.layers.Dense(1)", False),
        ("keras.losses.MeanSquaredError()", False),
        ("tf.config.list_physical_devices('GPU')", False),
        ("tf.random.set_seed(1)", False),
        ("tf.random.normal = print", False),
        ("keras.utils.set_random_seed(1)", False),
        ("keras.mixed_precision.set_global_policy('mixed_float16')", False),
        ("tf.TensorSpec([None])", False),
        ("tf.io.FixedLenFeature([], tf.string)", False),
        ("@tf.function\ndef f():\n    return tf.constant(1)", False),
        ("def f():\n    tf.constant(1)", False),
        ("if args.test:\n    tf.constant(1)", False),
        ("tf.get_logger().setLevel('ERROR')", False),
        ("keras.backend.clear_session()", False),
    ],
)
def test_initialising_calls(tmp_path, text, initialises):
    module = load(tmp_path, f"{IMPORTS}{text}\ntf.config.experimental.set_memory_growth(gpu, True)\n")
    (growth,) = module.program.calls("tensorflow.config.experimental.set_memory_growth")
    assert (initialising_call(module, growth) is not None) is initialises
