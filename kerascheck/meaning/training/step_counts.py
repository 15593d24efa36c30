"""Numbers of steps for ``fit`` and ``evaluate`` that do not match the batches of their data."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.array_shapes import shape_of
from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.keras_data import flow_call
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Dataset,
    DatasetOp,
    DictValue,
    ExternalInstance,
    SequenceValue,
    Value,
    constant,
)
from kerascheck.knowledge.datasets import BATCHING, FROM_TENSOR_SLICES
from kerascheck.meaning.data.stages import is_endless
from kerascheck.meaning.models.batches import Batching, batching_of
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.tree import alike
from kerascheck.syntax.written import bindings_of_name, last_name, sole_value

# The data of a method, and the parameter that gives the steps over it.
_STEPS = {
    "fit": (("x", "steps_per_epoch"), ("validation_data", "validation_steps")),
    "fit_generator": (("x", "steps_per_epoch"), ("validation_data", "validation_steps")),
    "evaluate": (("x", "steps"),),
    "predict": (("x", "steps"),),
}
_SAME_ROWS = frozenset({"shuffle", "cache", "map", "prefetch", "with_options", "enumerate", "repeat", *BATCHING})
_BATCH_SIZE = re.compile(r"batch|^bs$", re.I)
_LENGTH = "builtins.len"
_DEFAULT_OF_FLOWS = 32  # examples in a batch of an ImageDataGenerator (keras/src/legacy/preprocessing/image.py, 3.15)


class Miscount(enum.Enum):
    """Ways in which a number of steps misses the number of batches."""

    EXAMPLES = enum.auto()
    """It counts examples, so an epoch of endless data passes over all of them once for each example of a batch."""
    DIVIDED_TWICE = enum.auto()
    """It is divided by the batch size twice, so an epoch sees a small part of the data."""


@dataclass(frozen=True, slots=True)
class MiscountedSteps:
    """A number of steps that misses the number of batches.

    Attributes:
        call: the call of ``fit``, ``evaluate`` or ``predict``.
        argument: the argument that gives the steps.
        parameter: its name.
        miscount: the mistake.
        batch: the batches of the data; None if their size is unknown.
    """

    call: Call
    argument: cst.Arg
    parameter: str
    miscount: Miscount
    batch: Batching | None

    @property
    def place(self) -> CodeLocation:
        """The argument as a location."""
        return CodeLocation(self.call.module, self.argument)


def miscounted_steps(module: Module) -> Iterator[MiscountedSteps]:
    """The numbers of steps that certainly count examples, or that are divided by the batch size twice."""
    seen = set()
    for call in module.once(Program).model_calls(*_STEPS):
        for data, steps in _STEPS[call.attribute or ""]:
            argument = call.written(steps) if data in call.signature and steps in call.signature else None
            if argument is None or argument in seen:
                continue
            given = call.given(data)
            batch = _batching(given)
            if _is_divided_twice(call, argument.value, call.written(data), batch):
                miscount = Miscount.DIVIDED_TWICE
            elif (
                isinstance(given, Dataset) and batch is not None and batch.size > 1 and _counts_rows(call, steps, given)
            ):
                miscount = Miscount.EXAMPLES
            else:
                continue
            seen.add(argument)
            yield MiscountedSteps(call, argument, steps, miscount, batch)


def _batching(data: Value | None) -> Batching | None:
    """The batches of a dataset or of an iterator of an ImageDataGenerator; None if their size is unknown."""
    if isinstance(data, Dataset):
        return batching_of(data)
    flow = flow_call(data) if data is not None else None
    if flow is None:
        return None
    size = flow.given("batch_size")
    number = _DEFAULT_OF_FLOWS if size is None else constant(size)
    return Batching(number, CodeLocation(flow.module, flow.node)) if type(number) is int and number > 0 else None


def _is_divided_twice(call: Call, steps: cst.BaseExpression, data: cst.Arg | None, batch: Batching | None) -> bool:
    """Match ``len(x) // size // size``, and ``len(batches) // size`` where ``batches`` is the data itself."""
    tree = call.module.tree
    outer = sole_value(tree, steps)
    if not isinstance(outer, cst.BinaryOperation) or not isinstance(outer.operator, cst.FloorDivide):
        return False
    size, inner = outer.right, sole_value(tree, outer.left)
    if not (
        _BATCH_SIZE.search(last_name(size)) or batch is not None and batch.size > 1 and _is_number(size, batch.size)
    ):
        return False
    if isinstance(inner, cst.BinaryOperation) and isinstance(inner.operator, cst.FloorDivide):
        return alike(inner.right, size) and _counted(sole_value(tree, inner.left)) is not None
    counted = _length_of(inner)
    if batch is None or counted is None or data is None or not alike(counted, data.value):
        return False
    # A name that is bound again may have referred to the examples when they were counted.
    is_counted_here = outer is steps and inner is outer.left
    return is_counted_here or isinstance(counted, cst.Name) and len(bindings_of_name(tree, counted.value)) == 1


