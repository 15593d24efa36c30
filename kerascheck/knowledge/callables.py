"""Properties of the functions of TensorFlow and Keras, by canonical name.

Sources: the API documentation of TensorFlow 2.21 and Keras 3.15; for state see :class:`~kerascheck.knowledge.symbols.State`.
"""

from __future__ import annotations

import re
from functools import cache

from kerascheck.knowledge.namespaces import (
    KERAS,
    OF_DATA,
    OF_DATA_EXPERIMENTAL,
    OF_IO,
    OF_KERAS_ACTIVATIONS,
    OF_RANDOM,
    TENSORFLOW,
)
from kerascheck.knowledge.symbols import State, Trait, Writes

BACKEND_MAP_FN = "keras.backend.map_fn"
CASE = "tensorflow.case"
CAST = "tensorflow.cast"
COMPAT_V1 = "tensorflow.compat.v1"
COMPAT_V1_CONFIG_PROTO = "tensorflow.compat.v1.ConfigProto"
COMPAT_V2 = "tensorflow.compat.v2"
COND = "tensorflow.cond"
CONSTANT = "tensorflow.constant"
CONVERT_TO_TENSOR = "tensorflow.convert_to_tensor"
CTC_BEAM_SEARCH_DECODER = "tensorflow.nn.ctc_beam_search_decoder"
DOUBLE = "tensorflow.double"
ENSURE_SHAPE = "tensorflow.ensure_shape"
FLOAT64 = "tensorflow.float64"
FUNCTION = "tensorflow.function"
FUNCTION_COMPILED = "tensorflow.function.compiled"
GATHER = "tensorflow.gather"
GET_VARIABLE = "tensorflow.get_variable"
IMAGE_CONVERT_IMAGE_DTYPE = "tensorflow.image.convert_image_dtype"
IMAGE_CROP_TO_BOUNDING_BOX = "tensorflow.image.crop_to_bounding_box"
IMAGE_RANDOM_CROP = "tensorflow.image.random_crop"
IMAGE_RESIZE = "tensorflow.image.resize"
IMAGE_RESIZE_WITH_CROP_OR_PAD = "tensorflow.image.resize_with_crop_or_pad"
IMAGE_RESIZE_WITH_PAD = "tensorflow.image.resize_with_pad"
INIT_SCOPE = "tensorflow.init_scope"
IO_FIXED_LEN_FEATURE = "tensorflow.io.FixedLenFeature"
IO_PARSE_EXAMPLE = "tensorflow.io.parse_example"
IO_PARSE_SINGLE_EXAMPLE = "tensorflow.io.parse_single_example"
IO_PARSE_SINGLE_SEQUENCE_EXAMPLE = "tensorflow.io.parse_single_sequence_example"
IO_PARSE_TENSOR = "tensorflow.io.parse_tensor"
IO_VAR_LEN_FEATURE = "tensorflow.io.VarLenFeature"
MAP_FN = "tensorflow.map_fn"
MATH_REDUCE = "tensorflow.math.reduce_"
NEST_MAP_STRUCTURE = "tensorflow.nest.map_structure"
NORM = "tensorflow.norm"
ONE_HOT = "tensorflow.one_hot"
OPS_CAST = "keras.ops.cast"
OPS_CONVERT_TO_TENSOR = "keras.ops.convert_to_tensor"
OPS_MAP = "keras.ops.map"
OPS_ONE_HOT = "keras.ops.one_hot"
OPS_SCAN = "keras.ops.scan"
OPS_TRANSPOSE = "keras.ops.transpose"
OPS_VECTORIZED_MAP = "keras.ops.vectorized_map"
OPS_WHERE = "keras.ops.where"
PRINT = "tensorflow.print"
PY_FUNCTION = "tensorflow.py_function"
RAGGED_TENSOR_SPEC = "tensorflow.RaggedTensorSpec"
RANDOM_ = "tensorflow.random.__"
RANDOM_SET_SEED = "tensorflow.random.set_seed"
RANGE = "tensorflow.range"
REDUCE = "tensorflow.reduce_"
SCAN = "tensorflow.scan"
SPARSE_TO_DENSE = "tensorflow.sparse.to_dense"
SQUEEZE = "tensorflow.squeeze"
STRING = "tensorflow.string"
TENSOR = "tensorflow.Tensor"
TENSOR_BOOL = "tensorflow.Tensor.__bool__"
TENSOR_ITEM = "tensorflow.Tensor.item"
TENSOR_NUMPY = "tensorflow.Tensor.numpy"
TENSOR_TOLIST = "tensorflow.Tensor.tolist"
TF_KERAS = "tensorflow.keras"
TF_RESHAPE = "tensorflow.reshape"
TF_SHAPE = "tensorflow.shape"
TRANSPOSE = "tensorflow.transpose"
TREE_MAP_STRUCTURE = "keras.tree.map_structure"
VARIABLE = "tensorflow.Variable"
VARIABLE_GET = "tensorflow.Variable.__get__"
WHERE = "tensorflow.where"

