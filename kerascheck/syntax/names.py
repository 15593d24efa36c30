"""Canonical dotted names: every public spelling of a TensorFlow or Keras symbol becomes one.

``tf.keras.X``, ``tf_keras.X`` and ``keras.X`` are all ``keras.X``; names that moved
between releases get the name they have today.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kerascheck.knowledge.compat_v1 import MOVED, SHARED, WHOLE_MODULES

_VERSION_1 = "tensorflow.compat.v1."
# Longest first: the first prefix that fits is replaced.
_PREFIXES = (
    ("tensorflow.python.keras.", "keras."),
    ("tensorflow._api.v2.v2.", "tensorflow."),
    ("tensorflow._api.v2.", "tensorflow."),
    ("tensorflow._api.v1.", "tensorflow."),
    ("tensorflow.compat.v2.", "tensorflow."),
    # tf.compat.v1 holds itself and its successor again, for programs that import it as tf.
    ("tensorflow.compat.v1.compat.v1.", _VERSION_1),
    ("tensorflow.compat.v1.compat.v2.", "tensorflow."),
    ("tensorflow.compat.v1.keras.", "keras."),
    ("tensorflow.compat.v1.data.", "tensorflow.data."),
    ("tensorflow.compat.v1.random.", "tensorflow.random."),
    ("tensorflow.compat.v1.image.", "tensorflow.image."),
    ("tensorflow.compat.v1.io.", "tensorflow.io."),
    ("tensorflow.compat.v1.lookup.", "tensorflow.lookup."),
    ("tensorflow.contrib.keras.", "keras."),
    ("tensorflow.contrib.data.", "tensorflow.data.experimental."),
    ("tensorflow.keras.", "keras."),
    ("tf_keras.", "keras."),
    # What editors import by themselves.
    ("keras._tf_keras.keras.", "keras."),
    ("keras.api._v2.keras.", "keras."),
    ("keras.src.", "keras."),
    ("keras.api.", "keras."),
    ("keras.legacy.", "keras."),
    ("keras.layers.experimental.preprocessing.", "keras.layers."),
    ("keras.layers.experimental.", "keras.layers."),
    ("keras.layers.preprocessing.", "keras.layers."),
    ("keras.optimizer_v2.", "keras.optimizers."),
    ("keras.optimizers.legacy.", "keras.optimizers."),
    ("keras.optimizers.experimental.", "keras.optimizers."),
    ("keras.mixed_precision.experimental.", "keras.mixed_precision."),
    ("tensorflow.train.experimental.", "tensorflow.train."),
    ("tensorflow.distribute.experimental.", "tensorflow.distribute."),
    ("numpy.core.", "numpy."),
    ("kerastuner.", "keras_tuner."),
    ("tensorflow_datasets.core.", "tensorflow_datasets."),
    ("jax.numpy.", "jax.numpy."),
)

# The modules that hold the classes of a public namespace, all of lower case.
_WRITTEN_IN = re.compile(r"^keras\.(layers|callbacks|losses|metrics|models|optimizers(?:\.schedules)?)(?:\.(?!schedules\b)[a-z_0-9]+)+\.(?=[A-Z]\w*$)")

_SHORT_LAYERS = {
    "MaxPool": "MaxPooling", "AvgPool": "AveragePooling", "GlobalMaxPool": "GlobalMaxPooling", "GlobalAvgPool": "GlobalAveragePooling",
    "Convolution": "Conv", "SeparableConvolution": "SeparableConv",
}  # fmt: skip
_ALIASES = {
    "tensorflow.keras": "keras",
    "tf_keras": "keras",
    "tensorflow.python.keras": "keras",
    "tensorflow.compat.v2": "tensorflow",
    "tensorflow.compat.v2.keras": "keras",
    "keras.models.Model": "keras.Model",
    "keras.models.Sequential": "keras.Sequential",
    "keras.engine.training.Model": "keras.Model",
    "keras.engine.sequential.Sequential": "keras.Sequential",
    "keras.training.Model": "keras.Model",
    "keras.engine.functional.Functional": "keras.Model",
    "keras.models.Functional": "keras.Model",
    "keras.saving.saving_api.load_model": "keras.models.load_model",
    "keras.engine.saving.load_model": "keras.models.load_model",
    "keras.trainers.data_adapters.py_dataset_adapter.PyDataset": "keras.utils.PyDataset",
    "keras.utils.image_dataset_utils.image_dataset_from_directory": "keras.utils.image_dataset_from_directory",
    "tensorflow.python.data.Dataset": "tensorflow.data.Dataset",
    "tensorflow.python.data.ops.dataset_ops.Dataset": "tensorflow.data.Dataset",
    "tensorflow.python.data.ops.dataset_ops.DatasetV2": "tensorflow.data.Dataset",
    # Its train_step calls compute_loss, as that of Keras 3 does (tensorflow_recommenders/models/base.py, 0.7.3).
    "tensorflow_recommenders.Model": "keras.Model",
    "tensorflow_recommenders.models.Model": "keras.Model",
    "keras.layers.Layer": "keras.Layer",
    "keras.layers.Input": "keras.Input",
    # Names of the same layers (keras_export in keras/src/layers).
    **{f"keras.layers.{short}{axes}D": f"keras.layers.{full}{axes}D" for axes in "123" for short, full in _SHORT_LAYERS.items()},
    "keras.engine.base_layer.Layer": "keras.Layer",
    "keras.engine.Layer": "keras.Layer",
    "keras.engine.topology.Layer": "keras.Layer",
    "keras.saving.load_model": "keras.models.load_model",
    "keras.preprocessing.image_dataset_from_directory": "keras.utils.image_dataset_from_directory",
    "keras.preprocessing.text_dataset_from_directory": "keras.utils.text_dataset_from_directory",
    "keras.preprocessing.timeseries_dataset_from_array": "keras.utils.timeseries_dataset_from_array",
    "keras.preprocessing.image.image_dataset_from_directory": "keras.utils.image_dataset_from_directory",
    "keras.preprocessing.audio_dataset_from_directory": "keras.utils.audio_dataset_from_directory",
    "keras.preprocessing.image.load_img": "keras.utils.load_img",
    "keras.preprocessing.image.img_to_array": "keras.utils.img_to_array",
    "keras_preprocessing.image.ImageDataGenerator": "keras.preprocessing.image.ImageDataGenerator",
    "keras.utils.data_utils.Sequence": "keras.utils.PyDataset",
    "keras.utils.Sequence": "keras.utils.PyDataset",
    "keras.config.set_dtype_policy": "keras.mixed_precision.set_global_policy",
    "keras.mixed_precision.set_dtype_policy": "keras.mixed_precision.set_global_policy",
    "keras.mixed_precision.set_policy": "keras.mixed_precision.set_global_policy",
    "keras.backend.clear_session": "keras.utils.clear_session",
    "tensorflow.data.experimental.AUTOTUNE": "tensorflow.data.AUTOTUNE",
    "tensorflow.data.experimental.Optional": "tensorflow.experimental.Optional",
    "tensorflow.data.experimental.sample_from_datasets": "tensorflow.data.Dataset.sample_from_datasets",
    "tensorflow.data.experimental.choose_from_datasets": "tensorflow.data.Dataset.choose_from_datasets",
    "tensorflow.data.experimental.load": "tensorflow.data.Dataset.load",
    "tensorflow.data.experimental.from_list": "tensorflow.data.Dataset.from_list",
    "tensorflow.config.experimental.list_physical_devices": "tensorflow.config.list_physical_devices",
    "tensorflow.config.experimental.list_logical_devices": "tensorflow.config.list_logical_devices",
    "tensorflow.config.experimental.set_visible_devices": "tensorflow.config.set_visible_devices",
    "tensorflow.config.experimental.get_visible_devices": "tensorflow.config.get_visible_devices",
    "tensorflow.config.experimental.set_virtual_device_configuration": "tensorflow.config.set_logical_device_configuration",
    "tensorflow.config.experimental.VirtualDeviceConfiguration": "tensorflow.config.LogicalDeviceConfiguration",
    "tensorflow.config.experimental_run_functions_eagerly": "tensorflow.config.run_functions_eagerly",
    "tensorflow.config.set_memory_growth": "tensorflow.config.experimental.set_memory_growth",
    "tensorflow.random.experimental.Generator": "tensorflow.random.Generator",
    "tensorflow.py_func": "tensorflow.py_function",
    "tensorflow.compat.v1.py_func": "tensorflow.py_function",
    "tensorflow.read_file": "tensorflow.io.read_file",
    **{
        f"tensorflow.{old}{name}": f"tensorflow.io.{name}"
        for old in ("", "compat.v1.")
        for name in (
            "FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature", "decode_csv", "decode_raw", "parse_example", "parse_single_example",
            "parse_single_sequence_example",
        )
    },
    "tensorflow.random_uniform": "tensorflow.random.uniform",
    "tensorflow.random_normal": "tensorflow.random.normal",
    "tensorflow.random_crop": "tensorflow.image.random_crop",
    "tensorflow.random_shuffle": "tensorflow.random.shuffle",
    "tensorflow.python.ops.script_ops.py_func": "tensorflow.py_function",
    "tensorflow.math.round": "tensorflow.round",
    "tensorflow.to_float": "tensorflow.cast",
    **{f"tensorflow.image.decode_{kind}": f"tensorflow.io.decode_{kind}" for kind in ("jpeg", "png", "image", "bmp", "gif", "and_crop_jpeg")},
    "tensorflow.contrib.eager.Variable": "tensorflow.Variable",
}


@lru_cache(maxsize=None)
def canonical(dotted: str) -> str:
    """The canonical form of a fully qualified dotted name; names of other libraries are returned unchanged."""
    before = None
    while before != dotted:
        before = dotted
        for prefix, replacement in _PREFIXES:
            if dotted.startswith(prefix) and prefix != replacement:
                dotted = replacement + dotted[len(prefix) :]
                break
        # keras.layers.recurrent.LSTM and keras.layers.core.dense.Dense are keras.layers.LSTM and Dense.
        dotted = _WRITTEN_IN.sub(r"keras.\1.", dotted)
        dotted = _shared(_ALIASES.get(dotted, dotted))
    return dotted


def _shared(dotted: str) -> str:
    """What a name of tf.compat.v1, or of what one of its objects holds, is called in tf; unchanged where tf has no such object."""
    if not dotted.startswith(_VERSION_1):
        return dotted
    parts = dotted.removeprefix(_VERSION_1).split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in MOVED or name in SHARED or name in WHOLE_MODULES and length < len(parts):
            return ".".join(["tensorflow", MOVED.get(name, name), *parts[length:]])
    return dotted
