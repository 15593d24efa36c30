"""Trainings that a Python loop repeats, with one model or with a new one in each iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    DictValue,
    ExecutionPath,
    ExternalInstance,
    IteratorValue,
    SequenceValue,
    options_of,
)
from kerascheck.knowledge.classes import MODEL
from kerascheck.knowledge.devices import CLEAR_SESSION
from kerascheck.knowledge.layers import LAYERS
from kerascheck.knowledge.python import GRIDS
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.program.loops import loop_that_changes
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.tree import alike
from kerascheck.syntax.written import assignment

_CLEARS = frozenset({CLEAR_SESSION, "gc.collect"})


@dataclass(frozen=True, slots=True)
class Repetition:
    """A method call of a model in a loop.

    Attributes:
        call: the call.
        loop: the innermost loop around it, or around its function.
        is_same: whether every iteration certainly uses the same model.
    """

    call: Call
    loop: ExecutionPath
    is_same: bool


def repeated_calls(module: Module, *methods: str) -> Iterator[Repetition]:
    """The calls of these methods of Keras models that a ``for`` or ``while`` repeats, in program order."""
    for call in module.once(Program).model_calls(*methods):
        loop = call.path.innermost_loop(within="program", comprehensions=False)
        if loop is not None:
            yield Repetition(call, loop, _is_same(module, call, loop))


@dataclass(frozen=True, slots=True)
class RebuiltModel:
    """A model that each iteration of a loop creates and trains.

    Attributes:
        made: its constructor call.
        loop: the innermost loop around that.
        trained: a call that trains it in the same iteration.
        times: the minimum number of constructions.
        times_known: whether literals determine them.
    """

    made: Call
    loop: ExecutionPath
    trained: Call
    times: float
    times_known: bool

    @property
    def place(self) -> CodeLocation:
        """The constructor in the loop itself, or the outermost call that leads to it."""
        return CodeLocation(self.loop.module, place_in_loop(self.made, self.loop))

    def is_asked_for(self, module: Module) -> bool:
        """Whether each iteration prompts the user, so it is not a series of trainings."""
        return any(call.name == "builtins.input" for call in _calls_in(module, self.loop))

    def is_cleared(self, module: Module) -> bool:
        """Whether the loop clears the state that models leave behind."""
        return any(call.name in _CLEARS for call in _calls_in(module, self.loop))

    def is_kept(self, module: Module) -> bool:
        """Whether the loop stores its model in a list or dictionary."""
        models = options_of(self.trained.receiver)
        for call in _calls_in(module, self.loop):
            held = [
                item
                for value in call.arguments.values()
                for item in (value.items if isinstance(value, SequenceValue) else [value])
            ]
            if call.attribute in ("append", "add", "put") and any(item is model for item in held for model in models):
                return True
        function = self.trained.node.func if isinstance(self.trained.node, cst.Call) else None
        return any(
            (assigned := assignment(node)) is not None
            and isinstance(assigned.targets[0], cst.Subscript)
            and isinstance(function, cst.Attribute)
            and alike(assigned.value, function.value)
            for node in self.loop.module.tree.descendants(self.loop.node)
        )

    def differs(self, module: Module) -> bool:
        """Whether each iteration may create a different model.

        An argument of its constructor, or of a layer's, depends on the iteration.
        """
        node = self.place.node
        # The inputs of a functional model are its tensors, which are always new.
        is_functional = node is self.made.node and self.made.name == MODEL
        if isinstance(node, cst.Call) and not is_functional:
            if any(loop_that_changes(argument.value, self.loop) is self.loop for argument in node.args):
                return True
        return any(
            loop_that_changes(argument.value, layer.path) is self.loop
            for layer in _calls_in(module, self.loop)
            if layer.attribute is None and (layer.name or "").startswith(LAYERS)
            for argument in layer.arguments.nodes.values()
        )


def rebuilt_models(module: Module, *methods: str) -> Iterator[RebuiltModel]:
    """Models that one iteration of a loop creates and trains with one of these methods without ending the loop."""
    for call in module.once(Program).model_calls(*methods):
        for made in {module.once(Program).constructor_of(option) for option in options_of(call.receiver)}:
            if made is None:
                continue
            loop = made.path.innermost_loop(within="program", comprehensions=False)
            if loop is not None and call.path.is_in(loop) and not _is_last_turn(place_in_loop(made, loop), loop):
                yield RebuiltModel(made, loop, call, *least_iterations(made.path))


def _calls_in(module: Module, loop: ExecutionPath) -> list[Call]:
    return module.once(Pipelines).calls_in(loop)


SOME = 3
"""Assumed length of a list of unknown length, if a program combines its items with those of another."""


def least_iterations(path: ExecutionPath) -> tuple[float, bool]:
    """The minimum number of iterations of a path, and whether literals determine it.

    A loop that ends by a condition counts as endless. A loop over a list of unknown length counts as one iteration. If
    several are combined, as in a search over settings, each counts as :data:`SOME`.
    """
    counts: list[float | None] = []
    for loop in path.loops(within="program"):
        counts += [float("inf")] if isinstance(loop.node, cst.While) and not loop.trips else _lengths(loop)
    unknown = SOME if len(counts) > 1 else 1
    return prod(unknown if count is None else max(count, 1) for count in counts), None not in counts


def _lengths(loop: ExecutionPath) -> list[float | None]:
    """The number of items of a loop; for a grid, the number in each of its lists."""
    over = loop.value
    while isinstance(over, IteratorValue) and len(over.over) == 1 and over.kind in ("wrapper", "enumerate"):
        over = over.over[0]
    if loop.trips is not None or not isinstance(over, ExternalInstance) or over.name not in GRIDS or over.call is None:
        return [loop.trips if loop.turns is None or loop.turns > SOME else loop.turns]
    lists = [
        item
        for value in over.call.arguments.positional
        for item in (value.items.values() if isinstance(value, DictValue) else [value])
    ]
    return [len(each.items) if isinstance(each, SequenceValue) and not each.open else None for each in lists] or [None]


def place_in_loop(call: Call, loop: ExecutionPath) -> cst.CSTNode:
    """The node in a loop itself: a call, or the outermost one that leads to it."""
    calls = [path for path in call.path.way(within=loop) if path.kind == "call"]
    return calls[-1].node if calls else call.node


def _is_last_turn(node: cst.CSTNode, loop: ExecutionPath) -> bool:
    """Whether the statements around a node in a loop end by leaving it."""
    for outer in loop.module.tree.ancestors(node):
        if isinstance(outer, (cst.For, cst.While, cst.FunctionDef)):
            return False
        last = outer.body[-1] if isinstance(outer, cst.IndentedBlock) else None
        if isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], (cst.Break, cst.Return, cst.Raise)):
            return True
    return False


def _is_same(module: Module, call: Call, loop: ExecutionPath) -> bool:
    options = options_of(call.receiver)
    made = [each for option in options if (each := module.once(Program).constructor_of(option)) is not None]
    if len(made) == len(options):
        around = set(call.path.loops(within="program"))
        return (
            len(made) == 1 and not made[0].path.is_in(loop) and around.issuperset(made[0].path.loops(within="program"))
        )
    # Its origin is unknown: a variable or attribute that nothing in the loop sets.
    receiver = (
        call.node.func.value if isinstance(call.node, cst.Call) and isinstance(call.node.func, cst.Attribute) else None
    )
    if not isinstance(receiver, (cst.Name, cst.Attribute)) or loop_that_changes(receiver, call.path) is loop:
        return False
    return not any(
        isinstance(node, (cst.AssignTarget, cst.AnnAssign)) and alike(node.target, receiver)
        for node in loop.module.tree.descendants(loop.node)
    )
