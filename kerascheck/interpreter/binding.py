"""Assignment targets: binding values to names, attributes and items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.array_shapes import parts_of, shape_of, split_of
from kerascheck.interpreter.attributes import set_attribute
from kerascheck.interpreter.expressions.subscripts import index_of
from kerascheck.interpreter.joins import any_of, join
from kerascheck.interpreter.nodes import as_tuple, differentiated, remembered
from kerascheck.interpreter.purity import derived
from kerascheck.interpreter.timing import collect
from kerascheck.interpreter.value_kinds import is_array
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Constant,
    Dataset,
    DictValue,
    External,
    ExternalInstance,
    IteratorValue,
    Method,
    SequenceValue,
    Tensor,
    Value,
    constant,
    holds_tensor,
    options_of,
)
from kerascheck.interpreter.writes import note_write
from kerascheck.knowledge.callables import VARIABLE
from kerascheck.knowledge.classes import GRADIENT_TAPE, KERAS_TENSOR
from kerascheck.syntax.tree import alike
from kerascheck.syntax.written import is_target


def bind(state: AbstractState, target: cst.CSTNode, value: Value) -> None:
    if holds_tensor(value) and is_side_effect(state, target):
        state.record(target, "builtins.object.__set__", "__set__", UNKNOWN, Arguments([value]))
    bind = _TARGETS.get(type(target))
    if bind is not None:
        bind(state, target, value)


def _bind_variable(state: AbstractState, target: cst.Name, value: Value) -> None:
    if target.value in state.scope.redirected:
        note_write(state, target, UNKNOWN, target)
    bind_name(state, target.value, value)


def _bind_attribute(state: AbstractState, target: cst.Attribute, value: Value) -> None:
    holder = state.eval(target.value)
    note_write(state, target.value, holder, target)
    set_attribute(state, target, holder, target.attr.value, value)


def _bind_elements(state: AbstractState, target: cst.Tuple | cst.List, value: Value) -> None:
    _unpack(state, target.elements, value)


def _bind_starred(state: AbstractState, target: cst.StarredElement, value: Value) -> None:
    bind(state, target.value, UNKNOWN)


def _bind_item(state: AbstractState, target: cst.Subscript, value: Value) -> None:
    base = state.eval(target.value)
    note_write(state, target.value, base, target)
    key = index_of(state, target)
    if not isinstance(constant(key), str):
        collect(state, target, [value])
    if isinstance(base, DictValue) and isinstance(key, Constant):
        state.store(base.items, key.value, value, base.created)
    elif base == External("os.environ"):
        state.record(target, "os.environ.__setitem__", "__setitem__", base, Arguments([key, value]))
    elif isinstance(base, DictValue):
        base.open, base.most = True, None
        for known in list(base.items):
            state.store(base.items, known, join(base.items[known], value), base.created)
        state.store(base.items, target, value, base.created)
    elif isinstance(base, SequenceValue):
        state.extend(base, [value], certain=False)
    elif isinstance(base, ExternalInstance) and is_array(base):
        # After a branch there may be one sequence of items per branch.
        groups = [option for option in options_of(base.attributes.get("stored")) if isinstance(option, SequenceValue)]
        stored = [item for group in groups for item in group.items]
        state.store(base.attributes, "stored", SequenceValue("list", [*stored, value], open=True), base.created)


def bind_name(state: AbstractState, name: str, value: Value) -> None:
    if all(map(_may_be_tensor, options_of(value))) and _is_differentiated(state, name):
        value = Tensor("result")
    home = state.scope.redirected.get(name)
    if home is None:
        state.scope.variables[name] = value
    else:
        state.store(home.variables, name, value)


def _is_differentiated(state: AbstractState, name: str) -> bool:
    """Whether a name is bound under a tape and the current function takes gradients of it."""
    if not any(
        isinstance(manager.value, ExternalInstance) and manager.value.name == GRADIENT_TAPE
        for manager in state.path.managers(within="function")
    ):
        return False
    function = state.path.frame.function
    return name in remembered(
        state.module, function.node if function is not None else state.module.tree.root, differentiated
    )


def _may_be_tensor(value: Value) -> bool:
    """Whether a value is unknown, or known only by the library that created it."""
    if isinstance(value, ExternalInstance):
        return not value.name.startswith("builtins.") and value.name not in (KERAS_TENSOR, VARIABLE)
    return value is UNKNOWN or isinstance(value, Method)


def _unpack(state: AbstractState, elements: Sequence[cst.BaseElement], value: Value) -> None:
    value = parts_of(value) or as_tuple(value)
    if isinstance(value, IteratorValue) and value.kind == "comprehension":
        value = value.over[0]
    for option in options_of(value):
        if isinstance(option, SequenceValue) and not option.open and len(option.items) == len(elements):
            for element, item in zip(elements, option.items):
                bind(state, element.value if isinstance(element, cst.Element) else element, item)
            return
    if isinstance(value, Tensor) or (isinstance(value, Dataset) and value.stage.is_source):
        # Elements of a structure of tensors; tfds.load may return several datasets.
        each: Value = value
    elif isinstance(value, SequenceValue):
        each = any_of(value.items) if value.open else UNKNOWN
    elif (
        isinstance(value, ExternalInstance)
        and value.name == "sklearn.model_selection.train_test_split"
        and value.call is not None
    ):
        # Two parts of each array, in the order of the arguments.
        for index, element in enumerate(elements):
            given = value.call.arguments.get(index // 2, None) or UNKNOWN
            bind(
                state,
                element.value if isinstance(element, cst.Element) else element,
                split_of(given, value.call, index % 2 == 0)
                if shape_of(given)
                else derived(given)
                if is_array(given)
                else UNKNOWN,
            )
        return
    else:
        each = UNKNOWN
    for element in elements:
        bind(state, element.value if isinstance(element, cst.Element) else element, each)


def is_side_effect(state: AbstractState, target: cst.CSTNode) -> bool:
    """Whether compiled code writes to an object that outlives it.

    Writes to attributes are recorded elsewhere, except in mapped functions.
    """
    traced = state.path.traced_by()
    base = target.value if isinstance(target, cst.Subscript) else target
    return traced is not None and (traced == "map" or isinstance(base, cst.Name)) and _outlives_call(state, target)


def _outlives_call(state: AbstractState, target: cst.CSTNode) -> bool:
    """Whether a target certainly exists before and after the current call.

    Such targets are module variables, attributes of objects created outside of compiled code, and items of these.
    """
    item = isinstance(target, cst.Subscript)
    if isinstance(target, cst.Subscript):
        target = target.value
    if isinstance(target, cst.Name):
        home = state.scope.owner(target.value) if item else state.scope.redirected.get(target.value)
        return home is not None and home is state.module_scopes.get(state.module)
    if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name):
        return False
    owner = state.scope.lookup(target.value.value)
    init = next((call for call in state.calls if call.attribute == "__init__" and call.receiver is owner), None)
    return init is not None and init.path.traced_by() is None and _is_used_beyond(state, target)


def _is_used_beyond(state: AbstractState, target: cst.Attribute) -> bool:
    """Whether an attribute carries a value between functions.

    It is only a local variable under another name if each function of the class that uses it both assigns and reads it.
    """
    tree = state.module.tree
    around = next((outer for outer in tree.ancestors(target) if isinstance(outer, cst.ClassDef)), None)
    written: dict[cst.CSTNode | None, set[bool]] = {}
    for node in tree.descendants(around) if around is not None else ():
        if isinstance(node, cst.Attribute) and alike(node, target):
            home = next((outer for outer in tree.ancestors(node) if isinstance(outer, cst.FunctionDef)), None)
            written.setdefault(home, set()).add(
                is_target(tree.parents[node], node) or isinstance(tree.parents[node], (cst.Element, cst.AugAssign))
            )
    return not all(kinds == {True, False} for kinds in written.values()) or not written


# Each handler receives nodes of the type it is registered for.
_TARGETS: dict[type[cst.CSTNode], Callable[[AbstractState, Any, Value], None]] = {
    cst.Name: _bind_variable,
    cst.Attribute: _bind_attribute,
    cst.Tuple: _bind_elements,
    cst.List: _bind_elements,
    cst.Subscript: _bind_item,
    cst.StarredElement: _bind_starred,
}
