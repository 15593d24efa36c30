"""Attribute access: reading and writing attributes of abstract values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from kerascheck.interpreter import array_shapes
from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.internal_values import SuperValue
from kerascheck.interpreter.joins import any_of
from kerascheck.interpreter.modules import member_of, run_module
from kerascheck.interpreter.value_kinds import is_array
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Class,
    Constant,
    External,
    ExternalInstance,
    Function,
    Instance,
    LoopVariable,
    Method,
    ModuleValue,
    Tensor,
    UnionValue,
    Value,
    external,
    options_of,
)
from kerascheck.knowledge.callables import COMPILED_LOADERS, TENSOR_LIBRARIES
from kerascheck.knowledge.datasets import OPTIONS


def get_attribute(state: AbstractState, value: Value, name: str, node: cst.CSTNode) -> Value:
    """The attribute ``name`` of a value, read at ``node``."""
    handler = _ATTRIBUTES.get(type(value))
    return _method(value, name) if handler is None else handler(state, value, name, node)


def _of_external(state: AbstractState, value: External, name: str, node: cst.CSTNode) -> Value:
    dotted = f"{value.name}.{name}"
    return state.set_outside[dotted] if dotted in state.set_outside else external(dotted)


def _of_instance(state: AbstractState, value: Instance, name: str, node: cst.CSTNode) -> Value:
    found = value.attributes.get(name)
    if found is not None:
        return found
    member = value.cls.member(name)
    if isinstance(member, Function):
        bound = state.bound(member, value)
        return state.inline(bound, Arguments(), node) if member.kind == "property" else bound
    return Method(value, name) if member is None else member


def _of_function(state: AbstractState, value: Function, name: str, node: cst.CSTNode) -> Value:
    return Constant(value.name) if name == "__name__" else _method(value, name)


def _of_class(state: AbstractState, value: Class, name: str, node: cst.CSTNode) -> Value:
    if name == "__name__":
        return Constant(value.name)
    member = value.member(name)
    if isinstance(member, Function) and member.kind == "classmethod":
        return state.bound(member, value)
    if member is not None:
        return member
    bases = sorted(value.external_bases())
    return External(f"{bases[0]}.{name}") if bases else UNKNOWN


def _of_external_instance(state: AbstractState, value: ExternalInstance, name: str, node: cst.CSTNode) -> Value:
    if name in value.attributes:
        return value.attributes[name]
    if value.name in COMPILED_LOADERS:
        return value
    if value.name.startswith(OPTIONS):
        inner = ExternalInstance(f"{value.name}.{name}", value.call)
        value.attributes[name] = inner
        return inner
    return _method(value, name)


def _of_module(state: AbstractState, value: ModuleValue, name: str, node: cst.CSTNode) -> Value:
    return member_of(state, value.module, name)


def _of_tensor(state: AbstractState, value: Tensor, name: str, node: cst.CSTNode) -> Value:
    if name not in ("shape", "_keras_shape", "dtype", "ndim", "name", "device", "graph"):
        return Method(value, name)
    if name.endswith("shape"):
        state.use("shape", node)
    return UNKNOWN


def _of_super(state: AbstractState, value: SuperValue, name: str, node: cst.CSTNode) -> Value:
    """The attribute ``super().name``."""
    passed = False
    for base in value.cls.ancestry():
        if passed and isinstance(base, Class) and name in base.members:
            member = base.members[name]
            return state.bound(member, value.instance) if isinstance(member, Function) else member
        passed = passed or base is value.cls
    return Method(value, name)


def _of_union(state: AbstractState, value: UnionValue, name: str, node: cst.CSTNode) -> Value:
    return any_of(get_attribute(state, option, name, node) for option in value.options)


def _method(value: Value, name: str) -> Value:
    if name == "T" and is_array(value):
        return array_shapes.transposed(value)
    shape = array_shapes.shape_of(value) if name == "shape" else None
    return Method(value, name) if shape is None else array_shapes.as_group(shape)


_ATTRIBUTES: dict[type[Value], Callable[[AbstractState, Any, str, cst.CSTNode], Value]] = {
    External: _of_external,
    Instance: _of_instance,
    Class: _of_class,
    Function: _of_function,
    ExternalInstance: _of_external_instance,
    LoopVariable: _of_external_instance,
    ModuleValue: _of_module,
    Tensor: _of_tensor,
    SuperValue: _of_super,
    UnionValue: _of_union,
}


def set_attribute(state: AbstractState, node: cst.CSTNode, receiver: Value, name: str, value: Value) -> None:
    for option in options_of(receiver):
        if isinstance(option, (Instance, ExternalInstance)):
            if isinstance(option, ExternalInstance) and option.name.startswith(OPTIONS):
                # An option that is not set has its default value.
                option.attributes.setdefault(name, UNKNOWN)
            state.store(option.attributes, name, value, option.created)
        owner = state.class_name(option)
        if owner is not None:
            state.record(node, f"{owner}.__setattr__", name, option, Arguments([Constant(name), value]))
        elif isinstance(option, External):
            if not option.name.startswith(TENSOR_LIBRARIES):
                state.store(state.set_outside, f"{option.name}.{name}", value)
            state.record(node, f"{option.name}.__setattr__", name, option, Arguments([Constant(name), value]))
        elif isinstance(option, Instance) and isinstance(state.module.tree.parents.get(node), cst.AugAssign):
            state.record(node, "builtins.object.__setattr__", name, option, Arguments([Constant(name), value]))
        elif option is UNKNOWN or isinstance(option, Method):
            state.record(node, None, name, option, Arguments([Constant(name), value]))
        if isinstance(option, ModuleValue):
            state.store(run_module(state, option.module).variables, name, value)
