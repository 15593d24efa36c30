"""Time of each dataset of the training's pipeline, iterated alone."""

import contextlib
import time

from . import diagnose
from .replay import leaves

_SHORTEST = 0.001  # seconds per batch; faster pipelines are not examined
_EXPLAINED = 0.5  # share of a batch's time; a slower stage in TensorFlow's model explains the batch
_SECONDS = 4.0  # for all datasets together


def by_dataset(state, leader):
    """Seconds per batch of each dataset of the training's pipeline, source first.

    Measured only if TensorFlow's model of the pipeline does not explain its time. The model sees nothing behind some
    stages, such as ``unbatch``.
    """
    final = state.final_dataset
    alone = state.recorder.facts.get("alone_seconds_per_batch")
    if final is None or alone is None:
        return None
    if not _ends_at_shuffle(state) and (alone < _SHORTEST or _explained(state) > _EXPLAINED * alone):
        return None
    datasets = [final]
    while len(datasets[-1]._inputs()) == 1:
        datasets.append(datasets[-1]._inputs()[0])
    found: list[dict] = []
    end = time.perf_counter() + _SECONDS
    for dataset in reversed(datasets):
        place = state.dataset_places.get(dataset)
        limit = (end - time.perf_counter()) / max(1, len(datasets) - len(found))
        with contextlib.suppress(Exception):  # rows of different shapes cannot be batched
            seconds = _seconds_per_batch(dataset, state.most_rows or 1, limit)
            if seconds is not None and place is not None:
                found.append({"name": diagnose.name_of(dataset), "place": place, "seconds_per_batch": seconds})
    return {"by_dataset": found}


def _ends_at_shuffle(state):
    """Whether the slowest stage of the model is a shuffle. Its time includes filling the buffer."""
    slowest = max(state.longest_pass[1:], key=lambda node: node["seconds"], default={"name": ""})
    return slowest["name"].startswith("Shuffle")


def _explained(state):
    """Seconds per batch of the slowest stage in TensorFlow's model."""
    nodes = state.longest_pass[1:]
    return max(
        (node["seconds"] / max(1, nodes[0]["elements"]) / max(1.0, node["parallelism"]) for node in nodes), default=0.0
    )


def _seconds_per_batch(dataset, batch, limit):
    """Seconds per ``batch`` rows; None if none arrive within ``limit`` seconds.

    An element is a batch if its first dimension is unknown or ``batch``. Other elements are batched here, because in
    Python a single row takes longer than in most pipelines.
    """
    spec = getattr(leaves(dataset.element_spec)[0], "shape", None)
    if spec is None or not spec.rank or spec[0] not in (None, batch):
        dataset = dataset.batch(batch)
    rows, start, first = 0, time.perf_counter(), None
    for element in dataset:
        now = time.perf_counter()
        if first is None:
            first = now
        else:
            rows += int(leaves(element)[0].shape[0])
        if now - start > limit:
            break
    return (time.perf_counter() - first) / rows * batch if first is not None and rows else None
