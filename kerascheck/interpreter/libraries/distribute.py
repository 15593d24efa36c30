"""Strategies of ``tf.distribute``."""

from __future__ import annotations

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.callables import run_arguments
from kerascheck.interpreter.libraries.registry import Invocation, methods_of
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Dataset,
    DictValue,
    ExternalInstance,
    SequenceValue,
    Tensor,
    Value,
    datasets_in,
    holds_tensor,
)
from kerascheck.knowledge.devices import STRATEGY, STRATEGY_SCOPE


@methods_of(STRATEGY)
def _method(state: AbstractState, call: Invocation) -> Value:
    recorded = call.record(state)
    handler = _METHODS.get(call.attribute)
    if handler is not None:
        return handler(state, call, recorded)
    run_arguments(state, call.arguments, call.node, tensors=True)
    if call.attribute in ("reduce", "gather", "experimental_local_results"):
        return Tensor("result") if any(map(holds_tensor, call.arguments.values())) else UNKNOWN
    return UNKNOWN


def _run(state: AbstractState, call: Invocation, recorded: Call) -> Value:
    function, inner, named = (recorded.given(key) for key in ("fn", "args", "kwargs"))
    passed = Arguments(list(inner.items)) if isinstance(inner, SequenceValue) else Arguments(unknown_positional=True)
    if isinstance(named, DictValue):
        passed.keywords.update({key: value for key, value in named.items.items() if isinstance(key, str)})
    return state.call(function or UNKNOWN, passed, call.node)


def _distribute(state: AbstractState, call: Invocation, recorded: Call) -> Value:
    given = datasets_in(recorded.given("dataset"))
    results = [Dataset(state.new_stage("distribute", call.node, recorded, (dataset.stage,))) for dataset in given]
    return results[0] if results else UNKNOWN


def _distribute_function(state: AbstractState, call: Invocation, recorded: Call) -> Value:
    function = recorded.given("dataset_fn") or UNKNOWN
    dataset = next(datasets_in(state.call(function, Arguments([UNKNOWN]), call.node)), None)
    if dataset is None:
        return UNKNOWN
    return Dataset(state.new_stage("distribute", call.node, recorded, (dataset.stage,)))


def _scope(state: AbstractState, call: Invocation, recorded: Call) -> Value:
    return ExternalInstance(STRATEGY_SCOPE, recorded)


_METHODS = {
    "run": _run,
    "experimental_run_v2": _run,
    "call_for_each_replica": _run,
    "experimental_distribute_dataset": _distribute,
    "distribute_datasets_from_function": _distribute_function,
    "experimental_distribute_datasets_from_function": _distribute_function,
    "scope": _scope,
}
