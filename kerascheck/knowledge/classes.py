"""Classes of Keras and TensorFlow: models, optimizers, losses, metrics, callbacks, strategies."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache

from kerascheck.knowledge.callables import GENERATOR, GLOBAL_GENERATOR
from kerascheck.knowledge.devices import STRATEGY
from kerascheck.knowledge.layers import LAYERS, LAYERS_LAYER, PACKAGE
from kerascheck.knowledge.namespaces import (
    KERAS,
    OF_DISTRIBUTE,
    OF_KERAS_APPLICATIONS,
    OF_KERAS_LOSSES,
    OF_KERAS_METRICS,
    OF_KERAS_OPTIMIZERS,
    OF_TRAIN,
)

APPLICATIONS = "keras.applications"
BACKUP_AND_RESTORE = "keras.callbacks.BackupAndRestore"
CALLBACK = "keras.callbacks.Callback"
CLONE_MODEL = "keras.models.clone_model"
EXPERIMENTAL_BACKUP_AND_RESTORE = "keras.callbacks.experimental.BackupAndRestore"
FUNCTIONAL = "keras.models.Functional"
GRADIENT_TAPE = "tensorflow.GradientTape"
GRADIENT_TAPE_GRADIENT = "tensorflow.GradientTape.gradient"
GRADIENT_TAPE_WATCH = "tensorflow.GradientTape.watch"
IMAGE_DATA_GENERATOR = "keras.preprocessing.image.ImageDataGenerator"
INPUT = "keras.Input"
KERAS_TENSOR = "keras.KerasTensor"
KERAS_TUNER_HYPER_PARAMETERS = "keras_tuner.HyperParameters"
KERAS_VARIABLE = "keras.Variable"
LAMBDA_CALLBACK = "keras.callbacks.LambdaCallback"
LAYER = "keras.Layer"
LAYER_INIT = "keras.Layer.__init__"
LAYER_SETATTR = "keras.Layer.__setattr__"
LOAD_MODEL = "keras.models.load_model"
LOSS = "keras.Loss"
METRIC_CALL = "keras.Metric.__call__"
METRIC_RESULT = "keras.Metric.result"
METRIC_UPDATE_STATE = "keras.Metric.update_state"
MODEL = "keras.Model"
MODEL_ADD = "keras.Model.add"
MODEL_BUILD = "keras.Model.build"
MODEL_CALL = "keras.Model.__call__"
MODEL_CHECKPOINT = "keras.callbacks.ModelCheckpoint"
MODEL_FIT = "keras.Model.fit"
MODEL_GET_LAYER = "keras.Model.get_layer"
MODEL_GET_WEIGHTS = "keras.Model.get_weights"
MODEL_INIT = "keras.Model.__init__"
MODEL_LOAD_WEIGHTS = "keras.Model.load_weights"
MODEL_POP = "keras.Model.pop"
MODEL_PREDICT = "keras.Model.predict"
MODEL_SAVE = "keras.Model.save"
MODEL_SET_WEIGHTS = "keras.Model.set_weights"
MODEL_SETATTR = "keras.Model.__setattr__"
OPTIMIZER = "keras.Optimizer"
OPTIMIZER_APPLY = "keras.Optimizer.apply"
OPTIMIZER_MINIMIZE = "keras.Optimizer.minimize"
OPTIMIZER_STATELESS_APPLY = "keras.Optimizer.stateless_apply"
PY_DATASET = "keras.utils.PyDataset"
SEQUENTIAL = "keras.Sequential"
TENSOR_BOARD = "keras.callbacks.TensorBoard"

DENSE_OPTIMIZERS = ("Adam", "AdamW", "Adafactor", "Adagrad", "Ftrl", "Lion", "RMSprop")
"""Optimizers of Keras 3 whose update of an embedding takes a time proportional to all of its rows.

