"""Files that the Python code of a training loop reads between its steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, takewhile

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.keras_data import is_py_dataset
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExecutionPath, Function, Instance, IteratorValue, Value, options_of
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.array_origins import reads_file
from kerascheck.meaning.data.fitted_data import epochs_of
from kerascheck.meaning.program.loops import most_iterations
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.training.calls_per_step import conditions_in, loop_of_step
from kerascheck.meaning.training.repeated_training import place_in_loop
from kerascheck.syntax.written import last_name

_WRAPPERS = frozenset({"enumerate", "iter", "wrapper", "zip"})
_KINDS_OF_METHODS = frozenset({"classmethod", "property", "staticmethod"})


@dataclass(frozen=True, slots=True)
class SerialRead:
    """A call that reads a file in every step of a training loop, while the training waits.

    Attributes:
        call: the call that reads.
        place: the call in the loop, or of the generator, that leads to it; for a PyDataset the loop.
        loop: the training loop.
        update: the call that trains.
        repeats: whether each step reads several files, in a loop of its own.
        is_item: whether a PyDataset reads, which the loop iterates over.
    """

    call: Call
    place: CodeLocation
    loop: ExecutionPath
    update: Call
    repeats: bool
    is_item: bool = False


def serial_reads(module: Module, least: int) -> Iterator[SerialRead]:
    """The first reading call of each training loop with more than ``least`` iterations that reads files in every step.

    The loop reads in its body, or takes its batches from a generator or a PyDataset that reads. Excludes files that other
    threads or processes may read, and calls that a condition or a cache may skip.
    """
    reads = [call for call in module.run.calls if reads_file(call)]
    for loop, updates in (_training_loops(module) if reads else {}).items():
        if most_iterations(loop) <= least:
            continue
        shared = set.intersection(*(conditions_in(update, loop) for update in updates))
        inside = (
            SerialRead(
                call, CodeLocation(loop.module, place_in_loop(call, loop)), loop, updates[0], _repeats(call, loop)
            )
            for call in reads
            if call.path.is_in(loop) and conditions_in(call, loop) <= shared and _is_serial(call, loop)
        )
        found = chain(inside, _reads_of_sources(module, reads, loop, updates[0]))
        first = next(found, None)
        if first is not None:
            yield first


def _training_loops(module: Module) -> dict[ExecutionPath, list[Call]]:
    """The innermost Python loops around training steps, and around ``fit`` for one epoch, with the calls that train."""
    program = module.once(Program)
    fits = (fit for fit in program.model_calls("fit") if epochs_of(fit) == 1)
    found: dict[ExecutionPath, list[Call]] = {}
    for update in [*program.updates, *program.model_calls("train_on_batch"), *fits]:
        loop = loop_of_step(update)
        if loop is not None:
            found.setdefault(loop, []).append(update)
    return found


def _reads_of_sources(module: Module, reads: list[Call], loop: ExecutionPath, update: Call) -> Iterator[SerialRead]:
    """The reads of the generators and PyDatasets from which each iteration of a loop takes an item."""
    for source in _sources(module, loop):
        for call in reads:
            around = _frame_of_item(call, source) if isinstance(source, Instance) else source
            if around is None or not call.path.is_in(around) or any(call.path.conditions(within=around)):
                continue
            turn = around if isinstance(source, Instance) else _turn_of(call, around)
            if turn is None or not _is_serial(call, around):
                continue
            place = loop if isinstance(source, Instance) else source
            yield SerialRead(
                call, CodeLocation(place.module, place.node), loop, update, _repeats(call, turn), place is loop
            )


def _frame_of_item(call: Call, batches: Instance) -> ExecutionPath | None:
    """The call of a PyDataset's ``__getitem__`` around another call; None if that is elsewhere."""
    item = batches.cls.member("__getitem__")
    if not isinstance(item, Function):
        return None
    return next((each for each in call.path.frames() if each.function and each.function.node is item.node), None)


def _turn_of(call: Call, generator: ExecutionPath) -> ExecutionPath | None:
    """The loop of a generator that makes a call and yields an item in each iteration; None if it yields elsewhere."""
    for loop in call.path.loops(within=generator):
        tree = loop.module.tree
        for node in tree.descendants(loop.node):
            if isinstance(node, cst.Yield):
                inner = next(outer for outer in tree.ancestors(node) if isinstance(outer, (cst.For, cst.While)))
                if inner is loop.node:
                    return loop
    return None


def _sources(module: Module, loop: ExecutionPath) -> Iterator[ExecutionPath | Instance]:
    """The generators, by their calls, and PyDatasets that a loop iterates over or that ``next`` in its body advances."""
    advanced = [
        call.receiver
        for call in module.once(CallIndex).named("builtins.next")
        if call.path.is_in(loop) and not any(call.path.conditions(within=loop))
    ]
    for value in (loop.value, *advanced):
        yield from _sources_in(value)


def _sources_in(value: Value | None) -> Iterator[ExecutionPath | Instance]:
    """The sources behind a value that is certainly one, or ``enumerate``, ``tqdm`` and the like around one."""
    options = options_of(value)
    if not all(isinstance(option, IteratorValue) or is_py_dataset(option) for option in options):
        return
    for option in options:
        if isinstance(option, Instance):
            yield option
        elif isinstance(option, IteratorValue) and option.kind == "generator" and option.path is not None:
            yield option.path
        elif isinstance(option, IteratorValue) and option.kind in _WRAPPERS:
            for inner in option.over:
                yield from _sources_in(inner)


def _is_serial(call: Call, within: ExecutionPath) -> bool:
    """Whether a call always runs, in the thread of the training, and no function around it keeps its results."""
    node = call.node
    for path in (*call.path.way(within=within), within):
        if path.kind == "handed" or path.traced or path.stage is not None:
            return False
        if path.kind in ("call", "root") and path.function is not None:
            if _may_skip(path.function, node):
                return False
            node = path.node
    return True


def _may_skip(function: Function, node: cst.CSTNode) -> bool:
    """Whether a function may return before it reaches a node, or a decorator such as ``functools.cache`` replaces it."""
    if not isinstance(function.node, cst.FunctionDef):
        return False
    if any(last_name(each.decorator) not in _KINDS_OF_METHODS for each in function.node.decorators):
        return True
    tree = function.module.tree
    around = set(tree.ancestors(node))
    before = takewhile(lambda inner: inner is not node, tree.descendants(function.node.body))
    return any(isinstance(inner, cst.Return) and inner not in around for inner in before)


def _repeats(call: Call, loop: ExecutionPath) -> bool:
    return any(call.path.loops(within=loop))
