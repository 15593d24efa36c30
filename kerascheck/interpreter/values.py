"""What an expression may stand for, where code runs, and what it does: the vocabulary of the interpreter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any, Protocol, TypeVar

import libcst as cst

from kerascheck.knowledge.namespaces import OF_KERAS_TUNER_HYPER_PARAMETERS
from kerascheck.knowledge.runtime import Runtime
from kerascheck.knowledge.signatures import Signature
from kerascheck.source import Source
from kerascheck.syntax.conditions import CONDITIONS, PathQueries
from kerascheck.syntax.names import canonical
from kerascheck.syntax.tree import Tree

Found = TypeVar("Found")

now = count(1).__next__
"""A moment: later ones are higher. What can be written to has that of its making, so that old can be told from new."""


class ModuleFinder(Protocol):
    """A project as far as the interpreter knows it: :class:`kerascheck.interpreter.project.Project`."""

    def find(self, importer: Any, dotted: str, level: int) -> ModuleLike | None: ...
    def imported(self, module: Any) -> list[Any]: ...


class RunRecord(Protocol):
    """What running a module showed: :class:`kerascheck.interpreter.abstract_state.Machine`."""

    calls: list[Call]

    @property
    def modules(self) -> list[ModuleLike]: ...


class ModuleLike(Protocol):
    """A module as far as values and the interpreter know it: :class:`kerascheck.interpreter.module.Module`."""

    source: Source

    @property
    def memory(self) -> dict[Any, Any]: ...
    def once(self, find: Callable[[Any], Found]) -> Found: ...
    @property
    def project(self) -> ModuleFinder: ...
    @property
    def acts_on_import(self) -> bool: ...
    @property
    def generators(self) -> frozenset[cst.CSTNode]: ...
    @property
    def name_counts(self) -> Counter[str]: ...
    @property
    def worth_following(self) -> bool: ...
    def mentions(self, pattern: re.Pattern[str]) -> bool: ...
    @property
    def tree(self) -> Tree: ...
    def range_of(self, node: cst.CSTNode) -> tuple[int, int]: ...
    def statement_range(self, node: cst.CSTNode) -> tuple[int, int]: ...
    @property
    def text(self) -> str: ...
    @property
    def dotted(self) -> str: ...
    @property
    def is_package(self) -> bool: ...
    @property
    def runtime(self) -> Runtime: ...
    @property
    def run(self) -> RunRecord: ...
    @property
    def code(self) -> str: ...
    @property
    def is_graph_code(self) -> bool: ...
    def is_commented(self, node: cst.CSTNode, about: re.Pattern[str]) -> bool: ...


class Value:
    """What is known of a run-time value. Unknown is a value of its own, never the absence of one.

    Example:
        >>> isinstance(call("model.fit(x, epochs=3)").given("epochs"), Value)
        True
    """

    __slots__ = ()


class _Unknown(Value):
    """A value of which nothing is known: it may be anything, and is given. What is certainly not given is None.

    Example:
        >>> call("model.fit(x, epochs=n)").given("epochs") is UNKNOWN
        True
        >>> call("model.fit(x)").given("epochs") is None
        True
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


@dataclass(frozen=True, slots=True)
class Constant(Value):
    """A literal number, string, bytes, bool or None.

    Example:
        >>> call("model.fit(x, epochs=3)").given("epochs")
        Const(value=3)
    """

    value: Any


@dataclass(frozen=True, slots=True)
class External(Value):
    """A symbol of a library outside the linted tree, by canonical dotted name.

    Example:
        >>> call("tf.cast(x, tf.float64)").given("dtype")
        External(name='tensorflow.float64')
    """

    name: str


@cache
def external(dotted: str) -> External:
    """The symbol of a library that a fully qualified name means, canonical or not."""
    return External(canonical(dotted))


