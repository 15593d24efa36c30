"""What a module does as a program: does it train, where, on what device, with which set-up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property
from math import inf

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation, receiver_text
from kerascheck.interpreter.keras_data import is_keras_data
from kerascheck.interpreter.layer_shapes import (
    Shape,
    literal_shape,
    makes_large_layer,
    product,
)
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.nodes import remembered
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Class,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    ModuleLike,
    SequenceValue,
    Value,
    constant,
    flat,
    options_of,
)
from kerascheck.knowledge.callables import IMAGE_RESIZE, LOAD_IMG, having
from kerascheck.knowledge.classes import (
    GRADIENT_TAPE,
    MODEL,
    MODEL_LIBRARIES,
    OPTIMIZER_APPLY,
    OPTIMIZER_MINIMIZE,
    OPTIMIZER_STATELESS_APPLY,
    class_of,
)
from kerascheck.knowledge.datasets import (
    IMAGE_DATASET_FROM_DIRECTORY,
    NETWORK_STORAGE,
    TEXT_LINE_DATASET,
    TFDS_LOAD,
    TFRECORD_DATASET,
)
from kerascheck.knowledge.devices import (
    CLUSTER_RESOLVER_TPU_CLUSTER_RESOLVER,
    DEVICE,
    ENABLE_OP_DETERMINISM,
    EXPERIMENTAL_TPU_STRATEGY,
    RUN_FUNCTIONS_EAGERLY,
    SET_VISIBLE_DEVICES,
    STRATEGY,
    TPU_EXPERIMENTAL_INITIALIZE_TPU_SYSTEM,
    TPU_STRATEGY,
)
from kerascheck.knowledge.keras_datasets import MANY_EXAMPLES, TOYS
from kerascheck.knowledge.layers import DENSE, LAYERS, OF_DENSE_MODELS
from kerascheck.knowledge.name_heuristics import (
    ADVERSARIES,
    GAN_NAMES,
    GPU_LISTS,
    MEMORY_LIMITS,
    MODEL_NAMES,
    PRECISION_OPTIONS,
    REINFORCEMENT_LEARNING,
)
from kerascheck.knowledge.namespaces import (
    KERAS,
    OF_IO,
    OF_KERAS_MODEL,
    TENSORFLOW,
    TENSORFLOW_DATASETS,
)
from kerascheck.knowledge.symbols import Trait
from kerascheck.meaning.program.tapes import tape_of
from kerascheck.project.requirements import lets_memory_grow, wants_cpu

# Keywords that only Keras' fit has among the estimators of the Python world.
_KERAS_KEYWORDS = frozenset(
    "epochs validation_data validation_split steps_per_epoch callbacks initial_epoch class_weight validation_steps shuffle verbose "
    "workers use_multiprocessing max_queue_size steps run_eagerly optimizer loss metrics".split()
)
_KERAS_METHODS = frozenset(
    "fit_generator predict_generator evaluate_generator train_on_batch predict_on_batch test_on_batch apply_gradients".split()
)
# Of these, nobody else has two.
_ONLY_KERAS = frozenset(
    "steps_per_epoch validation_steps validation_freq validation_split initial_epoch workers use_multiprocessing max_queue_size".split()
)
_OF_MODELS = frozenset(
    "get_layer get_weights load_weights save_weights set_weights trainable_variables trainable_weights".split()
)
_KERAS_ONLY = re.compile(r"\.(?:fit_generator|predict_generator|train_on_batch|predict_on_batch)\(")
_RIVALS = re.compile(
    r"^\s*(?:from|import)\s+(?:sklearn\.(?!metrics|model_selection|preprocessing|utils|datasets|feature_extraction)|xgboost|lightgbm|catboost|"
    r"statsmodels|pytorch_lightning|lightning|prophet|hmmlearn|mxnet|fastai|autogluon|stable_baselines3?)",
    re.M,
)
_TORCH = re.compile(r"^\s*(?:from|import)\s+torch\b", re.M)
_COMPILES = re.compile(
    r"\.(?:fit|compile|predict|evaluate|train_on)\w*\(|tf\.function|\bfunction\(|Model\(\s*(?:inputs|\[)|Input\(|export|\.save\("
)
_KERAS_IMPORT = re.compile(r"^\s*(?:from|import)\s+(?:tensorflow|keras|tf_keras)\b", re.M)
_KERAS = re.compile(r"keras", re.I)
_MODEL_CLASS = re.compile(r"^class[ \t]+\w+\([^)]*\b(?:Model|Sequential)\b[^)]*\):.*?(?=^[^\s)]|\Z)", re.M | re.S)
_SUPER = re.compile(r"\bsuper\([^)]*\)\.(\w+)\(")
_METHOD = re.compile(r"^[ \t]+def[ \t]+(\w+)\(", re.M)
# A program that does nothing else with TensorFlow or Keras has imported them for this: other libraries draw from their generators.
_SEEDS = having(Trait.SEEDS)
_UNPICKLERS = ("pickle.load", "pickle.loads", "joblib.load", "dill.load", "cloudpickle.load")
_NEVER_MODELS = frozenset(
    "builtins abc typing collections dataclasses enum threading sklearn torch gym gymnasium object".split()
)
# Libraries whose objects are followed, or whose models have a fit of their own.
_NO_KERAS_MODELS = frozenset(
    "tensorflow keras builtins sklearn numpy pandas scipy deepchem kashgari ktrain gluonts darts autogluon flair spacy imageai".split()
)
_SCALERS = re.compile(r"^\s*(?:from|import)\s+sklearn\b", re.M)

_OLD_KERAS = re.compile(
    r"^\s*(?:from|import)\s+(?:tensorflow\.)?keras\.(?:engine|objectives|layers\.(?:core|convolutional|recurrent|pooling|embeddings|merge|normalization|"
    r"advanced_activations|wrappers|noise|local|experimental)|utils\.(?:np_utils|generic_utils|training_utils))\b"
    r"|^\s*from\s+(?:tensorflow\.)?keras\s+import\s+.*\bobjectives\b|layers\.experimental\.preprocessing\b"
    # TensorFlow Addons cannot be imported beside Keras 3 (0.23, its last release).
    r"|^\s*(?:from|import)\s+tensorflow_addons\b"
    # Its layers import keras.engine and what else Keras 2 kept elsewhere.
    r"|^\s*(?:from|import)\s+keras_contrib\b"
    # It has no base class of this name (keras/src/layers/rnn).
    r"|\bAbstractRNNCell\b"
    # Any layer raises a ValueError for it (keras/src/layers/layer.py, 3.15).
    r"|\bbatch_input_shape\s*=",
    re.M,
)
_LEGACY_KERAS = re.compile("TF_USE_LEGACY_KERAS")
_TPU = re.compile(r"TPUStrategy|TPUClusterResolver|initialize_tpu_system")
_TPU_CALLS = (
    TPU_STRATEGY,
    EXPERIMENTAL_TPU_STRATEGY,
    CLUSTER_RESOLVER_TPU_CLUSTER_RESOLVER,
    TPU_EXPERIMENTAL_INITIALIZE_TPU_SYSTEM,
)
_NETWORK_STORAGE = re.compile(rf"""["'](?!https?:){NETWORK_STORAGE}|\bget_gcs_path\b""")
# How many boxes are left has to be known on the host before such an operation returns, where it has a kernel for GPUs at all
# (gpuEventSynchronize in tensorflow/core/kernels/image/non_max_suppression_op.cu.cc).
_SUPPRESSION = re.compile("non_max_suppression")

