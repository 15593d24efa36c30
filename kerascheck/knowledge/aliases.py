"""Present and former aliases of symbols; :func:`kerascheck.syntax.names.canonical` replaces them."""

from __future__ import annotations

import re

from kerascheck.knowledge.callables import (
    CAST,
    COMPAT_V2,
    GENERATOR,
    IMAGE_RANDOM_CROP,
    IO_DECODE,
    LOAD_IMG,
    LOOKUP,
    PY_FUNCTION,
    READ_FILE,
    TF_KERAS,
    VARIABLE,
)
from kerascheck.knowledge.classes import (
    FUNCTIONAL,
    IMAGE_DATA_GENERATOR,
    INPUT,
    LAYER,
    LOAD_MODEL,
    MODEL,
    PY_DATASET,
    SEQUENTIAL,
)
from kerascheck.knowledge.datasets import (
    AUDIO_DATASET_FROM_DIRECTORY,
    AUTOTUNE,
    DATASET,
    DATASET_CHOOSE_FROM_DATASETS,
    DATASET_SAMPLE_FROM_DATASETS,
    EXPERIMENTAL_AUTOTUNE,
    IMAGE_DATASET_FROM_DIRECTORY,
    TEXT_DATASET_FROM_DIRECTORY,
    TIMESERIES_DATASET_FROM_ARRAY,
)
from kerascheck.knowledge.devices import (
    CLEAR_SESSION,
    EXPERIMENTAL_GET_VISIBLE_DEVICES,
    EXPERIMENTAL_LIST_LOGICAL_DEVICES,
    EXPERIMENTAL_LIST_PHYSICAL_DEVICES,
    EXPERIMENTAL_RUN_FUNCTIONS_EAGERLY,
    EXPERIMENTAL_SET_VISIBLE_DEVICES,
    GET_VISIBLE_DEVICES,
    LIST_LOGICAL_DEVICES,
    LIST_PHYSICAL_DEVICES,
    LOGICAL_DEVICE_CONFIGURATION,
    RUN_FUNCTIONS_EAGERLY,
    SET_GLOBAL_POLICY,
    SET_LOGICAL_DEVICE_CONFIGURATION,
    SET_MEMORY_GROWTH,
    SET_VIRTUAL_DEVICE_CONFIGURATION,
    SET_VISIBLE_DEVICES,
    VIRTUAL_DEVICE_CONFIGURATION,
)
from kerascheck.knowledge.layers import LAYERS, LAYERS_LAYER
from kerascheck.knowledge.namespaces import (
    FROZEN_KERAS,
    KERAS,
    OF_DATA,
    OF_DATA_EXPERIMENTAL,
    OF_DISTRIBUTE,
    OF_IMAGE,
    OF_IO,
    OF_KERAS,
    OF_KERAS_OPTIMIZERS,
    OF_RANDOM,
    OF_TRAIN,
    TENSORFLOW,
    TENSORFLOW_DATASETS,
)