@dataclass(eq=False, slots=True)
class ExternalInstance(Value):
    """What a call of an external symbol returned: usually an instance of the class ``name``.

    Example:
        >>> call("model.compile(loss=keras.losses.MeanSquaredError())").given("loss").name
        'keras.losses.MeanSquaredError'
    """

    name: str
    call: Call | None = None
    attributes: dict[str, Value] = field(default_factory=dict)

    @property
    def born(self) -> int:
        """When it was made, as :data:`now` counts; 0 where that is not known."""
        return 0 if self.call is None else self.call.order


@dataclass(eq=False, slots=True)
class LoopVariable(ExternalInstance):
    """A Python number or text that is another one in every turn of a loop."""

    loop: ExecutionPath | None = None


@dataclass(eq=False, slots=True)
class Tensor(Value):
    """A value that is a tensor at run time: symbolic in traced code, eager elsewhere.

    Example:
        >>> isinstance(call("f(tf.constant(1.0))").arguments.positional[0], Tensor)
        True
    """

    origin: str = ""
    call: Call | None = None
    """The call of the layer that returned it, where one did."""
    operands: tuple[Value, ...] = ()
    """What it was computed from, where that is known of an eager one."""


@dataclass(eq=False, slots=True)
class SequenceValue(Value):
    """A tuple, list or set whose items are known; ``kind`` is "tuple", "list" or "set".

    ``open`` where there may be fewer, more, or in another order, of the same kinds; then ``most`` is how many there are at most, where
    that is known.

    Example:
        >>> callbacks = call("model.fit(x, callbacks=[keras.callbacks.TensorBoard()])").given("callbacks")
        >>> callbacks.kind, [each.name for each in callbacks.items]
        ('list', ['keras.callbacks.TensorBoard'])
    """

    kind: str
    items: list[Value]
    open: bool = False
    most: int | None = None
    born: int = field(default_factory=now, repr=False, kw_only=True)


@dataclass(eq=False, slots=True)
class DictValue(Value):
    """A dictionary with known string keys; ``open`` where there may be others, and ``most`` as in :class:`SequenceValue`.

    Example:
        >>> call("print({'a': 1})").arguments.positional[0].items
        {'a': Const(value=1)}
    """

    items: dict[Any, Value]
    open: bool = False
    most: int | None = None
    born: int = field(default_factory=now, repr=False, kw_only=True)


@dataclass(eq=False, slots=True)
class Function(Value):
    """A function, method or lambda of the linted tree.

    Example:
        >>> call("double = lambda x: 2 * x; f(double)").arguments.positional[0].name
        '<lambda>'
    """

    module: ModuleLike
    node: cst.FunctionDef | cst.Lambda
    scope: Scope
    name: str
    receiver: Value | None = None
    owner: Class | None = None
    traced: str | None = None
    """How it is compiled: "tf.function", "jax.jit", ... ; None for plain Python."""
    options: Call | None = None
    """The call of tf.function that compiled it, if its arguments are visible."""
    opaque: bool = False
    """A decorator that cannot be read may have replaced it."""
    kind: str = "function"
    """"function", "staticmethod", "classmethod" or "property"."""
    defaults: dict[str, Value] = field(default_factory=dict)
    """What parameters are where a call does not give them, as they were evaluated with the definition."""


@dataclass(eq=False, slots=True)
class Class(Value):
    """A class of the linted tree."""

    module: ModuleLike
    node: cst.ClassDef
    name: str
    bases: tuple[Value, ...]
    members: dict[str, Value]
    _ancestry: tuple[Class | External, ...] = field(init=False, repr=False)
    _classes: tuple[Class, ...] = field(init=False, repr=False)
    _external_bases: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        found: dict[int, Class | External] = {}
        queue: list[Value] = [self]
        while queue:
            base = queue.pop(0)
            if isinstance(base, (Class, External)) and id(base) not in found:
                found[id(base)] = base
                queue.extend(base.bases if isinstance(base, Class) else ())
        self._ancestry = tuple(found.values())
        self._classes = tuple(base for base in self._ancestry if isinstance(base, Class))
        self._external_bases = frozenset(base.name for base in self._ancestry if isinstance(base, External))

    def ancestry(self) -> tuple[Class | External, ...]:
        """This class and its bases, nearest first; bases outside the tree by name."""
        return self._ancestry

    def external_bases(self) -> frozenset[str]:
        """Canonical names of every base outside the linted tree."""
        return self._external_bases

    def member(self, name: str) -> Value | None:
        """The attribute ``name`` of the class or of the nearest base in the tree that has it."""
        for base in self._classes:
            if name in base.members:
                return base.members[name]
        return None


