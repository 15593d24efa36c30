"""Datasets and arrays: their origins, and the operations on their elements with their order.

Example:
    >>> data.is_batched(call("model.fit(tf.data.Dataset.range(9).batch(3))").given("x").stage)
    True
"""

from __future__ import annotations

from kerascheck.interpreter.keras_data import is_py_dataset
from kerascheck.meaning.data.array_origins import reads_file, waits_without_gil
from kerascheck.meaning.data.batching import is_batched, next_batch
from kerascheck.meaning.data.double_datasets import DoubleDataset, double_datasets
from kerascheck.meaning.data.epochs import (
    Frozen,
    Unfrozen,
    frozen_by,
    is_random_before,
    is_reshuffled,
    last_deterministic,
)
from kerascheck.meaning.data.image_flows import generators_of, handed_generators
from kerascheck.meaning.data.mapped_functions import Created, Creates, Facts, creates_state, facts_of
from kerascheck.meaning.data.materialised import (
    counted_lists,
    iterators_given,
    knows_length,
    lists_trained_on,
)
from kerascheck.meaning.data.options import Lost, LostOptimization, lost_optimizations
from kerascheck.meaning.data.order import Added, ReorderKind, ReorderRequest, arrangement
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.data.read_images import ReadImage, images_read_first
from kerascheck.meaning.data.remote_files import reads_remote_files, remote_examples
from kerascheck.meaning.data.serial_maps import (
    Serial,
    is_called_rarely,
    is_paid_in_each_epoch,
    says_parallelism,
    serial,
)
from kerascheck.meaning.data.shuffles import Unmixed, is_batched_again, shuffled_batches, shuffled_images, unmixed
from kerascheck.meaning.data.skipped_work import SkippedWork, skipped_work
from kerascheck.meaning.data.stages import nearest_before
from kerascheck.meaning.data.wasted_pixels import WastedPixels, wasted_pixels

__all__ = [
    "Added",
    "Created",
    "Creates",
    "DoubleDataset",
    "Facts",
    "Frozen",
    "Lost",
    "LostOptimization",
    "Operation",
    "Pipelines",
    "ReadImage",
    "ReorderKind",
    "ReorderRequest",
    "Serial",
    "SkippedWork",
    "Unfrozen",
    "Unmixed",
    "WastedPixels",
    "arrangement",
    "counted_lists",
    "creates_state",
    "double_datasets",
    "facts_of",
    "frozen_by",
    "generators_of",
    "handed_generators",
    "images_read_first",
    "is_batched",
    "is_batched_again",
    "is_called_rarely",
    "is_paid_in_each_epoch",
    "is_py_dataset",
    "is_random_before",
    "is_reshuffled",
    "iterators_given",
    "knows_length",
    "last_deterministic",
    "lists_trained_on",
    "lost_optimizations",
    "nearest_before",
    "next_batch",
    "reads_file",
    "reads_remote_files",
    "remote_examples",
    "says_parallelism",
    "serial",
    "shuffled_batches",
    "shuffled_images",
    "skipped_work",
    "unmixed",
    "waits_without_gil",
    "wasted_pixels",
]