TENSOR_LIBRARIES = (
    TENSORFLOW,
    KERAS,
    "tensorflow_addons.",
    "tensorflow_probability.",
    "tensorflow_text.",
    "tensorflow_io.",
)

_ARITHMETIC = Trait.WITH_NUMBERS | Trait.NORMALIZES
_MAKER = Trait.MAKES_TENSOR | Trait.STARTS_RUNTIME


_ROWS: tuple[tuple[Trait, str, str], ...] = (
    (
        Trait.EACH_ALONE,
        TENSORFLOW,
        "abs bitcast clip_by_value exp logical_not negative ones_like round saturate_cast sigmoid sign sqrt square tanh zeros_like "
        "image.adjust_brightness image.adjust_contrast image.convert_image_dtype image.grayscale_to_rgb image.rgb_to_grayscale "
        "math.abs math.ceil math.divide_no_nan math.exp math.floor math.log math.log1p math.logical_not math.sigmoid math.sqrt math.square math.tanh "
        "nn.relu nn.sigmoid strings.length strings.lower strings.regex_replace strings.strip strings.to_number strings.upper",
    ),
    (
        Trait.EACH_ALONE,
        KERAS,
        "backend.cast ops.abs ops.cast ops.ceil ops.clip ops.exp ops.floor ops.log ops.log1p ops.negative ops.relu ops.round ops.sigmoid ops.sign "
        "ops.sqrt ops.square ops.tanh",
    ),
    (Trait.EACH_ALONE | Trait.SHAPE_MATTERS, KERAS, "ops.one_hot"),
    (Trait.EACH_ALONE | Trait.MOVES_PIXELS, TENSORFLOW, "image.flip_left_right image.flip_up_down"),
    (
        Trait.WITH_NUMBERS,
        TENSORFLOW,
        "add equal greater less maximum minimum not_equal pow truediv math.add math.floormod math.pow",
    ),
    (_ARITHMETIC, TENSORFLOW, "divide multiply subtract math.divide math.multiply math.subtract"),
    (Trait.NORMALIZES, TENSORFLOW, "image.per_image_standardization"),
    (
        Trait.MOVES_PIXELS,
        TENSORFLOW,
        "reverse slice transpose image.central_crop image.crop_to_bounding_box image.pad_to_bounding_box image.random_crop "
        "image.random_flip_left_right image.random_flip_up_down image.resize_with_crop_or_pad image.rot90 image.stateless_random_flip_left_right "
        "image.stateless_random_flip_up_down image.transpose",
    ),
    (Trait.RESHAPES | Trait.EACH_ALONE, TENSORFLOW, "stop_gradient"),
    (Trait.RESHAPES | Trait.EACH_ALONE | Trait.MOVES_PIXELS | Trait.NORMALIZES, TENSORFLOW, "identity"),
    (Trait.RESHAPES | Trait.MOVES_PIXELS, TENSORFLOW, "ensure_shape expand_dims squeeze"),
    (Trait.RESHAPES | Trait.MOVES_PIXELS | Trait.NORMALIZES, TENSORFLOW, "reshape"),
    (Trait.RESHAPES | Trait.MAKES_TENSOR, TENSORFLOW, "stack"),
    (Trait.RETYPES | Trait.EACH_ALONE | Trait.SHAPE_MATTERS | Trait.NORMALIZES | _MAKER, TENSORFLOW, "one_hot"),
    (Trait.RETYPES | Trait.EACH_ALONE | _ARITHMETIC | _MAKER, TENSORFLOW, "cast"),
    (_MAKER, TENSORFLOW, "constant convert_to_tensor eye fill ones range zeros"),
    (Trait.MAKES_TENSOR, TENSORFLOW, "linspace"),
    (Trait.MAKES_TENSOR, KERAS, "ops.arange ops.convert_to_tensor ops.ones ops.zeros"),
    (
        Trait.STARTS_RUNTIME,
        TENSORFLOW,
        "Variable config.experimental.get_memory_info config.list_logical_devices summary.create_file_writer",
    ),
    (Trait.STARTS_RUNTIME | Trait.MULTIPLIES, TENSORFLOW, "matmul"),
    (Trait.MULTIPLIES, TENSORFLOW, "einsum linalg.matmul linalg.matvec nn.conv1d nn.conv2d nn.conv3d tensordot"),
    (Trait.JOINS, TENSORFLOW, "concat"),
    (Trait.JOINS, KERAS, "ops.concatenate"),
    (Trait.IN_LARGE_TABLE, TENSORFLOW, "nn.embedding_lookup nn.nce_loss nn.sampled_softmax_loss"),
    (Trait.READS_FILE | Trait.MAKES_TENSOR, TENSORFLOW, "io.read_file"),
    (Trait.READS_FILE, KERAS, "utils.load_img"),
    (
        Trait.DECODES_IMAGE | Trait.DECODES_BYTES,
        OF_IO,
        "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png",
    ),
    (Trait.DECODES_BYTES, OF_IO, "decode_raw"),
    (Trait.PARSES, OF_IO, "decode_csv decode_json_example"),
    (
        Trait.PARSES,
        TENSORFLOW,
        "audio.decode_wav io.parse_example io.parse_sequence_example io.parse_single_example io.parse_single_sequence_example",
    ),
    (Trait.NO_BATCH, TENSORFLOW, "boolean_mask io.parse_tensor random.shuffle unique unique_with_counts"),
    (Trait.NO_BATCH | Trait.RUNS_PYTHON, TENSORFLOW, "numpy_function py_function"),
    (
        Trait.GIVES_NO_TENSOR,
        TENSORFLOW,
        "TensorShape autograph.experimental.set_loop_options control_dependencies device ensure_shape.static executing_eagerly get_static_value "
        "inside_function is_tensor name_scope print summary.histogram summary.image summary.scalar",
    ),
    (
        Trait.GIVES_NO_TENSOR,
        KERAS,
        "backend.backend backend.dtype backend.epsilon backend.eval backend.floatx backend.get_value backend.image_data_format backend.int_shape "
        "backend.is_keras_tensor backend.is_tensor backend.name_scope backend.ndim ops.convert_to_numpy ops.is_tensor ops.ndim ops.shape tree.flatten",
    ),
    (
        Trait.TRACES,
        KERAS,
        "backend.map_fn backend.rnn backend.switch ops.cond ops.fori_loop ops.map ops.scan ops.vectorized_map ops.while_loop",
    ),
    (Trait.MAKES_ARRAY | Trait.RETYPES, KERAS, "utils.to_categorical"),
    (
        Trait.MAKES_ARRAY,
        KERAS,
        "preprocessing.sequence.pad_sequences utils.np_utils.to_categorical utils.pad_sequences",
    ),
    (Trait.SEEDS, TENSORFLOW, "compat.v1.set_random_seed random.set_seed set_random_seed"),
    (Trait.SEEDS, KERAS, "utils.set_random_seed"),
    (Trait.LOOKS_AT_DATASET, OF_DATA_EXPERIMENTAL, "assert_cardinality cardinality get_structure"),
)
"""Traits, a prefix, and the functions below it that have exactly these traits."""