@dataclass(eq=False, slots=True)
class Instance(Value):
    """An object of a class of the linted tree.

    Example:
        >>> given = call("class Data(keras.utils.PyDataset): pass", "model.fit(Data())").given("x")
        >>> given.cls.name, sorted(given.cls.external_bases())
        ('Data', ['keras.utils.PyDataset'])
    """

    cls: Class
    attributes: dict[str, Value]
    born: int = field(default_factory=now, repr=False, kw_only=True)


@dataclass(eq=False, slots=True)
class Method(Value):
    """The attribute ``name`` of a value, not yet called.

    Example:
        >>> call("model = keras.Sequential(); f(model.fit)").arguments.positional[0].name
        'fit'
    """

    receiver: Value
    name: str


@dataclass(eq=False, slots=True)
class Partial(Value):
    """``functools.partial``: a callable with some arguments bound."""

    target: Value
    arguments: Arguments


@dataclass(eq=False, slots=True)
class ModuleValue(Value):
    """A module of the linted tree."""

    module: ModuleLike


@dataclass(eq=False, slots=True)
class IteratorValue(Value):
    """An iterator or wrapper (enumerate, zip, tqdm, iter) over other values; ``kind`` names it.

    Example:
        >>> call("f(enumerate([1, 2]))").arguments.positional[0].kind
        'enumerate'
    """

    kind: str
    over: list[Value]
    path: ExecutionPath | None = None


@dataclass(eq=False, slots=True)
class UnionValue(Value):
    """One of several values, depending on the way taken."""

    options: tuple[Value, ...]


@dataclass(eq=False, slots=True)
class Dataset(Value):
    """A tf.data dataset (or, straight from tensorflow_datasets, a structure of them).

    Example:
        >>> call("model.fit(tf.data.Dataset.range(9).batch(3))").given("x").stage.name
        'batch'
    """

    stage: DatasetOp


@dataclass(eq=False, slots=True)
class Scope:
    """The variables of one function, class or module body."""

    parent: Scope | None
    variables: dict[str, Value] = field(default_factory=dict)
    redirected: dict[str, Scope] = field(default_factory=dict)
    """Names declared ``global`` or ``nonlocal`` here, with the environment they live in."""
    parameters: frozenset[str] = frozenset()
    """Parameters of the function whose values the call at hand decides."""

    def owner(self, name: str) -> Scope | None:
        """The nearest scope that binds ``name``; None where none does."""
        scope: Scope | None = self
        while scope is not None:
            scope = scope.redirected.get(name, scope)
            if name in scope.variables:
                return scope
            scope = scope.parent
        return None

    def lookup(self, name: str) -> Value | None:
        """The value of ``name`` here or in an enclosing scope; None where it is not bound."""
        scope = self.owner(name)
        return None if scope is None else scope.variables[name]