VERSION_1 = "tensorflow.compat.v1."
# Longest first: the first matching prefix is replaced.
PREFIXES = (
    ("tensorflow.python.keras.", KERAS),
    ("tensorflow._api.v2.v2.", TENSORFLOW),
    ("tensorflow._api.v2.", TENSORFLOW),
    ("tensorflow._api.v1.", TENSORFLOW),
    ("tensorflow.compat.v2.", TENSORFLOW),
    # tf.compat.v1 contains itself and its successor again, for programs that import it as tf.
    ("tensorflow.compat.v1.compat.v1.", VERSION_1),
    ("tensorflow.compat.v1.compat.v2.", TENSORFLOW),
    ("tensorflow.compat.v1.keras.", KERAS),
    ("tensorflow.compat.v1.data.", OF_DATA),
    ("tensorflow.compat.v1.random.", OF_RANDOM),
    ("tensorflow.compat.v1.image.", OF_IMAGE),
    ("tensorflow.compat.v1.io.", OF_IO),
    ("tensorflow.compat.v1.lookup.", LOOKUP),
    ("tensorflow.contrib.keras.", KERAS),
    ("tensorflow.contrib.data.", OF_DATA_EXPERIMENTAL),
    (OF_KERAS, KERAS),
    ("tf_keras.", KERAS),
    # Imports that editors generate.
    ("keras._tf_keras.keras.", KERAS),
    ("keras.api._v2.keras.", KERAS),
    ("keras.src.", KERAS),
    ("keras.api.", KERAS),
    ("keras.legacy.", KERAS),
    ("keras.layers.experimental.preprocessing.", LAYERS),
    ("keras.layers.experimental.", LAYERS),
    ("keras.layers.preprocessing.", LAYERS),
    ("keras.optimizer_v2.", OF_KERAS_OPTIMIZERS),
    ("keras.optimizers.legacy.", OF_KERAS_OPTIMIZERS),
    ("keras.optimizers.experimental.", OF_KERAS_OPTIMIZERS),
    ("keras.mixed_precision.experimental.", "keras.mixed_precision."),
    ("tensorflow.train.experimental.", OF_TRAIN),
    ("tensorflow.distribute.experimental.", OF_DISTRIBUTE),
    ("numpy.core.", "numpy."),
    ("kerastuner.", "keras_tuner."),
    ("tensorflow_datasets.core.", TENSORFLOW_DATASETS),
    ("jax.numpy.", "jax.numpy."),
)

# Modules that hold the classes of a public namespace, all in lower case.
WRITTEN_IN = re.compile(
    r"^keras\.(layers|callbacks|losses|metrics|models|optimizers(?:\.schedules)?)(?:\.(?!schedules\b)[a-z_0-9]+)+\.(?=[A-Z]\w*$)"
)

