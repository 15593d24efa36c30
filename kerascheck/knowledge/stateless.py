"""Functions of TensorFlow and Keras with only stateless operations, so calls may run in parallel or ahead of time.

An allow list: names outside of its namespaces, and exceptions, are not known to be stateless. Source: ``is_stateful``
of the operations that each public function adds to a graph (TensorFlow 2.21, Keras 3.15); ``tests/knowledge/test_stateless.py``
compares. ``Assert``, ``If`` and ``CheckNumerics`` are stateful for the runtime, but have no effect.
"""

from __future__ import annotations

import re
import sys
from functools import cache

_NAMESPACES = (
    "tensorflow.audio.", "tensorflow.bitwise.", "tensorflow.debugging.assert", "tensorflow.dtypes.", "tensorflow.image.", "tensorflow.io.",
    "tensorflow.linalg.", "tensorflow.math.", "tensorflow.nn.", "tensorflow.ragged.", "tensorflow.sets.", "tensorflow.signal.",
    "tensorflow.sparse.", "tensorflow.strings.", "tensorflow.Tensor.", "tensorflow.random.stateless_", "keras.ops.", "keras.backend.cast",
)  # fmt: skip
_TOP_LEVEL = re.compile(r"tensorflow\.[a-z]\w*$")
_EXCEPTIONS = re.compile(
    r"\.(?!stateless_)(?:random_\w+|sample_distorted_bounding_box|dropout|fractional_\w+|\w*sampler|sampled_softmax_loss|nce_loss"
    r"|write_\w+|match_filenames_once|read_file|matching_files|gfile\.\w+|TFRecord\w+|timestamp|print|py_function|numpy_function|init_scope"
    r"|function|custom_gradient|recompute_grad|grad_pass_through|numpy|item|load_\w+|import_graph_def|experimental_\w+)$"
)
"""Functions that draw, access files, read a clock or run Python. ``read_file`` is stateless, but the file may change."""

_OF_PYTHON = frozenset({"numpy", "cv2", "PIL", "scipy", "pandas"}) | sys.stdlib_module_names
"""Libraries that add no operations to a graph: a mapped function calls them once, during tracing."""


@cache
def is_stateless(name: str) -> bool:
    """Whether a function, by canonical name, is known to add only stateless operations to a graph.

    Example:
        >>> is_stateless("tensorflow.image.resize"), is_stateless("tensorflow.image.random_crop"), is_stateless("acme.resize")
        (True, False, False)
    """
    if adds_no_operations(name):
        return True
    return bool(name.startswith(_NAMESPACES) or _TOP_LEVEL.match(name)) and not _EXCEPTIONS.search(name)


def adds_no_operations(name: str) -> bool:
    """Whether a name belongs to Python or to a library that knows nothing of graphs.

    Example:
        >>> adds_no_operations("numpy.array"), adds_no_operations("acme.array")
        (True, False)
    """
    return name.partition(".")[0] in _OF_PYTHON and not _REACHES_OTHERS.match(name)


_REACHES_OTHERS = re.compile(
    r"(?:builtins\.(?:globals|locals|vars|eval|exec|compile|__import__|__loader__)"
    r"|(?:sys|gc|inspect|importlib|ctypes|threading|contextvars|weakref|code|codeop|runpy|pickle|marshal|shelve|traceback|__main__)(?:\..*)?)$"
)
"""Functions that access program objects without their names, or execute text."""


_VARIABLES = re.compile(
    r"\.(?:Variable|backend\.(?:variable|placeholder|zeros|ones|random_\w+)|random\.Generator|random\.get_global_generator|Module|Checkpoint|SeedGenerator)\b|^keras\.(?:Model|models|Sequential|Optimizer"
    r"|optimizers|applications|Metric|metrics|Variable|saving|Loss|losses|random|initializers|callbacks|tuner)\b|^tensorflow\.(?:saved_model|train|compat|"
    r"lookup\.experimental|queue|estimator|contrib|summary|distribute)\b"
)
"""Names of objects that hold variables, or may."""