# Estimators of scikit-learn around a function that builds a model, and searches over the models that one builds.
_TRAINS_FOR_OTHERS = re.compile(r"\bKeras(?:Classifier|Regressor)$|^keras_tuner\..*\.search$")
_DOUBLE = re.compile(r"""set_floatx\(\s*["']float64|dtype\s*=\s*(?:tf\.float64|["']float64)""")
_CPU_DEVICE = re.compile(r"/?(?:device:)?cpu(?:\s*:\s*\d+)?", re.I)
_FITS = ("fit", "fit_generator", "train_on_batch")
_TOY_DATA = (*TOYS, "sklearn.datasets.")
_TOY_NAMES = frozenset({"mnist", "fashion_mnist", "kmnist", "iris", "titanic", "wine_quality"})
# Where the height and width are that pictures get, and how many pixels those of the classic sets have.
_RESIZES = {
    "cv2.resize": "dsize", IMAGE_RESIZE: "size", LOAD_IMG: "target_size",
    IMAGE_DATASET_FROM_DIRECTORY: "image_size",
}  # fmt: skip
_TOY_PIXELS = 28 * 28
_LARGE_DATA = ("sklearn.datasets.fetch_", TENSORFLOW_DATASETS, OF_IO, "h5py.", *MANY_EXAMPLES)
_MANY_EXAMPLES = 1000
_FILE_READERS = frozenset(
    {
        "numpy.load",
        "numpy.loadtxt",
        "numpy.genfromtxt",
        "numpy.fromfile",
        "pandas.read_csv",
        "pandas.read_parquet",
        "pandas.read_excel",
        "pandas.read_json",
        "pandas.read_table",
        "builtins.open",
        "pickle.load",
        "joblib.load",
        TFRECORD_DATASET,
        TEXT_LINE_DATASET,
    }
)
_PRETRAINED = re.compile(
    r"\bapplications\.[a-z_0-9.]*[A-Z]\w+\(|\bfrom (?:tensorflow\.)?keras\.applications(?!\.imagenet_utils)|\bkeras_(?:cv|hub|nlp)\.models\.|"
    # What prepares the data of a pretrained model is loaded by itself, too.
    r"(?<!Tokenizer)(?<!TokenizerFast)(?<!Config)(?<![Pp]rocessor)(?<!Extractor)\.from_pre(?:trained|set)\("
)
_LARGE_LAYERS = re.compile(r"\b(?:Conv[23]D|SeparableConv2D|MultiHeadAttention|ConvLSTM2D)\(")

