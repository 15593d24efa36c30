"""tf.data: dataset operations, dataset sources, and the automatic rewrites of the runtime."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

AUDIO_DATASET_FROM_DIRECTORY = "keras.utils.audio_dataset_from_directory"
AUTOTUNE = "tensorflow.data.AUTOTUNE"
DATASET_CHOOSE_FROM_DATASETS = "tensorflow.data.Dataset.choose_from_datasets"
DATASET_SAMPLE_FROM_DATASETS = "tensorflow.data.Dataset.sample_from_datasets"
DATASET_ZIP = "tensorflow.data.Dataset.zip"
ENABLE_DEBUG_MODE = "tensorflow.data.experimental.enable_debug_mode"
EXPERIMENTAL_AUTOTUNE = "tensorflow.data.experimental.AUTOTUNE"
OPTIONS = "tensorflow.data.Options"
TEXT_DATASET_FROM_DIRECTORY = "keras.utils.text_dataset_from_directory"
TIMESERIES_DATASET_FROM_ARRAY = "keras.utils.timeseries_dataset_from_array"

# Dataset methods that return a dataset; the value names the parameter for a function, if any.
DATASET_METHODS: dict[str, str | None] = {
    "batch": None,
    "bucket_by_sequence_length": "element_length_func",
    "cache": None,
    "concatenate": None,
    "enumerate": None,
    "filter": "predicate",
    "flat_map": "map_func",
    "group_by_window": "reduce_func",
    "ignore_errors": None,
    "interleave": "map_func",
    "map": "map_func",
    "map_with_legacy_function": "map_func",
    "map_and_batch": "map_func",
    "padded_batch": None,
    "parallel_interleave": "map_func",
    "prefetch": None,
    "ragged_batch": None,
    "rebatch": None,
    "rejection_resample": "class_func",
    "repeat": None,
    "scan": "scan_func",
    "shard": None,
    "shuffle": None,
    "shuffle_and_repeat": None,
    "skip": None,
    "snapshot": None,
    "sparse_batch": None,
    "take": None,
    "take_while": "predicate",
    "unbatch": None,
    "unique": None,
    "window": None,
    "with_options": None,
    "zip": None,
}

_ITERATORS = {
    "AssertCardinality": "assert_cardinality",
    "DirectedInterleave": "sample_from_datasets",
    "FileCache": "cache",
    "FileCacheImpl": "cache",
    "FiniteRepeat": "repeat",
    "FiniteSkip": "skip",
    "FiniteTake": "take",
    "FixedLengthRecord": "FixedLengthRecordDataset",
    "ForeverRepeat": "repeat",
    "FromTensor": "from_tensors",
    "Generator": "from_generator",
    "MemoryCache": "cache",
    "MemoryCacheImpl": "cache",
    "TensorSlice": "from_tensor_slices",
    "TextLine": "TextLineDataset",
    "TFRecord": "TFRecordDataset",
}
_VERSION = re.compile(r"V\d$")
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def methods_of_iterator(name: str) -> list[str]:
    """The methods or classes that an iterator of the runtime implements.

    Names of iterators: ``kDatasetType`` in tensorflow/core/kernels/data (2.21).

    Example:
        >>> methods_of_iterator("ParallelMapV2"), methods_of_iterator("MapAndBatch"), methods_of_iterator("TFRecord")
        (['map'], ['map', 'batch'], ['TFRecordDataset'])
    """
    bare = _VERSION.sub("", name).replace("Parallel", "")
    return [_ITERATORS.get(part, _WORD.sub("_", part).lower()) for part in bare.split("And")]


BATCHING = frozenset(
    "batch padded_batch ragged_batch sparse_batch dense_to_ragged_batch dense_to_sparse_batch map_and_batch bucket_by_sequence_length".split()
)
"""Operations that batch elements. Source: tf.data 2.21."""

DATASET = "tensorflow.data.Dataset"
DATASET_V2 = "tensorflow.data.DatasetV2"
IMAGE_DATASET_FROM_DIRECTORY = "keras.utils.image_dataset_from_directory"
SPLIT_DATASET = "keras.utils.split_dataset"
TFDS_AS_DATASET = "tensorflow_datasets.as_dataset"
TFDS_LOAD = "tensorflow_datasets.load"
TFRECORD_DATASET = "tensorflow.data.TFRecordDataset"
TEXT_LINE_DATASET = "tensorflow.data.TextLineDataset"


@dataclass(frozen=True, slots=True)
class Source:
    """A callable that creates a dataset.

    Attributes:
        name: the canonical name of the function or class.
        prefetches: it ends in ``prefetch``, or has one that the runtime repairs.
        batches: its elements are batches.
        batch_size: the default of this parameter, None if unknown.
        reads_folder: it reads one file per example from the folder of its first parameter, ``directory``.
        reads_records: it reads records or lines from the files passed to it.
        is_function: False for a method of an object, which has no canonical name.
    """

    name: str
    prefetches: bool = False
    batches: bool = False
    batch_size: int | None = None
    reads_folder: bool = False
    reads_records: bool = False
    is_function: bool = True


_SOURCES = (
    # keras/src/utils/{image,text,audio}_dataset_utils.py, timeseries_dataset_utils.py, dataset_utils.py (3.15.1): batch and
    # prefetch by themselves. The audio and timeseries ones prefetch before they batch; inject_prefetch repairs that.
    Source(IMAGE_DATASET_FROM_DIRECTORY, prefetches=True, batches=True, batch_size=32, reads_folder=True),
    Source(TEXT_DATASET_FROM_DIRECTORY, prefetches=True, batches=True, batch_size=32, reads_folder=True),
    Source(AUDIO_DATASET_FROM_DIRECTORY, prefetches=True, batches=True, batch_size=32, reads_folder=True),
    Source(TIMESERIES_DATASET_FROM_ARRAY, prefetches=True, batches=True, batch_size=128),
    Source(SPLIT_DATASET, prefetches=True),
    # tensorflow/python/data/experimental/ops/readers.py: prefetch_buffer_size=None means AUTOTUNE.
    Source("tensorflow.data.experimental.make_csv_dataset", prefetches=True, batches=True),
    Source("tensorflow.data.experimental.make_batched_features_dataset", prefetches=True, batches=True),
    # tensorflow_datasets/core/dataset_builder.py: prefetch unless ReadConfig.skip_prefetch.
    Source(TFDS_LOAD, prefetches=True),
    Source(TFDS_AS_DATASET, prefetches=True),
    # The converters of datasets and transformers batch and prefetch.
    Source("transformers.to_tf_dataset", prefetches=True, batches=True, is_function=False),
    Source("transformers.prepare_tf_dataset", prefetches=True, batches=True, is_function=False),
    Source(TFRECORD_DATASET, reads_records=True),
    Source(TEXT_LINE_DATASET, reads_records=True),
    Source("tensorflow.data.FixedLengthRecordDataset", reads_records=True),
    Source("tensorflow.data.experimental.CsvDataset", reads_records=True),
    Source("tensorflow.data.experimental.SqlDataset"),
    Source("tensorflow.data.experimental.Counter"),
    Source("tensorflow.data.experimental.RandomDataset"),
    Source("tensorflow.data.experimental.from_variant"),
)
_FUNCTIONS = frozenset(source.name for source in _SOURCES if source.is_function)

PREFETCHED_SOURCES = frozenset(source.name for source in _SOURCES if source.prefetches)
"""Sources that end in a ``prefetch`` of their own."""

BATCHING_SOURCES = {source.name: source.batch_size for source in _SOURCES if source.batches}
"""Sources whose elements are batches, with the default of their ``batch_size``; None if unknown."""

FOLDERS = frozenset(source.name for source in _SOURCES if source.reads_folder)
"""Sources that read one file per example from a folder."""

RECORD_READERS = frozenset(source.name for source in _SOURCES if source.reads_records)
"""Sources that read records or lines from files."""

ASYNCHRONOUS_LAST = frozenset(
    {"prefetch", "map_and_batch", "prefetch_to_device", "copy_to_device", "parallel_interleave"}
)
"""Operations that need no prefetch (``kAsyncTransforms`` in core/grappler/optimizers/data/inject_prefetch.cc)."""

_DATASET_FACTORIES = frozenset(
    "choose_from_datasets counter from_generator from_list from_sparse_tensor_slices from_tensor_slices from_tensors list_files load random range "
    "sample_from_datasets zip".split()
)
FROM_GENERATOR = f"{DATASET}.from_generator"
FROM_TENSOR_SLICES = f"{DATASET}.from_tensor_slices"
FROM_TENSORS = f"{DATASET}.from_tensors"
LIST_FILES = f"{DATASET}.list_files"
DATASET_RANGE = f"{DATASET}.range"
IN_MEMORY_SOURCES = frozenset({FROM_TENSOR_SLICES, FROM_TENSORS, DATASET_RANGE})
"""Sources that hold their elements in memory."""


@cache
def source_kind(name: str) -> str | None:
    """Return the kind of dataset source that ``name`` is, "tfds" or "source"; None for other names."""
    if name in (TFDS_LOAD, TFDS_AS_DATASET):
        return "tfds"
    if name in _FUNCTIONS:
        return "source"
    owner, _, last = name.rpartition(".")
    is_factory = last in _DATASET_FACTORIES and owner in (DATASET, DATASET_V2, TFRECORD_DATASET, TEXT_LINE_DATASET)
    return "source" if is_factory else None


NETWORK_STORAGE = r"(?:gs|s3|s3a|hdfs|viewfs|abfss?|wasbs?|az|oss|cos|https?)://"
"""A regular expression for prefixes of network storage, which tf.io.gfile supports with its plugins."""
