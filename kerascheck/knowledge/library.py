"""What the interpreter must know of TensorFlow, Keras and their neighbours: names, as data.

Names are canonical (:mod:`kerascheck.syntax.names`). What the *runtime* does with
them is not here but in :mod:`kerascheck.knowledge.runtime`.
"""

from __future__ import annotations

import builtins
import re
from functools import lru_cache

# The last two are put there when Python starts.
BUILTINS = frozenset({*dir(builtins), "exit", "quit"})

TENSOR_LIBRARIES = ("tensorflow.", "keras.", "tensorflow_addons.", "tensorflow_probability.", "tensorflow_text.", "tensorflow_io.")

# A function handed to one of these is compiled; the value is how.
COMPILERS = {
    "tensorflow.function": "tf.function",
    "tensorflow.contrib.eager.defun": "tf.function",
    "tensorflow.contrib.eager.function": "tf.function",
    "tensorflow.autograph.to_graph": "tf.function",
    "jax.jit": "jax.jit",
    "torch.compile": "torch.compile",
}

# Decorators that leave the function what it is.
TRANSPARENT_DECORATORS = frozenset(
    {
        "functools.wraps", "functools.lru_cache", "functools.cache", "abc.abstractmethod", "typing.no_type_check", "typing.final",
        "tensorflow.autograph.experimental.do_not_convert", "tensorflow.custom_gradient", "keras.saving.register_keras_serializable",
        "keras.utils.register_keras_serializable", "tensorflow.Module.with_name_scope", "tensorflow.no_gradient", "typing.overload",
        "tensorflow.recompute_grad", "contextlib.contextmanager", "typeguard.typechecked", "tensorflow.test.mock.patch",
        "tensorflow_addons.utils.types.typechecked", "tensorflow.autograph.do_not_convert", "builtins.object",
    }
)
TRANSPARENT_DECORATOR_PREFIXES = ("gin.", "click.", "absl.", "hydra.", "typing.", "dataclasses.", "numba.", "pytest.", "tensorflow_addons.utils.")

ENDS_THE_PROGRAM = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})

# What a decorator makes of a method.
METHOD_KINDS = {
    "builtins.staticmethod": "staticmethod",
    "builtins.classmethod": "classmethod",
    "builtins.property": "property",
    "functools.cached_property": "property",
    "abc.abstractproperty": "property",
}

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

# Methods that change the list, set, dictionary, queue or file they belong to.
MUTATING_METHODS = frozenset(
    "append appendleft extend extendleft insert add remove discard pop popleft popitem clear update setdefault sort reverse put put_nowait write writelines writerow".split()
)

# Methods that write to variables, metrics, tables and queues of TensorFlow and Keras, with what they do, for messages. Source: their API documentation.
STATE_WRITES = {
    **dict.fromkeys("assign assign_add assign_sub batch_scatter_update count_up_to".split(), "assigns a tf.Variable"),
    **{f"scatter_{nd}{how}": "assigns a tf.Variable" for nd in ("", "nd_") for how in "update add sub mul div min max".split()},
    **dict.fromkeys("update_state reset_state reset_states".split(), "updates a metric"),
    **dict.fromkeys("enqueue enqueue_many dequeue dequeue_many dequeue_up_to".split(), "changes a queue"),
    **dict.fromkeys("apply_gradients minimize train_on_batch".split(), "updates weights"),
    "insert_or_assign": "changes a lookup table",
}
# Methods of tables that write, which have other meanings elsewhere.
TABLE_WRITES = frozenset({"insert", "remove", "erase"})
# Functions that do the same, by the part of their name behind the module.
STATE_WRITING_FUNCTIONS = re.compile(
    r"tensorflow\.(?:compat\.v1\.)?(?:assign(?:_add|_sub)?|(?:batch_)?scatter_(?:nd_)?(?:update|add|sub|mul|div|min|max)|count_up_to)$|tensorflow\.raw_ops\.(?:Assign|Scatter(?!Nd$)|ResourceScatter)\w*$"
    r"|keras\.backend\.(?:update(?:_add|_sub)?|moving_average_update|set_value)$|tensorflow\.io\.write_file$|tensorflow\.summary\.(?:audio|graph|histogram|image|scalar|text|write)$"
)

# What these return is compiled, whatever is taken from it.
COMPILED_LOADERS = ("tensorflow_hub.load", "tensorflow.saved_model.load")

