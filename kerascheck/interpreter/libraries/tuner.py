"""Tuners of KerasTuner: they build a model and fit it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.attributes import get_attribute
from kerascheck.interpreter.joins import any_of
from kerascheck.interpreter.libraries.registry import Invocation, functions, method
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    ExecutionPath,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Partial,
    SequenceValue,
    Value,
    constant,
    options_of,
)
from kerascheck.knowledge.classes import KERAS_TUNER_HYPER_PARAMETERS, MODEL, is_tuner
from kerascheck.knowledge.devices import STRATEGY_SCOPE


@functions(is_tuner)
def _tuner(state: AbstractState, call: Invocation) -> Value:
    """A tuner, with one model that stands for all its models. It builds one immediately, to discover the search space.

    Source: ``BaseTuner._populate_initial_space`` in keras_tuner/src/engine/base_tuner.py, 1.4.8.
    """
    recorded, node = call.record(state), call.node
    strategy = recorded.keyword("distribution_strategy")
    path = state.path
    if strategy is not None and constant(strategy, 0) is not None:
        entered = ExternalInstance(STRATEGY_SCOPE)
        path = ExecutionPath("with", state.path, state.module, node, value=entered)
    models: list[Value] = []
    for option in options_of(recorded.given("hypermodel")):
        build = option.cls.member("build") if isinstance(option, Instance) else option
        if isinstance(option, Instance) and isinstance(build, Function):
            build = state.bound(build, option)
        if isinstance(build, (Function, Partial)):
            given = Arguments([ExternalInstance(KERAS_TUNER_HYPER_PARAMETERS, recorded)])
            models.append(state.inside(path, partial(state.call, build, node=node), given))
    model = any_of(models)
    recorded.result = ExternalInstance(
        call.name, recorded, {"model": ExternalInstance(MODEL) if model is UNKNOWN else model}
    )
    return recorded.result


@method("search")
def _search(state: AbstractState, call: Invocation) -> Value | None:
    """Fit the model with the arguments of ``search``, through the HyperModel's ``fit`` if it has one."""
    tuner, given = _tuner_of(call.receiver), call.arguments
    if tuner is None:
        return None
    call.record(state)
    model = tuner.attributes["model"]
    for option in options_of(tuner.call.given("hypermodel") if tuner.call is not None else None):
        fit = option.cls.member("fit") if isinstance(option, Instance) else None
        if isinstance(fit, Function):
            first = [ExternalInstance(KERAS_TUNER_HYPER_PARAMETERS, tuner.call), model]
            passed = replace(given, positional=[*first, *given.positional], nodes={})
            state.call(state.bound(fit, option), passed, call.node)
            return UNKNOWN
    return state.call(get_attribute(state, model, "fit", call.node), given, call.node)


@method("get_best_models")
def _best_models(state: AbstractState, call: Invocation) -> Value | None:
    tuner = _tuner_of(call.receiver)
    if tuner is None:
        return None
    call.record(state)
    return SequenceValue("list", [tuner.attributes["model"]], True)


@method("build")
def _build(state: AbstractState, call: Invocation) -> Value | None:
    """The method call ``tuner.hypermodel.build(...)``."""
    holder = call.receiver
    tuner = _tuner_of(holder.receiver) if isinstance(holder, Method) and holder.name == "hypermodel" else None
    return None if tuner is None else tuner.attributes["model"]


def _tuner_of(value: Value) -> ExternalInstance | None:
    """The tuner behind a value; None for other values."""
    return value if isinstance(value, ExternalInstance) and is_tuner(value.name) else None
