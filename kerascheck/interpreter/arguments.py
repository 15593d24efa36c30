"""Arguments that are forwarded: bound by a partial, invented for a library's call, or traced."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    DictValue,
    ExternalInstance,
    Function,
    SequenceValue,
    Tensor,
    Value,
)
from kerascheck.knowledge.classes import KERAS_TENSOR


def spread(function: Function, tensors: bool, bound: Collection[str] = ()) -> Arguments:
    """Arguments as a library passes them: one for every unbound parameter without a default."""
    parameters = [*function.node.params.posonly_params, *function.node.params.params]
    if function.receiver is not None:
        parameters = parameters[1:]
    count = sum(parameter.default is None and parameter.name.value not in bound for parameter in parameters)
    return Arguments(
        [Tensor("parameter") if tensors else UNKNOWN for _ in range(count)], unknown_positional=not tensors
    )


def bound_arguments(bound: Arguments, passed: Arguments) -> Arguments:
    """Arguments of a call of ``functools.partial``.

    After an unknown number of bound arguments, the positions of the passed ones are unknown.
    """
    return Arguments(
        [*bound.positional, *(() if bound.unknown_positional else passed.positional)],
        {**bound.keywords, **passed.keywords},
        passed.nodes
        if not bound.positional and not bound.unknown_positional
        else {key: node for key, node in passed.nodes.items() if isinstance(key, str)},
        bound.unknown_positional or passed.unknown_positional,
        bound.unknown_keywords or passed.unknown_keywords,
    )


def traced_arguments(arguments: Arguments) -> Arguments:
    """Arguments of ``call`` when a functional model calls its layer on symbols: the tensors of a trace."""

    def traced(value: Value) -> Value:
        if isinstance(value, ExternalInstance) and value.name == KERAS_TENSOR:
            return Tensor("parameter")
        if isinstance(value, SequenceValue):
            return SequenceValue(value.kind, [traced(item) for item in value.items], value.open)
        if isinstance(value, DictValue):
            return DictValue({key: traced(item) for key, item in value.items.items()}, value.open)
        return value

    return Arguments(
        [traced(value) for value in arguments.positional],
        {key: traced(value) for key, value in arguments.keywords.items()},
        arguments.nodes,
        arguments.unknown_positional,
        arguments.unknown_keywords,
    )


def without_first(arguments: Arguments) -> Arguments:
    """Arguments without the first one, for functions that receive it separately."""
    return replace(arguments, positional=arguments.positional[1:], keywords=dict(arguments.keywords), nodes={})
