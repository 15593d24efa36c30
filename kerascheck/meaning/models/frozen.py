"""Networks of ``keras.applications`` that are neither pretrained nor trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, Constant, ExternalInstance, Value, constant, flat, options_of
from kerascheck.knowledge.applications import is_network
from kerascheck.knowledge.classes import MODEL_SETATTR
from kerascheck.knowledge.namespaces import KERAS, TENSORFLOW
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.models.building import models_of

_LOADING = frozenset("assign load_model load_own_variables load_weights read restore set_weights".split())


@dataclass(frozen=True, slots=True)
class FrozenNetwork:
    """A network with random weights that the program freezes.

    Attributes:
        made: its constructor call.
        frozen: the assignment to ``trainable``.
        fit: a training of a model that contains it.
    """

    made: Call
    frozen: Call
    fit: Call


def frozen_random_networks(module: Module) -> Iterator[FrozenNetwork]:
    """The frozen networks without weights in fitted models, in a program that loads no weights."""
    calls = module.once(CallIndex)
    if calls.of_methods(*_LOADING) or any((name or "").rpartition(".")[2] in _LOADING for name in calls.names):
        return
    seen = set()
    for model in module.once(models_of):
        for layer in model.layers if model.fits else ():
            made = layer.made
            if made is None or not is_network(made.name or "") or made.node in seen:
                continue
            frozen = _freezing(calls, layer.value)
            weights = made.keyword("weights")
            if isinstance(weights, Constant) and weights.value is None and frozen is not None:
                if not _is_passed_on(calls, (layer.value, model.value)):
                    seen.add(made.node)
                    yield FrozenNetwork(made, frozen, model.fits[0])


def _freezing(calls: CallIndex, network: Value) -> Call | None:
    """The assignment that freezes a network for good; None if it may be trainable at times."""
    assigned = [call for call in calls.of_methods("trainable") if _concerns(call, network)]
    certain = all(
        call.name == MODEL_SETATTR
        and constant(call.assigned) is False
        and not any(call.path.conditions(within="program"))
        for call in assigned
    )
    return assigned[0] if assigned and certain else None


def _concerns(call: Call, network: Value) -> bool:
    return any(option is network or not isinstance(option, ExternalInstance) for option in options_of(call.receiver))


def _is_passed_on(calls: CallIndex, values: tuple[Value, ...]) -> bool:
    """Whether an unknown function gets one of these objects, and may load weights into it."""
    return any(
        not (call.name or "").startswith((KERAS, TENSORFLOW, "builtins."))
        and any(option in values for value in call.arguments.values() for option in flat(value))
        for call in calls
    )
