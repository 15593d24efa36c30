"""Functions as returned by tf.function or another compiler."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Compilation,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Partial,
    UnionValue,
    Value,
)
from kerascheck.knowledge.callables import FUNCTION_COMPILED


def compile_value(state: AbstractState, value: Value, how: str, options: Call | None, node: cst.CSTNode) -> Value:
    """A value as tf.function or another compiler returns it at ``node``."""
    if isinstance(value, Partial):
        return Partial(compile_value(state, value.target, how, options, node), value.arguments)
    if isinstance(value, UnionValue):
        return UnionValue(tuple(compile_value(state, option, how, options, node) for option in value.options))
    if isinstance(value, Function):
        state.compiled.add(value.node)
        result: Function | ExternalInstance = Function(
            value.module,
            value.node,
            value.scope,
            value.name,
            value.receiver,
            value.owner,
            how,
            options,
            value.opaque,
            value.kind,
            value.defaults,
        )
    elif value is UNKNOWN or isinstance(value, (ExternalInstance, Instance, Method)):
        result = ExternalInstance(FUNCTION_COMPILED, options, {"target": value})
    else:
        return value
    state.compilations.append(Compilation(state.module, node, result, how, state.path))
    return result