_SHORT_LAYERS = {
    "MaxPool": "MaxPooling", "AvgPool": "AveragePooling", "GlobalMaxPool": "GlobalMaxPooling", "GlobalAvgPool": "GlobalAveragePooling",
    "Convolution": "Conv", "SeparableConvolution": "SeparableConv",
}  # fmt: skip
ALIASES = {
    TF_KERAS: "keras",
    "tf_keras": "keras",
    FROZEN_KERAS: "keras",
    COMPAT_V2: "tensorflow",
    "tensorflow.compat.v2.keras": "keras",
    "keras.models.Model": MODEL,
    "keras.models.Sequential": SEQUENTIAL,
    "keras.engine.training.Model": MODEL,
    "keras.engine.sequential.Sequential": SEQUENTIAL,
    "keras.training.Model": MODEL,
    "keras.engine.functional.Functional": MODEL,
    FUNCTIONAL: MODEL,
    "keras.saving.saving_api.load_model": LOAD_MODEL,
    "keras.engine.saving.load_model": LOAD_MODEL,
    "keras.trainers.data_adapters.py_dataset_adapter.PyDataset": PY_DATASET,
    "keras.utils.image_dataset_utils.image_dataset_from_directory": IMAGE_DATASET_FROM_DIRECTORY,
    "tensorflow.python.data.Dataset": DATASET,
    "tensorflow.python.data.ops.dataset_ops.Dataset": DATASET,
    "tensorflow.python.data.ops.dataset_ops.DatasetV2": DATASET,
    # Its train_step calls compute_loss, as that of Keras 3 does (tensorflow_recommenders/models/base.py, 0.7.3).
    "tensorflow_recommenders.Model": MODEL,
    "tensorflow_recommenders.models.Model": MODEL,
    LAYERS_LAYER: LAYER,
    "keras.layers.Input": INPUT,
    # Aliases of layers (keras_export in keras/src/layers).
    **{f"{LAYERS}{short}{axes}D": f"{LAYERS}{full}{axes}D" for axes in "123" for short, full in _SHORT_LAYERS.items()},
    "keras.engine.base_layer.Layer": LAYER,
    "keras.engine.Layer": LAYER,
    "keras.engine.topology.Layer": LAYER,
    "keras.saving.load_model": LOAD_MODEL,
    "keras.preprocessing.image_dataset_from_directory": IMAGE_DATASET_FROM_DIRECTORY,
    "keras.preprocessing.text_dataset_from_directory": TEXT_DATASET_FROM_DIRECTORY,
    "keras.preprocessing.timeseries_dataset_from_array": TIMESERIES_DATASET_FROM_ARRAY,
    "keras.preprocessing.image.image_dataset_from_directory": IMAGE_DATASET_FROM_DIRECTORY,
    "keras.preprocessing.audio_dataset_from_directory": AUDIO_DATASET_FROM_DIRECTORY,
    "keras.preprocessing.image.load_img": LOAD_IMG,
    "keras.preprocessing.image.img_to_array": "keras.utils.img_to_array",
    "keras_preprocessing.image.ImageDataGenerator": IMAGE_DATA_GENERATOR,
    "keras.utils.data_utils.Sequence": PY_DATASET,
    "keras.utils.Sequence": PY_DATASET,
    "keras.config.set_dtype_policy": SET_GLOBAL_POLICY,
    "keras.mixed_precision.set_dtype_policy": SET_GLOBAL_POLICY,
    "keras.mixed_precision.set_policy": SET_GLOBAL_POLICY,
    "keras.backend.clear_session": CLEAR_SESSION,
    EXPERIMENTAL_AUTOTUNE: AUTOTUNE,
    "tensorflow.data.experimental.Optional": "tensorflow.experimental.Optional",
    "tensorflow.data.experimental.sample_from_datasets": DATASET_SAMPLE_FROM_DATASETS,
    "tensorflow.data.experimental.choose_from_datasets": DATASET_CHOOSE_FROM_DATASETS,
    "tensorflow.data.experimental.load": "tensorflow.data.Dataset.load",
    "tensorflow.data.experimental.from_list": "tensorflow.data.Dataset.from_list",
    EXPERIMENTAL_LIST_PHYSICAL_DEVICES: LIST_PHYSICAL_DEVICES,
    EXPERIMENTAL_LIST_LOGICAL_DEVICES: LIST_LOGICAL_DEVICES,
    EXPERIMENTAL_SET_VISIBLE_DEVICES: SET_VISIBLE_DEVICES,
    EXPERIMENTAL_GET_VISIBLE_DEVICES: GET_VISIBLE_DEVICES,
    SET_VIRTUAL_DEVICE_CONFIGURATION: SET_LOGICAL_DEVICE_CONFIGURATION,
    VIRTUAL_DEVICE_CONFIGURATION: LOGICAL_DEVICE_CONFIGURATION,
    EXPERIMENTAL_RUN_FUNCTIONS_EAGERLY: RUN_FUNCTIONS_EAGERLY,
    "tensorflow.config.set_memory_growth": SET_MEMORY_GROWTH,
    "tensorflow.random.experimental.Generator": GENERATOR,
    "tensorflow.py_func": PY_FUNCTION,
    "tensorflow.compat.v1.py_func": PY_FUNCTION,
    "tensorflow.read_file": READ_FILE,
    **{
        f"{TENSORFLOW}{old}{name}": f"{OF_IO}{name}"
        for old in ("", "compat.v1.")
        for name in (
            "FixedLenFeature",
            "FixedLenSequenceFeature",
            "VarLenFeature",
            "decode_csv",
            "decode_raw",
            "parse_example",
            "parse_single_example",
            "parse_single_sequence_example",
        )
    },
    "tensorflow.random_uniform": "tensorflow.random.uniform",
    "tensorflow.random_normal": "tensorflow.random.normal",
    "tensorflow.random_crop": IMAGE_RANDOM_CROP,
    "tensorflow.random_shuffle": "tensorflow.random.shuffle",
    "tensorflow.python.ops.script_ops.py_func": PY_FUNCTION,
    "tensorflow.math.round": "tensorflow.round",
    "tensorflow.to_float": CAST,
    **{
        f"tensorflow.image.decode_{kind}": f"{IO_DECODE}{kind}"
        for kind in ("jpeg", "png", "image", "bmp", "gif", "and_crop_jpeg")
    },
    "tensorflow.contrib.eager.Variable": VARIABLE,
}
