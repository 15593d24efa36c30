"""The layers of Keras, one line for each known layer.

Source, unless stated otherwise: keras/src/layers of Keras 3.15, and keras/layers of tf_keras 2.21. A slow test instantiates all
layers that it can.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

CONV_LAYERS = "keras.layers.Conv"
DROPOUT = "keras.layers.Dropout"
HASHING_LAYERS = "keras.layers.Hash"
INTEGER_LOOKUP = "keras.layers.IntegerLookup"
INTEGER_LOOKUP_CALL = "keras.layers.IntegerLookup.__call__"
KERAS_CONCATENATE = "keras.layers.concatenate"
LAYERS_LAYER = "keras.layers.Layer"
RANDOM_LAYERS = "keras.layers.Random"
STRING_LOOKUP = "keras.layers.StringLookup"
STRING_LOOKUP_CALL = "keras.layers.StringLookup.__call__"
TEXT_VECTORIZATION = "keras.layers.TextVectorization"

PACKAGE = "keras.layers"
LAYERS = PACKAGE + "."
"""The prefix of canonical layer names."""


class Holds(enum.Enum):
    """State of a layer across calls, which makes a function that calls it stateful for tf.data."""

    NOTHING = enum.auto()
    WEIGHTS = enum.auto()
    SEED = enum.auto()
    """The state of a random generator, in a variable; in Keras 2 only preprocessing layers have one."""
    TABLE = enum.auto()
    """A lookup table."""
    INNER = enum.auto()
    """The state of the wrapped layer or cell."""
    UNKNOWN = enum.auto()
    """Unknown: the content of a SavedModel, or whether a feature column is embedded."""


class Work(enum.Enum):
    """The computation of a layer on its inputs."""

    MOVES = enum.auto()
    """It moves, repeats or drops numbers."""
    EACH = enum.auto()
    """It maps each number independently, or draws for each."""
    ROWS = enum.auto()
    """It maps each number using statistics of its row, channel or batch."""
    MERGES = enum.auto()
    """It combines several tensors."""
    MULTIPLIES = enum.auto()
    """It multiplies each row by a matrix."""
    EMBEDS = enum.auto()
    """It gathers rows of a matrix."""
    POOLS = enum.auto()
    POOLS_ALL = enum.auto()
    """It pools over all positions."""
    CONVOLVES = enum.auto()
    RECURS = enum.auto()
    ATTENDS = enum.auto()
    LOOKS_UP = enum.auto()
    """It looks up or hashes strings or numbers."""
    PREPARES = enum.auto()
    """It preprocesses or augments images or audio."""
    WRAPS = enum.auto()
    """It calls the layer passed to it."""
    CALLS = enum.auto()
    """It calls code outside of Keras."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Properties of a layer.

    Attributes:
        name: its canonical name.
        axes: the number of axes between the batch and the channels; 0 for any.
        keeps_shape: the output has the shape of the input.
        cudnn: cuDNN has a kernel for it.
        gates: the number of matrices of a recurrent layer.
        per_channel: the count of numbers it stores per channel.
        width: the parameters whose product is its width; empty if unknown.
        worth_half: the minimum width for which 16-bit arithmetic pays; None if it never does.
        prepares: it preprocesses data, in a dataset as well as in a model.
        on_last_axis: it acts on the last axis, or on each number, so it accepts sequences as well as rows.
        of_columns: it maps columns of a table to columns.
        jit: False if it keeps XLA from compiling a Keras 3 model that contains it (``supports_jit``).
        singly_since: the first TensorFlow 2 in which it processes the images of a batch one by one, which ended with 2.12; see KC211.
    """

    name: str
    work: Work
    holds: Holds = Holds.NOTHING
    axes: int = 0
    keeps_shape: bool = False
    cudnn: bool = False
    gates: int = 0
    per_channel: int = 0
    width: tuple[str, ...] = ()
    worth_half: int | None = None
    prepares: bool = False
    on_last_axis: bool = False
    of_columns: bool = False
    jit: bool = True
    singly_since: tuple[int, int] | None = None

    @property
    def short(self) -> str:
        """The name without its package: "Dense"."""
        return self.name.rpartition(".")[2]


def _layers(names: str, work: Work, holds: Holds = Holds.NOTHING, **known: Any) -> Iterator[Layer]:
    """Define several layers with the same properties ``known``: other fields of :class:`Layer`."""
    for name in names.split():
        yield Layer(LAYERS + name, work, holds, **known)


def _moving_layers() -> Iterator[Layer]:
    yield from _layers("InputLayer Flatten", Work.MOVES, of_columns=True)
    yield from _layers("Permute RepeatVector Reshape", Work.MOVES)
    yield from _layers("Identity Masking", Work.MOVES, keeps_shape=True)
    yield from _layers("Cropping1D UpSampling1D ZeroPadding1D", Work.MOVES, axes=1)
    yield from _layers("Cropping2D UpSampling2D ZeroPadding2D", Work.MOVES, axes=2)
    yield from _layers("Cropping3D UpSampling3D ZeroPadding3D", Work.MOVES, axes=3)


def _elementwise_layers() -> Iterator[Layer]:
    yield from _layers("Activation ELU LeakyReLU ReLU", Work.EACH, keeps_shape=True, on_last_axis=True, of_columns=True)
    yield from _layers(
        "ActivityRegularization ThresholdedReLU", Work.EACH, keeps_shape=True, on_last_axis=True, of_columns=True
    )
    yield from _layers("PReLU", Work.EACH, Holds.WEIGHTS, keeps_shape=True, of_columns=True)
    yield from _layers("Dropout", Work.EACH, Holds.SEED, keeps_shape=True, on_last_axis=True, of_columns=True)
    yield from _layers(
        "AlphaDropout GaussianDropout GaussianNoise", Work.EACH, Holds.SEED, keeps_shape=True, of_columns=True
    )
    yield from _layers("SpatialDropout1D", Work.EACH, Holds.SEED, axes=1, keeps_shape=True)
    yield from _layers("SpatialDropout2D", Work.EACH, Holds.SEED, axes=2, keeps_shape=True)
    yield from _layers("SpatialDropout3D", Work.EACH, Holds.SEED, axes=3, keeps_shape=True)
    # A model that begins with it takes images.
    yield from _layers("Rescaling", Work.EACH, keeps_shape=True, prepares=True, on_last_axis=True)
    # The result of adapt is a constant during a call; it is stored in weights, which count.
    yield from _layers("Normalization", Work.EACH, keeps_shape=True, prepares=True, of_columns=True)


def _normalizing_layers() -> Iterator[Layer]:
    yield from _layers("Softmax", Work.ROWS, keeps_shape=True, of_columns=True)
    yield from _layers("UnitNormalization", Work.ROWS, keeps_shape=True)
    yield from _layers("BatchNormalization", Work.ROWS, Holds.WEIGHTS, keeps_shape=True, per_channel=4, of_columns=True)
    yield from _layers(
        "LayerNormalization",
        Work.ROWS,
        Holds.WEIGHTS,
        keeps_shape=True,
        per_channel=2,
        on_last_axis=True,
        of_columns=True,
    )
    yield from _layers("GroupNormalization RMSNormalization", Work.ROWS, Holds.WEIGHTS, keeps_shape=True)


def _merging_and_dense_layers() -> Iterator[Layer]:
    yield from _layers("Add Average Concatenate Maximum Minimum Multiply Subtract", Work.MERGES, of_columns=True)
    # The output has one number per pair of rows.
    yield from _layers("Dot", Work.MERGES)

    yield from _layers(
        "Dense", Work.MULTIPLIES, Holds.WEIGHTS, width=("units",), worth_half=512, on_last_axis=True, of_columns=True
    )
    yield from _layers("EinsumDense", Work.MULTIPLIES, Holds.WEIGHTS)
    yield from _layers("Embedding", Work.EMBEDS, Holds.WEIGHTS, width=("output_dim",), on_last_axis=True)


def _pooling_and_convolving_layers() -> Iterator[Layer]:
    for axes in (1, 2, 3):
        yield from _layers(f"AveragePooling{axes}D MaxPooling{axes}D", Work.POOLS, axes=axes)
        yield from _layers(f"AdaptiveAveragePooling{axes}D AdaptiveMaxPooling{axes}D", Work.POOLS, axes=axes)
        yield from _layers(f"GlobalAveragePooling{axes}D GlobalMaxPooling{axes}D", Work.POOLS_ALL, axes=axes)

    yield from _layers("Conv1D", Work.CONVOLVES, Holds.WEIGHTS, axes=1, width=("filters",))
    yield from _layers("Conv2D", Work.CONVOLVES, Holds.WEIGHTS, axes=2, width=("filters",), worth_half=64)
    yield from _layers("Conv3D", Work.CONVOLVES, Holds.WEIGHTS, axes=3, width=("filters",), worth_half=64)
    yield from _layers("SeparableConv1D Conv1DTranspose", Work.CONVOLVES, Holds.WEIGHTS, axes=1, width=("filters",))
    yield from _layers(
        "SeparableConv2D Conv2DTranspose", Work.CONVOLVES, Holds.WEIGHTS, axes=2, width=("filters",), worth_half=64
    )
    yield from _layers("Conv3DTranspose", Work.CONVOLVES, Holds.WEIGHTS, axes=3, width=("filters",))
    yield from _layers("DepthwiseConv1D", Work.CONVOLVES, Holds.WEIGHTS, axes=1)
    yield from _layers("DepthwiseConv2D", Work.CONVOLVES, Holds.WEIGHTS, axes=2)


def _recurrent_layers() -> Iterator[Layer]:
    yield from _layers("LSTM", Work.RECURS, Holds.WEIGHTS, cudnn=True, gates=4, width=("units",), worth_half=512)
    yield from _layers("GRU", Work.RECURS, Holds.WEIGHTS, cudnn=True, gates=3, width=("units",), worth_half=512)
    yield from _layers("SimpleRNN", Work.RECURS, Holds.WEIGHTS, gates=1, width=("units",))
    yield from _layers("ConvLSTM1D", Work.RECURS, Holds.WEIGHTS, axes=1, width=("filters",))
    yield from _layers("ConvLSTM2D", Work.RECURS, Holds.WEIGHTS, axes=2, width=("filters",), worth_half=64)
    yield from _layers("ConvLSTM3D", Work.RECURS, Holds.WEIGHTS, axes=3, width=("filters",))
    yield from _layers("RNN", Work.RECURS, Holds.INNER)


def _attention_layers() -> Iterator[Layer]:
    yield from _layers(
        "MultiHeadAttention", Work.ATTENDS, Holds.WEIGHTS, width=("num_heads", "key_dim"), worth_half=192
    )
    yield from _layers("AdditiveAttention GroupQueryAttention", Work.ATTENDS, Holds.WEIGHTS)
    # A scale, if requested.
    yield from _layers("Attention", Work.ATTENDS, Holds.UNKNOWN)


def _lookup_layers() -> Iterator[Layer]:
    yield from _layers(
        "IntegerLookup StringLookup TextVectorization", Work.LOOKS_UP, Holds.TABLE, prepares=True, jit=False
    )
    yield from _layers("CategoryEncoding Discretization", Work.LOOKS_UP, prepares=True)
    yield from _layers("HashedCrossing Hashing", Work.LOOKS_UP, prepares=True, jit=False)


def _image_and_audio_layers() -> Iterator[Layer]:
    yield from _layers("AutoContrast Equalization", Work.PREPARES, axes=2, prepares=True)
    yield from _layers("CenterCrop Resizing", Work.PREPARES, axes=2, prepares=True)
    yield from _layers("MelSpectrogram", Work.PREPARES, axes=1, prepares=True)
    # Its kernels are weights that are not trained.
    yield from _layers("STFTSpectrogram", Work.PREPARES, Holds.WEIGHTS, axes=1, prepares=True)
    yield from _layers(
        "CutMix MixUp RandomColorDegeneration RandomColorJitter RandomElasticTransform RandomErasing RandomGaussianBlur RandomGrayscale "
        "RandomHeight RandomHue RandomInvert RandomPosterization RandomSaturation RandomSharpness RandomWidth Solarization",
        Work.PREPARES, Holds.SEED, axes=2, prepares=True,
    )  # fmt: skip
    yield from _layers("RandomFlip", Work.PREPARES, Holds.SEED, axes=2, keeps_shape=True, prepares=True)
    yield from _layers(
        "RandomBrightness RandomContrast",
        Work.PREPARES,
        Holds.SEED,
        axes=2,
        keeps_shape=True,
        prepares=True,
        singly_since=(2, 9),
    )
    yield from _layers(
        "RandomTranslation",
        Work.PREPARES,
        Holds.SEED,
        axes=2,
        keeps_shape=True,
        prepares=True,
        jit=False,
        singly_since=(2, 9),
    )
    yield from _layers(
        "RandomRotation RandomZoom",
        Work.PREPARES,
        Holds.SEED,
        axes=2,
        keeps_shape=True,
        prepares=True,
        jit=False,
        singly_since=(2, 10),
    )
    yield from _layers("RandomCrop", Work.PREPARES, Holds.SEED, axes=2, prepares=True, jit=False, singly_since=(2, 10))
    yield from _layers(
        "AugMix RandAugment RandomPerspective RandomShear", Work.PREPARES, Holds.SEED, axes=2, prepares=True, jit=False
    )


def _wrapping_layers() -> Iterator[Layer]:
    yield from _layers("Bidirectional SpectralNormalization TimeDistributed", Work.WRAPS, Holds.WEIGHTS)
    yield from _layers("Wrapper", Work.WRAPS, Holds.INNER)
    # The function passed to it may read a variable, which is detected there.
    yield from _layers("Lambda", Work.CALLS)
    yield from _layers("DenseFeatures TFSMLayer", Work.CALLS, Holds.UNKNOWN)

    for package in ("keras_hub.", "keras_nlp."):
        for name in ("TransformerDecoder", "TransformerEncoder"):
            yield Layer(
                f"{package}layers.{name}", Work.ATTENDS, Holds.WEIGHTS, width=("intermediate_dim",), worth_half=512
            )


def _table() -> Iterator[Layer]:
    yield from _moving_layers()
    yield from _elementwise_layers()
    yield from _normalizing_layers()
    yield from _merging_and_dense_layers()
    yield from _pooling_and_convolving_layers()
    yield from _recurrent_layers()
    yield from _attention_layers()
    yield from _lookup_layers()
    yield from _image_and_audio_layers()
    yield from _wrapping_layers()


KNOWN_LAYERS: dict[str, Layer] = {layer.name: layer for layer in _table()}
"""Layers by canonical name."""

ACTIVATION = LAYERS + "Activation"
BIDIRECTIONAL = LAYERS + "Bidirectional"
CATEGORY_ENCODING = LAYERS + "CategoryEncoding"
CENTER_CROP = LAYERS + "CenterCrop"
CONCATENATE = LAYERS + "Concatenate"
CONV_2D_TRANSPOSE = LAYERS + "Conv2DTranspose"
DENSE = LAYERS + "Dense"
DEPTHWISE_CONV_2D = LAYERS + "DepthwiseConv2D"
EMBEDDING = LAYERS + "Embedding"
FLATTEN = LAYERS + "Flatten"
INPUT_LAYER = LAYERS + "InputLayer"
LAMBDA = LAYERS + "Lambda"
MASKING = LAYERS + "Masking"
PRELU = LAYERS + "PReLU"
REPEAT_VECTOR = LAYERS + "RepeatVector"
RESCALING = LAYERS + "Rescaling"
RESHAPE = LAYERS + "Reshape"
RESIZING = LAYERS + "Resizing"
RNN = LAYERS + "RNN"
SEPARABLE_CONV_2D = LAYERS + "SeparableConv2D"
SOFTMAX = LAYERS + "Softmax"
TIME_DISTRIBUTED = LAYERS + "TimeDistributed"
UP_SAMPLING_2D = LAYERS + "UpSampling2D"
ZERO_PADDING_2D = LAYERS + "ZeroPadding2D"


_NO_LAYERS = frozenset({LAYERS + "InputSpec"})


def layers_where(test: Callable[[Layer], bool]) -> frozenset[str]:
    """Return the canonical names of the layers that satisfy ``test``, for tables built at import."""
    return frozenset(name for name, layer in KNOWN_LAYERS.items() if test(layer))


def short_name(name: str | None) -> str:
    """Return the name of a Keras layer without its package, "Dense"; other names unchanged, and empty for None."""
    return (name or "").removeprefix(LAYERS)


def holds(name: str) -> Holds | None:
    """Return the state of a Keras layer; weights if unknown, None for names of no layer."""
    layer = KNOWN_LAYERS.get(name)
    if layer is not None:
        return layer.holds
    if name in _NO_LAYERS:
        return None
    return Holds.WEIGHTS if name.startswith(LAYERS) else None


CONVOLUTIONS: dict[str, int] = {f"{LAYERS}Conv{axes}D": axes for axes in (1, 2, 3)}
"""Convolutions over all channels, with the number of their axes."""

LOOKUP_LAYERS = layers_where(lambda layer: layer.holds is Holds.TABLE)

PREPROCESSING = layers_where(lambda layer: layer.prepares)
"""Layers that preprocess or augment data, in a dataset as well as in a model."""

WEIGHTLESS = layers_where(lambda layer: layer.holds in (Holds.NOTHING, Holds.SEED)) - {LAYERS + "Normalization"}
"""Layers without weights; at most they hold the state of a generator."""

OF_COLUMNS = layers_where(lambda layer: layer.of_columns)
"""Layers that map columns of a table to columns."""

OF_DENSE_MODELS = frozenset({DENSE}) | layers_where(
    lambda layer: not layer.axes and layer.work in (Work.MOVES, Work.EACH, Work.ROWS, Work.MERGES)
)
"""Layers of dense models: dense ones, and those that move numbers or read each a few times."""

RECURRENT = layers_where(lambda layer: layer.gates > 0)
"""Layers that multiply by matrices in each time step."""