def _is_number(node: cst.BaseExpression, number: int) -> bool:
    return isinstance(node, cst.Integer) and node.evaluated_value == number


def _length_of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The expression in ``len(x)``; None for other expressions."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Name) or node.func.value != "len":
        return None
    return node.args[0].value if len(node.args) == 1 else None


def _counted(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The rows counted by ``len(x)`` or ``x.shape[0]``; None for other expressions."""
    if (
        isinstance(node, cst.Subscript)
        and isinstance(node.value, cst.Attribute)
        and node.value.attr.value == "shape"
        and len(node.slice) == 1
        and isinstance(node.slice[0].slice, cst.Index)
        and _is_number(node.slice[0].slice.value, 0)
    ):
        return node.value.value
    return _length_of(node)


def _counts_rows(call: Call, parameter: str, data: Dataset) -> bool:
    """Whether a number of steps is that of the rows from which an endless dataset makes its batches."""
    stages = list(data.stage.upstream())
    source = stages[-1]
    if source.name != FROM_TENSOR_SLICES or not is_endless(data.stage):
        return False
    # Batches of batches have more rows.
    if any(stage.name not in _SAME_ROWS for stage in stages[:-1]) or sum(s.name in BATCHING for s in stages) != 1:
        return False
    steps, arrays = call.given(parameter), list(_arrays(source.given("tensors")))
    if isinstance(steps, ExternalInstance) and steps.name == _LENGTH and steps.call is not None:
        counted = steps.call.first
        if counted is not UNKNOWN and any(counted is array for array in arrays):
            return True
    name = _counted_name(call, parameter, source)
    if name is None:
        return False
    # A name that is bound again may refer to two arrays; equal numbers of rows are as good.
    rows = {shape[0] for array in arrays if (shape := shape_of(array))}
    return constant(steps) in rows or len(bindings_of_name(call.module.tree, name)) == 1


def _counted_name(call: Call, parameter: str, source: DatasetOp) -> str | None:
    """The name whose rows the steps count and the source of the dataset slices; None if there is none."""
    argument = call.written(parameter)
    slices = source.call.written("tensors") if source.call is not None else None
    if argument is None or slices is None or source.module is not call.module:
        return None
    counted = _counted(sole_value(call.module.tree, argument.value))
    if not isinstance(counted, cst.Name) or not any(alike(counted, part) for part in _parts(slices.value)):
        return None
    return counted.value


def _arrays(tensors: Value | None) -> Iterator[Value]:
    """The arrays of a source that slices a structure of tuples and dictionaries."""
    if isinstance(tensors, SequenceValue) and tensors.kind == "tuple":
        for item in tensors.items:
            yield from _arrays(item)
    elif isinstance(tensors, DictValue):
        for item in tensors.items.values():
            yield from _arrays(item)
    elif tensors is not None:
        yield tensors


def _parts(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The same for the expression."""
    if isinstance(node, cst.Tuple):
        for element in node.elements:
            yield from _parts(element.value)
    elif isinstance(node, cst.Dict):
        for entry in node.elements:
            yield from _parts(entry.value)
    else:
        yield node