SET_VARIABLE = ("os.environ.__setitem__", "os.environ.setdefault", "os.putenv")


class Program:
    """Facts of a module taken as the entry of a program."""

    def __init__(self, module: Module):
        self._module = module
        self._run = module.run

    # ------------------------------------------------------------------ calls

    def calls(self, *names: str) -> Iterator[Call]:
        """Calls of these canonical names, in program order, each place once."""
        wanted = set(names)
        seen = set()
        for call in self._run.calls:
            if call.name in wanted and call.node not in seen:
                seen.add(call.node)
                yield call

    def model_calls(self, *methods: str) -> Iterator[Call]:
        """Calls of methods of Keras models, in program order, each place once.

        A receiver of unknown origin counts where nothing but a Keras model fits: by the
        arguments, which may be images of an ImageDataGenerator or a PyDataset, or because the file uses Keras and no other library of estimators.
        """
        seen = set()
        for call in self._run.calls:
            if call.attribute in methods and call.node not in seen and self.is_model_call(call):
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
        # Models of Keras have files of their own.
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
        """Whether a class of models in the program, or beside a script that imports the module, overrides a method: what is not known may be one."""
        return any(
            method in module.once(_overridden_in)
            for module in (*self._modules, *self._module.project.imported_beside(self._module))
        )

    @cached_property
    def _only_sets_seeds(self) -> bool:
        """Whether seeds are all that the program calls of TensorFlow and Keras."""
        called = {call.name for call in self._run.calls if (call.name or "").startswith((TENSORFLOW, KERAS))}
        return bool(called) and called <= _SEEDS

    # --------------------------------------------------------------- training

    @cached_property
    def updates(self) -> list[Call]:
        """Calls that update weights in hand-written steps: minimize and apply of Keras, and apply_gradients of whatever optimizer."""
        return [
            call
            for call in self._run.calls
            if call.attribute == "apply_gradients" or call.name in (OPTIMIZER_MINIMIZE, OPTIMIZER_APPLY)
        ]

    @cached_property
    def assigned_updates(self) -> list[Call]:
        """Gradient descent written out: variable.assign_sub(rate * gradient)."""
        taped = any(call.name == GRADIENT_TAPE for call in self._run.calls)
        return [call for call in self._run.calls if taped and call.attribute == "assign_sub"]

    @cached_property
    def constructors(self) -> dict[Instance, Call]:
        """The call that made each object of a class of the tree."""
        return {
            call.receiver: call
            for call in reversed(self._run.calls)
            if call.attribute == "__init__" and isinstance(call.receiver, Instance)
        }

    def constructor_of(self, value: Value) -> Call | None:
        """The call that made or loaded a model of Keras, or an object of a class of the tree; None where that cannot be seen."""
        if isinstance(value, ExternalInstance) and class_of(value.name) == MODEL:
            return value.call
        return self.constructors.get(value) if isinstance(value, Instance) else None

    @cached_property
    def training_places(self) -> list[tuple[CodeLocation, Call]]:
        """Where the module trains when it is run, in program order, with the call that does.

        That is each fit, and each innermost loop around a step written by hand.
        """
        if self._module.is_graph_code:
            return []
        found: dict[cst.CSTNode, tuple[int, CodeLocation, Call]] = {}
        for call in self.model_calls("fit", "fit_generator"):
            if self.is_executed(call.path):
                found.setdefault(call.node, (call.order, CodeLocation(call.module, call.node), call))
        stateless = self.calls(OPTIMIZER_STATELESS_APPLY)
        for call in [*self.updates, *self.model_calls("train_on_batch"), *self.assigned_updates, *stateless]:
            if self.is_executed(call.path) and not _in_keras_step(call.path):
                # Around the tape, not around the variables that are updated one by one.
                tape = tape_of(self._module, call)
                loop = _training_loop(tape.path if tape is not None else call.path)
                if loop is not None and (loop.node not in found or call.order < found[loop.node][0]):
                    found[loop.node] = (call.order, CodeLocation(loop.module, loop.node), call)
        return [(place, call) for _, place, call in sorted(found.values(), key=lambda each: each[0])]

    @property
    def first_training(self) -> CodeLocation | None:
        """The first fit, or the innermost loop that trains, if the module trains when it is run; else None."""
        return self.training_places[0][0] if self.training_places else None

    @cached_property
    def trains(self) -> bool:
        """Something in the program updates weights, whether it is seen to be executed or not."""
        return bool(self.updates or list(self.model_calls("fit", "fit_generator", "train_on_batch"))) or any(
            _TRAINS_FOR_OTHERS.search(call.name or "") for call in self._run.calls
        )

    def trains_behind(self, call: Call) -> bool:
        """Whether weights are updated behind a call, or somewhere of which the place in the program is not seen."""
        return not self._trainings or any(
            training.order > call.order or not self.is_executed(training.path) for training in self._trainings
        )

    @cached_property
    def _trainings(self) -> list[Call]:
        """The calls that update weights, in steps written by hand or through a model's own methods."""
        return [*self.updates, *self.assigned_updates, *self.model_calls("fit", "fit_generator", "train_on_batch")]

    @cached_property
    def _training_branches(self) -> set[ExecutionPath]:
        """The branches that all training of the program stands in; what a handler trains is another way to train."""
        around = [
            {condition for condition in training.path.conditions(within="program") if condition.kind == "branch"}
            for training in self._trainings
        ]
        return set.intersection(*around) if around else set()

    def is_optional(self, path: ExecutionPath) -> bool:
        """Whether a place runs under a condition under which the program may train without it: not one such as ``if mode == "train"``, which decides on the training, too."""
        return any(condition not in self._training_branches for condition in path.conditions(within="program"))

    def is_executed(self, path: ExecutionPath) -> bool:
        """Whether a place runs when the module is run as a script (or notebook)."""
        return path.root.function is None and path.root.module is self._module

    # ----------------------------------------------------------------- set-up

    @cached_property
    def _modules(self) -> list[Module]:
        """The module and everything of the tree that it imports, also indirectly."""
        return [self._module, *self._module.project.imported(self._module)]

    def _mentions(self, pattern: re.Pattern[str]) -> bool:
        return any(module.mentions(pattern) for module in self._modules)

    @cached_property
    def compiled_metrics(self) -> set[Class]:
        """The classes of the tree whose objects a model is compiled with as metrics."""
        return {
            value.cls
            for call in self.model_calls("compile")
            for value in flat(call.given("metrics"))
            if isinstance(value, Instance)
        }

    @cached_property
    def needs_old_keras(self) -> bool:
        """It imports modules, or gives its layers an argument, that Keras 3 does not have: what is said of Keras 3 alone is not about it."""
        return self._mentions(_OLD_KERAS)

    @cached_property
    def chooses_legacy_keras(self) -> bool:
        """The program sets the environment to Keras 2, maybe in a module that it imports."""
        return self._mentions(_LEGACY_KERAS)

    @cached_property
    def limits_memory(self) -> bool:
        """Memory growth, a limit, or something that may be one is mentioned in the program, or in the image or environment that it is run in."""
        return self._mentions(MEMORY_LIMITS) or lets_memory_grow(self._module.source.path)

    @cached_property
    def mentions_precision(self) -> bool:
        """A precision policy or a 16-bit type is mentioned in the program."""
        return self._mentions(PRECISION_OPTIONS)

    @cached_property
    def uses_tpu(self) -> bool:
        """The program names what sets a TPU up, be it its only device or one of several."""
        return self._mentions(_TPU)

    @cached_property
    def needs_tpu(self) -> bool:
        """The program sets a TPU up and runs on nothing else: no condition leaves that out, and no handler goes on without."""
        calls = [call for call in self._run.calls if (call.name or "").startswith(_TPU_CALLS)]
        return self.uses_tpu and not (calls and all(map(_may_be_left_out, calls)))

    @cached_property
    def uses_network_storage(self) -> bool:
        """The program names files in a bucket or another file system of the network."""
        return self._mentions(_NETWORK_STORAGE)

    @cached_property
    def reinforcement_learning(self) -> bool:
        """The program imports environments for reinforcement learning."""
        return self._mentions(REINFORCEMENT_LEARNING)

    @cached_property
    def adversarial(self) -> bool:
        """Two networks trained against each other, by their names."""
        return self._mentions(GAN_NAMES) or any(all(map(module.mentions, ADVERSARIES)) for module in self._modules)

    @cached_property
    def suppresses_boxes(self) -> bool:
        """The program picks boxes by non-maximum suppression, which makes whoever calls it wait for the device."""
        return self._mentions(_SUPPRESSION)

    @cached_property
    def uses_float64(self) -> bool:
        """The program asks for double precision."""
        return self._mentions(_DOUBLE)

    @cached_property
    def loads_toy_data(self) -> bool:
        """One of the classic small data sets is loaded, or all pictures before the first training become no larger than those of MNIST."""
        first = min((call.order for call in (*self.updates, *self.model_calls(*_FITS))), default=inf)
        sizes = [
            literal_shape(call.given(_RESIZES[call.name]))
            for call in self._run.calls
            if call.name in _RESIZES and call.order < first
        ]
        if sizes and all(_pixels(size) <= _TOY_PIXELS for size in sizes):
            return True
        for call in self._run.calls:
            name = call.name or ""
            named = str(constant(call.given("name"))) if name == TFDS_LOAD else ""
            if name.startswith(_TOY_DATA) or re.split("[/:]", named)[0] in _TOY_NAMES:
                return True
        return False

    @cached_property
    def has_large_layers(self) -> bool:
        """A layer whose work is large enough for 16-bit arithmetic to matter is seen, and no toy data set."""
        return self.has_large_layers_beside(frozenset())

    def has_large_layers_beside(self, seen: Collection[cst.CSTNode]) -> bool:
        """The same for layers that are made by other calls than those of some nodes.

        The models of other modules are judged by their text: they need not be followed for anything else.
        """
        imported = {
            name.partition(".")[0] for module in self._modules for name, level in module.import_names if not level
        }
        if self._mentions(_PRETRAINED) or imported & MODEL_LIBRARIES:
            return True
        if self.loads_toy_data:
            return False
        own = any(makes_large_layer(call) and call.node not in seen for call in self._run.calls)
        return own or any(module.mentions(_LARGE_LAYERS) for module in self._modules[1:])

    def has_many_examples(self, before: Call) -> bool:
        """A thousand examples or more are loaded, read from a file, drawn or counted out before a call; False where nothing of that is seen."""
        for call in self._run.calls:
            if call.order >= before.order:
                break
            name = call.name or ""
            if name.startswith(_LARGE_DATA) or name in _FILE_READERS:
                return True
            if name.startswith(("numpy.random.", "sklearn.datasets.make_", "numpy.arange", "numpy.linspace")):
                for value in call.arguments.values():
                    first = value.items[0] if isinstance(value, SequenceValue) and value.items else value
                    if isinstance(constant(first), int) and constant(first) >= _MANY_EXAMPLES:
                        return True
        return False

    @cached_property
    def is_only_dense(self) -> bool:
        """The layers that are seen are dense ones of no great size, and what works on their results: a step takes about a millisecond."""
        names = {call.name or "" for call in self._run.calls}
        layers = {name.partition(".__")[0] for name in names if name.startswith(LAYERS)}
        return DENSE in layers and layers <= OF_DENSE_MODELS and not self.has_large_layers

    @cached_property
    def runs_functions_eagerly(self) -> bool:
        """``tf.config.run_functions_eagerly(True)`` is called under no condition, or by a script beside the module that imports it."""
        switches = (call for call in self._run.calls if call.name == RUN_FUNCTIONS_EAGERLY)
        own = any(
            constant(call.given("run_eagerly")) is True and not any(call.path.conditions(within="program"))
            for call in switches
        )
        return own or self._module.project.is_switched_eager(self._module)

    @cached_property
    def runs_eagerly(self) -> bool:
        """A switch that makes compiled code run eagerly is on under no condition: that, or one of a model."""
        for call in self._run.calls:
            switch = (
                call.given("run_eagerly")
                if call.attribute == "compile"
                else call.assigned
                if call.attribute == "run_eagerly"
                else None
            )
            if constant(switch) is True and not any(call.path.conditions(within="program")):
                return True
        return self.runs_functions_eagerly

    @cached_property
    def steps_eagerly(self) -> bool:
        """Layers and models are called eagerly: weights are updated by steps that nothing compiles, and no model is fitted.

        So too in a notebook, which nothing can import, that neither trains nor compiles anything.
        """
        if self._module.source.cells is not None and not self._module.mentions(_COMPILES):
            return True
        updates = [*self.updates, *self.assigned_updates]
        compiled = any(call.path.traced_by() for call in updates)
        return (
            bool(updates)
            and not compiled
            and next(self.model_calls("fit", "fit_generator", "train_on_batch", "evaluate"), None) is None
        )

    @cached_property
    def environment(self) -> dict[str, object]:
        """Variables set through os.environ with a literal value; None for one that is not a literal."""
        found: dict[str, object] = {}
        for call in self._run.calls:
            if call.name in SET_VARIABLE:
                key = constant(call.given("key"))
                if isinstance(key, str):
                    found[key] = constant(call.given("value"))
        return found

    @cached_property
    def pins_cpu(self) -> bool:
        """The script hides the GPUs from itself, and no option decides on it, or it requires the build of TensorFlow that has none."""
        hides = any(hides and not _is_option(call.path) for call, hides in self._visible_devices())
        return hides or wants_cpu(self._module.source.path)

    @cached_property
    def hides_gpus(self) -> Call | None:
        """What certainly hides every GPU from the program when it is run; None where a condition or a value that is not a literal decides."""
        found = None
        for call, hides in self._visible_devices():
            if not hides:
                return None
            # A module that it imports does so as well.
            if call.path.root.function is None and not any(call.path.conditions(within="program")):
                found = found or call
        return found

    def _visible_devices(self) -> Iterator[tuple[Call, bool]]:
        """The calls that say which GPUs the program sees, each with whether that is none for certain."""
        for call in self._run.calls:
            if call.name in SET_VARIABLE and constant(call.given("key")) == "CUDA_VISIBLE_DEVICES":
                visible = constant(call.given("value"))
                yield call, isinstance(visible, str) and visible.strip() in ("", "-1")
            elif call.name == SET_VISIBLE_DEVICES:
                devices = call.given("devices")
                none = isinstance(devices, SequenceValue) and not devices.items and not devices.open
                yield call, none and constant(call.given("device_type"), "GPU") == "GPU"

    def cpu_device(self, path: ExecutionPath) -> Call | None:
        """The ``tf.device`` that places what runs at a place on the CPU; None where there is none, or the nearest one says otherwise."""
        devices = {call.node: call for call in self._run.calls if call.name == DEVICE}
        for manager in path.managers(within="program"):
            for item in manager.node.items if isinstance(manager.node, cst.With) else ():
                if item.item in devices:
                    name = constant(devices[item.item].given("device_name"))
                    return devices[item.item] if isinstance(name, str) and _CPU_DEVICE.fullmatch(name) else None
        return None

    @cached_property
    def is_deterministic(self) -> bool:
        """Determinism of operations is asked for, which parallel random maps would cost dearly."""
        return "TF_DETERMINISTIC_OPS" in self.environment or any(True for _ in self.calls(ENABLE_OP_DETERMINISM))

    @cached_property
    def distributes(self) -> bool:
        """A strategy of ``tf.distribute`` is made."""
        return any(class_of(call.name) == STRATEGY for call in self._run.calls if call.name and call.attribute is None)


