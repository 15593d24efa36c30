"""Maps that run one call at a time: the reasons, and the cost in every epoch."""

from __future__ import annotations

import enum

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import UNKNOWN, Call, constant
from kerascheck.knowledge.callables import LOOKUP, PRINT
from kerascheck.knowledge.layers import INTEGER_LOOKUP_CALL, STRING_LOOKUP_CALL
from kerascheck.meaning.data.batching import is_batched
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.data.stages import gives_few_elements


class Serial(enum.Enum):
    """Reasons why a map runs one call at a time, or not."""

    INSIDE = enum.auto()
    """It is in the function of another operation, where TensorFlow rewrites nothing."""
    ASKED_FOR = enum.auto()
    """The literal 1 requests it."""
    STATEFUL = enum.auto()
    """Its function has state."""
    OLD_VERSION = enum.auto()
    """This version of TensorFlow never parallelises maps by itself."""
    SWITCHED_OFF = enum.auto()
    """The options of the dataset forbid it."""
    STATELESS = enum.auto()
    """It is not serial: TensorFlow parallelises it by itself."""
    UNKNOWN = enum.auto()
    """It is unknown whether its function has state."""

    @property
    def is_certain(self) -> bool | None:
        """Whether it runs one call at a time; None if unknown."""
        return None if self is Serial.UNKNOWN else self is not Serial.STATELESS


def serial(module: Module, op: Operation) -> Serial:
    """Why a map without parallel calls, or with the literal 1, runs serially or not."""
    if op.inside is not None:
        return Serial.INSIDE
    if op.parallelism is not None:
        return Serial.ASKED_FOR
    if op.facts.state is not None:
        return Serial.STATEFUL
    if not (module.runtime.parallelizes_stateless_maps or op.rewrites.maps_on):
        return Serial.OLD_VERSION
    if op.rewrites.maps_stay_serial:
        return Serial.SWITCHED_OFF
    return Serial.STATELESS if op.facts.known else Serial.UNKNOWN


def says_parallelism(op: Operation) -> bool:
    """Whether a map sets or may set its number of parallel calls; the literal 1 does not count."""
    given = op.parallelism
    return given is UNKNOWN or given is not None and constant(given) != 1 or op.given("synchronous") is not None


def is_called_rarely(op: Operation) -> bool:
    """Whether an operation calls its function so few times that parallel calls gain nothing."""
    return all(stage.input is not None and gives_few_elements(stage.input, batches=True) for stage in op.stages)


def is_paid_in_each_epoch(module: Module, op: Operation) -> bool:
    """Whether running a map one call at a time costs time in every epoch of a visible training."""
    state = op.facts.state
    # With a cache, only the first epoch pays.
    if op.followed_by(module.once(Pipelines), "cache") or state is not None and state.call.name == PRINT:
        return False
    if state is not None and _is_lookup(state.call) and _gets_batches(op):
        return False
    return op.feeds_training or op.parallelism is not None or op.inside is not None


def _gets_batches(op: Operation) -> bool:
    return all(stage.input is not None and is_batched(stage.input) for stage in op.stages)


def _is_lookup(call: Call) -> bool:
    """Whether an operation looks words or numbers up in a table."""
    name = call.name or ""
    return name.startswith(LOOKUP) or name in (STRING_LOOKUP_CALL, INTEGER_LOOKUP_CALL)
