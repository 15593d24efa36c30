"""The machine that all parts of the interpreter work on: where it stands, what was seen, and how that is noted."""

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
from kerascheck.knowledge.callables import TENSOR
from kerascheck.knowledge.classes import TRAINING_CALLS, TRAINING_METHODS, class_of, class_of_bases

Key = TypeVar("Key")
Given = TypeVar("Given")
Result = TypeVar("Result")

Write = tuple[dict[Any, Value], Any, Value]
"""What was written to, the key, and a value."""
Written = dict[tuple[int, object], Write]
"""What a way through the program left, by place: the identity of what was written to, and the key."""


# Of most values the type says that whoever gets them can change nothing.
_MAY_CHANGE = MAY_HOLD_DATASETS | {Instance}


class Start(NamedTuple):
    """When the function of a dataset was called."""

    frames: int
    """How many functions ran then, as in :attr:`AbstractState.frames`."""
    calls: int
    """The order of the last call before."""


class AbstractState(ABC):
    """State of one interpretation, and the operations that change it.

    Attributes:
        calls, sinks, stages, loops: what was seen, in program order.
        reached: nodes of the functions that something was seen to call.
        compiled: nodes of the functions that were given to tf.function or another compiler.
        compilations: where functions and models were given to tf.function or another compiler.
        entries: calls of what came out of that, from Python; the receiver is the compiled function.
        indexed: the subscripts that take an item of a tensor.
        returned: what each function returned the first time.
        item_writes: where each ``__getitem__`` of a PyDataset, or what it calls, writes to what outlives the call.
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
        # What the program itself sets on objects of other libraries, as ``wandb.config.batch_size = 32``.
        self.set_outside: dict[str, Value] = {}
        self.import_depths: dict[ModuleLike, int] = {}
        self.followed_modules = 0.0
        self.instances: dict[Class, Instance] = {}
        self.return_values: list[list[Value]] = []
        # The variables of the functions that run, and since when that of a dataset does.
        self.frames: list[Scope] = []
        self.mapped: Start | None = None
        # The names that the star imports of a module bring.
        self.star_imports: dict[ModuleLike, list[str]] = {}
        # Since when the oldest of what was written to is there.
        self.oldest_write = LATER
        # What kinds of calls come to; None for one that does more than compute.
        self.summaries: dict[Hashable, CallSummary | None] = {}
        # Writes to what outlives a function (attributes, items, globals), to take back where ways part.
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
        """Note a call, or what counts as one; see :class:`Call` for the arguments."""
        self.order = now()
        call = Call(self.module, node, name, attribute, receiver, arguments, self.path, self.order, result)
        self.calls.append(call)
        updates = name in TRAINING_CALLS or name is None and attribute in TRAINING_METHODS
        if updates or attribute == "apply_gradients":
            for path in self.path.loops(within="program"):
                path.trains = True
        return call

    def enter_compiled(self, function: Function | ExternalInstance, arguments: Arguments, node: cst.CSTNode) -> None:
        """Note that Python calls what was compiled."""
        if self.path.traced_by() is None:
            self.entries.append(Call(self.module, node, None, "__call__", function, arguments, self.path, self.order))

    def use(self, kind: str, node: cst.CSTNode) -> None:
        """Note what is done with a tensor; the kinds are those of :class:`FunctionFacts`."""
        self.uses.append((kind, node, self.module))

    def sink(self, role: str, dataset: Dataset, node: cst.CSTNode, outer: DatasetOp | None = None) -> None:
        """Note what consumes a dataset, and as what: a role of :class:`DatasetConsumer`."""
        self.sinks.append(DatasetConsumer(role, dataset.stage, self.module, node, self.path, outer=outer))

    def escape(self, arguments: Arguments, node: cst.CSTNode) -> None:
        """Give values to what is not known: it may read the datasets among them, and change the settings."""
        for value in arguments.values():
            if type(value) not in _MAY_CHANGE:
                continue
            if isinstance(value, (Instance, DictValue)):
                # Settings may come back changed.
                self.invalidate(value, Constant)
            for dataset in datasets_in(value):
                self.sink("escape", dataset, node)

    def computed_tensor(self, origin: str, *operands: Value) -> Tensor:
        """A tensor; an eager one remembers what it was computed from."""
        return Tensor(origin, operands=operands if self.path.traced_by() is None else ())

    def class_name(self, value: Value) -> str | None:
        """The canonical class of a receiver, where it is known."""
        if isinstance(value, ExternalInstance):
            return class_of(value.name)
        if isinstance(value, Instance):
            return class_of_bases(value.cls.external_bases())
        if isinstance(value, Tensor):
            return TENSOR
        return None

    def new_stage(self, name: str, node: cst.CSTNode, call: Call | None, inputs: tuple[DatasetOp, ...]) -> DatasetOp:
        """An operation of a dataset, or a source where there are no ``inputs``."""
        if sum(each.routes for each in inputs) > MAX_ROUTES:
            name, call, inputs = "apply", None, inputs[:1]
        stage = DatasetOp(self.module, node, name, call, inputs, self.path)
        self.stages.append(stage)
        return stage

    def bound(self, function: Function, receiver: Value) -> Function:
        """A function as the method of an object or class."""
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
        """What an action gives for an argument, done in a scope."""
        saved, self.path = self.path, path
        try:
            return action(argument)
        finally:
            self.path = saved

    def iterated(self, iterable: Value) -> Iterator[Dataset]:
        """The datasets that one turn of a loop takes an element from."""
        for option in options_of(iterable):
            if isinstance(option, Dataset):
                yield option
            elif isinstance(option, IteratorValue):
                for inner in option.over:
                    yield from self.iterated(inner)

    def store(self, target: dict[Key, Value], key: Key, value: Value, born: int = 0) -> None:
        """Write to something that outlives the function at hand, and that is there since ``born``: a moment, or 0 for always."""
        if born < self.oldest_write:
            self.oldest_write = born
        if isinstance(value, (UnionValue, SequenceValue, DictValue)) and (
            holds_container(value, target) or is_beyond(value, MAX_ITEMS)
        ):
            value = UNKNOWN
        self.undo_log.append((target, key, target.get(key, MISSING)))
        target[key] = value

    def touch(self, value: SequenceValue | DictValue) -> None:
        """Note that something is changed."""
        self.oldest_write = min(self.oldest_write, value.born)

    def begin(self, target: dict[Any, Value]) -> None:
        """Note that what is written to is new: no other way of the program has it, so that nothing is to be taken back there."""
        self.undo_log.append((target, NEW, MISSING))

    def rollback(self, mark: int) -> Written:
        """Undo the writes since ``mark``; returns what they had left."""
        trail = self.undo_log
        if len(trail) == mark:
            return {}
        new = {id(target) for target, key, _ in trail[mark:] if key is NEW}
        left: Written = {}
        # From the last write to the first: of several to one place the last is what was left, the first is what there was before.
        while len(trail) > mark:
            target, key, old = trail.pop()
            if id(target) in new:
                continue
            place = id(target), key
            if place not in left:
                left[place] = target, key, target.get(key, MISSING)
            if old is MISSING:
                target.pop(key, None)
            else:
                target[key] = old
        return left

    def merge_branches(self, *ways: Written) -> None:
        """Write what one of several ways left."""
        writing = [way for way in ways if way]
        places = writing[0] if len(writing) == 1 else {place: write for way in writing for place, write in way.items()}
        for place, (target, key, _) in places.items():
            before = target.get(key, MISSING)
            merged: Value = MISSING
            for way in ways:
                write = way.get(place)
                value = before if write is None else write[2]
                if value is not MISSING and value is not merged:
                    merged = value if merged is MISSING else join(merged, value)
            if merged is not before:
                self.store(target, key, merged, LATER)

    def invalidate(self, value: Value, only: type[Value] = Value) -> None:
        """Every attribute or item of an object that is of this kind may have been replaced."""
        for option in options_of(value):
            if not isinstance(option, (Instance, ExternalInstance, DictValue)):
                continue
            held = option.items if isinstance(option, DictValue) else option.attributes
            if isinstance(option, Instance):
                for base in option.cls.ancestry():
                    for name, member in base.members.items() if isinstance(base, Class) else ():
                        if isinstance(member, Constant) and name not in held:
                            self.store(held, name, member, option.born)
            for name, item in list(held.items()):
                if isinstance(item, only):
                    self.store(held, name, join(item, UNKNOWN), option.born)
            if isinstance(option, DictValue) and only is Value:
                self.touch(option)
                option.open, option.most = True, None

    def extend(self, group: SequenceValue, items: list[Value], *, certain: bool = True) -> None:
        """Add items to a list or set; under a condition, or where they are not ``certain``, it may be without them."""
        self.touch(group)
        added: int | None = len(items) if certain else None
        for path in self.path.way(within="function"):
            certain = certain and path.kind in ("with", "try")
            if path.kind == "loop":
                added = None if added is None or path.turns is None else added * path.turns
        items = [UNKNOWN if holds_container(item, group.items) else item for item in items]
        before = group.most if group.open else len(group.items)
        group.most = None if before is None or added is None else before + added
        if len(group.items) + len(items) > MAX_ITEMS:
            items, certain = [], False
        group.items.extend(item for item in items if certain or item not in group.items[-MAX_ALIKE:])
        group.open = group.open or not certain

    def update(self, mapping: DictValue, other: Value) -> None:
        """Put the items of another dictionary into one."""
        if isinstance(other, DictValue) and not other.open:
            for key, value in other.items.items():
                self.store(mapping.items, key, value, mapping.born)
        else:
            self.invalidate(mapping)

    def branch_path(self, node: cst.CSTNode, label: str) -> ExecutionPath:
        """The path into one branch of a statement or expression."""
        return ExecutionPath("branch", self.path, self.module, node, label=label)

    def unrecorded(self, action: Callable[[Given], object], argument: Given) -> None:
        """Run an action and drop its records: functions that only it calls count as uncalled.

        Code that provokes an error on purpose runs this way.
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

    # The interpreter provides these: expressions, statements and calls recurse into each other through them.

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
        """The result of a function of the linted tree, by running its body."""
