"""Kinds of values, known or not: number, string, array, clock reading, symbolic tensor."""

from __future__ import annotations

from kerascheck.interpreter.values import (
    Constant,
    DictValue,
    ExternalInstance,
    LoopVariable,
    Method,
    SequenceValue,
    UnionValue,
    Value,
    constant,
    options_of,
)
from kerascheck.knowledge.callables import ARRAY_MAKERS
from kerascheck.knowledge.classes import KERAS_TENSOR, MODEL, MODEL_GET_LAYER, class_of
from kerascheck.knowledge.layers import LAYERS
from kerascheck.knowledge.python import CLOCKS


def reading_of(value: Value | None) -> Value | None:
    """The clock reading in a value, or the last one in a list or array of them; None for other values."""
    if (
        isinstance(value, ExternalInstance)
        and value.name in ("numpy.array", "numpy.asarray")
        and value.call is not None
    ):
        value = value.call.first
    items = value.items if isinstance(value, SequenceValue) else [value]
    return (
        items[-1]
        if items and all(isinstance(item, ExternalInstance) and item.name in CLOCKS for item in items)
        else None
    )


def is_number(value: Value) -> bool:
    """Whether a value is a Python number, known or not."""
    return isinstance(value, Constant) or (
        isinstance(value, ExternalInstance) and value.name in ("builtins.int", "builtins.float")
    )


def is_text(value: Value) -> bool:
    """Whether a value is a Python string, known or not; for a union, whether every option is."""
    if isinstance(value, UnionValue):
        return all(map(is_text, value.options))
    return isinstance(constant(value), str) or isinstance(value, ExternalInstance) and value.name == "builtins.str"


def is_array(value: Value) -> bool:
    """Whether a value is or may be an array from NumPy, OpenCV, or a Keras function that returns arrays."""
    if isinstance(value, UnionValue):
        return any(map(is_array, value.options))
    return isinstance(value, ExternalInstance) and (
        value.name.startswith(("numpy.", "cv2.")) or value.name in ARRAY_MAKERS
    )


# Called for most values, and the type usually decides.
_MAY_BE_SYMBOLIC = frozenset({UnionValue, ExternalInstance, LoopVariable, Method, SequenceValue, DictValue})


def is_symbolic(value: Value, depth: int = 2) -> bool:
    """Whether a value is or contains a symbolic tensor: the output of a layer called on ``keras.Input``."""
    if type(value) not in _MAY_BE_SYMBOLIC:
        return False
    for option in options_of(value):
        if isinstance(option, ExternalInstance) and option.name == KERAS_TENSOR:
            return True
        if isinstance(option, Method) and option.name in ("output", "outputs", "input", "inputs"):
            inner = option.receiver
            if isinstance(inner, ExternalInstance) and (
                class_of(inner.name) == MODEL or inner.name.startswith((LAYERS, MODEL_GET_LAYER))
            ):
                return True
        if depth and isinstance(option, SequenceValue) and any(is_symbolic(item, depth - 1) for item in option.items):
            return True
        if (
            depth
            and isinstance(option, DictValue)
            and any(is_symbolic(item, depth - 1) for item in option.items.values())
        ):
            return True
    return False
