"""Dataset pipelines: operations, consumers, and rewrites by the runtime."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import takewhile

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Constant,
    DatasetConsumer,
    DatasetOp,
    ExecutionPath,
    Value,
    constant,
    datasets_in,
    holds_tensor,
)
from kerascheck.knowledge.name_heuristics import SIDE_FUNCTIONS
from kerascheck.knowledge.namespaces import OF_KERAS_LOSS, OF_KERAS_METRIC, OF_KERAS_MODEL
from kerascheck.meaning.data.buffers import TailBuffering, Unbuffered, last_computation, runs_ahead
from kerascheck.meaning.data.mapped_functions import Facts, facts_of
from kerascheck.meaning.data.rewrites import Rewrites, switched_by
from kerascheck.meaning.data.stages import COMBINING, INSPECTED_ELEMENTS, gives_few_elements, is_cut_short
from kerascheck.meaning.program.loops import makes_few_steps
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.program.side_code import side_path
from kerascheck.syntax.conditions import written_conditions
from kerascheck.syntax.written import (
    asks_for_held_out,
    assignment,
    is_beside_training,
    last_name,
    names_held_out,
    names_training,
)

_MEASURING = re.compile(r"\bmetrics\.\w+$|\b(?:FactorizedTopK|index|index_from_dataset)$")


class Operation:
    """One dataset operation in the code, with every path that runs it.

    Attributes:
        module, node: the call.
        name: the method.
        stages: its occurrences in pipelines.
        roles: roles of the consumers of those pipelines: "train", "validation", "evaluate", "predict", "adapt",
            "inspect", "side" (code for debugging or benchmarks), "unknown".
        rewrites: the rewrites that are disabled for them.
    """

    def __init__(self, stages: list[DatasetOp], roles: frozenset[str], rewrites: Rewrites):
        self.stages, self.roles, self.rewrites = stages, roles, rewrites
        self.module, self.node, self.name = stages[0].module, stages[0].node, stages[0].name
        self.call: Call | None = stages[0].call
        self.facts = Facts([stage.facts for stage in stages if stage.facts is not None], len(stages))

    @property
    def feeds_training(self) -> bool:
        """Whether it leads to ``fit`` or a training loop."""
        return "train" in self.roles

    @property
    def may_feed_training(self) -> bool:
        """Whether it feeds training, or its consumer is not visible and no name indicates held-out data."""
        return self.feeds_training or ("unknown" in self.roles and not _named_held_out(self.stages[0]))

    @property
    def is_named_training(self) -> bool:
        """Whether its consumer is not visible and a name around it indicates training data."""
        return not self.feeds_training and "unknown" in self.roles and _named_training(self.stages[0])

    def given(self, parameter: str) -> Value | None:
        """The argument for a parameter, as :meth:`~kerascheck.interpreter.values.Call.given` returns it.

        UNKNOWN if callers differ or the call is not visible.
        """
        if self.call is None:
            return UNKNOWN
        return self._common([stage.given(parameter) for stage in self.stages])

    @staticmethod
    def _common(values: list[Value | None]) -> Value | None:
        return values[0] if all(value == values[0] for value in values) else UNKNOWN

    @property
    def parallelism(self) -> Value | None:
        """The argument ``num_parallel_calls``; UNKNOWN as in ``given``.

        See :attr:`~kerascheck.interpreter.values.DatasetOp.parallelism`.
        """
        return UNKNOWN if self.call is None else self._common([stage.parallelism for stage in self.stages])

    @property
    def written_parallelism(self) -> cst.BaseExpression | None:
        """The expression of that argument; None if there is none."""
        node = self.call.written("num_parallel_calls") if self.call is not None else None
        return node.value if node is not None else None

    @property
    def inside(self) -> DatasetOp | None:
        """The interleave or flat_map whose function contains this operation."""
        for path in self.stages[0].path.chain():
            if path.stage is not None and path.stage.name in ("interleave", "flat_map", "parallel_interleave"):
                return path.stage
        return None

    def followed_by(self, pipelines: Pipelines, *names: str) -> bool:
        """Whether an operation with one of these names follows downstream without an additional condition.

        Conditions on the existence of the dataset, such as ``if test_set is not None``, do not count.
        """
        return any(
            child.name in names
            and all(_asks_for(condition, child) for condition in child.path.conditions(within=stage.path))
            for stage in self.stages
            for child in pipelines.downstream(stage)
        )

    def is_batched_by_one(self, pipelines: Pipelines) -> bool:
        """Whether later batches contain a single element each."""
        sizes = [
            constant(child.given("batch_size"))
            for stage in self.stages
            for child in pipelines.downstream(stage)
            if child.name == "batch"
        ]
        return bool(sizes) and all(size == 1 for size in sizes)


def _asks_for(condition: ExecutionPath, stage: DatasetOp) -> bool:
    """Whether a condition is true if the dataset at the start of a stage is not None."""
    if condition.label != "if":
        return False
    asked = condition.question.removesuffix(" is not None")
    return stage.module.tree.code_of(stage.node).startswith(f"{asked}.")


def _named_training(stage: DatasetOp) -> bool:
    """Whether the names around a stage indicate training data."""
    return _named(stage, names_training) and not _named_held_out(stage)


def _named_held_out(stage: DatasetOp) -> bool:
    """Whether the names or conditions around a stage indicate validation or test data."""
    tree = stage.module.tree
    return (
        _named(stage, names_held_out)
        or is_beside_training(tree, stage.node)
        or any(
            isinstance(node, cst.Assert) and asks_for_held_out(node.test)
            for outer in tree.ancestors(stage.node)
            if isinstance(outer, cst.FunctionDef)
            for node in tree.descendants(outer.body)
        )
    )


def _named(stage: DatasetOp, says: Callable[[str], bool]) -> bool:
    """Whether a function, class or variable around a stage has a name of this kind."""
    for ancestor in stage.module.tree.ancestors(stage.node):
        if isinstance(ancestor, (cst.FunctionDef, cst.ClassDef)) and says(ancestor.name.value):
            return True
        assigned = assignment(ancestor)
        if assigned is not None and any(says(last_name(target)) for target in assigned.targets):
            return True
    return False


def _is_for_scripts(stage: DatasetOp) -> bool:
    """Whether a stage is under ``if __name__ == "__main__"``, so it cannot be imported."""
    tree = stage.module.tree
    return any(
        "__main__" in tree.code_of(asked.test) for asked in written_conditions(tree, stage.node, within=tree.root)
    )


def _is_kept_in_memory(stage: DatasetOp) -> bool:
    """Whether an in-memory cache returns the elements of an earlier epoch."""
    return stage.name == "cache" and stage.given("filename") is None


def _only_arranges(stage: DatasetOp) -> bool:
    """Whether an operation takes negligible time: it only slices arrays in memory, or orders and batches its input."""
    return stage.name in (
        "batch",
        "shuffle",
        "repeat",
        "cache",
        "take",
        "skip",
        "with_options",
        "enumerate",
    ) or stage.name.endswith((".from_tensor_slices", ".from_tensors", ".range"))


class Pipelines:
    """The dataset pipelines that running a module builds."""

    def __init__(self, module: Module):
        self._module = module
        self._run = run = module.run
        self._children: dict[DatasetOp, list[DatasetOp]] = defaultdict(list)
        self._roles: dict[DatasetOp, set[str]] = defaultdict(set)
        self._rewrites: dict[DatasetOp, Rewrites] = defaultdict(Rewrites)
        self._consumers: dict[DatasetOp, list[tuple[DatasetConsumer, str]]] = defaultdict(list)
        self.sinks: list[tuple[DatasetConsumer, str]] = []
        """Consumers of datasets with their role."""
        for stage in run.stages:
            for parent in stage.inputs:
                self._children[parent.identity].append(stage)
        if not module.is_graph_code:
            self._spread()

    @cached_property
    def _call_at(self) -> dict[tuple[cst.CSTNode, ExecutionPath], Call]:
        return {(call.node, call.path): call for call in self._run.calls}

    @cached_property
    def _calls_in_loop(self) -> dict[ExecutionPath, list[Call]]:
        found: dict[ExecutionPath, list[Call]] = defaultdict(list)
        for call in self._run.calls:
            for loop in call.path.loops(within="program"):
                found[loop].append(call)
        return found

    def _spread(self) -> None:
        nested = []
        for sink in self._run.sinks:
            if sink.role == "nested":
                nested.append(sink)
                continue
            role = self.role_of(sink)
            self.sinks.append((sink, role))
            if role != "discard":
                for stage in self._mark(sink.stage, role):
                    self._consumers[stage.identity].append((sink, role))
        consumed = {sink.stage.identity for sink in self._run.sinks}
        for stage in self._run.stages:
            # Any code may use a dataset in a global or an attribute, except that notebooks are not imported.
            if (
                stage.module.source.cells is None
                and stage.identity not in consumed
                and not self._children[stage.identity]
                and not self._roles[stage.identity]
            ):
                left = (
                    stage.path.frame.kind == "root"
                    and stage.path.frame.function is None
                    and not _is_for_scripts(stage)
                    and not self._is_overwritten(stage)
                )
                if left or _is_left_in_attribute(stage):
                    self._mark(stage, "unknown")
        for sink in nested:
            assert sink.outer is not None
            for role in self._roles[sink.outer.identity]:
                for stage in self._mark(sink.stage, role):
                    self._consumers[stage.identity] += [
                        consumer for consumer in self._consumers[sink.outer.identity] if consumer[1] == role
                    ]
            self._rewrites[sink.stage.identity] |= self._rewrites[sink.outer.identity]

    def _is_overwritten(self, stage: DatasetOp) -> bool:
        """Whether a module rebinds the name of a dataset before it ends."""
        assigned = assignment(stage.module.tree.parents.get(stage.node))
        if assigned is None or not all(isinstance(target, cst.Name) for target in assigned.targets):
            return False
        left = self._run.globals_of(stage.module).values()
        return not any(dataset.stage.identity is stage.identity for value in left for dataset in datasets_in(value))

    def _mark(self, stage: DatasetOp, role: str) -> list[DatasetOp]:
        """Assign a role to a stage and to all stages before it, and return these."""
        rewrites = Rewrites()
        pending, seen = [stage], set()
        order = []
        while pending:
            current = pending.pop()
            if current in seen:
                continue
            seen.add(current)
            order.append(current)
            pending.extend(current.inputs)
        for current in order:
            if current.name == "with_options" and not current.maybe:
                rewrites |= switched_by(current.given("options"))
        for current in order:
            self._roles[current.identity].add(role)
            self._rewrites[current.identity] |= rewrites
        return order

    def role_of(self, sink: DatasetConsumer) -> str:
        """The role of a consumer."""
        if sink.role in ("train", "loop", "escape") and self._is_side_code(sink):
            return "side"
        if sink.role == "escape":
            # As with adapt, it makes one pass.
            return "adapt" if _builds_vocabulary(sink.node) else "evaluate" if _measures(sink) else "unknown"
        if sink.role == "train" and (gives_few_elements(sink.stage) or self._is_tried_out(sink)):
            return "inspect"
        if sink.role != "loop":
            return sink.role
        loop = sink.loop
        assert loop is not None
        if loop.trains:
            return "train"
        calls = self._calls_in_loop[loop]
        if loop.trips is not None and loop.trips <= INSPECTED_ELEMENTS:
            return "inspect"
        for call in calls:
            if (
                call.name is None
                and not isinstance(call.receiver, Constant)
                and any(holds_tensor(value) for value in call.arguments.values())
            ):
                # An unknown function receives the elements, and may train.
                return "unknown"
        if any((call.name or "").startswith((OF_KERAS_MODEL, OF_KERAS_METRIC, OF_KERAS_LOSS)) for call in calls):
            return "evaluate"
        return "inspect"

    def _is_tried_out(self, sink: DatasetConsumer) -> bool:
        """Whether a fit makes only a handful of steps in total, according to its literals."""
        call = self._call_at.get((sink.node, sink.path))
        return call is not None and call.attribute == "fit" and makes_few_steps(call)

    @staticmethod
    def _is_side_code(sink: DatasetConsumer) -> bool:
        """Whether only code for debugging or benchmarks consumes a dataset, or returns it."""
        if side_path(sink.path) is not None:
            return True
        return isinstance(sink.node, cst.FunctionDef) and SIDE_FUNCTIONS.match(sink.node.name.value) is not None

    def calls_in(self, loop: ExecutionPath) -> list[Call]:
        """All calls in the body of a loop, including those of its callees."""
        return self._calls_in_loop[loop]

    def children(self, stage: DatasetOp) -> list[DatasetOp]:
        """The operations applied to a stage's dataset."""
        return self._children[stage.identity]

    def is_shared(self, stage: DatasetOp) -> bool:
        """Whether a stage's dataset has several uses, not counting inspections of some elements."""
        inspected = {
            child.node
            for child in self.children(stage)
            if {role for _, role in self._consumers[child.identity]} == {"inspect"}
        }
        used = {child.node for child in self.children(stage)} - inspected
        return len(used) > 1 or any(
            sink.stage.identity is stage.identity and role != "inspect" for sink, role in self.sinks
        )

    def downstream(self, stage: DatasetOp) -> Iterator[DatasetOp]:
        """Every operation between a stage and its consumers."""
        pending, seen = list(self.children(stage)), set()
        while pending:
            current = pending.pop()
            if current.identity in seen:
                continue
            seen.add(current.identity)
            yield current
            pending.extend(self.children(current))

    def hides_cache(self, stage: DatasetOp) -> bool:
        """Whether a stage's dataset is cached, endless before that, or has an invisible origin or use."""
        before = {each.name for each in stage.upstream()}
        after = {each.name for each in self.downstream(stage)}
        return bool(
            (before | after) & {"cache", "snapshot", "apply"} or before & {"repeat", "shuffle_and_repeat", "parameter"}
        )

    def rewrites(self, stage: DatasetOp) -> Rewrites:
        """The rewrites that are disabled between a stage and its consumers."""
        return self._rewrites[stage.identity]

    def passes(self, op: Operation) -> int | None:
        """The number of training passes over the elements of an operation, from literals; None if unknown.

        Returns the largest number above one, since a cost in one training is a cost of the program.
        """
        counts = [
            self._passes(sink, stage) if role == "train" else None
            for stage in op.stages
            for sink, role in self._consumers[stage.identity]
            if role in ("train", "unknown")
        ]
        most = max((count for count in counts if count is not None), default=1)
        return most if most > 1 or (counts and None not in counts) else None

    def _passes(self, sink: DatasetConsumer, stage: DatasetOp) -> int | None:
        count = 1
        repeated = False
        for after in sink.stage.upstream():
            if after.identity is stage.identity:
                break
            if after.name == "repeat":
                repeated = True
                times = constant(after.given("count"))
                count *= times if isinstance(times, int) and times > 0 else 1
        if sink.loop is not None and not any(datasets_in(sink.loop.value)):
            # An iterator from elsewhere yields single elements.
            return None
        made_in = set(stage.path.loops(within="program"))
        for loop in sink.path.loops(within="program"):
            if loop is not sink.loop and loop not in made_in:
                if loop.trips is None:
                    return None
                count *= loop.trips
        call = self._call_at.get((sink.node, sink.path))
        if sink.loop is not None:
            return count
        if call is None or call.attribute != "fit" or call.given("initial_epoch") is not None:
            return None
        # If the number of steps derives from the length of the data, they cover all of it.
        if constant(call.given("steps_per_epoch")) is not None and not repeated:
            return None
        given = call.given("epochs")
        epochs = 1 if given is None else constant(given)
        return count * epochs if isinstance(epochs, int) else None

    def buffered(self) -> Iterable[DatasetOp]:
        """The distinct last operations of training datasets that prepare elements in advance."""
        ends = (last_computation(sink.stage) for sink, role in self.sinks if role == "train")
        return {last.node: last for last in ends if runs_ahead(last)}.values()

    def unbuffered(self) -> Iterator[Unbuffered]:
        """Training datasets whose last operation prepares nothing in advance; each end only once."""
        runtime, seen = self._module.runtime, set()
        for sink, role in self.sinks:
            last = last_computation(sink.stage)
            leaves = role == "unknown" and _named_training(last)
            if (
                role != "train"
                and not leaves
                or last.node in seen
                or runs_ahead(last) is not False
                or is_cut_short(last)
            ):
                continue
            # Slices of arrays take no time to prepare.
            if last.name.endswith((".from_tensor_slices", ".from_tensors", ".range")):
                continue
            upstream = list(last.upstream())
            # An applied function may end in a buffer, or set options. A dataset from a caller may have a buffer of its
            # own.
            if any(stage.name == "apply" for stage in upstream):
                continue
            # A buffer before datasets are combined belongs to only one of them.
            alone = takewhile(lambda stage: stage.name not in COMBINING, upstream)
            early = next((stage for stage in alone if stage.name == "prefetch"), None)
            if early is not None and self._ends_elsewhere(early, last) or early is None and leaves:
                continue
            seen.add(last.node)
            costs = False
            if leaves:
                found = TailBuffering.ADDS_WHERE_USED if runtime.injects_prefetch else TailBuffering.LEAVES_UNSEEN
            elif isinstance(sink.node, cst.For) and sink.path.traced_by() is not None:
                found, costs = TailBuffering.LEAVES_IN_FUNCTION, True
            elif (rewritten := self._rewritten(last)) is not None:
                found = rewritten
            elif not runtime.injects_prefetch:
                # tf.distribute appends one to each dataset, and adds buffers for each device (input_lib.py).
                if self._module.once(Program).distributes:
                    continue
                found = TailBuffering.LEAVES
                costs = not all(map(_only_arranges, upstream)) and not _is_kept_in_memory(last)
            elif self.rewrites(last).no_prefetch:
                found, costs = TailBuffering.SWITCHED_OFF, True
            else:
                found = TailBuffering.ADDS
            yield Unbuffered(last, early, found, costs)

    def _ends_elsewhere(self, early: DatasetOp, last: DatasetOp) -> bool:
        """Whether a prefetch ends another dataset from which this one branches off, possibly under a condition."""
        if self.is_shared(early):
            return True
        return any(
            any(stage.path.conditions(within=early.path))
            for stage in last.upstream()
            if early in stage.upstream() and stage is not early
        )

    def _rewritten(self, last: DatasetOp) -> TailBuffering | None:
        """The rewrite that makes an operation run ahead; None if there is none.

        Source: tested on TensorFlow 2.12 and 2.21. ``map_and_batch_fusion`` is a default since 1.13. It needs neither
        the autotuner nor a stateless function, and makes MapAndBatch.
        """
        rewrites = self.rewrites(last)
        if (
            last.name == "map"
            and (facts := facts_of(last)) is not None
            and self._module.runtime.parallelizes_stateless_maps
            and not rewrites.maps_stay_serial
            and facts.known
            and facts.state is None
        ):
            return TailBuffering.MAKES_PARALLEL
        if last.name == "batch" and last.input is not None and last.input.name == "map" and not rewrites.defaults_off:
            return TailBuffering.FUSES
        return None

    def roles(self, stage: DatasetOp) -> frozenset[str]:
        """The roles of the datasets that an operation leads to, see :class:`Operation`."""
        return frozenset(self._roles[stage.identity])

    def trains_on(self, stage: DatasetOp) -> bool:
        """Whether an operation leads to ``fit`` or a training loop."""
        return "train" in self._roles[stage.identity]

    def training_loops(self, op: Operation) -> list[ExecutionPath]:
        """The hand-written loops that train on the elements of an operation, or on data made from them."""
        consumed = {stage.identity for inner in op.stages for stage in (inner, *self.downstream(inner))}
        return [
            sink.loop
            for sink, role in self.sinks
            if role == "train" and sink.loop is not None and sink.stage.identity in consumed
        ]

    def operations(self, *names: str) -> Iterator[Operation]:
        """The distinct operations with these names, in program order."""
        grouped: dict[cst.CSTNode, list[DatasetOp]] = {}
        for stage in self._run.stages:
            if stage.name in names and not stage.module.is_graph_code:
                grouped.setdefault(stage.node, []).append(stage)
        for stages in grouped.values():
            roles: set[str] = set()
            rewrites = Rewrites()
            for stage in stages:
                roles |= {"inspect"} if is_cut_short(stage) else self._roles[stage.identity]
                rewrites |= self._rewrites[stage.identity]
            yield Operation(stages, frozenset(roles), rewrites)


def _is_left_in_attribute(stage: DatasetOp) -> bool:
    """``self.dataset = ds.batch(32)``"""
    assigned = assignment(stage.module.tree.parents.get(stage.node))
    return assigned is not None and any(isinstance(target, cst.Attribute) for target in assigned.targets)


def _builds_vocabulary(node: cst.CSTNode) -> bool:
    function = node.func if isinstance(node, cst.Call) else None
    name = function.attr if isinstance(function, cst.Attribute) else function
    return isinstance(name, cst.Name) and "vocab" in name.value.lower()


def _measures(sink: DatasetConsumer) -> bool:
    """Whether a metric or an index consumes a dataset, such as ``tfrs.metrics.FactorizedTopK(candidates=ds)``."""
    return isinstance(sink.node, cst.Call) and _MEASURING.search(sink.module.tree.code_of(sink.node.func)) is not None
