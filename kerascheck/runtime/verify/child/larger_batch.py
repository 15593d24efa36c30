"""Steps on a batch of another size, which separate the fixed cost of a step from the cost per row."""

import functools
import itertools
import sys

from . import diagnose
from .jax_steps import jax_step_of
from .replay import again, called_with, leaves, step_seconds, steps_per_call, trained_on

TIMES_LARGER = 4
_LARGEST_BATCH_BYTES = 1 << 28


class Resizable:
    """A batch of the training whose rows can be repeated or cut."""

    def __init__(self, rows, size, step):
        self.rows = rows
        self.size = size  # bytes
        self.step = step  # function of a number of rows; returns a call that runs a step and returns its steps


def larger_batch(state, leader):
    """Time of a step on a larger batch, as a multiple of a normal step; None if it cannot be measured."""
    batch = resizable(state, leader)
    if batch is None or batch.size * TIMES_LARGER > _LARGEST_BATCH_BYTES:
        return None
    once, several = step_seconds(batch.step(batch.rows), batch.step(batch.rows * TIMES_LARGER))
    return {"times_as_long": several / once, "times_larger": TIMES_LARGER}


def resizable(state, leader):
    """The newest batch of the training as a :class:`Resizable`; None if its step cannot run on another one."""
    batch, spec = getattr(state, "batch", (None, None))
    if batch is not None:
        tf = sys.modules["tensorflow"]
        # If the number of rows is fixed, trace the step once more for all sizes.
        spec = tf.nest.map_structure(lambda part: tf.TensorSpec([None, *part.shape[1:]], part.dtype), spec)
        parts = tf.nest.flatten(batch)
        return Resizable(
            int(parts[0].shape[0]), _bytes(parts), lambda rows: trained_on(state, again(_resized(batch, rows), spec))
        )
    if leader.kind == "function loop" and leader.framework == "jax":
        return _of_jax_loop(state, leader)
    if leader.kind == "function loop" and state.last_call is not None:
        function, arguments = state.last_call
        parts = _parts(arguments, state.most_rows)
        if len({int(part.shape[0]) for part in parts}) != 1:
            return None
        given = functools.partial(_resized, arguments, only=state.most_rows)
        return Resizable(
            int(parts[0].shape[0]), _bytes(parts), lambda rows: functools.partial(called_with, function, given(rows))
        )
    if leader.kind == "fit" and state.last_element is not None and not diagnose.computes_in_tensorflow(state, leader):
        element = state.last_element
        arrays = [leaf for leaf in leaves(element) if leaf is not None]
        if not arrays or not all(len(getattr(each, "shape", ())) and hasattr(each, "nbytes") for each in arrays):
            return None
        size = sum(each.nbytes for each in arrays)
        return Resizable(
            int(arrays[0].shape[0]), size, lambda rows: fit_steps(state, [_resized_arrays(element, rows)])[0]
        )
    return None


def _of_jax_loop(state, leader):
    step = jax_step_of(state, leader)
    found = step.batch(state.most_rows) if step is not None else None
    if step is None or found is None:
        return None
    rows, size, indices = found
    return Resizable(rows, size, lambda rows: functools.partial(step.call, step.resized(indices, rows)))


def _bytes(parts):
    tf = sys.modules["tensorflow"]
    return sum(int(tf.size(part)) * part.dtype.size for part in parts if isinstance(part, tf.Tensor))


def _parts(batch, rows):
    """The tensors of a batch with this many rows; None: with any number of rows."""
    tf = sys.modules["tensorflow"]
    tensors = [part for part in tf.nest.flatten(batch) if isinstance(part, tf.Tensor) and part.shape.rank]
    return [part for part in tensors if rows is None or part.shape[0] == rows]


def _resized(batch, rows, only=None):
    """Repeat or cut the rows of a batch; ``only``: of the tensors with this many rows."""
    tf = sys.modules["tensorflow"]
    chosen = {id(part) for part in _parts(batch, only)}

    def resized(part):
        if id(part) not in chosen:
            return part
        return tf.concat([part] * -(-rows // int(part.shape[0])), 0)[:rows]

    return tf.nest.map_structure(resized, batch)


def _resized_arrays(element, rows):
    """Repeat or cut the rows of a batch of JAX or PyTorch."""
    torch, numpy = sys.modules.get("torch"), sys.modules["numpy"]

    def resized(part):
        if isinstance(part, dict):
            return {name: resized(value) for name, value in part.items()}
        if isinstance(part, (list, tuple)):
            return type(part)(map(resized, part))
        if part is None:
            return None
        join = torch.cat if torch and isinstance(part, torch.Tensor) else numpy.concatenate
        return join([part] * -(-rows // int(part.shape[0])))[:rows]

    return resized(element)


def fit_steps(state, batches):
    """Functions that run a ``fit`` step on each of ``batches`` with the compiled functions of JAX and PyTorch."""
    model, sync = state.fit_model, state.recorder.sync
    if state.recorder.facts["backend"] == "torch":

        def trained_in_torch(batch):
            sync(model.train_function([batch]))
            return 1

        return [functools.partial(trained_in_torch, batch) for batch in batches]
    names = ("trainable_variables", "non_trainable_variables", "optimizer_variables", "metrics_variables")
    if state.jax_values is None:
        state.jax_values = tuple(list(model._jax_state[name]) for name in names)

    def trained(batch):
        # A step consumes its state arrays.
        logs, state.jax_values = model.train_function(state.jax_values, itertools.repeat(batch))
        sync(logs)
        return steps_per_call(model)

    return [functools.partial(trained, batch) for batch in batches]