def _table() -> dict[str, Trait]:
    """Return the traits of each function; each name occurs once, with all its traits."""
    table: dict[str, Trait] = {}
    for traits, prefix, names in _ROWS:
        for name in names.split():
            assert prefix + name not in table, name
            table[prefix + name] = traits
    return table


FUNCTIONS: dict[str, Trait] = _table()
"""Traits of the known functions."""


def having(traits: Trait) -> frozenset[str]:
    """Return the names of the functions with any of some traits, for tables built at import."""
    return frozenset(name for name, found in FUNCTIONS.items() if found & traits)


_SCALARS = re.compile(
    r"(?:tensorflow|numpy|keras\.backend|tensorflow\.dtypes)\.(?:u?int\d+|float\d*|bfloat16|half|double|bool_?|string|complex\d+)$"
    r"|(?:math|numpy)\.(?:pi|e|inf|nan|tau)$"
)


@cache
def is_scalar(name: str) -> bool:
    """Whether a library name refers to a numeric type, or to a number."""
    return _SCALARS.match(name) is not None


TRACING_WRAPPERS = having(Trait.TRACES)
STATIC_RESULTS = having(Trait.GIVES_NO_TENSOR)
ARRAY_MAKERS = having(Trait.MAKES_ARRAY)
_TENSOR_MAKERS = having(Trait.MAKES_TENSOR)
PY_FUNCTIONS = having(Trait.RUNS_PYTHON)
SEQUENCE_SCORES = frozenset(
    {
        "keras.backend.ctc_decode",
        "keras.ops.ctc_decode",
        "keras.ops.nn.ctc_decode",
        "tensorflow.edit_distance",
        CTC_BEAM_SEARCH_DECODER,
        "tensorflow.nn.ctc_greedy_decoder",
    }
)
"""Functions that decode or compare sequences one by one. Their kernels exist for the CPU only (TensorFlow 2.21)."""
IMAGE_COLORS = frozenset(
    f"tensorflow.image.{how}_{what}"
    for how in ("adjust", "random", "stateless_random")
    for what in ("brightness", "contrast", "hue", "saturation")
)
"""Functions that change the colors of an image, pixel by pixel; contrast also depends on the mean of the image."""
IMAGE_BRIGHTNESS = frozenset(name for name in IMAGE_COLORS if name.endswith("brightness"))
IMAGE_FLIPS = frozenset(
    f"{TENSORFLOW}image.{name}"
    for name in "flip_left_right flip_up_down random_flip_left_right random_flip_up_down stateless_random_flip_left_right "
    "stateless_random_flip_up_down".split()
)
IMAGE_STANDARDIZATION = f"{TENSORFLOW}image.per_image_standardization"
IMAGE_DECODERS = having(Trait.DECODES_IMAGE)
DENSE_MAKERS = frozenset(
    f"{TENSORFLOW}{name}"
    for name in "constant convert_to_tensor eye fill linspace ones random.normal random.truncated_normal random.uniform range zeros".split()
)
"""Functions that return a dense tensor or raise, whatever their arguments.

Source: API documentation of TensorFlow 2.21.
"""
LOOKING_AT_DATASETS = having(Trait.LOOKS_AT_DATASET)