Source: measured with Keras 3.15 on TensorFlow 2.21; see KC424.
"""

# How fit, evaluate, ... use a dataset passed as the first argument.
CONSUMING_METHODS = {
    "fit": "train",
    "fit_generator": "train",
    "train_on_batch": "train",
    "evaluate": "evaluate",
    "evaluate_generator": "evaluate",
    "test_on_batch": "evaluate",
    "predict": "predict",
    "predict_generator": "predict",
    "predict_on_batch": "predict",
    "adapt": "adapt",
    "fit_transform": "adapt",
}

# These update weights.
TRAINING_CALLS = frozenset(
    {
        "keras.Optimizer.apply_gradients",
        OPTIMIZER_MINIMIZE,
        OPTIMIZER_APPLY,
        "keras.Model.train_on_batch",
        MODEL_FIT,
        "keras.Model.fit_generator",
        "keras.Model.train_step",
        "tensorflow.Variable.assign_sub",
    }
)

TRAINING_METHODS = frozenset({"apply_gradients", "train_on_batch", "fit_generator", "assign_sub"})

# Packages of large Keras models, or of parts of such models.
MODEL_LIBRARIES = frozenset(
    "segmentation_models classification_models efficientnet kecam keras_cv_attention_models vit_keras tfimm keras_resnet "
    "keras_unet_collection keras_efficientnet_v2 keras_retinanet keras_segmentation bert official tensorflow_models".split()
)

OPTIMIZERS = frozenset("Adam AdamW Adamax Adagrad Adadelta Ftrl Nadam RMSprop SGD Lion".split())
"""Optimizers that all versions of Keras since 2.12 have; without their package."""

_STAR_EXPORTS = {
    "keras.models": frozenset({"Model", "Sequential", "load_model", "clone_model", "model_from_json"}),
    "keras.optimizers": OPTIMIZERS,
    "keras.callbacks": frozenset(
        "Callback CSVLogger EarlyStopping LambdaCallback LearningRateScheduler ModelCheckpoint ReduceLROnPlateau TensorBoard TerminateOnNaN".split()
    ),
    "keras.preprocessing.image": frozenset(
        {"ImageDataGenerator", "array_to_img", "img_to_array", "load_img", "save_img"}
    ),
    "keras.preprocessing.sequence": frozenset({"TimeseriesGenerator", "pad_sequences"}),
    "keras.preprocessing.text": frozenset({"Tokenizer"}),
    "keras.utils": frozenset(
        {"PyDataset", "Sequence", "get_file", "image_dataset_from_directory", "plot_model", "to_categorical"}
    ),
    # "from keras import *" and "from tensorflow.keras import *" bind these names (tried with 3.15 and 2.21).
    "keras": frozenset(
        "Input Model Sequential activations applications backend callbacks initializers layers losses metrics mixed_precision models ops optimizers preprocessing regularizers utils".split()
    ),
    "tensorflow": frozenset(
        "GradientTape Variable cast config constant data distribute function image io keras nn random strings".split()
    ),
}


def star_exports(module: str, name: str) -> bool:
    """Whether ``from module import *`` of a library binds ``name``."""
    if module in _STAR_EXPORTS:
        return name in _STAR_EXPORTS[module]
    return (
        module == PACKAGE
        and name[:1].isupper()
        and not any(name in names for key, names in _STAR_EXPORTS.items() if name != "Input")
    )


@cache
def class_of(name: str) -> str:
    """Return the class of the result of calling ``name``; many factories return one class."""
    if name in (
        SEQUENTIAL,
        MODEL,
        LOAD_MODEL,
        CLONE_MODEL,
        "keras.models.model_from_json",
        "keras.models.model_from_yaml",
        FUNCTIONAL,
        "keras.Functional",
        "keras.Model.from_config",
        "keras.Sequential.from_config",
    ):
        return MODEL
    owner, _, last = name.rpartition(".")
    if name.startswith(OF_KERAS_APPLICATIONS) and last[:1].isupper():
        return MODEL
    if owner.startswith("transformers.TF") and last == "from_pretrained":
        return MODEL
    if name.startswith((OF_KERAS_OPTIMIZERS, "tensorflow.optimizers.", OF_TRAIN, "tensorflow_addons.optimizers.")) and (
        last[:1].isupper() or last == "get"
    ):
        return OPTIMIZER if last not in ("Checkpoint", "CheckpointManager", "Example", "Feature", "Features") else name
    if name.startswith("keras.mixed_precision.LossScaleOptimizer"):
        return OPTIMIZER
    if name.startswith((OF_KERAS_METRICS, "tensorflow.metrics.")) and last[:1].isupper():
        return "keras.Metric"
    if name.startswith((OF_KERAS_LOSSES, "tensorflow.losses.")) and last[:1].isupper():
        return LOSS
    if name.startswith(OF_DISTRIBUTE) and (last.endswith("Strategy") or last == "get_strategy"):
        return STRATEGY
    if owner == GENERATOR or name == GLOBAL_GENERATOR:
        return GENERATOR
    if name == LAYERS_LAYER:
        return LAYER
    return name


@cache
def _class_of_bases(bases: frozenset[str]) -> str | None:
    classes = {class_of(base) for base in bases}
    for known in (MODEL, LAYER, LOSS, "keras.Metric", OPTIMIZER):
        if known in classes or any(name.startswith(LAYERS) for name in classes) and known == LAYER:
            return known
        if known.replace(KERAS, OF_KERAS_LOSSES) in classes:
            return known
    for name in ("keras.losses.Loss", "keras.metrics.Metric", "keras.optimizers.Optimizer"):
        if name in bases:
            return class_of(name)
    for name in (PY_DATASET, CALLBACK):
        if name in bases:
            return name
    return None


def class_of_bases(bases: Set[str]) -> str | None:
    """Return the library class from which a project class inherits."""
    return _class_of_bases(frozenset(bases))


_HOOKS = {
    MODEL: {
        "call": "call",
        "train_step": "train_step",
        "test_step": "test_step",
        "predict_step": "predict_step",
        "compute_loss": "train_step",
    },
    LAYER: {"call": "call"},
    LOSS: {"call": "loss", "__call__": "loss"},
    "keras.Metric": {"update_state": "metric"},
}


def traced_hook(bases: Set[str], method: str) -> str | None:
    """Return how Keras compiles a method that it calls itself ("call", "train_step", ...); None if it does not."""
    owner = class_of_bases(bases)
    return _HOOKS.get(owner or "", {}).get(method)


_TUNER = re.compile(r"keras_tuner\.(?:[a-z_]+\.)*(?:BayesianOptimization|GridSearch|Hyperband|RandomSearch)")


def is_tuner(name: str | None) -> bool:
    """Whether a KerasTuner class searches over the models built by a function or a HyperModel."""
    return name is not None and _TUNER.fullmatch(name) is not None
