"""What is known of tf.data: the operations of datasets, what makes datasets, and what the runtime does with them by itself."""

from __future__ import annotations

from functools import lru_cache

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


NETWORK_STORAGE = r"(?:gs|s3|s3a|hdfs|viewfs|abfss?|wasbs?|az|oss|cos|https?)://"
"""A regular expression for how the names of files on network storage start, as tf.io.gfile knows them with its plugins."""