def _pixels(size: Shape) -> float:
    """How many pixels a picture of a size has; infinite where that is not known."""
    known = product(*size) if size else None
    return inf if known is None else known


def _is_option(path: ExecutionPath) -> bool:
    """Whether the user chooses that a place runs, under a condition that asks for more than whether there are GPUs."""
    for condition in path.conditions(within="program"):
        if condition.test is not None:
            names = (
                node.value for node in condition.module.tree.descendants(condition.test) if isinstance(node, cst.Name)
            )
            if not any(map(GPU_LISTS.search, names)):
                return True
    return False


def _may_be_left_out(call: Call) -> bool:
    """Whether a program can go on without a call: it stands under a condition, or in a try of which a handler does not raise."""
    tries = (each.node for each in call.path.tries(within="program"))
    handlers = (node.handlers for node in tries if isinstance(node, (cst.Try, cst.TryStar)))
    return any(call.path.conditions(within="program")) or any(not all(map(_raises, each)) for each in handlers)


def _raises(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    last = handler.body.body[-1]
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Raise)


def _has_rivals(module: ModuleLike) -> bool:
    """Whether a module uses another library whose models have methods of the same names; PyTorch is none as the backend of Keras."""
    return module.mentions(_RIVALS) or module.runtime.backend != "torch" and module.mentions(_TORCH)


