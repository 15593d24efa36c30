"""State of one interpretation: the current path, the records, and the undo log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import libcst as cst

from kerascheck.interpreter.call_summaries import CallSummary
from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.internal_values import LATER, MISSING, NEW
from kerascheck.interpreter.joins import join
from kerascheck.interpreter.limits import MAX_ALIKE, MAX_ITEMS, MAX_ROUTES
from kerascheck.interpreter.values import (
    MAY_HOLD_DATASETS,
    UNKNOWN,
    Arguments,
    Call,
    Class,
    Compilation,
    Constant,
    Dataset,
    DatasetConsumer,
    DatasetOp,
    DictValue,
    ExecutionPath,
    ExternalInstance,
    Function,
    Instance,
    IteratorValue,
    ModuleLike,
    Scope,
    SequenceValue,
    Tensor,
    UnionValue,
    Value,
    datasets_in,
    holds_container,
    is_beyond,
    now,
    options_of,
)
from kerascheck.knowledge.callables import TENSOR, TENSOR_LIBRARIES
from kerascheck.knowledge.classes import TRAINING_CALLS, TRAINING_METHODS, class_of, class_of_bases

Key = TypeVar("Key")
Given = TypeVar("Given")
Result = TypeVar("Result")

Write = tuple[dict[Any, Value], Any, Value]
"""The container written to, the key, and a value."""
Written = dict[tuple[int, object], Write]
"""The writes of one branch, keyed by identity of the container and key."""


# Values of other types are immutable or contain no settings.
_MAY_CHANGE = MAY_HOLD_DATASETS | {Instance, ExternalInstance}


class Start(NamedTuple):
    """The moment at which a dataset function is called."""

    frames: int
    """Number of functions running at that moment, as in :attr:`AbstractState.frames`."""
    calls: int
    """Order of the last call before it."""


class AbstractState(ABC):
    """State of one interpretation, and the operations that change it.

    Attributes:
        calls, sinks, stages, loops: records in program order.
        reached: nodes of the functions with a known call site.
        compiled: nodes of the functions passed to tf.function or another compiler.
        compilations: places where functions and models are passed to tf.function or another compiler.
        entries: calls of compiled functions from Python; the receiver is the compiled function.
        indexed: the subscripts that take an item of a tensor.
        returned: the result of each function's first call.
        item_writes: for each ``__getitem__`` of a PyDataset, its writes to objects that outlive the call, including
            those of its callees.
    """

    def __init__(self, module: ModuleLike) -> None:
        self.entry = module
        self.calls: list[Call] = []
        self.sinks: list[DatasetConsumer] = []
        self.stages: list[DatasetOp] = []
        self.loops: list[ExecutionPath] = []
        self.reached: set[cst.CSTNode] = set()
        self.compiled: set[cst.CSTNode] = set()
        self.compilations: list[Compilation] = []
        self.entries: list[Call] = []
        self.indexed: set[cst.CSTNode] = set()
        self.returned: dict[cst.CSTNode, Value] = {}
        self.item_writes: dict[cst.CSTNode, list[CodeLocation]] = {}
        self.functions: dict[cst.CSTNode, Function] = {}
        self.truncated = False
        self.uses: list[tuple[str, cst.CSTNode, ModuleLike]] = []
        self.order = 0
        self.inlined_calls = 0
        self.visits: dict[cst.CSTNode, int] = {}
        self.call_stack: list[cst.CSTNode] = []
        self.module_scopes: dict[ModuleLike, Scope] = {}
        # Attributes that the program sets on library objects, as ``wandb.config.batch_size = 32``.
        self.set_outside: dict[str, Value] = {}
        self.import_depths: dict[ModuleLike, int] = {}
        self.followed_modules = 0.0
        self.instances: dict[Class, Instance] = {}
        self.return_values: list[list[Value]] = []
        # Scopes of the running functions, and the start of the running dataset function.
        self.frames: list[Scope] = []
        self.mapped: Start | None = None
        # Library modules from which each module star-imports.
        self.star_imports: dict[ModuleLike, list[str]] = {}
        # Creation time of the oldest object written to.
        self.oldest_write = LATER
        # Function summaries by key; None for functions with side effects.
        self.summaries: dict[Hashable, CallSummary | None] = {}
        # Writes to objects that outlive a function (attributes, items, globals), for rollback between branches.
        self.undo_log: list[Write] = []
        self.module = module
        self.scope = Scope(None)
        self.path = ExecutionPath("root", None, module, module.tree.root)

    def record(
        self,
        node: cst.CSTNode,
        name: str | None,
        attribute: str | None,
        receiver: Value,
        arguments: Arguments,
        result: Value = UNKNOWN,
    ) -> Call:
        """Record a call, or an event that counts as one; see :class:`Call` for the arguments."""
        self.order = now()
        call = Call(self.module, node, name, attribute, receiver, arguments, self.path, self.order, result)
        self.calls.append(call)
        updates = name in TRAINING_CALLS or name is None and attribute in TRAINING_METHODS
        if updates or attribute == "apply_gradients":
            for path in self.path.loops(within="program"):
                path.trains = True
        return call

    def enter_compiled(self, function: Function | ExternalInstance, arguments: Arguments, node: cst.CSTNode) -> None:
        """Record a call of compiled code from Python."""
        if self.path.traced_by() is None:
            self.entries.append(Call(self.module, node, None, "__call__", function, arguments, self.path, self.order))

    def use(self, kind: str, node: cst.CSTNode) -> None:
        """Record the use of a tensor; for the kinds, see :class:`FunctionFacts`."""
        self.uses.append((kind, node, self.module))

    def sink(self, role: str, dataset: Dataset, node: cst.CSTNode, outer: DatasetOp | None = None) -> None:
        """Record the consumer of a dataset; for the roles, see :class:`DatasetConsumer`."""
        self.sinks.append(DatasetConsumer(role, dataset.stage, self.module, node, self.path, outer=outer))

    def escape(self, arguments: Arguments, node: cst.CSTNode) -> None:
        """Pass values to unknown code, which may read their datasets and change their settings."""
        for value in arguments.values():
            if type(value) not in _MAY_CHANGE:
                continue
            if isinstance(value, (Instance, ExternalInstance, DictValue)):
                self.invalidate_settings(value)
            for dataset in datasets_in(value):
                self.sink("escape", dataset, node)

    def computed_tensor(self, origin: str, *operands: Value) -> Tensor:
        """A tensor; it keeps its operands in eager code and in functions of datasets, which are never memoised."""
        return Tensor(origin, operands=operands if self.path.traced_by() in (None, "map") else ())

    def class_name(self, value: Value) -> str | None:
        """The canonical class of a receiver; None if unknown."""
        if isinstance(value, ExternalInstance):
            return class_of(value.name)
        if isinstance(value, Instance):
            return class_of_bases(value.cls.external_bases())
        if isinstance(value, Tensor):
            return TENSOR
        return None

    def new_stage(self, name: str, node: cst.CSTNode, call: Call | None, inputs: tuple[DatasetOp, ...]) -> DatasetOp:
        """An operation of a dataset; a source if there are no ``inputs``."""
        if sum(each.routes for each in inputs) > MAX_ROUTES:
            name, call, inputs = "apply", None, inputs[:1]
        stage = DatasetOp(self.module, node, name, call, inputs, self.path)
        self.stages.append(stage)
        return stage

    def bound(self, function: Function, receiver: Value) -> Function:
        """A function bound to an object or class."""
        if function.kind == "staticmethod":
            return function
        return Function(
            function.module,
            function.node,
            function.scope,
            function.name,
            receiver,
            function.owner,
            function.traced,
            function.options,
            function.opaque,
            function.kind,
            function.defaults,
        )

    def inside(self, path: ExecutionPath, action: Callable[[Given], Result], argument: Given) -> Result:
        """The result of an action that runs on another path."""
        saved, self.path = self.path, path
        try:
            return action(argument)
        finally:
            self.path = saved

    def iterated(self, iterable: Value) -> Iterator[Dataset]:
        """The datasets from which one iteration of a loop takes an element."""
        for option in options_of(iterable):
            if isinstance(option, Dataset):
                yield option
            elif isinstance(option, IteratorValue):
                for inner in option.over:
                    yield from self.iterated(inner)

    def store(self, target: dict[Key, Value], key: Key, value: Value, created: int = 0) -> None:
        """Write to an object that outlives the current function.

        Args:
            created: creation time of the object; 0 for objects that always exist.
        """
        if created < self.oldest_write:
            self.oldest_write = created
        if isinstance(value, (UnionValue, SequenceValue, DictValue)) and (
            holds_container(value, target) or is_beyond(value, MAX_ITEMS)
        ):
            value = UNKNOWN
        self.undo_log.append((target, key, target.get(key, MISSING)))
        target[key] = value

    def touch(self, value: SequenceValue | DictValue) -> None:
        """Record the mutation of a container."""
        self.oldest_write = min(self.oldest_write, value.created)

    def begin(self, target: dict[Any, Value]) -> None:
        """Record the creation of an object: no other branch sees it, so its writes need no rollback."""
        self.undo_log.append((target, NEW, MISSING))

    def rollback(self, mark: int) -> Written:
        """Undo the writes since ``mark``; returns the values that they left."""
        log = self.undo_log
        if len(log) == mark:
            return {}
        new = {id(target) for target, key, _ in log[mark:] if key is NEW}
        left: Written = {}
        # Undo the last write first. The last write to a key has its final value, the first write has its old value.
        while len(log) > mark:
            target, key, old = log.pop()
            if id(target) in new:
                continue
            location = id(target), key
            if location not in left:
                left[location] = target, key, target.get(key, MISSING)
            if old is MISSING:
                target.pop(key, None)
            else:
                target[key] = old
        return left

    def merge_branches(self, *branches: Written) -> None:
        """Join the writes of several branches."""
        writing = [branch for branch in branches if branch]
        targets = (
            writing[0]
            if len(writing) == 1
            else {location: write for branch in writing for location, write in branch.items()}
        )
        for location, (target, key, _) in targets.items():
            before = target.get(key, MISSING)
            merged: Value = MISSING
            is_missing = False
            for branch in branches:
                write = branch.get(location)
                value = before if write is None else write[2]
                if value is MISSING:
                    is_missing = True
                elif value is not merged:
                    merged = value if merged is MISSING else join(merged, value)
            if is_missing and merged is not MISSING and not self._is_scope(target):
                # What an item or attribute is without the write is unknown.
                merged = join(merged, UNKNOWN)
            if merged is not before:
                self.store(target, key, merged, LATER)

    def _is_scope(self, target: dict[Any, Value]) -> bool:
        """Whether a target of writes holds the variables of a function, class or module; an object's items otherwise."""
        scope: Scope | None = self.scope
        while scope is not None:
            if scope.variables is target:
                return True
            scope = scope.parent
        return any(scope.variables is target for scope in (*self.frames, *self.module_scopes.values()))

    def invalidate(self, value: Value, only: type[Value] = Value) -> None:
        """Invalidate the attributes or items of an object that have the type ``only``."""
        for option in options_of(value):
            if not isinstance(option, (Instance, ExternalInstance, DictValue)):
                continue
            held = option.items if isinstance(option, DictValue) else option.attributes
            if isinstance(option, Instance):
                for base in option.cls.ancestry():
                    for name, member in base.members.items() if isinstance(base, Class) else ():
                        if isinstance(member, Constant) and name not in held:
                            self.store(held, name, member, option.created)
            for name, item in list(held.items()):
                if isinstance(item, only):
                    self.store(held, name, join(item, UNKNOWN), option.created)
            if isinstance(option, DictValue) and only is Value:
                self.touch(option)
                option.open, option.most = True, None

    def invalidate_settings(self, value: Value) -> None:
        """Invalidate the constants of an object that unknown code may change, also in records of libraries within it."""
        pending, seen = [value], set()
        while pending:
            each = pending.pop()
            if id(each) in seen or isinstance(each, ExternalInstance) and each.name.startswith(TENSOR_LIBRARIES):
                continue
            seen.add(id(each))
            self.invalidate(each, Constant)
            if isinstance(each, ExternalInstance):
                pending += [item for item in each.attributes.values() if type(item) is ExternalInstance]

    def extend(self, sequence: SequenceValue, items: list[Value], *, certain: bool = True) -> None:
        """Add items to a list or set; they may be missing if ``certain`` is false or the path is conditional."""
        self.touch(sequence)
        added: int | None = len(items) if certain else None
        for path in self.path.way(within="function"):
            certain = certain and path.kind in ("with", "try")
            if path.kind == "loop":
                added = None if added is None or path.turns is None else added * path.turns
        items = [UNKNOWN if holds_container(item, sequence.items) else item for item in items]
        before = sequence.most if sequence.open else len(sequence.items)
        sequence.most = None if before is None or added is None else before + added
        if len(sequence.items) + len(items) > MAX_ITEMS:
            items, certain = [], False
        sequence.items.extend(item for item in items if certain or item not in sequence.items[-MAX_ALIKE:])
        sequence.open = sequence.open or not certain

    def update(self, mapping: DictValue, other: Value) -> None:
        """Add the items of another dictionary to a dictionary."""
        if isinstance(other, DictValue) and not other.open:
            for key, value in other.items.items():
                self.store(mapping.items, key, value, mapping.created)
        else:
            self.invalidate(mapping)

    def branch_path(self, node: cst.CSTNode, label: str) -> ExecutionPath:
        """The path into one branch of a statement or expression."""
        return ExecutionPath("branch", self.path, self.module, node, label=label)

    def unrecorded(self, action: Callable[[Given], object], argument: Given) -> None:
        """Run an action and drop its records: functions that only it calls count as uncalled.

        For code that provokes an error on purpose.
        """
        records: tuple[list[Any], ...] = (self.calls, self.sinks, self.stages, self.loops, self.entries, self.uses)
        lengths = [len(record) for record in records]
        summaries, self.summaries = self.summaries, {}
        action(argument)
        self.summaries = summaries
        for record, length in zip(records, lengths):
            del record[length:]

    def run_suite(self, suite: cst.BaseSuite) -> bool:
        """Run the body of a compound statement; see :meth:`run_block`."""
        return self.run_block(suite.body)

    # The interpreter defines these: expressions, statements and calls recurse into each other through them.

    @abstractmethod
    def eval(self, node: cst.CSTNode) -> Value:
        """The abstract value of an expression; records the calls in it."""

    @abstractmethod
    def run_block(self, statements: Iterable[cst.CSTNode]) -> bool:
        """Run statements in order; returns whether the end of the block is unreachable."""

    @abstractmethod
    def call(self, function: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
        """The result of calling an abstract value."""

    @abstractmethod
    def inline(
        self,
        function: Function,
        arguments: Arguments,
        node: cst.CSTNode,
        *,
        traced: str | None = None,
        stage: DatasetOp | None = None,
    ) -> Value:
        """The result of calling a function of the linted tree, by running its body."""
