"""Calls, execution paths, functions and dataset operations.

They share one file because they refer to each other. A call has a path, a path runs a function or a dataset operation,
and these refer to the call that created them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import libcst as cst

from kerascheck.interpreter.values.arguments import Arguments
from kerascheck.interpreter.values.base import UNKNOWN, External, Value
from kerascheck.interpreter.values.scope import Scope
from kerascheck.knowledge.runtime import Runtime
from kerascheck.knowledge.signatures import Signature
from kerascheck.source import Source
from kerascheck.syntax.conditions import CONDITIONS, PathQueries
from kerascheck.syntax.tree import Tree

Found = TypeVar("Found")


class ModuleFinder(Protocol):
    """The interface of a project to the interpreter: :class:`kerascheck.interpreter.project.Project`."""

    def find(self, importer: Any, dotted: str, level: int) -> ModuleLike | None: ...
    def imported(self, module: Any) -> list[Any]: ...


class RunRecord(Protocol):
    """The record of running a module: :class:`kerascheck.interpreter.abstract_state.AbstractState`."""

    calls: list[Call]

    @property
    def modules(self) -> list[ModuleLike]: ...


class ModuleLike(Protocol):
    """The interface of a module to values and the interpreter: :class:`kerascheck.interpreter.module.Module`."""

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
    def import_names(self) -> list[tuple[str, int]]: ...
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
        """Canonical names of all bases outside the linted tree."""
        return self._external_bases

    def member(self, name: str) -> Value | None:
        """The attribute ``name`` of the class or of the nearest base in the tree that has it."""
        for base in self._classes:
            if name in base.members:
                return base.members[name]
        return None


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
    """Its compiler: "tf.function", "jax.jit", ... ; None for plain Python."""
    options: Call | None = None
    """The call of tf.function that compiled it, if its arguments are visible."""
    opaque: bool = False
    """Whether an unreadable decorator may have replaced it."""
    kind: str = "function"
    """"function", "staticmethod", "classmethod" or "property"."""
    defaults: dict[str, Value] = field(default_factory=dict)
    """Default values of parameters, evaluated with the definition."""


@dataclass(eq=False, slots=True)
class ExecutionPath(PathQueries):
    """One element of the path that leads to a piece of running code.

    ``kind`` is one of "root" (a module body or a function without a call site), "call" (inside a function), "loop",
    "with", "branch", "handler", "try", or "handed" (a function passed to a library, which may call it later or never).

    Example:
        >>> loop = call("for x in range(3): f(x)").path.innermost_loop(within="program")
        >>> loop.kind, loop.turns
        ('loop', 3)
    """

    kind: str
    parent: ExecutionPath | None
    module: ModuleLike
    node: cst.CSTNode
    function: Function | None = None
    traced: str | None = None
    """Compiler of the code of a call ("tf.function", "map", "call", "train_step", ...); None for eager code."""
    value: Value = UNKNOWN
    """The iterable of a loop, or the context manager of a ``with`` statement."""
    trips: int | None = None
    """The number of iterations of a loop, if literals determine it."""
    most: int | None = None
    """The maximum number of iterations, if ``trips`` is unknown."""
    stage: DatasetOp | None = None
    """The dataset operation that runs this function."""
    trains: bool = False
    """Whether the loop updates weights."""
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
        """The maximum number of iterations of a loop; None if unknown."""
        return self.most if self.trips is None else self.trips

    def functions(self) -> Iterator[Function]:
        """The known functions around this path, innermost first."""
        return (frame.function for frame in self.frames() if frame.function is not None)

    def runs_in(self, function: Function) -> bool:
        """Whether this path is in a function, or in its callees."""
        return any(around.node is function.node for around in self.functions())

    def traced_by(self) -> str | None:
        """The compiler of the code that runs here; None for eager code. py_function bodies are eager again."""
        frame = self.frame
        while not frame.traced:
            if frame.parent is None:
                return None
            frame = frame.parent.frame
        return None if frame.traced == "py_function" else frame.traced


@dataclass(eq=False, slots=True)
class Call:
    """One call (or assignment to an attribute or item) seen by the interpreter.

    ``name`` is the canonical dotted name; for methods, the receiver's class and the method ("keras.Model.fit"); None if
    the callee is unknown. Assignments appear as "<class>.__setattr__" and "os.environ.__setitem__". In compiled code,
    assignments of tensors to objects that outlive the call appear as "builtins.object.__set__", and ``+=`` as
    "builtins.object.__iadd__".

    Example:
        >>> fit = call("keras.Sequential().fit(x, epochs=3)")
        >>> fit.name, fit.given("epochs")
        ('keras.Model.fit', Constant(value=3))
    """

    module: ModuleLike
    node: cst.CSTNode
    name: str | None
    attribute: str | None
    """The method name, even if the receiver is unknown."""
    receiver: Value
    arguments: Arguments
    path: ExecutionPath
    order: int
    """Time of the call, on the clock :data:`now`."""
    result: Value = UNKNOWN

    @property
    def signature(self) -> Signature:
        """The signature of the callable in this program's versions."""
        return self.module.runtime.signature_of(self.name, self.attribute)

    def given(self, parameter: str) -> Value | None:
        """The argument for a parameter of a callable in ``knowledge/signatures.py``.

        None if certainly not given, UNKNOWN if it may be given.
        """
        return self.arguments.given(self.signature, parameter)

    def written(self, parameter: str) -> cst.Arg | None:
        """The syntax of the argument that ``given`` returns, if it is spelled out."""
        return self.arguments.written(self.signature, parameter)

    def keyword(self, name: str) -> Value | None:
        """The argument with this keyword, for any callable; None if certainly not given."""
        return self.arguments.get(None, name)

    @property
    def first(self) -> Value | None:
        """The argument for the first parameter, for any callable; None if certainly not given."""
        return self.arguments.first(next(iter(self.signature.names), None))

    @property
    def assigned(self) -> Value | None:
        """The value of an attribute assignment; None for calls."""
        return self.arguments.get(1, "value") if self.name is None or self.name.endswith(".__setattr__") else None


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
    """The method ("map", "batch", ...); for a source, its canonical name."""
    call: Call | None
    inputs: tuple[DatasetOp, ...]
    path: ExecutionPath
    maybe: bool = False
    """Whether only some paths apply it."""
    facts: FunctionFacts | None = None
    function: Value = UNKNOWN
    """The function passed to map, filter, interleave, ..."""
    origin: DatasetOp | None = None
    """The operation of which this one is a copy."""
    routes: int = field(init=False)
    """The number of routes to its sources."""

    def __post_init__(self) -> None:
        self.routes = sum(each.routes for each in self.inputs) or 1

    @property
    def identity(self) -> DatasetOp:
        """The original operation, which is the same for an operation and its copies."""
        return self.origin or self

    @property
    def input(self) -> DatasetOp | None:
        """The dataset that the operation is applied to; None for a source."""
        return self.inputs[0] if self.inputs else None

    @property
    def is_source(self) -> bool:
        return not self.inputs

    def upstream(self) -> Iterator[DatasetOp]:
        """This operation and those before it along the main line, last first."""
        stage: DatasetOp | None = self
        while stage is not None:
            yield stage
            stage = stage.input

    def given(self, parameter: str) -> Value | None:
        """The argument for a parameter, as :meth:`Call.given` returns it; None if the operation has no visible call."""
        return self.call.given(parameter) if self.call else None

    @property
    def parallelism(self) -> Value | None:
        """The argument ``num_parallel_calls``; None if certainly not given, or if there is no such parameter."""
        return (
            self.given("num_parallel_calls")
            if self.call is not None and "num_parallel_calls" in self.call.signature
            else None
        )

    def keyword(self, name: str) -> Value | None:
        """The argument with this keyword, as :meth:`Call.keyword` returns it.

        None if the operation has no visible call.
        """
        return self.call.keyword(name) if self.call else None


@dataclass(eq=False, slots=True)
class FunctionFacts:
    """Facts from running a mapped function. See :mod:`kerascheck.meaning.data.mapped_functions`."""

    calls: list[Call]
    uses: list[tuple[str, cst.CSTNode, ModuleLike]]
    known: bool
    """False if it calls something that the interpreter could not follow."""
    result: Value = UNKNOWN
