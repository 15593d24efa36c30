"""Time of a step on a larger batch, which separates the fixed cost of a step from the cost per row."""

import functools
import itertools
import sys

from . import diagnose
from .replay import again, called_with, leaves, step_seconds, trained_on

TIMES_LARGER = 4
_LARGEST_BATCH_BYTES = 1 << 28


def larger_batch(state, leader):
    """Time of a step on a larger batch, as a multiple of a normal step; None if it cannot be measured."""
    batch, spec = getattr(state, "batch", (None, None))
    if batch is not None:
        tf = sys.modules["tensorflow"]
        if _bytes(batch) * TIMES_LARGER > _LARGEST_BATCH_BYTES:
            return None
        # If the number of rows is fixed, trace the step once more for both sizes.
        spec = tf.nest.map_structure(lambda part: tf.TensorSpec([None, *part.shape[1:]], part.dtype), spec)
        once, several = step_seconds(*(trained_on(state, again(rows, spec)) for rows in (batch, _repeated(batch))))
    elif leader.kind == "function loop" and state.last_call is not None:
        function, arguments = state.last_call
        larger = _repeated(arguments, rows=state.most_rows)
        if larger is None or _bytes(larger) > _LARGEST_BATCH_BYTES:
            return None
        once, several = step_seconds(
            *(functools.partial(called_with, function, given) for given in (arguments, larger))
        )
    elif leader.kind == "fit" and state.last_element is not None and not diagnose.computes_in_tensorflow(state, leader):
        larger = _stacked(state.last_element)
        if larger is None:
            return None
        once, several = step_seconds(*_fit_steps(state, (state.last_element, larger)))
    else:
        return None
    return {"times_as_long": several / once, "times_larger": TIMES_LARGER}


def _bytes(batch):
    tf = sys.modules["tensorflow"]
    return sum(int(tf.size(part)) * part.dtype.size for part in tf.nest.flatten(batch) if isinstance(part, tf.Tensor))


def _repeated(batch, rows=None):
    """Enlarge a batch by repeating its rows; None if no tensor can be enlarged.

    ``rows``: repeat only tensors with this many rows.
    """
    tf = sys.modules["tensorflow"]
    found = []

    def repeated(part):
        if not isinstance(part, tf.Tensor) or not part.shape.rank or (rows is not None and part.shape[0] != rows):
            return part
        found.append(part)
        return tf.concat([part] * TIMES_LARGER, 0)

    larger = tf.nest.map_structure(repeated, batch)
    return larger if found else None


def _stacked(element):
    """Enlarge a batch of JAX or PyTorch by repeating it; None if it has no rows or becomes too large."""
    arrays = [leaf for leaf in leaves(element) if leaf is not None]
    if not arrays or not all(len(getattr(each, "shape", ())) and hasattr(each, "nbytes") for each in arrays):
        return None
    if sum(each.nbytes for each in arrays) * TIMES_LARGER > _LARGEST_BATCH_BYTES:
        return None
    torch, numpy = sys.modules.get("torch"), sys.modules["numpy"]

    def stacked(part):
        if isinstance(part, dict):
            return {name: stacked(value) for name, value in part.items()}
        if isinstance(part, (list, tuple)):
            return type(part)(map(stacked, part))
        if part is None:
            return None
        return (
            torch.cat([part] * TIMES_LARGER)
            if torch and isinstance(part, torch.Tensor)
            else numpy.concatenate([part] * TIMES_LARGER)
        )

    return stacked(element)


def _fit_steps(state, batches):
    """Functions that run a ``fit`` step on each of ``batches`` with the compiled functions of JAX and PyTorch."""
    model, sync = state.fit_model, state.recorder.sync
    if state.recorder.facts["backend"] == "torch":

        def trained_in_torch(batch):
            sync(model.train_function([batch]))
            return 1

        return [functools.partial(trained_in_torch, batch) for batch in batches]
    names = ("trainable_variables", "non_trainable_variables", "optimizer_variables", "metrics_variables")
    now = [tuple(list(model._jax_state[name]) for name in names)]

    def trained(batch):
        # A step consumes its state arrays.
        logs, now[0] = model.train_function(now[0], itertools.repeat(batch))
        sync(logs)
        return int(getattr(model, "steps_per_execution", 1) or 1)

    return [functools.partial(trained, batch) for batch in batches]