@dataclass(eq=False, slots=True)
class ExecutionPath(PathQueries):
    """One step of the way that leads to a piece of running code.

    ``kind`` is one of "root" (a module body or a function nobody was seen to call),
    "call" (inside a function), "loop", "with", "branch", "handler", "try", or "handed" (what a library is given to call, which it may do
    later or never).

    Example:
        >>> loop = call("for x in range(3): f(x)").scope.innermost_loop(within="program")
        >>> loop.kind, loop.turns
        ('loop', 3)
    """

    kind: str
    parent: ExecutionPath | None
    module: ModuleLike
    node: cst.CSTNode
    function: Function | None = None
    traced: str | None = None
    """For calls: how the code is compiled ("tf.function", "map", "call", "train_step", ...), None for eager code."""
    value: Value = UNKNOWN
    """What a loop iterates over, or what a ``with`` statement enters."""
    trips: int | None = None
    """Turns of a loop where a literal tells."""
    most: int | None = None
    """Turns at most, where ``trips`` is not known."""
    stage: DatasetOp | None = None
    """The dataset operation that runs this function."""
    trains: bool = False
    """A loop in which weights are updated."""
    label: str = ""
    depth: int = field(init=False, repr=False)
    root: ExecutionPath = field(init=False, repr=False)
    frame: ExecutionPath = field(init=False, repr=False)
    loop: ExecutionPath | None = field(init=False, repr=False)
    condition: ExecutionPath | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parent, kind = self.parent, self.kind
        self.depth = 0 if parent is None else parent.depth + 1
        self.root = self if parent is None else parent.root
        self.frame = self if parent is None or kind in ("call", "root") else parent.frame
        self.loop = self if kind == "loop" else None if parent is None else parent.loop
        self.condition = self if kind in CONDITIONS else None if parent is None else parent.condition

    @property
    def turns(self) -> int | None:
        """How many turns a loop makes at most; None where nothing tells."""
        return self.most if self.trips is None else self.trips

    def functions(self) -> Iterator[Function]:
        """The functions that are known around this place, innermost first."""
        return (frame.function for frame in self.frames() if frame.function is not None)

    def runs_in(self, function: Function) -> bool:
        """Whether this place is in a function, or in what that calls."""
        return any(around.node is function.node for around in self.functions())

    def traced_by(self) -> str | None:
        """What compiles the code that runs here; None for eager code. py_function bodies are eager again."""
        frame = self.frame
        while not frame.traced:
            if frame.parent is None:
                return None
            frame = frame.parent.frame
        return None if frame.traced == "py_function" else frame.traced


@dataclass(eq=False, slots=True)
class Arguments:
    """Evaluated arguments of a call; ``nodes`` keeps their syntax for messages and fixes."""

    positional: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    nodes: dict[int | str, cst.Arg] = field(default_factory=dict)
    unknown_positional: bool = False
    unknown_keywords: bool = False

    def get(self, position: int | None, keyword: str | None) -> Value | None:
        """The value of a parameter given by position or name; None where it is certainly not given.

        UNKNOWN where ``*args`` or ``**kwargs`` may give it.
        """
        if keyword is not None and keyword in self.keywords:
            return self.keywords[keyword]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        if (self.unknown_keywords and keyword is not None) or (self.unknown_positional and position is not None):
            return UNKNOWN
        return None

    def first(self, keyword: str | None) -> Value | None:
        """The first argument, or the one with this keyword; see ``get``."""
        return self.get(0, keyword)

    def given(self, signature: Signature, parameter: str) -> Value | None:
        """The argument for a parameter of what has this signature.

        None where it is certainly not given, and UNKNOWN where it may be: a position is taken of which the parameter is not known.
        """
        for position, name in signature.places(parameter):
            value = self.get(position, name)
            if value is not None:
                return value
        return UNKNOWN if signature.may_hold(len(self.positional), parameter) else None

    def written(self, signature: Signature, parameter: str) -> cst.Arg | None:
        """The syntax of the argument that ``given`` returns, where it is written out."""
        nodes = (self.node(position, name) for position, name in signature.places(parameter))
        return next((node for node in nodes if node is not None), None)

    def node(self, position: int | None, keyword: str | None) -> cst.Arg | None:
        """The syntax of the argument that ``get`` returns, where it is written out."""
        if keyword is not None and keyword in self.nodes:
            return self.nodes[keyword]
        return self.nodes.get(position) if position is not None else None

    def values(self) -> Iterator[Value]:
        """Every value passed."""
        yield from self.positional
        yield from self.keywords.values()


