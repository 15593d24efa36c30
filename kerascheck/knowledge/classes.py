"""What is known of the classes of Keras and TensorFlow: models, optimizers, losses, metrics, callbacks, strategies."""

from __future__ import annotations

import re
from functools import lru_cache

from kerascheck.knowledge.callables import GENERATOR, GLOBAL_GENERATOR
from kerascheck.knowledge.layers import PACKAGE


# What fit, evaluate, ... do with a dataset given first.
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

# Weights are updated.
TRAINING_CALLS = frozenset(
    {
        "keras.Optimizer.apply_gradients", "keras.Optimizer.minimize", "keras.Optimizer.apply", "keras.Model.train_on_batch",
        "keras.Model.fit", "keras.Model.fit_generator", "keras.Model.train_step", "tensorflow.Variable.assign_sub",
    }
)

TRAINING_METHODS = frozenset({"apply_gradients", "train_on_batch", "fit_generator", "assign_sub"})

# Packages of Keras models that are large, or of the parts that such models are made of.
MODEL_LIBRARIES = frozenset(
    "segmentation_models classification_models efficientnet kecam keras_cv_attention_models vit_keras tfimm keras_resnet "
    "keras_unet_collection keras_efficientnet_v2 keras_retinanet keras_segmentation bert official tensorflow_models".split()
)

_STAR_EXPORTS = {
    "keras.models": frozenset({"Model", "Sequential", "load_model", "clone_model", "model_from_json"}),
    "keras.optimizers": frozenset("Adam AdamW Adamax Adagrad Adadelta Ftrl Nadam RMSprop SGD Lion".split()),
    "keras.callbacks": frozenset(
        "Callback CSVLogger EarlyStopping LambdaCallback LearningRateScheduler ModelCheckpoint ReduceLROnPlateau TensorBoard TerminateOnNaN".split()
    ),
    "keras.preprocessing.image": frozenset({"ImageDataGenerator", "array_to_img", "img_to_array", "load_img", "save_img"}),
    "keras.preprocessing.sequence": frozenset({"TimeseriesGenerator", "pad_sequences"}),
    "keras.preprocessing.text": frozenset({"Tokenizer"}),
    "keras.utils": frozenset({"PyDataset", "Sequence", "get_file", "image_dataset_from_directory", "plot_model", "to_categorical"}),
    "keras": frozenset({"Input", "Model", "Sequential"}),
    "tensorflow": frozenset({"GradientTape", "Variable", "data", "function", "image", "io", "keras", "random"}),
}


def star_exports(module: str, name: str) -> bool:
    """Whether ``from module import *`` of a library binds ``name``."""
    if module in _STAR_EXPORTS:
        return name in _STAR_EXPORTS[module]
    return module == PACKAGE and name[:1].isupper() and not any(name in names for key, names in _STAR_EXPORTS.items() if name != "Input")


@lru_cache(maxsize=None)
def class_of(name: str) -> str:
    """The class of what a call of ``name`` returns; many factories return one class."""
    if name in (
        "keras.Sequential", "keras.Model", "keras.models.load_model", "keras.models.clone_model", "keras.models.model_from_json",
        "keras.models.model_from_yaml", "keras.models.Functional", "keras.Functional", "keras.Model.from_config", "keras.Sequential.from_config",
    ):
        return "keras.Model"
    owner, _, last = name.rpartition(".")
    if name.startswith("keras.applications.") and last[:1].isupper():
        return "keras.Model"
    if owner.startswith("transformers.TF") and last == "from_pretrained":
        return "keras.Model"
    if name.startswith(("keras.optimizers.", "tensorflow.optimizers.", "tensorflow.train.", "tensorflow_addons.optimizers.")) and (
        last[:1].isupper() or last == "get"
    ):
        return "keras.Optimizer" if last not in ("Checkpoint", "CheckpointManager", "Example", "Feature", "Features") else name
    if name.startswith("keras.mixed_precision.LossScaleOptimizer"):
        return "keras.Optimizer"
    if name.startswith(("keras.metrics.", "tensorflow.metrics.")) and last[:1].isupper():
        return "keras.Metric"
    if name.startswith(("keras.losses.", "tensorflow.losses.")) and last[:1].isupper():
        return "keras.Loss"
    if name.startswith("tensorflow.distribute.") and (last.endswith("Strategy") or last == "get_strategy"):
        return "tensorflow.distribute.Strategy"
    if owner == GENERATOR or name == GLOBAL_GENERATOR:
        return GENERATOR
    if name == "keras.layers.Layer":
        return "keras.Layer"
    return name


@lru_cache(maxsize=None)
def _class_of_bases(bases: frozenset[str]) -> str | None:
    classes = {class_of(base) for base in bases}
    for known in ("keras.Model", "keras.Layer", "keras.Loss", "keras.Metric", "keras.Optimizer"):
        if known in classes or any(name.startswith("keras.layers.") for name in classes) and known == "keras.Layer":
            return known
        if known.replace("keras.", "keras.losses.") in classes:
            return known
    for name in ("keras.losses.Loss", "keras.metrics.Metric", "keras.optimizers.Optimizer"):
        if name in bases:
            return class_of(name)
    for name in ("keras.utils.PyDataset", "keras.callbacks.Callback"):
        if name in bases:
            return name
    return None


def class_of_bases(bases: set[str]) -> str | None:
    """The library class that a class of the linted tree is one of."""
    return _class_of_bases(frozenset(bases))


_HOOKS = {
    "keras.Model": {"call": "call", "train_step": "train_step", "test_step": "test_step", "predict_step": "predict_step", "compute_loss": "train_step"},
    "keras.Layer": {"call": "call"},
    "keras.Loss": {"call": "loss", "__call__": "loss"},
    "keras.Metric": {"update_state": "metric"},
}


def traced_hook(bases: set[str], method: str) -> str | None:
    """How Keras compiles a method that it calls itself ("call", "train_step", ...); None where it does not."""
    owner = class_of_bases(bases)
    return _HOOKS.get(owner or "", {}).get(method)


_TUNER = re.compile(r"keras_tuner\.(?:[a-z_]+\.)*(?:BayesianOptimization|GridSearch|Hyperband|RandomSearch)")


def is_tuner(name: str | None) -> bool:
    """Whether a class of KerasTuner searches over the models that a function or a HyperModel builds."""
    return name is not None and _TUNER.fullmatch(name) is not None
