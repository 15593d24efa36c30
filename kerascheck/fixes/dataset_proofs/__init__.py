"""Proofs about datasets: a pipeline gives the same results ahead of the training, in parallel, or on whole batches.

Each function returns the proof of one obligation; its objection names the obstacle and its line.
"""

from kerascheck.fixes.dataset_proofs.batches import (
    batch_like_elements,
    only_caller,
    parses_batches,
    records_of_one_shape,
    static_shape,
)
from kerascheck.fixes.dataset_proofs.consumers import known_consumers
from kerascheck.fixes.dataset_proofs.epochs import same_every_epoch, same_memory
from kerascheck.fixes.dataset_proofs.neighbours import only_consumer, passed_on, plain_calls
from kerascheck.fixes.dataset_proofs.prefetching import (
    ahead,
    ends_of,
    objection_to_runtime_parallelism,
    objection_to_runtime_prefetch,
    same_order,
)
from kerascheck.fixes.dataset_proofs.sources import pure_function, unchanged_sources

__all__ = [
    "ahead",
    "batch_like_elements",
    "ends_of",
    "known_consumers",
    "objection_to_runtime_parallelism",
    "objection_to_runtime_prefetch",
    "only_caller",
    "only_consumer",
    "parses_batches",
    "passed_on",
    "plain_calls",
    "pure_function",
    "records_of_one_shape",
    "same_every_epoch",
    "same_memory",
    "same_order",
    "static_shape",
    "unchanged_sources",
]
