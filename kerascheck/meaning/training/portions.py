"""The data that each iteration of a loop passes to ``fit``: an example, a batch, a few steps or an epoch."""

from __future__ import annotations

import enum

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExecutionPath, IteratorValue, constant, datasets_in
from kerascheck.knowledge.name_heuristics import EPISODE_ENDS
from kerascheck.knowledge.namespaces import OF_KERAS_MODEL
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.program.items import is_one_item, is_slice_by_iteration
from kerascheck.meaning.program.loops import loop_that_changes
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.training.replays import is_replay

SHORT_FIT = 16
"""Steps up to which a ``fit`` takes little longer than its set-up."""

_SHORT_CHUNK = 512
# A change of the model after an epoch makes it a separate training.
_CHANGES = frozenset({"compile", "set_weights", "load_weights", "__setattr__"})


class Portion(enum.Enum):
    """The portion of the data that each iteration of a loop fits."""

    EXAMPLE = enum.auto()
    """A separate example, written as a batch of one."""
    BATCH = enum.auto()
    """One separate batch."""
    TRANSITION = enum.auto()
    """One transition of an agent's memory."""
    FEW_STEPS = enum.auto()
    """A few steps only."""
    EPOCH = enum.auto()
    """The same data, with no change to the training in between."""


def portion_of(module: Module, fit: Call, loop: ExecutionPath) -> Portion | None:
    """The portion of its data that each iteration of a loop fits; None if uncertain."""
    if _is_single(fit, loop):
        return Portion.TRANSITION if is_replay(module, loop) else Portion.EXAMPLE
    if is_replay(module, loop) and _changes_with(fit, loop):
        return Portion.TRANSITION
    if _is_batch(module, fit, loop):
        return Portion.BATCH
    if _is_short(fit, loop):
        return Portion.FEW_STEPS
    return Portion.EPOCH if _is_epoch(module, fit, loop) else None


def is_at_end_of_game(path: ExecutionPath, loop: ExecutionPath) -> bool:
    """Whether a path in a loop runs only at the end of a game, when an agent learns from the whole game."""
    return any(EPISODE_ENDS.search(condition.question) for condition in path.conditions(within=loop))


def _is_single(call: Call, loop: ExecutionPath) -> bool:
    data = call.written("x")
    return data is not None and is_one_item(call.module.tree, data.value, loop) and _changes_with(call, loop)


def _changes_with(call: Call, loop: ExecutionPath) -> bool:
    """Whether each iteration passes other data."""
    data = call.written("x")
    return data is not None and loop_that_changes(data.value, call.path) is loop


def _is_batch(module: Module, call: Call, loop: ExecutionPath) -> bool:
    if module.once(Program).reinforcement_learning and not _is_epoch(module, call, loop):
        return True
    size, data = call.written("batch_size"), call.written("x")
    if (
        size is not None
        and isinstance(size.value, cst.Call)
        and isinstance(size.value.func, cst.Name)
        and size.value.func.value == "len"
    ):
        return True
    if data is None or next(datasets_in(call.given("x")), None) is not None:
        return False
    return next(datasets_in(loop.value), None) is not None and _changes_with(call, loop)


def _is_short(call: Call, loop: ExecutionPath) -> bool:
    steps = constant(call.given("steps_per_epoch"))
    if isinstance(steps, int) and steps <= SHORT_FIT:
        return True
    data, counted = call.written("x"), loop.value
    if data is None or not isinstance(counted, IteratorValue) or counted.kind != "range" or len(counted.over) < 3:
        return False
    rows = constant(counted.over[2])
    return isinstance(rows, int) and 1 < rows <= _SHORT_CHUNK and is_slice_by_iteration(data.value, loop)


def _is_epoch(module: Module, call: Call, loop: ExecutionPath) -> bool:
    given = [node.value for parameter in ("x", "y") if (node := call.written(parameter)) is not None]
    if (
        not given
        or loop not in call.path.loops(within="function")
        or any(loop_that_changes(node, call.path) is not None for node in given)
        or any(call.path.conditions(within=loop))
    ):
        return False
    for other in module.once(Pipelines).calls_in(loop):
        if other.attribute in _CHANGES and (other.name or OF_KERAS_MODEL).startswith(OF_KERAS_MODEL):
            return False
        if other.attribute in ("fit", "train_on_batch") and other.node is not call.node:
            return False
    return True
