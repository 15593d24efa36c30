"""Scalars of any framework, such as losses."""

import sys


def number(value):
    """Convert a scalar of any framework to a float, waiting for the device; None for other values."""
    try:
        return float(scalar(value))
    except Exception:  # symbolic, ragged, text: no loss to compare
        return None


def read(state, value):
    """Like :func:`number`, but does not count as a host read of the script."""
    before = getattr(state, "host_reads", 0)
    read_value = number(value)
    state.host_reads = before
    return read_value


def scalar(value):
    """Return ``value`` as a scalar, or the mean of its elements; None if it is neither.

    The device may still be computing it.
    """
    if isinstance(value, (list, tuple)):
        return scalar(value[0]) if value else None
    try:
        if getattr(value, "shape", ()) not in ((), (1,)) and len(value.shape):
            value = value.mean() if hasattr(value, "mean") else sys.modules["tensorflow"].reduce_mean(value)
        return value.detach() if hasattr(value, "detach") else value
    except Exception:  # symbolic, ragged, text
        return None


def first_scalar(result):
    """Return the first scalar among the outputs of a step, usually the loss, without waiting for it."""
    if isinstance(result, dict):
        result = [result["loss"], *result.values()] if "loss" in result else list(result.values())
    if isinstance(result, (list, tuple)):
        return next((found for found in map(first_scalar, result) if found is not None), None)
    if isinstance(result, bool) or not (isinstance(result, (int, float)) or hasattr(result, "dtype")):
        return None
    shape = getattr(result, "shape", ())
    try:
        if len(shape) and tuple(shape) != (1,):
            return None
    except Exception:  # unknown rank
        return None
    return scalar(result)