def _is_unknown(value: Value) -> bool:
    return any(
        option is UNKNOWN
        or (isinstance(option, Method) and (_is_unknown(option.receiver) or _is_foreign(option.receiver)))
        for option in options_of(value)
    ) or (isinstance(value, Method) and isinstance(value.receiver, Instance))


def _is_foreign(value: Value) -> bool:
    """Made by a library that kerascheck knows nothing of, of which many build Keras models."""
    return (
        isinstance(value, ExternalInstance)
        and value.name.partition(".")[0] not in _NO_KERAS_MODELS
        and "torch" not in value.name.lower()
    )


def _may_be_model(cls: Class) -> bool:
    """Whether a class of the tree may be a kind of Keras model or optimizer: something that it is made of is not known, or is one."""
    for each in cls.ancestry():
        if isinstance(each, External):
            if each.name.partition(".")[0] not in _NEVER_MODELS:
                return True
        elif any(not isinstance(base, (Class, External)) for base in each.bases):
            return True
    return False


def _is_used_as_model(call: Call) -> bool:
    """Whether the module does with the receiver of a method what nothing but layers and models allow: a call with ``training=``, ``get_layer`` and the like."""
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
    """The class of the receiver replaces the method by its own, and the call does not stand in that one."""
    own = call.receiver.cls.member(call.attribute or "") if isinstance(call.receiver, Instance) else None
    return own is not None and not (
        isinstance(own, Function) and any(function.node is own.node for function in call.path.functions())
    )


def _overridden_in(module: Module) -> set[str]:
    """The methods of classes in a module that name a Model or Sequential as their base, but for those that hand on to the one of their base."""
    classes = [found[0] for found in _MODEL_CLASS.finditer(module.code)]
    return {name for text in classes for name in set(_METHOD.findall(text)) - set(_SUPER.findall(text))}


def _in_keras_step(path: ExecutionPath) -> bool:
    return any(frame.traced in ("train_step", "call") for frame in path.frames())


def _training_loop(path: ExecutionPath) -> ExecutionPath | None:
    """The innermost loop over data or steps around a weight update."""
    return path.innermost_loop(within="program", comprehensions=False)