# Readings of a clock.
CLOCKS = frozenset(
    {
        "time.time", "time.perf_counter", "time.monotonic", "time.process_time", "time.time_ns", "time.perf_counter_ns",
        "timeit.default_timer", "datetime.datetime.now", "datetime.now",
    }
)

# What gives a text, and what gives texts one by one: lists of them, the lines of a file, the letters of a text.
_TEXT_METHODS = "capitalize casefold center expandtabs format join ljust lower lstrip removeprefix removesuffix replace rjust rstrip strip swapcase title translate upper zfill"
TEXTS = frozenset(
    {
        "builtins.str", "builtins.repr", "builtins.input", "builtins.chr", "builtins.format", "builtins.open.read", "builtins.open.readline",
        "os.path.join", "os.path.basename", "os.path.dirname", "os.path.abspath", "os.path.normpath", "json.dumps",
    }
) | {f"builtins.str.{method}" for method in _TEXT_METHODS.split()}  # fmt: skip
LISTS_OF_TEXTS = frozenset(
    {
        "builtins.str", "builtins.str.split", "builtins.str.rsplit", "builtins.str.splitlines", "builtins.open", "builtins.open.readlines",
        "os.listdir", "glob.glob", "glob.iglob", "tensorflow.io.gfile.glob", "tensorflow.io.gfile.listdir",
    }
)  # fmt: skip
# Methods of arrays, and of tables and their columns, that make a list of what Python has for their items: numbers, texts or lists of these.
LISTING_METHODS = frozenset({"tolist", "to_list"})


def item_of(name: str) -> str | None:
    """What the items of a list are that a function or method of this name gives: "builtins.str", "builtins.object" for one kind or another; None for no such list."""
    return "builtins.str" if name in LISTS_OF_TEXTS else "builtins.object" if name.rpartition(".")[2] in LISTING_METHODS else None


PASS_THROUGH_ITERATORS = frozenset(
    {
        "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.tqdm_notebook", "tqdm.autonotebook.tqdm", "tqdm.std.tqdm", "tqdm",
        "rich.progress.track", "alive_progress.alive_it", "fastprogress.progress_bar", "fastprogress.master_bar",
        "fastprogress.fastprogress.progress_bar", "fastprogress.fastprogress.master_bar", "progressbar.progressbar",
    }
)

# Packages of Keras models that are large, or of the parts that such models are made of.
MODEL_LIBRARIES = frozenset(
    "segmentation_models classification_models efficientnet kecam keras_cv_attention_models vit_keras tfimm keras_resnet "
    "keras_unet_collection keras_efficientnet_v2 keras_retinanet keras_segmentation bert official tensorflow_models".split()
)

# Libraries that hand a function on to code which runs it in the graph.
TRACING_WRAPPERS = frozenset({"keras.ops.map", "keras.ops.scan", "keras.ops.while_loop", "keras.ops.cond", "keras.ops.fori_loop", "keras.ops.vectorized_map", "keras.backend.switch", "keras.backend.map_fn", "keras.backend.rnn"})

# Datasets given to these are only looked at.
TRANSPARENT_TO_DATASETS = frozenset({"tensorflow.data.experimental.cardinality", "tensorflow.data.experimental.get_structure", "tensorflow.data.experimental.assert_cardinality"})

# Results that are no tensors although a tensor goes in.
STATIC_RESULTS = frozenset(
    {
        "tensorflow.is_tensor", "tensorflow.get_static_value", "tensorflow.executing_eagerly", "tensorflow.TensorShape",
        "keras.backend.int_shape", "keras.backend.ndim", "keras.backend.is_keras_tensor", "keras.backend.image_data_format",
        "keras.backend.floatx", "keras.backend.epsilon", "keras.backend.dtype", "keras.backend.is_tensor", "keras.ops.ndim",
        "keras.ops.shape", "keras.ops.is_tensor", "keras.ops.convert_to_numpy", "keras.backend.eval", "keras.backend.get_value", "keras.tree.flatten", "tensorflow.device",
        "tensorflow.name_scope", "tensorflow.inside_function", "tensorflow.control_dependencies", "keras.backend.backend",
        "tensorflow.summary.scalar", "tensorflow.summary.histogram", "tensorflow.summary.image", "tensorflow.print",
        "tensorflow.ensure_shape.static", "keras.backend.name_scope", "tensorflow.autograph.experimental.set_loop_options",
    }
)