IO_DECODE = "tensorflow.io.decode_"
NON_MAX_SUPPRESSION = "tensorflow.image.non_max_suppression"
STRINGS = "tensorflow.strings."

LOAD_IMG = "keras.utils.load_img"
NUMPY_FUNCTION = "tensorflow.numpy_function"
READ_FILE = "tensorflow.io.read_file"
GFILE_GLOB = "tensorflow.io.gfile.glob"
GFILE_LISTS = frozenset({GFILE_GLOB, "tensorflow.io.gfile.listdir"})
KERAS_RANDOM = "keras.random."
LOOKUP = "tensorflow.lookup."
_DRAWING = (
    OF_RANDOM, "tensorflow.image.random_", "tensorflow.image.sample_distorted_bounding_box", "tensorflow.nn.dropout",
    "tensorflow_addons.image.random_", KERAS_RANDOM, "keras.backend.random_", "keras.backend.dropout",
)  # fmt: skip
_DRAWING_NOTHING = (
    RANDOM_SET_SEED, "tensorflow.random.split", "tensorflow.random.fold_in", "tensorflow.random.create_rng", "keras.random.SeedGenerator",
)  # fmt: skip
_STATES = {
    VARIABLE_GET: State.READS,
    PRINT: State.PRINTS,
    **dict.fromkeys(PY_FUNCTIONS, State.RUNS_PYTHON),
}


