"""Calls that a hand-written training loop repeats in every step beside the training: copies and clean-ups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.array_shapes import array_size
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExecutionPath, ExternalInstance, Value, constant, flat, options_of
from kerascheck.knowledge.callables import CONSTANT, CONVERT_TO_TENSOR, GATHER
from kerascheck.knowledge.classes import MODEL_GET_WEIGHTS, MODEL_SET_WEIGHTS
from kerascheck.knowledge.devices import CLEAR_SESSION
from kerascheck.knowledge.namespaces import TENSORFLOW
from kerascheck.knowledge.python import COLLECT_GARBAGE, LENGTH
from kerascheck.meaning.program.loops import loop_that_changes, most_iterations
from kerascheck.meaning.program.program import Program

_COPIES = frozenset({CONSTANT, CONVERT_TO_TENSOR, GATHER})
_WRITING = frozenset(
    "byteswap copyto fill fill_diagonal itemset partition place put putmask resize shuffle sort".split()
)
"""Functions and methods of NumPy that write to an array."""


@dataclass(frozen=True, slots=True)
class StepCall:
    """A call that runs once per training step.

    Attributes:
        call: the call.
        loop: the innermost loop around the step.
        update: the call that trains: of an optimizer, or ``train_on_batch``.
    """

    call: Call
    loop: ExecutionPath
    update: Call


def weight_copies(module: Module, least: int) -> Iterator[StepCall]:
    """Calls of ``set_weights`` and ``get_weights`` of Keras models in loops of more than ``least`` steps, one per loop.

    A loop yields its first ``set_weights``; without one, its first ``get_weights``.
    """
    found: dict[ExecutionPath, StepCall] = {}
    for each in _calls_per_step(module, least):
        if each.call.name in (MODEL_GET_WEIGHTS, MODEL_SET_WEIGHTS):
            first = found.setdefault(each.loop, each)
            if first.call.name == MODEL_GET_WEIGHTS and each.call.name == MODEL_SET_WEIGHTS:
                found[each.loop] = each
    yield from found.values()


def array_copies(module: Module, least: int, numbers: int) -> Iterator[StepCall]:
    """Calls that turn the same NumPy array of at least ``numbers`` numbers into a tensor in each of many steps."""
    for each in _calls_per_step(module, least):
        given = each.call.arguments.nodes.get(0)
        arrays = options_of(each.call.first) if each.call.name in _COPIES else ()
        if given is None or not arrays or loop_that_changes(given.value, each.call.path) is not None:
            continue
        if all((array_size(array) or 0) >= numbers and not _may_change(module, array) for array in arrays):
            yield each


def _may_change(module: Module, array: Value) -> bool:
    """Whether the program writes to the items of an array, or passes it to a call that may write to it."""
    if isinstance(array, ExternalInstance) and "stored" in array.attributes:
        return True
    return any(
        (call.receiver is array or any(array is option for value in call.arguments.values() for option in flat(value)))
        and not _only_reads(call)
        for call in module.run.calls
    )


def _only_reads(call: Call) -> bool:
    name = call.name or ""
    if name.startswith("numpy."):
        return name.rpartition(".")[2] not in _WRITING and call.keyword("out") is None
    return name.startswith(TENSORFLOW) or name == LENGTH


def garbage_collections(module: Module, least: int) -> Iterator[StepCall]:
    """Calls of ``gc.collect`` or ``clear_session``, which collects garbage, in loops of more than ``least`` steps."""
    for each in _calls_per_step(module, least):
        frees = each.call.keyword("free_memory")
        if each.call.name in (COLLECT_GARBAGE, CLEAR_SESSION) and (frees is None or constant(frees) is True):
            yield each


def _calls_per_step(module: Module, least: int) -> Iterator[StepCall]:
    """The Python calls that run whenever a loop of more than ``least`` iterations trains, each call site once."""
    loops: dict[ExecutionPath, list[Call]] = {}
    program = module.once(Program)
    for update in [*program.updates, *program.model_calls("train_on_batch")]:
        loop = loop_of_step(update)
        if loop is not None:
            loops.setdefault(loop, []).append(update)
    # Code that another path compiles is written for compilation.
    seen = {call.node for call in module.run.calls if call.path.traced_by()} if loops else set()
    for call in module.run.calls if loops else ():
        loop = call.path.innermost_loop(within="program", comprehensions=False)
        if loop not in loops or call.node in seen or most_iterations(loop) <= least:
            continue
        # A step under the same condition as the call does not run more often.
        if conditions_in(call, loop) <= set.intersection(*(conditions_in(update, loop) for update in loops[loop])):
            seen.add(call.node)
            yield StepCall(call, loop, loops[loop][0])


def loop_of_step(update: Call) -> ExecutionPath | None:
    """The innermost Python loop around a training step; None if compiled code has a loop of its own inside."""
    compiled = [frame for frame in update.path.frames() if frame.traced]
    outside = compiled[-1].parent if compiled else update.path
    loop = outside.innermost_loop(within="program", comprehensions=False) if outside is not None else None
    inner = update.path.innermost_loop(within="program", comprehensions=False)
    return loop if inner is loop and not (compiled and compiled[-1].traced != "tf.function") else None


def conditions_in(call: Call, loop: ExecutionPath) -> set[ExecutionPath]:
    return set(call.path.conditions(within=loop))