@dataclass(eq=False, slots=True)
class Call:
    """One call (or attribute/item assignment) that the interpreter saw, in program order.

    ``name`` is the canonical dotted name, for methods that of the receiver's class and the
    method ("keras.Model.fit"); None where the callee is unknown. Assignments appear as
    "<class>.__setattr__" and "os.environ.__setitem__"; in compiled code those of tensors to
    what outlives the call as "builtins.object.__set__", and ``+=`` as "builtins.object.__iadd__".

    Example:
        >>> fit = call("keras.Sequential().fit(x, epochs=3)")
        >>> fit.name, fit.given("epochs")
        ('keras.Model.fit', Const(value=3))
    """

    module: ModuleLike
    node: cst.CSTNode
    name: str | None
    attribute: str | None
    """The method name, also where the receiver is unknown."""
    receiver: Value
    arguments: Arguments
    path: ExecutionPath
    order: int
    """When it was seen, as :data:`now` counts."""
    result: Value = UNKNOWN

    @property
    def signature(self) -> Signature:
        """What the callable takes in this program's versions."""
        return self.module.runtime.signature_of(self.name, self.attribute)

    def given(self, parameter: str) -> Value | None:
        """The argument for a parameter of a callable that ``knowledge/signatures.py`` has: None where it is certainly not given, UNKNOWN where it may be."""
        return self.arguments.given(self.signature, parameter)

    def written(self, parameter: str) -> cst.Arg | None:
        """The syntax of the argument that ``given`` returns, where it is written out."""
        return self.arguments.written(self.signature, parameter)

    def keyword(self, name: str) -> Value | None:
        """The argument of whatever callable with this keyword; None where it is certainly not given."""
        return self.arguments.get(None, name)

    @property
    def first(self) -> Value | None:
        """The argument for the first parameter of whatever callable; None where it is certainly not given."""
        return self.arguments.first(next(iter(self.signature.names), None))

    @property
    def assigned(self) -> Value | None:
        """The value that an assignment to an attribute gives; None for a call of what is known."""
        return self.arguments.get(1, "value") if self.name is None or self.name.endswith(".__setattr__") else None


@dataclass(eq=False, slots=True)
class Compilation:
    """One place where tf.function or another compiler is applied: its call, or the ``def`` that it decorates."""

    module: ModuleLike
    node: cst.CSTNode
    function: Function | ExternalInstance
    """What came out: a function of the tree, or a compiled object such as a model."""
    how: str
    """"tf.function", "jax.jit", ..."""
    path: ExecutionPath


@dataclass(eq=False, slots=True)
class DatasetOp:
    """One operation of a dataset pipeline, or its source (``inputs`` empty).

    Example:
        >>> stage = call("model.fit(tf.data.Dataset.range(9).shuffle(3).batch(3))").given("x").stage
        >>> [each.name for each in stage.upstream()]
        ['batch', 'shuffle', 'tensorflow.data.Dataset.range']
    """

    module: ModuleLike
    node: cst.CSTNode
    name: str
    """The method ("map", "batch", ...) or, of a source, its canonical name."""
    call: Call | None
    inputs: tuple[DatasetOp, ...]
    path: ExecutionPath
    maybe: bool = False
    """Applied on some ways through the code only."""
    facts: FunctionFacts | None = None
    function: Value = UNKNOWN
    """The function given to map, filter, interleave, ..."""
    origin: DatasetOp | None = None
    """The operation that this one is a copy of."""
    routes: int = field(init=False)
    """How many ways lead to its sources."""

    def __post_init__(self) -> None:
        self.routes = sum(each.routes for each in self.inputs) or 1

    @property
    def identity(self) -> DatasetOp:
        """The same for an operation and its copies."""
        return self.origin or self

    @property
    def input(self) -> DatasetOp | None:
        """The dataset that the operation is applied to; None for a source."""
        return self.inputs[0] if self.inputs else None

    @property
    def is_source(self) -> bool:
        return not self.inputs

    def upstream(self) -> Iterator[DatasetOp]:
        """This stage and those that lead to it along the main line, last first."""
        stage: DatasetOp | None = self
        while stage is not None:
            yield stage
            stage = stage.input

    def given(self, parameter: str) -> Value | None:
        """The argument for a parameter, as :meth:`Call.given` has it; None where the operation has no visible call."""
        return self.call.given(parameter) if self.call else None

    @property
    def parallelism(self) -> Value | None:
        """The argument ``num_parallel_calls``; None where it is certainly not given, or the operation takes none."""
        return (
            self.given("num_parallel_calls")
            if self.call is not None and "num_parallel_calls" in self.call.signature
            else None
        )

    def keyword(self, name: str) -> Value | None:
        """The argument with this keyword, as :meth:`Call.keyword` has it; None where the operation has no visible call."""
        return self.call.keyword(name) if self.call else None