# What takes a tensor apart along an axis, into a list of tensors: where the number of these stands, if it does, and where the axis.
LISTS_OF_TENSORS = {
    "tensorflow.unstack": ((1, "num"), (2, "axis")),
    "tensorflow.split": ((1, "num_or_size_splits"), (2, "axis")),
    "keras.ops.unstack": ((1, "num"), (2, "axis")),
    "keras.ops.split": ((1, "indices_or_sections"), (2, "axis")),
}

# What runs a function of Python within a graph, under its lock; names.py knows the older names of these.
PY_FUNCTIONS = frozenset({"tensorflow.py_function", "tensorflow.numpy_function"})

# Functions of Keras that give NumPy arrays.
ARRAY_MAKERS = frozenset({"keras.utils.to_categorical", "keras.utils.np_utils.to_categorical", "keras.utils.pad_sequences", "keras.preprocessing.sequence.pad_sequences"})

TENSOR_MAKERS = frozenset(
    {
        "tensorflow.constant", "tensorflow.zeros", "tensorflow.ones", "tensorflow.fill", "tensorflow.range", "tensorflow.eye",
        "tensorflow.linspace", "tensorflow.convert_to_tensor", "tensorflow.one_hot", "tensorflow.cast", "tensorflow.stack",
        "tensorflow.io.read_file", "keras.ops.zeros", "keras.ops.ones", "keras.ops.arange", "keras.ops.convert_to_tensor",
    }
)
_RANDOM_STATE = ("tensorflow.random.Generator", "tensorflow.random.get_global_generator", "tensorflow.random.set_", "keras.random.SeedGenerator")


def makes_tensor(name: str) -> bool:
    """Whether a function returns a tensor whatever it is given."""
    return name in TENSOR_MAKERS or (name.startswith(("tensorflow.random.", "keras.random.")) and not name.startswith(_RANDOM_STATE))


# Functions whose first argument is a tensor: numbers are nothing that they are for.
_OF_TENSORS = frozenset(
    "argmax argmin argsort batch_dot bias_add boolean_mask clip_by_value concat concatenate cumsum depth_to_space dot einsum expand_dims flatten "
    "gather gather_nd map_fn matmul matrix_transpose moveaxis norm one_hot pad permute_dimensions reduce_all reduce_any reduce_logsumexp reduce_max "
    "reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance repeat_elements reshape reverse roll scan segment_sum shape slice sort "
    "space_to_depth split squeeze tensordot tile top_k transpose unsorted_segment_sum unstack".split()
)
# And so are all others of these.
_PRODUCTS = frozenset({"batch_dot", "dot", "gather", "matmul", "tensordot"})
TENSOR_ATTRIBUTES = frozenset("dtype get_shape item ndim numpy set_shape shape tolist".split())
_NAMED_TENSOR = re.compile(
    r"(?:^|_)(?:inputs?|x|y|true|preds?|query|queries|keys?|values?|states?|hidden|memory|contexts?|features?|feats?|emb|embeddings?|encodings?|logits|"
    r"labels?|targets?|outputs?|images?|tokens?|ids|boxes|scores|noise)_?\d*$"
)


def takes_tensor(name: str, position: int) -> bool:
    """Whether an argument of a function of the tensor libraries must be a tensor, or an array."""
    last = name.rpartition(".")[2]
    if not name.startswith(TENSOR_LIBRARIES) or last.startswith("convert_"):
        return False
    of_tensors = last in _OF_TENSORS or ".nn." in name or ".image." in name or name.startswith("keras.activations.")
    return of_tensors and (position == 0 or last in _PRODUCTS) or last == "einsum"


def names_tensor(parameter: str) -> bool:
    """Whether the name of a parameter of ``call`` says that it holds a tensor."""
    return _NAMED_TENSOR.search(parameter) is not None


# Dataset methods that return a dataset; the value tells where a function is given, if one is.
DATASET_METHODS: dict[str, tuple[int, str] | None] = {
    "batch": None,
    "bucket_by_sequence_length": (0, "element_length_func"),
    "cache": None,
    "concatenate": None,
    "enumerate": None,
    "filter": (0, "predicate"),
    "flat_map": (0, "map_func"),
    "group_by_window": (1, "reduce_func"),
    "ignore_errors": None,
    "interleave": (0, "map_func"),
    "map": (0, "map_func"),
    "map_with_legacy_function": (0, "map_func"),
    "map_and_batch": (0, "map_func"),
    "padded_batch": None,
    "parallel_interleave": (0, "map_func"),
    "prefetch": None,
    "ragged_batch": None,
    "rebatch": None,
    "rejection_resample": (0, "class_func"),
    "repeat": None,
    "scan": (1, "scan_func"),
    "shard": None,
    "shuffle": None,
    "shuffle_and_repeat": None,
    "skip": None,
    "snapshot": None,
    "sparse_batch": None,
    "take": None,
    "take_while": (0, "predicate"),
    "unbatch": None,
    "unique": None,
    "window": None,
    "with_options": None,
    "zip": None,
}

