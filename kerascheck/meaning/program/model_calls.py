"""Calls of Keras models, including those on receivers of unknown origin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from kerascheck.interpreter.code_location import receiver_text
from kerascheck.interpreter.keras_data import is_keras_data
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.nodes import remembered
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Class,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    ModuleLike,
    Value,
    options_of,
)
from kerascheck.knowledge.callables import having
from kerascheck.knowledge.classes import (
    MODEL_LIBRARIES,
)
from kerascheck.knowledge.import_patterns import IMPORTS
from kerascheck.knowledge.name_heuristics import (
    MODEL_NAMES,
)
from kerascheck.knowledge.namespaces import (
    KERAS,
    OF_KERAS_MODEL,
    TENSORFLOW,
)
from kerascheck.knowledge.symbols import Trait
from kerascheck.meaning.calls import CallIndex

# Keyword arguments of Keras' fit that no other Python estimator has.
_KERAS_KEYWORDS = frozenset(
    "epochs validation_data validation_split steps_per_epoch callbacks initial_epoch class_weight validation_steps shuffle verbose "
    "workers use_multiprocessing max_queue_size steps run_eagerly optimizer loss metrics".split()
)
_KERAS_METHODS = frozenset(
    "fit_generator predict_generator evaluate_generator train_on_batch predict_on_batch test_on_batch apply_gradients".split()
)
# No other library has two of these methods.
_ONLY_KERAS = frozenset(
    "steps_per_epoch validation_steps validation_freq validation_split initial_epoch workers use_multiprocessing max_queue_size".split()
)
_OF_MODELS = frozenset(
    "get_layer get_weights load_weights save_weights set_weights trainable_variables trainable_weights".split()
)
_KERAS_ONLY = re.compile(r"\.(?:fit_generator|predict_generator|train_on_batch|predict_on_batch)\(")
_RIVALS = re.compile(
    rf"{IMPORTS}(?:sklearn\.(?!metrics|model_selection|preprocessing|utils|datasets|feature_extraction)|xgboost|lightgbm|catboost|"
    r"statsmodels|pytorch_lightning|lightning|prophet|hmmlearn|mxnet|fastai|autogluon|stable_baselines3?)",
    re.M,
)
_TORCH = re.compile(rf"{IMPORTS}torch\b", re.M)
_KERAS_IMPORT = re.compile(rf"{IMPORTS}(?:tensorflow|keras|tf_keras)\b", re.M)
_KERAS = re.compile(r"keras", re.I)
_MODEL_CLASS = re.compile(r"^class[ \t]+\w+\([^)]*\b(?:Model|Sequential)\b[^)]*\):.*?(?=^[^\s)]|\Z)", re.M | re.S)
_SUPER = re.compile(r"\bsuper\([^)]*\)\.(\w+)\(")
_METHOD = re.compile(r"^[ \t]+def[ \t]+(\w+)\(", re.M)
# Programs without other calls import TensorFlow or Keras only for these: another library uses their generators.
_SEEDS = having(Trait.SEEDS)
_UNPICKLERS = ("pickle.load", "pickle.loads", "joblib.load", "dill.load", "cloudpickle.load")
_NEVER_MODELS = frozenset(
    "builtins abc typing collections dataclasses enum threading sklearn torch gym gymnasium object".split()
)
# Libraries that the interpreter follows, or whose models have their own fit.
_NO_KERAS_MODELS = frozenset(
    "tensorflow keras builtins sklearn numpy pandas scipy deepchem kashgari ktrain gluonts darts autogluon flair spacy imageai".split()
)
_SCALERS = re.compile(rf"{IMPORTS}sklearn\b", re.M)


class ModelCalls:
    """The calls of a program, classified by whether they are calls of Keras models."""

    def __init__(self, module: Module):
        self._module = module
        self._calls = module.once(CallIndex)

    def calls(self, *names: str) -> Iterator[Call]:
        """Calls of these canonical names, in program order, each call site once."""
        seen = set()
        for call in self._calls.named(*names):
            if call.node not in seen:
                seen.add(call.node)
                yield call

    def model_calls(self, *methods: str) -> Iterator[Call]:
        """Calls of methods of Keras models, in program order, each call site once.

        A receiver of unknown origin counts if only a Keras model fits. The evidence is in the arguments, such as images
        of an ImageDataGenerator or a PyDataset. Alternatively, the file uses Keras and no other library of estimators.
        """
        seen = set()
        for call in self._calls.of_methods(*methods):
            if call.node not in seen and self.is_model_call(call):
                seen.add(call.node)
                yield call

    def is_model_call(self, call: Call) -> bool:
        """Whether a method call is certainly or most likely one of a Keras model."""
        if call.name == f"{OF_KERAS_MODEL}{call.attribute}":
            return not _overridden(call)
        if call.name is not None and not _is_foreign(call.receiver):
            return False
        if isinstance(call.receiver, Instance) and not _may_be_model(call.receiver.cls):
            return False
        module = call.module
        for_keras = "x" in call.signature and is_keras_data(call.given("x"))
        if for_keras or len(_ONLY_KERAS & set(call.arguments.keywords)) > 1 and not _has_rivals(module):
            return True
        if call.attribute in _KERAS_METHODS:
            return call.attribute == "apply_gradients" or module.mentions(_KERAS)
        if call.name is None and call.attribute is not None and self._may_be_of_project(call.attribute):
            return False
        if call.name is None and not _is_unknown(call.receiver) or not module.mentions(_KERAS_IMPORT):
            return False
        if call.name is not None and call.name.partition(".")[0] not in MODEL_LIBRARIES and self._only_sets_seeds:
            return False
        if _is_used_as_model(call):
            return True
        # Keras saves its models in its own formats.
        if all(
            isinstance(option, ExternalInstance) and option.name in _UNPICKLERS for option in options_of(call.receiver)
        ):
            return False
        if _has_rivals(module):
            return False
        if call.attribute in ("fit", "compile"):
            return bool(_KERAS_KEYWORDS & set(call.arguments.keywords)) or (
                call.attribute == "fit" and not module.mentions(_SCALERS) and "model" in receiver_text(call)
            )
        return (
            MODEL_NAMES.search(receiver_text(call)) is not None
            or bool({"steps", "verbose"} & set(call.arguments.keywords))
            or _is_unknown(call.receiver)
            and module.mentions(_KERAS_ONLY)
        )

    def _may_be_of_project(self, method: str) -> bool:
        """Whether a model class of the program overrides a method, so an unknown receiver may be its instance.

        Also considers the scripts beside the module that import it.
        """
        return any(
            method in module.once(_overridden_in)
            for module in (*self._modules, *self._module.project.imported_beside(self._module))
        )

    @cached_property
    def _only_sets_seeds(self) -> bool:
        """Whether the program uses TensorFlow and Keras only to set seeds."""
        called = {name for name in self._calls.names if name.startswith((TENSORFLOW, KERAS))}
        return bool(called) and called <= _SEEDS

    @cached_property
    def _modules(self) -> list[Module]:
        """The module and all modules of the project that it imports, directly or indirectly."""
        return [self._module, *self._module.project.imported(self._module)]

    def _mentions(self, pattern: re.Pattern[str]) -> bool:
        return any(module.mentions(pattern) for module in self._modules)


def _has_rivals(module: ModuleLike) -> bool:
    """Whether a module uses another library with models that have the same methods.

    PyTorch as the backend of Keras does not count.
    """
    return module.mentions(_RIVALS) or module.runtime.backend != "torch" and module.mentions(_TORCH)


def _is_unknown(value: Value) -> bool:
    return any(
        option is UNKNOWN
        or (isinstance(option, Method) and (_is_unknown(option.receiver) or _is_foreign(option.receiver)))
        for option in options_of(value)
    ) or (isinstance(value, Method) and isinstance(value.receiver, Instance))


def _is_foreign(value: Value) -> bool:
    """Whether a value comes from a library that kerascheck does not model; many of these build Keras models."""
    return (
        isinstance(value, ExternalInstance)
        and value.name.partition(".")[0] not in _NO_KERAS_MODELS
        and "torch" not in value.name.lower()
    )


def _may_be_model(cls: Class) -> bool:
    """Whether a project class may derive from a Keras model or optimizer: a base is one, or is unknown."""
    for each in cls.ancestry():
        if isinstance(each, External):
            if each.name.partition(".")[0] not in _NEVER_MODELS:
                return True
        elif any(not isinstance(base, (Class, External)) for base in each.bases):
            return True
    return False


def _is_used_as_model(call: Call) -> bool:
    """Whether the module uses the receiver in a way that only layers and models allow.

    Examples are a call with ``training=``, and ``get_layer``.
    """
    receiver = (
        call.node.func.value if isinstance(call.node, cst.Call) and isinstance(call.node.func, cst.Attribute) else None
    )
    return receiver is not None and call.module.tree.code_of(receiver) in remembered(
        call.module, call.module.tree.root, _used_as_models
    )


def _used_as_models(module: ModuleLike, root: cst.CSTNode) -> set[str]:
    found: set[str] = set()
    if not any(module.name_counts[name] for name in ("training", *_OF_MODELS)):
        return found
    for node in module.tree.descendants(root):
        if isinstance(node, cst.Call) and any(
            argument.keyword is not None and argument.keyword.value == "training" for argument in node.args
        ):
            found.add(module.tree.code_of(node.func))
        elif isinstance(node, cst.Attribute) and node.attr.value in _OF_MODELS:
            found.add(module.tree.code_of(node.value))
    return found


def _overridden(call: Call) -> bool:
    """Whether the class of the receiver overrides the method, and the call is not inside that override."""
    own = call.receiver.cls.member(call.attribute or "") if isinstance(call.receiver, Instance) else None
    return own is not None and not (
        isinstance(own, Function) and any(function.node is own.node for function in call.path.functions())
    )


def _overridden_in(module: Module) -> set[str]:
    """The methods that classes of a module derived from Model or Sequential override without calling super()."""
    classes = [found[0] for found in _MODEL_CLASS.finditer(module.code)]
    return {name for text in classes for name in set(_METHOD.findall(text)) - set(_SUPER.findall(text))}