@cache
def is_constant(name: str) -> bool:
    """Whether a library symbol, or the result of calling it, is certainly no variable and holds none.

    Example:
        >>> is_constant("tensorflow.float32"), is_constant("tensorflow.Variable"), is_constant("acme.SCALE")
        (True, False, False)
    """
    if adds_no_operations(name):
        return True
    return name.startswith(("tensorflow.", "keras.")) and not _VARIABLES.search(name) or name in ("tensorflow", "keras")


_PLAIN_RESULTS = re.compile(
    r"(?:numpy|cv2|PIL|pandas|scipy|math|cmath|os|pathlib|time|datetime|re|json|csv|string|struct|hashlib|uuid|platform|glob|fractions|decimal|zlib|base64"
    r"|random\.(?:random|randint|randrange|uniform|gauss|normalvariate|Random))(?:\..*)?$"
    r"|builtins\.(?:int|float|str|bytes|bool|complex|len|round|abs|range|ord|chr|hash|id|repr|format|hex|bin|oct|divmod)$"
)
"""Functions that always return numbers, strings, arrays, paths and the like."""


@cache
def is_constant_result(name: str) -> bool:
    """Whether the result of a library function or class, by canonical name, is certainly no variable and holds none.

    Example:
        >>> is_constant_result("numpy.array"), is_constant_result("types.SimpleNamespace"), is_constant_result("tensorflow.Variable")
        (True, False, False)
    """
    if not name.startswith(("tensorflow.", "keras.")):
        return _PLAIN_RESULTS.match(name) is not None
    return is_stateless(name) or name in IMMUTABLE_TABLES or bool(_VALUES.match(name))


_VALUES = re.compile(
    r"(?:tensorflow|keras)\.(?:lookup\.\w+Initializer|data\.\w+|\w*TensorSpec|RaggedTensor|SparseTensor|TensorShape|io\.[A-Z]\w+|dtypes\.\w+"
    r"|utils\.(?:to_categorical|normalize|pad_sequences|get_file|load_img|img_to_array))(?:\.\w+)?$"
)
"""Classes and functions of TensorFlow and Keras that hold or return tensors, arrays and descriptions of them."""


IMMUTABLE_TABLES = frozenset({"tensorflow.lookup.StaticHashTable", "tensorflow.lookup.StaticVocabularyTable"})
"""Lookup tables that are immutable after initialisation. Source: their API documentation (TensorFlow 2.21)."""

ROUNDS_BY_POSITION = frozenset(
    {
        *(f"tensorflow.{name}" for name in "exp math.exp sigmoid math.sigmoid nn.sigmoid tanh math.tanh math.log math.log1p pow math.pow".split()),
        *(f"keras.ops.{name}" for name in "exp sigmoid tanh log log1p".split()),
    }
)  # fmt: skip
"""Element-wise functions that may round a number differently in a batch than alone.

Eigen's kernels process several numbers at once with another approximation than the remaining ones. Measured with float32 on
TensorFlow 2.21: up to 15 % of the results of exp, sigmoid, log, log1p and pow differ in the last bit; tanh works the same way.
"""

RAISES_FOR_SOME = frozenset({"tensorflow.strings.to_number", "tensorflow.math.floormod"})
"""Element-wise functions that raise for some elements.

Without fusion, ``batch`` continues after such an element (TensorFlow 2.21).
"""

IMAGE_RANKS = {
    "tensorflow.image.flip_left_right": 3,
    "tensorflow.image.flip_up_down": 3,
    "tensorflow.image.adjust_brightness": 3,
    "tensorflow.image.adjust_contrast": 3,
    "tensorflow.image.grayscale_to_rgb": 3,
    "tensorflow.image.rgb_to_grayscale": 3,
}
"""Functions for images of rank 3 and batches of rank 4, but not for batches of videos.

Source: their API documentation (TensorFlow 2.21).
"""
