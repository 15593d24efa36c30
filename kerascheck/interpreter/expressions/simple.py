"""Names, literals, attributes, calls, lambdas and conditional expressions."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.attributes import get_attribute
from kerascheck.interpreter.binding import bind
from kerascheck.interpreter.decisions import check_truth, outcome_of
from kerascheck.interpreter.inlining import default_values
from kerascheck.interpreter.internal_values import Imported
from kerascheck.interpreter.joins import join
from kerascheck.interpreter.modules import resolved
from kerascheck.interpreter.nodes import SINGLETONS, number, text_of
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Constant,
    DictValue,
    ExternalInstance,
    Function,
    SequenceValue,
    UnionValue,
    Value,
    datasets_in,
    external,
    holds_tensor,
)
from kerascheck.knowledge.callables import VARIABLE, VARIABLE_GET
from kerascheck.knowledge.classes import star_exports
from kerascheck.knowledge.python import BUILTINS

# Types that may hold an unresolved import.
_MAY_BE_IMPORTED = frozenset({Imported, UnionValue})


def eval_name(state: AbstractState, node: cst.Name) -> Value:
    name = node.value
    scope = state.scope
    value = scope.variables.get(name)
    if value is None or scope.redirected:
        owner = scope.owner(name)
        value = None if owner is None else owner.variables[name]
        scope = owner or scope
    if value is not None and type(value) in _MAY_BE_IMPORTED:
        value = resolved(state, scope, name, value)
    if value is None:
        if name in SINGLETONS:
            return SINGLETONS[name]
        for base in state.star_imports.get(state.module, ()):
            if star_exports(base, name):
                return external(f"{base}.{name}")
        return external(f"builtins.{name}") if name in BUILTINS else UNKNOWN
    if isinstance(value, ExternalInstance) and value.name == VARIABLE and state.path.traced_by():
        state.record(node, VARIABLE_GET, "__get__", value, Arguments())
    return value


def eval_attribute(state: AbstractState, node: cst.Attribute) -> Value:
    return get_attribute(state, state.eval(node.value), node.attr.value, node)


def eval_call(state: AbstractState, node: cst.Call) -> Value:
    function = state.eval(node.func)
    arguments = Arguments()
    for arg in node.args:
        value = state.eval(arg.value)
        if arg.star == "*":
            if isinstance(value, SequenceValue) and not value.open and not arguments.unknown_positional:
                arguments.positional.extend(value.items)
            else:
                arguments.unknown_positional = True
        elif arg.star == "**":
            if isinstance(value, DictValue) and not value.open and all(isinstance(key, str) for key in value.items):
                arguments.keywords.update(value.items)
            else:
                arguments.unknown_keywords = True
        elif arg.keyword is not None:
            arguments.keywords[arg.keyword.value] = value
            arguments.nodes[arg.keyword.value] = arg
        else:
            if not arguments.unknown_positional:
                arguments.nodes[len(arguments.positional)] = arg
                arguments.positional.append(value)
            else:
                for dataset in datasets_in(value):
                    state.sink("escape", dataset, node)
    return state.call(function, arguments, node)


def eval_conditional(state: AbstractState, node: cst.IfExp) -> Value:
    test = state.eval(node.test)
    check_truth(state, node.test, test)
    if holds_tensor(test):
        state.use("branch", node)
    decided = outcome_of(state, node.test)
    if decided is not None:
        return state.eval(node.body if decided else node.orelse)
    taken = state.inside(state.branch_path(node, "if"), state.eval, node.body)
    return join(taken, state.inside(state.branch_path(node, "else"), state.eval, node.orelse))


def eval_lambda(state: AbstractState, node: cst.Lambda) -> Value:
    function = Function(state.module, node, state.scope, "<lambda>", defaults=default_values(state, node))
    state.functions.setdefault(node, function)
    return function


def eval_await(state: AbstractState, node: cst.Await) -> Value:
    return state.eval(node.expression)


def eval_yield(state: AbstractState, node: cst.Yield) -> Value:
    if node.value is not None:
        inner = node.value.item if isinstance(node.value, cst.From) else node.value
        value = state.eval(inner)
        for dataset in datasets_in(value):
            state.sink("escape", dataset, node)
    return UNKNOWN


def eval_walrus(state: AbstractState, node: cst.NamedExpr) -> Value:
    value = state.eval(node.value)
    bind(state, node.target, value)
    return value


def eval_number(state: AbstractState, node: cst.Integer | cst.Float) -> Value:
    return number(node) or UNKNOWN


def eval_string(state: AbstractState, node: cst.SimpleString | cst.ConcatenatedString) -> Value:
    value = text_of(node)
    return Constant(value) if isinstance(value, (str, bytes)) else UNKNOWN
