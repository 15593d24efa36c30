"""Calls that start the TensorFlow runtime and initialise its devices."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExternalInstance, SequenceValue
from kerascheck.knowledge.callables import GENERATOR, RANDOM_, RANDOM_SET_SEED, having
from kerascheck.knowledge.classes import (
    KERAS_TENSOR,
    LOAD_MODEL,
    MODEL,
    MODEL_BUILD,
    MODEL_FIT,
    MODEL_LOAD_WEIGHTS,
    MODEL_PREDICT,
    SEQUENTIAL,
)
from kerascheck.knowledge.datasets import source_kind
from kerascheck.knowledge.layers import DROPOUT, INPUT_LAYER, LAYERS, RANDOM_LAYERS
from kerascheck.knowledge.namespaces import (
    OF_DISTRIBUTE,
    OF_KERAS_APPLICATIONS,
    OF_KERAS_METRICS,
    OF_KERAS_OPTIMIZERS,
    OF_RANDOM,
)
from kerascheck.knowledge.symbols import Trait
from kerascheck.syntax.conditions import branch_before, happens_before

_INITIALISING = having(Trait.STARTS_RUNTIME)


def initialising_call(module: Module, before: Call) -> Call | None:
    """The first call that has certainly initialised TensorFlow's devices when ``before`` runs.

    Source: tested call by call on TensorFlow 2.21 and Keras 3.15. Imports, seeds, list_physical_devices, policies,
    unbuilt layers, losses and Input() do not initialise them. Also returns None if the same setting was made in time.
    TensorFlow accepts an unchanged setting (eager/context.py returns before it looks at the devices).
    """
    branches: dict[tuple[cst.CSTNode, int], tuple[str, Call]] = {}
    for call in module.run.calls:
        if call.order >= before.order or call.name == before.name:
            return None
        if not _initialises_in(module, call):
            continue
        if happens_before(call, before):
            return call
        # One in each branch of an if initialises them on every path.
        branch = branch_before(call, before) if call.path.root is before.path.root else None
        if branch is not None:
            label, other = branches.setdefault((branch.node, id(branch.parent)), (branch.label, call))
            if label != branch.label:
                return other
    return None


def initialising_calls(module: Module) -> Iterator[Call]:
    """All calls that initialise TensorFlow's devices, in program order."""
    return (call for call in module.run.calls if _initialises_in(module, call))


def _initialises_in(module: Module, call: Call) -> bool:
    # Only Keras 3 creates the variable of a layer's seed immediately.
    if module.runtime.keras < 3 and (call.name or "").startswith((RANDOM_LAYERS, DROPOUT)) and call.attribute is None:
        return False
    return initialises(call)


def initialises(call: Call) -> bool:
    """Whether a call initialises TensorFlow's devices."""
    name = call.name
    if name is None or call.path.traced_by():
        return False
    if name in _INITIALISING or source_kind(name) is not None:
        return True
    if name.startswith(OF_RANDOM) and not name.startswith((RANDOM_SET_SEED, GENERATOR, RANDOM_)):
        return True
    if name.startswith(OF_DISTRIBUTE) and name.endswith("Strategy"):
        return True
    if (
        name.startswith((OF_KERAS_OPTIMIZERS, OF_KERAS_METRICS, OF_KERAS_APPLICATIONS))
        and name.rpartition(".")[2][:1].isupper()
        and ".schedules." not in name
    ):
        return True
    if name in (LOAD_MODEL, MODEL_FIT, MODEL_PREDICT, MODEL_BUILD, MODEL_LOAD_WEIGHTS):
        return True
    if name == MODEL:
        return bool(call.arguments.positional or call.arguments.keywords)
    if name.startswith(RANDOM_LAYERS) or name == DROPOUT:
        return True
    if name.startswith(LAYERS) and name.endswith(".__call__"):
        return True
    if name == SEQUENTIAL:
        layers = call.given("layers")
        first = layers.items[0] if isinstance(layers, SequenceValue) and layers.items else None
        return isinstance(first, ExternalInstance) and (
            first.name in (KERAS_TENSOR, INPUT_LAYER)
            or (
                first.call is not None
                and any(
                    first.call.keyword(key) is not None for key in ("input_shape", "input_dim", "batch_input_shape")
                )
            )
        )
    return False
