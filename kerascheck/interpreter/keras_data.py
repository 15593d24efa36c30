"""Data that only Keras models accept."""

from __future__ import annotations

from kerascheck.interpreter.values import Call, ExternalInstance, Instance, Value, options_of
from kerascheck.knowledge.classes import IMAGE_DATA_GENERATOR, PY_DATASET, class_of_bases


def flow_call(value: Value) -> Call | None:
    """The ``flow`` call behind an image iterator of an ImageDataGenerator; None for other values."""
    return (
        value.call
        if isinstance(value, ExternalInstance) and value.name.startswith(IMAGE_DATA_GENERATOR + ".flow")
        else None
    )


def is_keras_data(value: Value | None) -> bool:
    """Whether a value is an image iterator of an ImageDataGenerator, or a PyDataset."""
    return any(flow_call(option) is not None or is_py_dataset(option) for option in options_of(value))


def is_py_dataset(value: Value) -> bool:
    """Whether a value is an instance of a subclass of PyDataset, or of Sequence, its older name."""
    return isinstance(value, Instance) and class_of_bases(value.cls.external_bases()) == PY_DATASET