@cache
def state_of_function(name: str) -> State | None:
    """Return the state of a call that follows from the function's name alone; None for all other functions."""
    if name in _STATES:
        return _STATES[name]
    if name.startswith(_DRAWING) and not name.startswith(_DRAWING_NOTHING) and "stateless" not in name:
        return State.DRAWS
    if name.startswith(LOOKUP) and name.endswith((".lookup", ".__getitem__", ".__call__")):
        return State.LOOKS_UP
    return State.ASSIGNS if STATE_WRITING_FUNCTIONS.match(name) else None


# A function passed to one of these is compiled; the value is how.
COMPILERS = {
    FUNCTION: "tf.function",
    "tensorflow.contrib.eager.defun": "tf.function",
    "tensorflow.contrib.eager.function": "tf.function",
    "tensorflow.autograph.to_graph": "tf.function",
    "jax.jit": "jax.jit",
    "torch.compile": "torch.compile",
}

# Decorators that return an equivalent function.
TRANSPARENT_DECORATORS = frozenset(
    {
        "functools.wraps",
        "functools.lru_cache",
        "functools.cache",
        "abc.abstractmethod",
        "typing.no_type_check",
        "typing.final",
        "tensorflow.autograph.experimental.do_not_convert",
        "tensorflow.custom_gradient",
        "keras.saving.register_keras_serializable",
        "keras.utils.register_keras_serializable",
        "tensorflow.Module.with_name_scope",
        "tensorflow.no_gradient",
        "typing.overload",
        "tensorflow.recompute_grad",
        "contextlib.contextmanager",
        "typeguard.typechecked",
        "tensorflow.test.mock.patch",
        "tensorflow_addons.utils.types.typechecked",
        "tensorflow.autograph.do_not_convert",
        "builtins.object",
    }
)

TRANSPARENT_DECORATOR_PREFIXES = (
    "gin.",
    "click.",
    "absl.",
    "hydra.",
    "typing.",
    "dataclasses.",
    "numba.",
    "pytest.",
    "tensorflow_addons.utils.",
)

# The results of these are compiled, as are their attributes.
COMPILED_LOADERS = ("tensorflow_hub.load", "tensorflow.saved_model.load")

# Methods that write to variables, metrics, tables and queues of TensorFlow and Keras, with their targets. Source: their API documentation.
STATE_WRITES = {
    **dict.fromkeys("assign assign_add assign_sub batch_scatter_update count_up_to".split(), Writes.VARIABLE),
    **{f"scatter_{nd}{how}": Writes.VARIABLE for nd in ("", "nd_") for how in "update add sub mul div min max".split()},
    **dict.fromkeys("update_state reset_state reset_states".split(), Writes.METRIC),
    **dict.fromkeys("enqueue enqueue_many dequeue dequeue_many dequeue_up_to".split(), Writes.QUEUE),
    **dict.fromkeys("apply_gradients minimize train_on_batch".split(), Writes.WEIGHTS),
    "insert_or_assign": Writes.TABLE,
}

