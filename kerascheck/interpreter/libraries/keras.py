"""Models, layers and callbacks of Keras."""

from __future__ import annotations

from itertools import zip_longest

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.callables import run_arguments, run_callables, run_items, run_updates
from kerascheck.interpreter.internal_values import SuperValue
from kerascheck.interpreter.keras_data import is_keras_data
from kerascheck.interpreter.libraries.registry import (
    Invocation,
    function,
    functions,
    method,
    methods_on,
    takes_functions,
)
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    DictValue,
    ExecutionPath,
    External,
    ExternalInstance,
    Partial,
    SequenceValue,
    Tensor,
    Value,
    datasets_in,
    options_of,
)
from kerascheck.knowledge.classes import (
    CONSUMING_METHODS,
    INPUT,
    KERAS_TENSOR,
    LAMBDA_CALLBACK,
    LAYER,
    MODEL,
    class_of_bases,
)
from kerascheck.knowledge.layers import LAMBDA, LAYERS
from kerascheck.knowledge.runtime import MULTI_GPU_MODEL

# Roles of datasets in arguments of fit other than the first.
_OTHER_ROLES = {"validation_data": "validation", "callbacks": "escape"}


# --- methods -----------------------------------------------------------------------------------------------------


@method(*CONSUMING_METHODS)
def _consuming(state: AbstractState, call: Invocation) -> Value | None:
    """The methods fit, evaluate, predict, adapt and similar ones.

    On unknown classes they count only if they receive Keras data.
    """
    ours = call.owner in (MODEL, None, LAYER)
    if not ours and not any(any(datasets_in(value)) or is_keras_data(value) for value in call.arguments.values()):
        return None
    call.record(state)
    return _consume(state, call)


def _consume(state: AbstractState, call: Invocation) -> Value:
    given = call.arguments
    role = CONSUMING_METHODS.get(call.attribute)
    parameters = call.signature(state).names[: len(given.positional)]
    for name, value in [*zip_longest(parameters, given.positional), *given.keywords.items()]:
        for dataset in datasets_in(value):
            state.sink(_OTHER_ROLES.get(name or "", role) or "escape", dataset, call.node)
    run_arguments(state, given, call.node, tensors=False)
    for value in given.values():
        run_items(state, value, call.node)
    return UNKNOWN


@method("compile")
def _compile(state: AbstractState, call: Invocation) -> Value | None:
    if call.owner not in (MODEL, None):
        return None
    recorded = call.record(state)
    for key in ("loss", "metrics", "weighted_metrics"):
        run_callables(state, recorded.given(key), "loss" if key == "loss" else "metric", call.node)
        run_updates(state, recorded.given(key), call.node)
    return UNKNOWN


@method("add")
def _add(state: AbstractState, call: Invocation) -> None:
    """The method call ``model.add(layer)``: the model stores the layer."""
    if isinstance(call.receiver, ExternalInstance) and call.owner == MODEL:
        added = call.receiver.attributes.setdefault("layers added", SequenceValue("list", []))
        if isinstance(added, SequenceValue):
            added.items.extend(call.arguments.positional)


@methods_on(SuperValue)
def _of_base(state: AbstractState, call: Invocation, base: SuperValue) -> Value:
    """The method call ``super().fit(...)``."""
    owner = class_of_bases(base.cls.external_bases())
    call.name, call.receiver = f"{owner}.{call.attribute}" if owner else "", base.instance
    call.record(state)
    if owner == MODEL and call.attribute in CONSUMING_METHODS:
        return _consume(state, call)
    return Tensor("result") if call.attribute == "call" else UNKNOWN


# --- functions and classes ---------------------------------------------------------------------------------------


@functions(lambda name: name.startswith(LAYERS) and name.endswith(".from_config"))
def _from_config(state: AbstractState, call: Invocation) -> Value:
    layer = External(call.name.removesuffix(".from_config"))
    return state.call(layer, Arguments(unknown_positional=True, unknown_keywords=True), call.node)


@function(MULTI_GPU_MODEL)
def _on_several_gpus(state: AbstractState, call: Invocation) -> Value:
    """Training the result trains the model that was passed, so it stands for that model."""
    recorded = call.record(state)
    given = call.arguments.positional
    recorded.result = given[0] if given else call.arguments.keywords.get("model", UNKNOWN)
    return recorded.result


@function(INPUT)
def _input(state: AbstractState, call: Invocation) -> Value:
    recorded = call.record(state)
    recorded.result = ExternalInstance(KERAS_TENSOR, recorded)
    return recorded.result


@takes_functions(LAMBDA.__eq__)
def _lambda(state: AbstractState, call: Invocation) -> None:
    more = call.given(state, "arguments")
    named = Arguments(keywords=dict(more.items)) if isinstance(more, DictValue) else None
    for option in options_of(call.given(state, "function")):
        run_callables(state, option if named is None else Partial(option, named), "Lambda", call.node)


@takes_functions(LAMBDA_CALLBACK.__eq__)
def _hooks(state: AbstractState, call: Invocation) -> None:
    """Functions that Keras calls during fit; each has a root path labelled with its hook."""
    for hook, given in call.arguments.keywords.items():
        path = ExecutionPath("root", None, state.module, call.node, label=hook)
        state.inside(path, lambda value: run_callables(state, value, None, call.node, tensors=False), given)
