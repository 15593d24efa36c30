"""NumPy, and libraries around it, on arrays."""

from __future__ import annotations

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.libraries.registry import Invocation, function, method, outcome
from kerascheck.interpreter.timing import elapsed_time
from kerascheck.interpreter.value_kinds import reading_of
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Constant,
    ExternalInstance,
    SequenceValue,
    Tensor,
    Value,
    constant,
    holds_tensor,
)
from kerascheck.knowledge.python import SPLITTERS

_MANY_FOLDS = 1000


@function("numpy.diff")
def _diff(state: AbstractState, call: Invocation) -> Value | None:
    """Differences between readings of a clock."""
    reading = reading_of(call.given(state, "a"))
    return None if reading is None else elapsed_time(state, call.node, reading, reading, each=True)


@outcome(lambda name: name.startswith("numpy."))
def _of_tensors(state: AbstractState, call: Call, name: str) -> Value | None:
    if not any(map(holds_tensor, call.arguments.values())):
        return None
    state.use("numpy", call.node)
    # In compiled code NumPy raises an error, or returns the tensor.
    call.result = Tensor(name) if state.path.traced_by() else ExternalInstance(name, call)
    return call.result


@method("split")
def _folds(state: AbstractState, call: Invocation) -> Value | None:
    """The folds of a scikit-learn splitter."""
    splitter = call.receiver
    if not isinstance(splitter, ExternalInstance) or splitter.name not in SPLITTERS or splitter.call is None:
        return None
    state.record(call.node, f"{splitter.name}.split", call.attribute, splitter, call.arguments)
    folds = constant(splitter.call.arguments.first("n_splits") or Constant(SPLITTERS[splitter.name]))
    pair = SequenceValue("tuple", [UNKNOWN, UNKNOWN])
    return SequenceValue("list", [pair] * folds) if type(folds) is int and 0 < folds <= _MANY_FOLDS else UNKNOWN