@dataclass(eq=False, slots=True)
class DatasetConsumer:
    """A place that consumes a dataset.

    ``role`` is one of "train", "validation", "evaluate", "predict", "adapt", "inspect",
    "loop" (resolved to train/evaluate/inspect by what the loop does), "nested" (returned to
    interleave/flat_map), "discard", "escape" (returned to, or passed to, code that is not visible).
    """

    role: str
    stage: DatasetOp
    module: ModuleLike
    node: cst.CSTNode
    path: ExecutionPath
    outer: DatasetOp | None = None
    loop: ExecutionPath | None = None


@dataclass(eq=False, slots=True)
class FunctionFacts:
    """What running a mapped function showed. See :mod:`kerascheck.meaning.data.mapped_functions`."""

    calls: list[Call]
    uses: list[tuple[str, cst.CSTNode, ModuleLike]]
    known: bool
    """False where something that it calls could not be followed."""
    result: Value = UNKNOWN


def options_of(value: Value | None) -> tuple[Value, ...]:
    """The alternatives of a value: itself, or the members of a union; nothing for None.

    Example:
        >>> [constant(each) for each in options_of(call("f(x=1 if fast else 9)").keyword("x"))]
        [1, 9]
    """
    if value is None:
        return ()
    return value.options if isinstance(value, UnionValue) else (value,)


def flat(value: Value | None) -> Iterator[Value]:
    """The single values that a structure of them, or one of several, consists of.

    A container that a structure holds several times is entered once: ``x = [x, x]`` sixty times would have 2**60 items.
    """
    pending, entered = [value], set()
    while pending:
        each = pending.pop()
        if isinstance(each, (UnionValue, SequenceValue, DictValue)):
            if id(each) not in entered:
                entered.add(id(each))
                pending += reversed([*_items_of(each)])
        elif each is not None:
            yield each


def _items_of(value: UnionValue | SequenceValue | DictValue) -> Collection[Value]:
    if isinstance(value, UnionValue):
        return value.options
    return value.items.values() if isinstance(value, DictValue) else value.items


def is_beyond(value: UnionValue | SequenceValue | DictValue, most: int) -> bool:
    """Whether a container has more than so many items, with those of the containers in it, each as often as it is held."""
    if len(_items_of(value)) > most:
        return True
    sizes: dict[int, int] = {}
    return any(type(item) in MAY_HOLD_VALUES for item in _items_of(value)) and _size(value, sizes) > most


def _size(value: Value, sizes: dict[int, int]) -> int:
    if not isinstance(value, (UnionValue, SequenceValue, DictValue)):
        return 1
    if (size := sizes.get(id(value))) is None:
        size = sizes[id(value)] = 1 + sum(_size(item, sizes) for item in _items_of(value))
    return size


def holds_container(value: Value, items: list[Value] | dict[Any, Value]) -> bool:
    """Whether a value is, or holds at any depth, the list, set or dictionary of these ``items``.

    What is written into a container is asked first: everything that walks through values relies on their being trees.
    """
    pending, seen = [value], set()
    while pending:
        each = pending.pop()
        if not isinstance(each, (UnionValue, SequenceValue, DictValue)) or id(each) in seen:
            continue
        seen.add(id(each))
        if not isinstance(each, UnionValue) and each.items is items:
            return True
        pending += _items_of(each)
    return False


