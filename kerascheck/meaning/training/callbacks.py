"""Callbacks of fit: code that runs in every training batch, and recordings of TensorBoard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import is_left_unused
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    Class,
    Constant,
    ExecutionPath,
    ExternalInstance,
    Instance,
    ModuleLike,
    SequenceValue,
    Value,
    constant,
    flat,
    options_of,
)
from kerascheck.knowledge.classes import (
    BACKUP_AND_RESTORE,
    CALLBACK,
    EXPERIMENTAL_BACKUP_AND_RESTORE,
    MODEL_CHECKPOINT,
    TENSOR_BOARD,
)
from kerascheck.knowledge.name_heuristics import DIAGNOSTIC_OPTIONS
from kerascheck.knowledge.namespaces import OF_KERAS_CALLBACKS
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.program.program import Program

BATCH_HOOKS = frozenset({"on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end"})
"""Methods that Keras calls around every step of ``fit``.

The last two are older names of the first two (keras/src/callbacks/callback.py).
"""


# Defaults of update_freq in batches, and of profile_batch.
_EACH = 10
_MANY_PROFILED = 20
_OPENED = re.compile(r"%tensorboard|\btensorboard\b[^\n]*--logdir")
_EVALUATING = frozenset({"evaluate", "predict", "evaluate_generator", "predict_generator"})
_COLLECTING = frozenset({"append", "extend", "insert"})
_SAVERS = (MODEL_CHECKPOINT, BACKUP_AND_RESTORE, EXPERIMENTAL_BACKUP_AND_RESTORE)
_SYNCHRONISED = re.compile(r"sync_tensorboard\s*=\s*True|wandb\.tensorboard\.patch")


def batch_hook(path: ExecutionPath) -> ExecutionPath | None:
    """The function that contains a path, if Keras calls it for every training batch; otherwise None.

    It is a method of a project Callback class, or a function passed to LambdaCallback.
    """
    for frame in path.frames():
        function = frame.function
        if frame.label in BATCH_HOOKS:
            return frame
        if function is not None and function.owner is not None and function.name in BATCH_HOOKS:
            if any(base.startswith(OF_KERAS_CALLBACKS) for base in function.owner.external_bases()):
                return frame
    return None


# Keras callbacks that act between epochs, with the argument that makes them act on batches.
_BETWEEN_EPOCHS: dict[str, str | None] = {
    **dict.fromkeys(("CSVLogger", "EarlyStopping", "History", "LearningRateScheduler", "ReduceLROnPlateau")),
    "BackupAndRestore": "save_freq",
    "ModelCheckpoint": "save_freq",
    "TensorBoard": "update_freq",
}


def may_act_on_batches(fit: Call, *, unknown: bool = True) -> bool:
    """Whether a callback of ``fit`` handles single batches; ``unknown`` is the answer for unknown callbacks."""
    given = fit.given("callbacks")
    if given is None or isinstance(given, Constant) and given.value is None:
        return False
    items = given.items if isinstance(given, SequenceValue) and not given.open else [given]
    return any(_may_see_batches(option, unknown) for item in items for option in options_of(item))


def _may_see_batches(callback: Value, unknown: bool) -> bool:
    if isinstance(callback, Instance):
        foreign = callback.cls.external_bases() - {CALLBACK}
        return bool(foreign) and unknown or any(callback.cls.member(hook) is not None for hook in BATCH_HOOKS)
    if (
        not isinstance(callback, ExternalInstance)
        or callback.call is None
        or not callback.name.startswith(OF_KERAS_CALLBACKS)
    ):
        return unknown
    short = callback.name.rpartition(".")[2]
    if short == "LambdaCallback":
        return any(callback.call.given(hook) is not None for hook in BATCH_HOOKS)
    argument = _BETWEEN_EPOCHS.get(short)
    often = callback.call.given(argument) if argument is not None else None
    return short not in _BETWEEN_EPOCHS or often is not None and constant(often) != "epoch"


def calls_of_every_batch(module: Module, calls: list[Call]) -> Iterator[tuple[Call, ExecutionPath]]:
    """The calls that certainly run in every training batch, with the hook around them."""
    for call in calls:
        hook = batch_hook(call.path)
        if hook is not None and not any(call.path.conditions(within="program")) and not _may_be_left_before(call, hook):
            owner = hook.function.owner if hook.function is not None else None
            if owner is None or not _serves_evaluation(module, owner):
                yield call, hook


def _serves_evaluation(module: Module, callback: Call | Class) -> bool:
    """Whether the program passes a callback, or the instances of a class, to ``evaluate`` or ``predict``, and to no other call.

    Neither of them calls the hooks of training batches (keras/src/backend/tensorflow/trainer.py).
    """
    uses = [
        call
        for call in module.once(CallIndex)
        if call.attribute not in _COLLECTING
        and any(_is_from(option, callback) for value in call.arguments.values() for option in flat(value))
    ]
    return bool(uses) and all(call.attribute in _EVALUATING for call in uses)


def _is_from(value: Value, origin: Call | Class) -> bool:
    if isinstance(origin, Call):
        return isinstance(value, ExternalInstance) and value.call is not None and value.call.node is origin.node
    return isinstance(value, Instance) and value.cls is origin


@dataclass(frozen=True, slots=True)
class FrequentSave:
    """A callback that saves a model every few batches of a training.

    Attributes:
        call: the constructor call.
        batches: the number of batches between two saves.
        missed: the quantity monitored by a save-best callback, which does not exist after a batch; None if it always
            saves.
    """

    call: Call
    batches: int
    missed: str | None

    @property
    def names_files_by_batch(self) -> bool:
        """Whether the file names may contain the batch number."""
        return "{batch" in self.call.module.code


def frequent_saves(module: Module, often: int) -> Iterator[FrequentSave]:
    """Callbacks that save a model more often than every ``often`` batches, unless the program makes them optional.

    Excludes save-best callbacks that monitor a training metric: unlike validation metrics, it exists after every batch.
    """
    program = module.once(Program)
    for call in program.calls(*_SAVERS):
        batches = constant(call.given("save_freq"))
        if type(batches) is not int or not 0 < batches < often or program.is_optional(call.path):
            continue
        if _serves_evaluation(module, call):
            continue
        best = call.given("save_best_only") if "save_best_only" in call.signature else None
        if best is None or constant(best, True) is False:
            yield FrequentSave(call, batches, None)
            continue
        monitor = str(constant(call.given("monitor") or Constant("val_loss")))
        if call.module.runtime.keras >= 3 and constant(best) is True and monitor.startswith("val_"):
            yield FrequentSave(call, batches, monitor)


def needless_recordings(module: Module) -> Iterator[tuple[Call, str]]:
    """Recordings of TensorBoard callbacks beyond the curves of each epoch, in programs that never show TensorBoard.

    Yields the constructor call and the argument.
    """
    for call in module.once(Program).calls(TENSOR_BOARD):
        # A callback that has no name and is not passed to a call is never used.
        if is_tensorboard_watched(call.module) or is_left_unused(call) or _is_asked_for(call):
            continue
        if not _serves_evaluation(module, call):
            yield from ((call, argument) for argument in _recordings_of(call))


def _is_asked_for(call: Call) -> bool:
    """Whether an error handler or a diagnostic option guards a callback."""
    return any(
        condition.kind == "handler" or DIAGNOSTIC_OPTIONS.search(condition.question)
        for condition in call.path.conditions(within="program")
    )


def _recordings_of(tensorboard: Call) -> Iterator[str]:
    """The arguments that make a TensorBoard callback record more than its curves per epoch."""
    histograms, often = constant(tensorboard.given("histogram_freq")), constant(tensorboard.given("update_freq"))
    if histograms == 1:
        yield "histogram_freq"
    if histograms and constant(tensorboard.given("write_images")) is True:
        yield "write_images"
    if often == "batch" or type(often) is int and 0 < often < _EACH:
        yield "update_freq"
    if _length(tensorboard.given("profile_batch")) >= _MANY_PROFILED:
        yield "profile_batch"


def is_tensorboard_watched(module: ModuleLike) -> bool:
    """Whether the program opens TensorBoard or uploads its data, which means that someone uses the recordings."""
    return _OPENED.search(module.source.commands) is not None or module.mentions(_SYNCHRONISED)


def _length(batches: Value | None) -> int:
    """The length of a literal range of batches, as a pair or a string with a comma; 0 for anything else."""
    pair = (
        [constant(item) for item in batches.items]
        if isinstance(batches, SequenceValue)
        else str(constant(batches)).split(",")
    )
    try:
        first, last = map(int, pair)
    except (TypeError, ValueError):
        return 0
    return last - first


def _may_be_left_before(call: Call, hook: ExecutionPath) -> bool:
    """Whether code may skip a call: after ``return`` or a similar statement, in ``while``, or after ``and`` and ``or``.

    Examines the function of the call, and all functions between it and the hook.
    """
    node = call.node
    if any(isinstance(loop.node, cst.While) for loop in call.path.loops(within="program")):
        return True
    for frame in call.path.frames():
        function = frame.function
        if function is not None and isinstance(function.node, cst.FunctionDef):
            tree = function.module.tree
            place = tree.range_of(node)[0]
            around = [node, *tree.ancestors(node)]
            if any(
                isinstance(outer, cst.BooleanOperation) and outer.right is inner
                for inner, outer in zip(around, around[1:])
            ):
                return True
            for other in tree.descendants(function.node.body):
                if (
                    isinstance(other, (cst.Return, cst.Raise, cst.Continue, cst.Break))
                    and tree.range_of(other)[0] < place
                ):
                    return True
        if frame is hook:
            return False
        node = frame.node
    return False
