"""Records of the standard library: dataclasses, named tuples and namespaces."""

from __future__ import annotations

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.libraries.registry import Invocation, function, method
from kerascheck.interpreter.nodes import attributes_of, fields_of
from kerascheck.interpreter.values import DictValue, ExternalInstance, Instance, Method, Value


@function("types.SimpleNamespace")
def _namespace(state: AbstractState, call: Invocation) -> Value:
    return ExternalInstance(call.name, call.record(state), dict(call.arguments.keywords))


@function("dataclasses.asdict")
def _as_dictionary(state: AbstractState, call: Invocation) -> Value | None:
    return _dictionary(call.first) if isinstance(call.first, Instance) else None


@method("_asdict")
def _named_tuple_as_dictionary(state: AbstractState, call: Invocation) -> Value | None:
    return DictValue(attributes_of(call.receiver)) if isinstance(call.receiver, Instance) else None


@function("builtins.vars")
def _variables(state: AbstractState, call: Invocation) -> Value | None:
    first = call.first
    if isinstance(first, ExternalInstance) and first.name == "types.SimpleNamespace" and first.call is not None:
        given = first.call.arguments
        return DictValue(dict(first.attributes), open=bool(given.positional) or given.unknown_keywords)
    if not isinstance(first, Instance):
        return None
    if first.cls.member("__init__") is not None or not fields_of(first.cls):
        return Method(first, "__dict__")
    return DictValue({**attributes_of(first), **first.attributes})


@function("dataclasses.replace")
def _replaced(state: AbstractState, call: Invocation) -> Value | None:
    first, given = call.first, call.arguments
    if not isinstance(first, Instance):
        return None
    copy = Instance(first.cls, {**attributes_of(first), **given.keywords})
    if given.unknown_keywords:
        state.invalidate(copy)
    return copy


def _dictionary(value: Value) -> Value:
    """The fields of a dataclass as a dictionary, and those of dataclasses in it."""
    if not isinstance(value, Instance):
        return value
    return DictValue({name: _dictionary(item) for name, item in attributes_of(value).items()})
