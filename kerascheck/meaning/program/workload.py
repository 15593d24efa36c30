"""Workload of a program: the size of its data and layers, and its number types."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property
from math import inf

import libcst as cst

from kerascheck.interpreter.layer_shapes import (
    Shape,
    literal_shape,
    makes_large_layer,
    product,
)
from kerascheck.interpreter.reached_code import without_unread_settings
from kerascheck.interpreter.values import (
    Call,
    SequenceValue,
    constant,
)
from kerascheck.knowledge.callables import IMAGE_RESIZE, LOAD_IMG
from kerascheck.knowledge.classes import (
    MODEL_LIBRARIES,
)
from kerascheck.knowledge.datasets import (
    IMAGE_DATASET_FROM_DIRECTORY,
    NETWORK_STORAGE,
    TEXT_LINE_DATASET,
    TFDS_LOAD,
    TFRECORD_DATASET,
)
from kerascheck.knowledge.keras_datasets import MANY_EXAMPLES, TOYS
from kerascheck.knowledge.layers import DENSE, LAYERS, OF_DENSE_MODELS
from kerascheck.knowledge.name_heuristics import (
    PRECISION_OPTIONS,
)
from kerascheck.knowledge.namespaces import (
    OF_IO,
    TENSORFLOW_DATASETS,
)
from kerascheck.meaning.program.trainings import Trainings

_NETWORK_STORAGE = re.compile(rf"""["'](?!https?:){NETWORK_STORAGE}|\bget_gcs_path\b""")
# The host must know the number of remaining boxes before such an operation returns, if it has a GPU kernel at all
# (gpuEventSynchronize in tensorflow/core/kernels/image/non_max_suppression_op.cu.cc).
_SUPPRESSION = re.compile("non_max_suppression")
_DOUBLE = re.compile(r"""set_floatx\(\s*["']float64|dtype\s*=\s*(?:tf\.float64|["']float64)""")
_FITS = ("fit", "fit_generator", "train_on_batch")
_TOY_DATA = (*TOYS, "sklearn.datasets.")
_TOY_NAMES = frozenset({"mnist", "fashion_mnist", "kmnist", "iris", "titanic", "wine_quality"})
# The arguments for the height and width of images. The classic data sets have images of 28 x 28 pixels.
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
    # Preprocessors of a pretrained model can be loaded alone, too.
    r"(?<!Tokenizer)(?<!TokenizerFast)(?<!Config)(?<![Pp]rocessor)(?<!Extractor)\.from_pre(?:trained|set)\("
)
_LARGE_LAYERS = re.compile(r"\b(?:Conv[23]D|SeparableConv2D|MultiHeadAttention|ConvLSTM2D)\(")


class Workload(Trainings):
    """The size of the data and the layers, and the types of the numbers."""

    @cached_property
    def loads_toy_data(self) -> bool:
        """Whether the program loads a classic small data set.

        Also true if it resizes all images before its first training to the size of MNIST's or less.
        """
        first = min((call.order for call in (*self.updates, *self.model_calls(*_FITS))), default=inf)
        sizes = [
            literal_shape(call.given(_RESIZES[call.name]))
            for call in self._calls.named(*_RESIZES)
            if call.name is not None and call.order < first
        ]
        if sizes and all(_pixels(size) <= _TOY_PIXELS for size in sizes):
            return True
        for call in self._calls:
            name = call.name or ""
            named = str(constant(call.given("name"))) if name == TFDS_LOAD else ""
            if name.startswith(_TOY_DATA) or re.split("[/:]", named)[0] in _TOY_NAMES:
                return True
        return False

    @cached_property
    def has_large_layers(self) -> bool:
        """Whether a layer is large enough for 16-bit arithmetic to matter, and the data set is not a toy."""
        return self.has_large_layers_beside(frozenset())

    def has_large_layers_beside(self, seen: Collection[cst.CSTNode]) -> bool:
        """The same, ignoring layers created by the given nodes.

        Judges models of other modules by their text, since following them would be needed for nothing else.
        """
        imported = {
            name.partition(".")[0] for module in self._modules for name, level in module.import_names if not level
        }
        if self._mentions(_PRETRAINED) or imported & MODEL_LIBRARIES:
            return True
        if self.loads_toy_data:
            return False
        own = any(makes_large_layer(call) and call.node not in seen for call in self._calls)
        return own or any(module.mentions(_LARGE_LAYERS) for module in self._modules[1:])

    def has_many_examples(self, before: Call) -> bool:
        """Whether a thousand examples or more are loaded, read from a file, drawn or counted before a call."""
        for call in self._calls:
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
        """Whether all visible layers are small dense ones, and operations on their results.

        A step takes about a millisecond.
        """
        layers = {name.partition(".__")[0] for name in self._calls.names if name.startswith(LAYERS)}
        return DENSE in layers and layers <= OF_DENSE_MODELS and not self.has_large_layers

    @cached_property
    def uses_network_storage(self) -> bool:
        """Whether the program names files in a bucket or on another network file system."""
        return self._mentions(_NETWORK_STORAGE)

    @cached_property
    def mentions_precision(self) -> bool:
        """Whether the program mentions a precision policy or a 16-bit type.

        Ignores functions and classes that it never names, and settings that it never reads.
        """
        return self.precision_mention is not None

    @cached_property
    def precision_mention(self) -> str | None:
        """The first words of the program that mention a precision: see :meth:`mentions_precision`."""
        if not self._mentions(PRECISION_OPTIONS):
            return None
        found = map(PRECISION_OPTIONS.search, without_unread_settings(self.reached_code))
        return next((match[0] for match in found if match is not None), None)

    @cached_property
    def suppresses_boxes(self) -> bool:
        """Whether the program uses non-maximum suppression, which makes its caller wait for the device."""
        return self._mentions(_SUPPRESSION)

    @cached_property
    def uses_float64(self) -> bool:
        """Whether the program requests double precision."""
        return self._mentions(_DOUBLE)


def _pixels(size: Shape) -> float:
    """The number of pixels in an image of this size; infinite if unknown."""
    known = product(*size) if size else None
    return inf if known is None else known
