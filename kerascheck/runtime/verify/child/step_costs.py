"""Known costs of a TensorFlow ``fit`` step, each timed separately."""

import functools
import itertools
import statistics
import sys
import time

from . import diagnose
from .replay import again, wait_for_step

_MOST_SHAPES = 8
_SHAPES_SECONDS = 5.0
_LONGEST_SHAPES_SECONDS = 20.0
"""Seconds to wait for a second shape. The parent waits at most 30 s for a diagnostic."""
_WORTH_COMPILING = 0.02
_ROUNDS = 5
_LARGE_TABLE = 1 << 20
"""Numbers in a table; updates of smaller tables take negligible time."""
_LAYERS = ("TextVectorization", "StringLookup", "IntegerLookup", "Hashing", "CategoryEncoding")


def install(state):
    """Add these diagnostics if the plan sets ``parts``."""
    if state.run["plan"]["parts"]:
        for look in (new_shapes, lookup_layers, whole_tables):
            state.recorder.late_diagnostics.append(functools.partial(diagnose.guarded, look, state))


def _iterator(state, leader):
    """The iterator that feeds ``fit`` on TensorFlow; None on other backends."""
    if leader.kind != "fit" or not state.recorder.facts.get("backend", "").startswith("tensorflow"):
        return None
    return diagnose.training_iterator(state) if getattr(state.fit_model, "train_function", None) is not None else None


def new_shapes(state, leader):
    """Extra time of the first step on each of several batches over the next step on the same batch.

    This is the time to compile for new shapes, if the shapes of batches differ.
    """
    iterator = _iterator(state, leader)
    spec = [shape for shape, _ in diagnose.flat_spec(iterator.element_spec)] if iterator is not None else []
    if not any(shape is None or None in shape[1:] for shape in spec):
        return None
    tf = sys.modules["tensorflow"]
    extra, shapes = [], []
    begun = time.perf_counter()
    # Use the next batches of the training: if all passes are equal, it has already seen those of a new pass.
    following = itertools.chain(iterator, (batch for batch in iterator._dataset))
    for batch in itertools.islice(following, _MOST_SHAPES):
        fed = again(batch, iterator.element_spec)
        first, second = (_seconds(state, fed) for _ in range(2))
        extra.append(max(0.0, first - second))
        shapes.append([part.shape.as_list() for part in tf.nest.flatten(batch) if isinstance(part, tf.Tensor)][0])
        several = len({str(shape) for shape in shapes}) > 1
        if time.perf_counter() - begun > (_SHAPES_SECONDS if several else _LONGEST_SHAPES_SECONDS):
            break
    if len({str(shape) for shape in shapes}) < 2:
        return None
    new = sum(seconds > _WORTH_COMPILING for seconds in extra)
    return {"new_shapes": {"seconds": statistics.fmean(extra), "new": new, "seen": len(extra), "shapes": shapes}}


def _seconds(state, iterator):
    start = time.perf_counter()
    wait_for_step(state.fit_model.train_function(iterator))
    return time.perf_counter() - start


def lookup_layers(state, leader):
    """Seconds per batch of the model's own layers for text and categories."""
    batch, _ = getattr(state, "batch", (None, None))
    model = state.fit_model
    if _iterator(state, leader) is None or batch is None or not hasattr(model, "_flatten_layers"):
        return None
    tf = sys.modules["tensorflow"]
    x = batch[0] if isinstance(batch, tuple) else batch
    found = []
    for layer in _lookups(model) if isinstance(x, tf.Tensor) else ():
        called = tf.function(layer.call)
        found.append([layer.name, type(layer).__name__, _typical(lambda called=called: called(x))])
    return {"lookup_layers": found} if found else None


def _lookups(layer):
    """The outermost layers for text and categories, since such layers contain others."""
    if type(layer).__name__ in _LAYERS:
        return [layer]
    return [found for inner in getattr(layer, "_layers", ()) for found in _lookups(inner)]


def whole_tables(state, leader):
    """Seconds of an optimizer update for each large embedding table if a step uses only few of its rows."""
    model = state.fit_model
    optimizer = getattr(model, "optimizer", None)
    if _iterator(state, leader) is None or not hasattr(model, "_flatten_layers") or not hasattr(optimizer, "variables"):
        return None
    tf = sys.modules["tensorflow"]
    batch, _ = getattr(state, "batch", (None, None))
    found = []
    for layer in model._flatten_layers():
        table = getattr(layer, "embeddings", None) if type(layer).__name__ == "Embedding" else None
        if table is None or not table.trainable or int(tf.size(table.value)) < _LARGE_TABLE:
            continue
        used = _rows_used(tf, batch, int(table.shape[0]))
        rows = tf.range(used or 1, dtype=tf.int32)
        gradient = tf.IndexedSlices(tf.zeros((int(rows.shape[0]), *table.shape[1:]), table.dtype), rows, table.shape)
        seconds = _update_seconds(tf, optimizer, table, gradient)
        found.append([layer.name, int(table.shape[0]), used, type(optimizer).__name__, seconds])
    return {"whole_tables": found} if found else None


def _rows_used(tf, batch, rows):
    """Number of rows of a table of ``rows`` rows that the integers of a batch select; None if it has no integers."""
    numbers = [
        part
        for part in tf.nest.flatten(batch)
        if isinstance(part, tf.Tensor) and part.dtype.is_integer and part.shape.rank and part.shape.rank > 1
    ]
    return min(rows, len({int(n) for part in numbers for n in part.numpy().ravel()})) if numbers else None


def _update_seconds(tf, optimizer, table, gradient):
    """Seconds to update one table in the way the compiled step does."""

    @tf.function
    def update():
        optimizer.update_step(gradient, table, tf.cast(optimizer.learning_rate, table.dtype))
        return tf.constant(0.0)

    return _typical(update)


def _typical(call):
    """Median seconds of a call, without the first calls."""
    times = []
    for _ in range(2 + _ROUNDS):
        start = time.perf_counter()
        result = call()
        if hasattr(result, "numpy"):
            result.numpy()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])