BATCHING: dict[str, int | None] = {
    "batch": 0, "padded_batch": 0, "ragged_batch": 0, "sparse_batch": 0, "dense_to_ragged_batch": 0, "dense_to_sparse_batch": 0, "map_and_batch": 1,
    "bucket_by_sequence_length": None,
}  # fmt: skip
"""Operations that put elements together into batches, with the position of their ``batch_size``; None where each bucket has its own. Source: tf.data 2.21."""

_SOURCES = {
    "tensorflow.data.TFRecordDataset", "tensorflow.data.TextLineDataset", "tensorflow.data.FixedLengthRecordDataset",
    "tensorflow.data.experimental.CsvDataset", "tensorflow.data.experimental.SqlDataset", "tensorflow.data.experimental.RaggedTensor",
    "tensorflow.data.experimental.make_csv_dataset", "tensorflow.data.experimental.make_batched_features_dataset",
    "tensorflow.data.experimental.Counter", "tensorflow.data.experimental.RandomDataset", "tensorflow.data.experimental.from_variant",
    "keras.utils.image_dataset_from_directory", "keras.utils.text_dataset_from_directory", "keras.utils.audio_dataset_from_directory",
    "keras.utils.timeseries_dataset_from_array", "keras.utils.split_dataset", "tensorflow_datasets.load", "tensorflow_datasets.as_dataset",
}
_DATASET_FACTORIES = (
    "from_tensor_slices", "from_tensors", "from_generator", "from_list", "list_files", "range", "zip", "load", "random",
    "sample_from_datasets", "choose_from_datasets", "counter", "from_sparse_tensor_slices",
)


@lru_cache(maxsize=None)
def source_kind(name: str) -> str | None:
    """ "tfds" or "source" where a call of ``name`` makes a dataset, else None."""
    if name in ("tensorflow_datasets.load", "tensorflow_datasets.as_dataset"):
        return "tfds"
    if name in _SOURCES:
        return "source"
    owner, _, last = name.rpartition(".")
    if last in _DATASET_FACTORIES and owner in (
        "tensorflow.data.Dataset", "tensorflow.data.DatasetV2", "tensorflow.data.TFRecordDataset", "tensorflow.data.TextLineDataset",
    ):
        return "source"
    return None


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
    return module == "keras.layers" and name[:1].isupper() and not any(name in names for key, names in _STAR_EXPORTS.items() if name != "Input")


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
    if owner == "tensorflow.random.Generator" or name == "tensorflow.random.get_global_generator":
        return "tensorflow.random.Generator"
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


_TUNER = re.compile(r"keras_tuner\.(?:[a-z_]+\.)*(?:BayesianOptimization|GridSearch|Hyperband|RandomSearch)")


def is_tuner(name: str | None) -> bool:
    """Whether a class of KerasTuner searches over the models that a function or a HyperModel builds."""
    return name is not None and _TUNER.fullmatch(name) is not None


def traced_hook(bases: set[str], method: str) -> str | None:
    """How Keras compiles a method that it calls itself ("call", "train_step", ...); None where it does not."""
    owner = class_of_bases(bases)
    return _HOOKS.get(owner or "", {}).get(method)

NETWORK_STORAGE = r"(?:gs|s3|s3a|hdfs|viewfs|abfss?|wasbs?|az|oss|cos|https?)://"
"""A regular expression for how the names of files on network storage start, as tf.io.gfile knows them with its plugins."""

GRIDS = frozenset({"itertools.product", "sklearn.model_selection.ParameterGrid"})
"""What goes through every combination of the items of several lists."""

SPLITTERS = {
    f"sklearn.model_selection.{name}": folds
    for name, folds in {
        "KFold": 5, "StratifiedKFold": 5, "GroupKFold": 5, "StratifiedGroupKFold": 5, "TimeSeriesSplit": 5,
        "ShuffleSplit": 10, "StratifiedShuffleSplit": 10, "GroupShuffleSplit": 5,
    }.items()
}  # fmt: skip
"""What cuts data into folds, with the default of ``n_splits``: how many pairs ``split`` gives. Source: documentation of scikit-learn 1.5."""
