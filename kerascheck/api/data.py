"""Datasets and arrays: where they come from, what is done to their elements, and in which order."""

from __future__ import annotations

from kerascheck.interpreter.array_shapes import batch_size, size_of
from kerascheck.interpreter.keras_data import is_py_dataset
from kerascheck.meaning.data.array_origins import ingredients, made_as_double, reads_file, waits
from kerascheck.meaning.data.image_flows import generators_of, handed_generators
from kerascheck.meaning.data.mapped_functions import Facts, creates_state
from kerascheck.meaning.data.order import Added, Kind, Wish, arrangement
from kerascheck.meaning.data.pipelines import (
    COMBINING,
    INSPECTED_ELEMENTS,
    batches_before,
    gives_few,
    is_batched,
    is_cut_short,
    is_random_before,
    is_reshuffled,
    last_deterministic,
    nearest,
    next_batch,
    reads_remote_files,
    sorts_by_length,
)

__all__ = [
    "Added",
    "COMBINING",
    "Facts",
    "INSPECTED_ELEMENTS",
    "Kind",
    "Wish",
    "arrangement",
    "batch_size",
    "batches_before",
    "creates_state",
    "generators_of",
    "gives_few",
    "handed_generators",
    "ingredients",
    "is_batched",
    "is_cut_short",
    "is_py_dataset",
    "is_random_before",
    "is_reshuffled",
    "last_deterministic",
    "made_as_double",
    "nearest",
    "next_batch",
    "reads_file",
    "reads_remote_files",
    "size_of",
    "sorts_by_length",
    "waits",
]
