"""Separate times of a step and of the batch that it needs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import islice
from typing import Any


class TimedIterator:
    """An iterator over batches that adds up the seconds inside ``next()`` (JAX reads its batches in Python)."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator
        self.seconds = 0.0
        self.rows: int | None = None
        """Of the newest batch, see :func:`rows_of`."""

    def __iter__(self) -> TimedIterator:
        return self

    def __next__(self) -> Any:
        start = time.perf_counter()
        batch = next(self._iterator)
        self.seconds += time.perf_counter() - start
        self.rows = rows_of(batch)
        return batch


def can_split(iterator: Any) -> bool:
    """Whether the batches of a TensorFlow iterator can be read apart from the step.

    Iterators of a distribution strategy cannot: their batches belong to several replicas.
    """
    tf = sys.modules.get("tensorflow")
    return tf is not None and isinstance(iterator, tf.data.Iterator)


def call_split(train_function: Callable[..., Any], iterator: Any, batches: int) -> tuple[Any, float, float, Any]:
    """Read the next batches of a TensorFlow iterator, then call the step on exactly these batches.

    Every batch is read once and trained on once, in its order. The second iterator has the element specification of the
    first, so TensorFlow does not trace the step again.

    Args:
        train_function: the model's compiled step, which takes an iterator.
        iterator: feeds the training, see :func:`can_split`.
        batches: number of batches per call, ``steps_per_execution``.

    Returns:
        The result of the step, the seconds for reading, the moment when the step began, and the first batch.

    Raises:
        Exception: whatever the iterator or the step raises, also at the end of the data.
    """
    tf = sys.modules["tensorflow"]
    start = time.perf_counter()
    read = list(islice(iterator, batches))
    seconds = time.perf_counter() - start
    if not read:
        return train_function(iterator), seconds, start, None
    dataset = reduce(lambda one, other: one.concatenate(other), map(tf.data.Dataset.from_tensors, read))
    # A dataset made from tensors has their shapes; the step was traced for the shapes of the training's iterator.
    variant = tf.data.experimental.to_variant(dataset.with_options(_plain_options(tf)))
    again = iter(tf.data.experimental.from_variant(variant, iterator.element_spec))
    begun = time.perf_counter()
    return train_function(again), seconds, begun, read[0]


def _plain_options(tf: Any) -> Any:
    """Options without rewriting and tuning, which take longer than reading a few tensors."""
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.autotune.enabled = False
    return options


def rows_of(batch: Any) -> int | None:
    """Number of rows of a batch; None if its first component has no dimension."""
    while isinstance(batch, (tuple, list, dict)) and batch:
        batch = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    shape = getattr(batch, "shape", None)
    try:
        return int(shape[0]) if shape is not None and len(shape) else None
    except (TypeError, ValueError):  # unknown rank or dimension
        return None


def wait_for(backend: str, logs: Any) -> None:
    """Wait until the device has computed the results of a step."""
    if backend == "jax":
        sys.modules["jax"].block_until_ready(logs)
    elif backend == "torch":
        torch = sys.modules["torch"]
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    else:
        # Keras 2 passes a value that other processes may hold too (RemoteValue).
        found = logs.get_value() if hasattr(logs, "get_value") else logs
        for value in found.values() if isinstance(found, dict) else ():
            if hasattr(value, "numpy"):
                value.numpy()
