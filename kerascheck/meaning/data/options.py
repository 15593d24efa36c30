"""``tf.data.Options`` that disable optimisations of the runtime, and their cost for a pipeline."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import UNKNOWN, Call, DatasetOp, ExternalInstance, Value, constant, options_of
from kerascheck.meaning.data.pipelines import Operation, Pipelines

_SWITCHES = ("enabled", "autotune", "apply_default_optimizations", "inject_prefetch", "map_parallelization")
_THREADS = "private_threadpool_size"


class Lost(enum.Enum):
    """The cost of an option for a pipeline."""

    THREADS = enum.auto()
    """The parallel calls of an operation share one thread."""
    PARALLEL_MAP = enum.auto()
    """A map stays serial."""
    BUFFER = enum.auto()
    """Nothing is prepared in advance after its last operation."""


@dataclass(frozen=True, slots=True)
class LostOptimization:
    """An option of a training dataset, and its cost.

    Attributes:
        call: the unconditional assignment to the option.
        what: the cost.
        place: the operation that pays it.
    """

    call: Call
    what: Lost
    place: Operation | DatasetOp


def lost_optimizations(module: Module) -> Iterator[LostOptimization]:
    """The distinct options that certainly slow a training dataset down, in program order."""
    seen = set()
    for op in module.once(Pipelines).operations("with_options"):
        stage = op.stages[0]
        if not op.feeds_training or stage.maybe or any(stage.path.conditions(within="program")):
            continue
        chain = _Chain(module, stage)
        for call in _settings(module, op.given("options")):
            if call.node in seen or any(call.path.conditions(within="program")):
                continue
            what, place = chain.lost_by(call)
            if place is not None:
                seen.add(call.node)
                yield LostOptimization(call, what, place)


class _Chain:
    """The operations that an option of a dataset affects."""

    def __init__(self, module: Module, stage: DatasetOp):
        self._runtime, self._pipelines = module.runtime, module.once(Pipelines)
        self._reached = {each.identity for each in (*stage.upstream(), *self._pipelines.downstream(stage))}

    def lost_by(self, call: Call) -> tuple[Lost, Operation | DatasetOp | None]:
        """The cost of an assignment to an option, and the operation that pays it (None if there is no cost)."""
        value, option = constant(call.given("value")), call.attribute
        if option == _THREADS:
            return Lost.THREADS, (self._map_left_to_runtime or self._parallel) if value == 1 else None
        if option not in _SWITCHES or value is not False:
            return Lost.BUFFER, None
        if option != "inject_prefetch" and self._map_left_to_runtime and self._runtime.parallelizes_stateless_maps:
            return Lost.PARALLEL_MAP, self._map_left_to_runtime
        can = self._runtime.injects_prefetch and option != "map_parallelization"
        return Lost.BUFFER, self._end if can else None

    @cached_property
    def _operations(self) -> list[Operation]:
        """The operations that may run parallel calls."""
        return [
            each
            for each in self._pipelines.operations("map", "interleave", "batch")
            if not self._reached.isdisjoint(stage.identity for stage in each.stages)
        ]

    @cached_property
    def _map_left_to_runtime(self) -> Operation | None:
        """A stateless map whose parallel calls are left to the runtime."""
        return next(
            (
                each
                for each in self._operations
                if each.name == "map" and each.parallelism is None and each.facts.known and each.facts.state is None
            ),
            None,
        )

    @cached_property
    def _parallel(self) -> Operation | None:
        """An operation that requests parallel calls."""
        return next(
            (
                each
                for each in self._operations
                if each.parallelism not in (None, UNKNOWN) and constant(each.parallelism) != 1
            ),
            None,
        )

    @cached_property
    def _end(self) -> DatasetOp | None:
        """The last operation of a dataset without a buffer."""
        ends = (each.last for each in self._pipelines.unbuffered())
        return next((last for last in ends if last.identity in self._reached), None)


def _settings(module: Module, options: Value | None) -> list[Call]:
    """The assignments to attributes of these options, and of their groups."""
    made = [option for option in options_of(options) if isinstance(option, ExternalInstance)]
    groups = {id(group) for option in made for group in (option, *option.attributes.values())}
    return [
        call
        for call in module.run.calls
        if call.name is not None and call.name.endswith(".__setattr__") and id(call.receiver) in groups
    ]
