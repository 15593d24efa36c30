"""Subscripts and slices."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter import array_shapes
from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.joins import any_of, join
from kerascheck.interpreter.nodes import as_tuple
from kerascheck.interpreter.purity import computed
from kerascheck.interpreter.value_kinds import is_array, is_symbolic, is_text
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Constant,
    Dataset,
    DictValue,
    ExternalInstance,
    LoopVariable,
    Method,
    SequenceValue,
    Tensor,
    Value,
    constant,
)
from kerascheck.knowledge.callables import COMPILED_LOADERS, LOOKUP
from kerascheck.knowledge.classes import KERAS_TENSOR
from kerascheck.knowledge.devices import LIST_PHYSICAL_DEVICES, PHYSICAL_DEVICE
from kerascheck.knowledge.python import item_of


def eval_subscript(state: AbstractState, node: cst.Subscript) -> Value:
    value = as_tuple(state.eval(node.value))
    indices = _indices(state, node)
    key = _only(indices)
    if isinstance(value, (ExternalInstance, Method)) and is_symbolic(value):
        return ExternalInstance(KERAS_TENSOR, None, {"operands": SequenceValue("tuple", [value])})
    if is_array(value) and not (isinstance(value, ExternalInstance) and item_of(value.name)):
        return array_shapes.shaped(value, array_shapes.subscripted(array_shapes.shape_of(value), indices))
    if isinstance(value, (SequenceValue, ExternalInstance)) and (item := _items_at(value, indices)) is not None:
        return item
    if isinstance(value, SequenceValue):
        return _item_of_sequence(value, indices)
    if isinstance(value, DictValue):
        return _item_of_dict(value, key)
    if isinstance(value, Tensor):
        state.indexed.add(node)
        state.use("key" if isinstance(constant(key), str) else "index", node)
        origin = "element" if value.origin == "element" else "result" if _keeps_all(node) else "item"
        return state.computed_tensor(origin, value)
    if isinstance(value, Dataset) and value.stage.is_source:
        return value
    item = _item_of_external_instance(state, value, key, node) if isinstance(value, ExternalInstance) else None
    return item or array_shapes.columns_of(key) or UNKNOWN


def _keeps_all(node: cst.Subscript) -> bool:
    """Whether a subscript keeps all items, possibly in reverse order, as in ``image[..., ::-1]``."""
    return all(map(_keeps_axis, (element.slice for element in node.slice)))


def _keeps_axis(index: cst.BaseSlice) -> bool:
    if isinstance(index, cst.Index):
        return isinstance(index.value, cst.Ellipsis)
    if not isinstance(index, cst.Slice) or index.lower is not None or index.upper is not None:
        return False
    step = index.step
    if not isinstance(step, cst.UnaryOperation):
        return step is None
    number = step.expression
    return isinstance(step.operator, cst.Minus) and isinstance(number, cst.Integer) and number.value == "1"


def _item_of_external_instance(
    state: AbstractState, value: ExternalInstance, key: Value, node: cst.Subscript
) -> Value | None:
    """An item of a library object; None if unknown."""
    if value.name.startswith(LOOKUP):
        state.record(node, f"{value.name}.__getitem__", "__getitem__", value, Arguments([key]))
        return Tensor("item")
    if value.name in COMPILED_LOADERS:
        return value
    if value.name == LIST_PHYSICAL_DEVICES:
        return ExternalInstance(PHYSICAL_DEVICE, value.call, {"index": key})
    if value.name.startswith("sklearn.datasets.") and isinstance(constant(key), str):
        # A Bunch has its arrays as attributes and as items.
        return Method(value, constant(key))
    return None


def index_of(state: AbstractState, node: cst.Subscript) -> Value:
    return _only(_indices(state, node))


def _indices(state: AbstractState, node: cst.Subscript) -> list[array_shapes.Index]:
    found: list[array_shapes.Index] = []
    for element in node.slice:
        cut = element.slice
        if isinstance(cut, cst.Slice):
            found.append((_limit(state, cut.lower), _limit(state, cut.upper), _limit(state, cut.step)))
        elif isinstance(cut, cst.Index):
            found.append("..." if isinstance(cut.value, cst.Ellipsis) else state.eval(cut.value))
    return found


def _limit(state: AbstractState, node: cst.BaseExpression | None) -> Value | None:
    return None if node is None else state.eval(node)


def _item_of_sequence(sequence: SequenceValue, indices: list[array_shapes.Index]) -> Value:
    """An item or a slice of a list."""
    if len(indices) == 1 and isinstance(indices[0], tuple):
        cut = array_shapes.slice_of(indices[0])
        if cut is not None and not sequence.open and cut.step != 0:
            return SequenceValue(sequence.kind, sequence.items[cut])
        return SequenceValue(sequence.kind, list(sequence.items), open=True)
    index = constant(_only(indices))
    known = isinstance(index, int) and not isinstance(index, bool) and not sequence.open
    return (
        sequence.items[index]
        if known and -len(sequence.items) <= index < len(sequence.items)
        else any_of(sequence.items)
    )


def _item_of_dict(dictionary: DictValue, key: Value) -> Value:
    """An item of a dictionary."""
    if not isinstance(key, Constant):
        some = any_of(dictionary.items.values())
        return join(some, UNKNOWN) if dictionary.open else some
    if key.value in dictionary.items:
        return dictionary.items[key.value]
    # Values stored under unknown keys.
    return any_of(item for name, item in dictionary.items.items() if isinstance(name, cst.CSTNode))


def _items_at(value: SequenceValue | ExternalInstance, indices: list[array_shapes.Index]) -> Value | None:
    """An item or slice of a string, or of a list of strings or numbers, at a computed position; otherwise None."""
    positions = [
        part
        for index in indices
        for part in (index if isinstance(index, tuple) else [index])
        if isinstance(part, Value)
    ]
    if isinstance(value, ExternalInstance):
        kind = item_of(value.name)
    else:
        kind = (
            "builtins.str"
            if value.items
            and all(map(is_text, value.items))
            and any(isinstance(position, LoopVariable) for position in positions)
            else None
        )
    if kind is None:
        return None
    item = computed(kind, *positions)
    whole = isinstance(value, ExternalInstance) and value.name == "builtins.str"
    return (
        SequenceValue("list", [item], open=True)
        if any(isinstance(index, tuple) for index in indices) and not whole
        else item
    )


def _only(indices: list[array_shapes.Index]) -> Value:
    """The single key of a subscript; UNKNOWN for several keys and for slices."""
    return indices[0] if len(indices) == 1 and isinstance(indices[0], Value) else UNKNOWN