# Writing methods of tables whose names have other meanings elsewhere.
TABLE_WRITES = frozenset({"insert", "remove", "erase"})

# Functions that do the same, by the part of their name after the module.
STATE_WRITING_FUNCTIONS = re.compile(
    r"tensorflow\.(?:compat\.v1\.)?(?:assign(?:_add|_sub)?|(?:batch_)?scatter_(?:nd_)?(?:update|add|sub|mul|div|min|max)|count_up_to)$|tensorflow\.raw_ops\.(?:Assign|Scatter(?!Nd$)|ResourceScatter)\w*$"
    r"|keras\.backend\.(?:update(?:_add|_sub)?|moving_average_update|set_value)$|tensorflow\.io\.write_file$|tensorflow\.summary\.(?:audio|graph|histogram|image|scalar|text|write)$"
)

# Functions that split a tensor along an axis into a list, with the parameter that may give the length of the list.
LISTS_OF_TENSORS = {
    "tensorflow.unstack": "num",
    "tensorflow.split": "num_or_size_splits",
    "keras.ops.unstack": "num",
    "keras.ops.split": "indices_or_sections",
}

GENERATOR = "tensorflow.random.Generator"
GLOBAL_GENERATOR = "tensorflow.random.get_global_generator"
_RANDOM_STATE = (GENERATOR, GLOBAL_GENERATOR, "tensorflow.random.set_", "keras.random.SeedGenerator")


@cache
def calls_functions(name: str) -> bool:
    """Whether a function may call the functions passed to it, unless more is known of it."""
    return name in TRACING_WRAPPERS or not name.startswith((KERAS, OF_DATA))


def makes_tensor(name: str) -> bool:
    """Whether a function always returns a tensor."""
    return name in _TENSOR_MAKERS or (
        name.startswith((OF_RANDOM, "keras.random.")) and not name.startswith(_RANDOM_STATE)
    )


# Functions whose first argument is a tensor: they have no use for numbers.
_OF_TENSORS = frozenset(
    "argmax argmin argsort batch_dot bias_add boolean_mask clip_by_value concat concatenate cumsum depth_to_space dot einsum expand_dims flatten "
    "gather gather_nd map_fn matmul matrix_transpose moveaxis norm one_hot pad permute_dimensions reduce_all reduce_any reduce_logsumexp reduce_max "
    "reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance repeat_elements reshape reverse roll scan segment_sum shape slice sort "
    "space_to_depth split squeeze tensordot tile top_k transpose unsorted_segment_sum unstack".split()
)

# So do all other functions of these modules.
_PRODUCTS = frozenset({"batch_dot", "dot", "gather", "matmul", "tensordot"})

TENSOR_ATTRIBUTES = frozenset("dtype get_shape item ndim numpy set_shape shape tolist".split())

_NAMED_TENSOR = re.compile(
    r"(?:^|_)(?:inputs?|x|y|true|preds?|query|queries|keys?|values?|states?|hidden|memory|contexts?|features?|feats?|emb|embeddings?|encodings?|logits|"
    r"labels?|targets?|outputs?|images?|tokens?|ids|boxes|scores|noise)_?\d*$"
)


def takes_tensor(name: str, position: int) -> bool:
    """Whether an argument of a tensor library function has to be a tensor or an array."""
    last = name.rpartition(".")[2]
    if not name.startswith(TENSOR_LIBRARIES) or last.startswith("convert_"):
        return False
    of_tensors = last in _OF_TENSORS or ".nn." in name or ".image." in name or name.startswith(OF_KERAS_ACTIVATIONS)
    return of_tensors and (position == 0 or last in _PRODUCTS) or last == "einsum"


def names_tensor(parameter: str) -> bool:
    """Whether the name of a parameter of ``call`` suggests a tensor."""
    return _NAMED_TENSOR.search(parameter) is not None