def datasets_in(value: Value | None, depth: int = 3) -> Iterator[Dataset]:
    """Datasets that a value is, or holds in tuples, lists and dictionaries.

    Example:
        >>> given = call("f((tf.data.Dataset.range(9), 1))").arguments.positional[0]
        >>> [each.stage.name for each in datasets_in(given)]
        ['tensorflow.data.Dataset.range']
    """
    return _datasets_in(value, depth) if type(value) in MAY_HOLD_DATASETS else _NONE


def _datasets_in(value: Value | None, depth: int) -> Iterator[Dataset]:
    for option in options_of(value):
        if isinstance(option, Dataset):
            yield option
        elif depth and isinstance(option, (SequenceValue, IteratorValue)):
            for item in option.items if isinstance(option, SequenceValue) else option.over:
                yield from datasets_in(item, depth - 1)
        elif depth and isinstance(option, DictValue):
            for item in option.items.values():
                yield from datasets_in(item, depth - 1)


# Most values are asked, and of most the type answers.
_NONE: Iterator[Dataset] = iter(())
MAY_HOLD_VALUES = frozenset({UnionValue, SequenceValue, DictValue})
MAY_HOLD_DATASETS = frozenset({Dataset, UnionValue, SequenceValue, DictValue, IteratorValue})
_MAY_HOLD_TENSORS = frozenset({UnionValue, SequenceValue, DictValue})


def holds_tensor(value: Value | None, depth: int = 3) -> bool:
    """Whether a value is certainly a tensor or a structure with one in it.

    Example:
        >>> holds_tensor(call("f({'a': tf.constant(1.0)})").arguments.positional[0])
        True
    """
    if type(value) not in _MAY_HOLD_TENSORS:
        return isinstance(value, Tensor)
    for option in options_of(value):
        if isinstance(option, Tensor):
            return True
        if depth and isinstance(option, SequenceValue) and any(holds_tensor(item, depth - 1) for item in option.items):
            return True
        if depth and isinstance(option, DictValue) and any(holds_tensor(i, depth - 1) for i in option.items.values()):
            return True
    return False


def shows_tensor(value: Value) -> bool:
    """Whether a value is a tensor, or a text that Python makes of one.

    Example:
        >>> shows_tensor(call("print(str(tf.constant(1.0)))").arguments.positional[0])
        True
    """
    return holds_tensor(value) or any(
        isinstance(option, ExternalInstance)
        and option.name == "builtins.str"
        and any(map(shows_tensor, flat(option.attributes.get("operands"))))
        for option in options_of(value)
    )


def largest(value: Value | None) -> int | None:
    """The largest integer that a value may be: a constant, or what KerasTuner chooses by ``hp.Int`` and ``hp.Choice``; None where that is not known."""
    numbers: list[Any] = []
    for option in options_of(value):
        chosen = (
            option.call
            if isinstance(option, ExternalInstance) and option.name.startswith(OF_KERAS_TUNER_HYPER_PARAMETERS)
            else None
        )
        among = chosen.given("values") if chosen is not None and chosen.attribute == "Choice" else None
        if isinstance(among, SequenceValue) and not among.open:
            numbers += map(constant, among.items)
        else:
            numbers.append(
                constant(chosen.given("max_value") if chosen is not None and chosen.attribute == "Int" else option)
            )
    return max(numbers) if numbers and all(type(number) is int for number in numbers) else None


def constant(value: Value | None, default: Any = None) -> Any:
    """The Python value of a constant, else ``default``.

    Example:
        >>> constant(call("model.fit(x, epochs=3)").given("epochs"))
        3
        >>> constant(call("model.fit(x)").given("epochs"), 1)
        1
    """
    return value.value if isinstance(value, Constant) else default
