"""Calls of abstract values: functions, classes, methods and library symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.arguments import bound_arguments, traced_arguments
from kerascheck.interpreter.array_shapes import reshaped, shaped
from kerascheck.interpreter.callables import run_arguments
from kerascheck.interpreter.compilation import compile_value
from kerascheck.interpreter.internal_values import SuperValue
from kerascheck.interpreter.joins import any_of
from kerascheck.interpreter.libraries.registry import (
    Invocation,
    callback_handler,
    function_handlers,
    method_handlers,
    outcomes,
)
from kerascheck.interpreter.nodes import fields_of
from kerascheck.interpreter.purity import as_texts
from kerascheck.interpreter.value_kinds import is_symbolic, is_text
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Class,
    Constant,
    Dataset,
    DictValue,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    Instance,
    LoopVariable,
    Method,
    Partial,
    SequenceValue,
    Tensor,
    UnionValue,
    Value,
    datasets_in,
    holds_tensor,
)
from kerascheck.interpreter.writes import note_mutation
from kerascheck.knowledge.callables import (
    COMPILERS,
    FUNCTION_COMPILED,
    LOOKING_AT_DATASETS,
    TENSOR_LIBRARIES,
    calls_functions,
)
from kerascheck.knowledge.classes import KERAS_TENSOR, LAYER, LOSS, MODEL, SEQUENTIAL, class_of
from kerascheck.knowledge.layers import LAYERS
from kerascheck.knowledge.namespaces import KERAS, OF_KERAS_APPLICATIONS
from kerascheck.knowledge.python import LISTING_METHODS, MUTATING_METHODS, READING_METHODS, changes_elsewhere


def call_unknown(state: AbstractState, function: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
    """The result of calling a value whose function is unknown."""
    state.record(node, None, None, function, arguments)
    state.escape(arguments, node)
    if any(map(holds_tensor, arguments.values())):
        state.use("unknown-call", node)
    return UNKNOWN


def _call_union(state: AbstractState, functions: UnionValue, arguments: Arguments, node: cst.CSTNode) -> Value:
    return any_of(state.call(option, arguments, node) for option in functions.options)


def _call_function(state: AbstractState, function: Function, arguments: Arguments, node: cst.CSTNode) -> Value:
    if function.traced:
        state.enter_compiled(function, arguments, node)
    outside = state.path.traced_by() is None
    result = state.inline(function, arguments, node)
    return _as_tensors(result) if outside and function.traced == "tf.function" else result


def _call_partial(state: AbstractState, partial: Partial, arguments: Arguments, node: cst.CSTNode) -> Value:
    if partial.arguments.unknown_positional:
        state.escape(replace(arguments, keywords={}), node)
    return state.call(partial.target, bound_arguments(partial.arguments, arguments), node)


def _instantiate(state: AbstractState, cls: Class, arguments: Arguments, node: cst.CSTNode) -> Value:
    new = cls.member("__new__")
    if isinstance(new, Function):
        created = state.inline(new, replace(arguments, positional=[cls, *arguments.positional], nodes={}), node)
        # Python calls __init__ only on instances of the class.
        if any(datasets_in(created)):
            return created
    instance = Instance(cls, {})
    state.begin(instance.attributes)
    # Methods without a call site run on the object that the program creates.
    state.instances.setdefault(cls, instance)
    bases = cls.external_bases()
    name = next((name for name in map(class_of, sorted(bases)) if name.startswith(KERAS)), None)
    state.record(node, name and f"{name}.__init__", "__init__", instance, arguments, instance)
    init = cls.member("__init__")
    if isinstance(init, Function):
        state.inline(state.bound(init, instance), arguments, node)
    else:
        _fill_fields(state, instance, arguments, node)
    return instance


def _fill_fields(state: AbstractState, instance: Instance, arguments: Arguments, node: cst.CSTNode) -> None:
    """Run the constructor of a dataclass or NamedTuple, which takes its fields in order."""
    fields = fields_of(instance.cls)
    for name in fields:
        member = instance.cls.member(name)
        if isinstance(member, ExternalInstance) and member.name == "dataclasses.field" and member.call is not None:
            given = member.call.arguments.keywords
            factory = given.get("default_factory")
            instance.attributes[name] = (
                given.get("default", UNKNOWN) if factory is None else state.call(factory, Arguments(), node)
            )
    instance.attributes.update(zip(fields, arguments.positional))
    instance.attributes.update(arguments.keywords)
    if arguments.unknown_positional or arguments.unknown_keywords:
        state.invalidate(instance)
    if not fields:
        state.escape(arguments, node)
    after = instance.cls.member("__post_init__")
    if isinstance(after, Function):
        state.inline(state.bound(after, instance), Arguments(), node)


def _call_instance(state: AbstractState, instance: Instance, arguments: Arguments, node: cst.CSTNode) -> Value:
    bases = instance.cls.external_bases()
    owner = state.class_name(instance)
    keras = owner in (MODEL, LAYER)
    call = state.record(node, f"{owner}.__call__" if owner else None, "__call__", instance, arguments)
    method = instance.cls.member("__call__") or (instance.cls.member("call") if keras else None)
    if isinstance(method, Function):
        # Keras traces call() sooner or later, even if this caller does not.
        how = method.traced or "call" if keras and state.path.traced_by() is None else None
        given = traced_arguments(arguments) if how else arguments
        if keras and not how and given.positional and given.positional[0] is UNKNOWN:
            # In compiled code a layer is called on a tensor, even if its origin is unknown.
            given = replace(given, positional=[Tensor("parameter"), *given.positional[1:]])
        result = state.inline(state.bound(method, instance), given, node, traced=how)
        if keras and any(map(is_symbolic, arguments.values())):
            return _layer_result(state, call)
        return _layer_result(state, call) if keras and (result is UNKNOWN or isinstance(result, Tensor)) else result
    if keras and not bases & {"builtins.object"}:
        return _layer_result(state, call)
    state.escape(arguments, node)
    return UNKNOWN


def _layer_result(state: AbstractState, call: Call) -> Value:
    """The result of a layer or model: a symbolic tensor or a tensor that refers to the call."""
    symbolic = any(map(is_symbolic, call.arguments.values()))
    call.result = ExternalInstance(KERAS_TENSOR, call) if symbolic else Tensor("result", call)
    return call.result


def _call_external_instance(
    state: AbstractState, instance: ExternalInstance, arguments: Arguments, node: cst.CSTNode
) -> Value:
    if instance.name in COMPILERS and arguments.positional:
        return compile_value(state, arguments.positional[0], COMPILERS[instance.name], instance.call, node)
    if instance.name == FUNCTION_COMPILED:
        state.enter_compiled(instance, arguments, node)
        target = instance.attributes["target"]
        path = ExecutionPath("call", state.path, state.module, node, traced="tf.function")
        outside = state.path.traced_by() is None
        result = state.inside(path, lambda a: state.call(target, a, node), arguments)
        return _as_tensors(result) if outside else result
    owner = state.class_name(instance) or instance.name
    call = state.record(node, f"{owner}.__call__", "__call__", instance, arguments)
    if owner == MODEL or instance.name.startswith((LAYERS, SEQUENTIAL, OF_KERAS_APPLICATIONS)):
        # Calling a model on datasets raises an error; there is nothing to follow.
        return _layer_result(state, call)
    state.escape(arguments, node)
    if any(holds_tensor(value) for value in arguments.values()):
        if not instance.name.startswith(TENSOR_LIBRARIES):
            state.use("unknown-call", node)
        return Tensor("result") if instance.name.startswith(TENSOR_LIBRARIES) else UNKNOWN
    return Tensor("result") if owner == LOSS else ExternalInstance(f"{owner}.__call__")


def _call_method(state: AbstractState, method: Method, arguments: Arguments, node: cst.CSTNode) -> Value:
    receiver, attribute = method.receiver, method.name
    if attribute in MUTATING_METHODS and not isinstance(receiver, (Tensor, Dataset, SuperValue)):
        note_mutation(state, node, receiver)
    owner = "builtins.str" if is_text(receiver) else state.class_name(receiver)
    call = Invocation(f"{owner}.{attribute}" if owner else "", arguments, node, receiver, attribute, owner)
    for handler in method_handlers(call):
        result = handler(state, call)
        if result is not None:
            return result
    recorded = call.record(state)
    handle_callbacks = callback_handler(call.name) if call.name else None
    if handle_callbacks is not None:
        handle_callbacks(state, call)
    else:
        run_arguments(state, arguments, node, tensors=False)
    state.escape(arguments, node)
    if attribute not in READING_METHODS and not (owner or "").startswith(TENSOR_LIBRARIES):
        # ``cfg.merge_from_file(path)``
        state.invalidate_settings(receiver)
    if owner is None:
        return _unknown_method(state, recorded)
    if owner.startswith(TENSOR_LIBRARIES) and any(map(holds_tensor, arguments.values())):
        return Tensor("result")
    return as_texts(call.name, [receiver, *arguments.values()]) or ExternalInstance(call.name, recorded)


def _unknown_method(state: AbstractState, call: Call) -> Value:
    """The result of a method of an unknown object."""
    if call.attribute in LISTING_METHODS:
        return ExternalInstance(f"builtins.object.{call.attribute}", call)
    if holds_tensor(call.receiver) or any(map(holds_tensor, call.arguments.values())):
        state.use("unknown-call", call.node)
    elif call.attribute == "reshape" and (shape := reshaped(call.arguments.positional)) is not None:
        # The result is an array of that shape, regardless of the receiver.
        return shaped(call.receiver, shape)
    return UNKNOWN


def _call_external(state: AbstractState, function: External, arguments: Arguments, node: cst.CSTNode) -> Value:
    name = function.name
    call = Invocation(name, arguments, node)
    for handler in function_handlers(name):
        result = handler(state, call)
        if result is not None:
            return result
    if changes_elsewhere(name):
        note_mutation(state, node, UNKNOWN)
    recorded = call.record(state)
    if name.rpartition(".")[2] not in READING_METHODS:
        _invalidate_outside(state, name.rpartition(".")[0])
    handle_callbacks = callback_handler(name)
    if handle_callbacks is not None:
        handle_callbacks(state, call)
    elif calls_functions(name):
        run_arguments(state, arguments, node, tensors=name.startswith(TENSOR_LIBRARIES))
    if name not in LOOKING_AT_DATASETS:
        state.escape(arguments, node)
    for decide in outcomes(name):
        result = decide(state, recorded, name)
        if result is not None:
            return result
    if name.rpartition(".")[2].islower() and any(map(holds_tensor, arguments.values())):
        state.use("unknown-call", node)
    recorded.result = as_texts(name, arguments.values()) or ExternalInstance(name, recorded)
    return recorded.result


def _invalidate_outside(state: AbstractState, name: str) -> None:
    """Invalidate the attributes that the program has set of an object of a library, whose method it calls."""
    for setting, value in list(state.set_outside.items()):
        if name and setting.startswith(f"{name}."):
            state.store(state.set_outside, setting, any_of((value, UNKNOWN)))


def _as_tensors(value: Value) -> Value:
    """The result of a compiled function as Python receives it.

    Everything except structures and None becomes a tensor.
    """
    if isinstance(value, UnionValue):
        return any_of(map(_as_tensors, value.options))
    if isinstance(value, SequenceValue):
        return SequenceValue(value.kind, [_as_tensors(item) for item in value.items], value.open)
    if isinstance(value, DictValue):
        return DictValue({key: _as_tensors(item) for key, item in value.items.items()}, value.open)
    return value if isinstance(value, Tensor) or value == Constant(None) else Tensor("result")


# Each handler receives values of the type it is registered for.
CALLS: dict[type[Value], Callable[[AbstractState, Any, Arguments, cst.CSTNode], Value]] = {
    UnionValue: _call_union,
    Function: _call_function,
    Partial: _call_partial,
    Class: _instantiate,
    External: _call_external,
    Method: _call_method,
    Instance: _call_instance,
    ExternalInstance: _call_external_instance,
    LoopVariable: _call_external_instance,
}
