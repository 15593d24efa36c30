"""Definitions of functions and classes, and their decorators."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.binding import bind_name
from kerascheck.interpreter.compilation import compile_value
from kerascheck.interpreter.inlining import default_values
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Class,
    External,
    ExternalInstance,
    Function,
    Partial,
    Scope,
    Value,
    options_of,
)
from kerascheck.knowledge.callables import (
    COMPILERS,
    PY_FUNCTIONS,
    TRANSPARENT_DECORATOR_PREFIXES,
    TRANSPARENT_DECORATORS,
)
from kerascheck.knowledge.python import METHOD_KINDS


def run_function_definition(state: AbstractState, node: cst.FunctionDef, owner: Class | None = None) -> None:
    function = Function(
        state.module, node, state.scope, node.name.value, owner=owner, defaults=default_values(state, node)
    )
    state.functions.setdefault(node, function)
    value: Value = function
    for decorator in reversed(node.decorators):
        value = _decorate(state, value, decorator.decorator, function)
    for option in options_of(value):
        if isinstance(option, Function) and option.node is node:
            state.functions[node] = option
    if owner is None:
        bind_name(state, node.name.value, value)
    elif not any(
        isinstance(each.decorator, cst.Attribute) and each.decorator.attr.value in ("setter", "deleter")
        for each in node.decorators
    ):
        # Reading a property calls its getter.
        owner.members[node.name.value] = value


def _decorate(state: AbstractState, value: Value, decorator: cst.BaseExpression, function: Function) -> Value:
    if isinstance(decorator, cst.Attribute) and decorator.attr.value in ("setter", "deleter", "getter", "register"):
        registers = state.eval(decorator)
        if isinstance(registers, Function) and decorator.attr.value == "register":
            # A registry of the tree; singledispatch has a method with this name, too.
            state.call(registers, Arguments([value]), decorator)
        return value
    maker = state.eval(decorator.func) if isinstance(decorator, cst.Call) else None
    if isinstance(maker, External) and maker.name in PY_FUNCTIONS:
        # TensorFlow calls it with arrays.
        return UNKNOWN
    wrapper = state.eval(decorator)
    name = wrapper.name if isinstance(wrapper, (External, ExternalInstance)) else None
    if name in METHOD_KINDS:
        # A decorator below, such as tf.function, replaced the function.
        for each in (function, *(option for option in options_of(value) if isinstance(option, Function))):
            each.kind = METHOD_KINDS[name]
        return value
    if name in TRANSPARENT_DECORATORS or (name or "").startswith(TRANSPARENT_DECORATOR_PREFIXES):
        return value
    if name in COMPILERS:
        return compile_value(
            state,
            value,
            COMPILERS[name],
            wrapper.call if isinstance(wrapper, ExternalInstance) else None,
            function.node,
        )
    result = state.call(wrapper, Arguments([value]), decorator)
    if any(isinstance(option, (Function, Partial)) for option in options_of(result)):
        return result
    if isinstance(value, Function):
        value.opaque = True
    return value


def run_class_definition(state: AbstractState, node: cst.ClassDef) -> None:
    bases = tuple(state.eval(base.value) for base in node.bases if not base.star)
    decorators = [(each.decorator, state.eval(each.decorator)) for each in node.decorators]
    cls = Class(state.module, node, node.name.value, bases, {})
    scope = Scope(state.scope, cls.members)
    saved, state.scope = state.scope, scope
    try:
        for statement in node.body.body:
            if isinstance(statement, cst.FunctionDef):
                # Methods see the scope around the class, not its members.
                state.scope = saved
                run_function_definition(state, statement, cls)
                state.scope = scope
            else:
                state.run_block((statement,))
    finally:
        cls.members.update(scope.variables)
        state.scope = saved
    bind_name(state, node.name.value, cls)
    for decorator, registers in reversed(decorators):
        # Such a decorator usually registers the class, and returns it.
        if isinstance(registers, Function):
            state.call(registers, Arguments([cls]), decorator)
