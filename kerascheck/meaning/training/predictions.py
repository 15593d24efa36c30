"""Loops that call ``predict`` or ``evaluate`` on single items or batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation, in_session, is_left_unused, place_in_module
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, Constant, ExecutionPath, IteratorValue, constant, datasets_in
from kerascheck.knowledge.name_heuristics import (
    BATCH_ITERABLES,
    BATCH_NAMES,
    FULL_BATCHES,
    KEY_PRESSES,
    PLOT_AXES,
    UPLOADS,
)
from kerascheck.knowledge.namespaces import OF_RANDOM
from kerascheck.meaning.data.games import environment_loop
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.graph.training_loops import counting_branch
from kerascheck.meaning.program.clocks import measured_intervals, measures_speed
from kerascheck.meaning.program.items import is_one_item
from kerascheck.meaning.program.loops import bound_in, feeds_back, loop_that_changes, most_iterations
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.training.replays import is_replay
from kerascheck.syntax.written import rows_of_slice

_A_FEW = 10
_FEW_ROWS = 32
_DRAWS = ("numpy.random.", "random.", OF_RANDOM)
_DRAWING = frozenset({"bar", "hist", "plot", "scatter"})
_OF_AXES = frozenset({"imshow", "set_title", "set_xlabel", "set_xticks", "set_axis_off"})


@dataclass(frozen=True, slots=True)
class RepeatedPrediction:
    """A ``predict`` of a part of the data, or of the same few rows, in every iteration of a loop.

    Attributes:
        call: the predict.
        loop: the loop, possibly around the predicting function.
        turns: the maximum number of calls; infinite if unknown.
        is_again: whether each iteration predicts the same rows, as with active dropout.
        needs_last: whether an iteration predicts data from the previous prediction.
        in_training: whether the program trains in the same file, or in the loop.
        by_batch: whether the loop visits the batches of a dataset or loader once, or fills them one by one, so no whole
            array exists.
        is_measured: whether a clock measures each call.
        is_replay: whether the loop visits stored transitions of an agent.
    """

    call: Call
    loop: ExecutionPath
    turns: float
    is_again: bool
    needs_last: bool
    in_training: bool
    by_batch: bool
    is_measured: bool
    is_replay: bool

    @property
    def gives_data_only(self) -> bool:
        """Whether a Keras model gets only the data and the display of progress.

        An unknown object may have its own predict.
        """
        arguments = self.call.arguments
        return (
            self.call.name is not None
            and len(arguments.positional) == 1
            and set(arguments.keywords) <= {"verbose"}
            and not arguments.unknown_keywords
        )

    def places(self) -> Iterator[Call | CodeLocation]:
        """The locations of the ``predict`` call, and of its call site if a loop in another file calls it indirectly."""
        yield self.call
        seen = place_in_module(self.loop.module, self.call)
        function = seen.node.func if isinstance(seen.node, cst.Call) else None
        if seen.node is not self.call.node and isinstance(function, cst.Attribute) and function.attr.value == "predict":
            yield seen


def repeated_predictions(module: Module) -> Iterator[RepeatedPrediction]:
    """``predict`` calls of Keras models that a loop of more than a few iterations makes for single items or batches."""
    for call in module.run.calls:
        given = _predicted(module, call)
        if given is None:
            continue
        loop = (
            loop_that_changes(given, call.path)
            or environment_loop(module, call.path)
            or _turning_loop(module, call, given)
        )
        again = _few_rows_again(call, given) if loop is None else None
        loop = loop or again
        if loop is None or _is_small_or_for_people(module, call, given, loop):
            continue
        item_loop = _loop_over_items(module, call, given, loop)
        if item_loop is not None:
            repeated = _repeated(module, call, given, item_loop, is_again=again is not None)
            if repeated is not None:
                yield repeated


def _predicted(module: Module, call: Call) -> cst.BaseExpression | None:
    """The expression that a Keras model's ``predict`` gets, unless it is a dataset."""
    if call.attribute != "predict" or not module.once(Program).is_model_call(call):
        return None
    # The predict of another library takes more than data and a batch size.
    if len(call.arguments.positional) > 1 and type(constant(call.arguments.positional[1])) is not int:
        return None
    given = call.written("x")
    return None if given is None or any(datasets_in(call.given("x"))) else given.value


def _is_small_or_for_people(module: Module, call: Call, given: cst.BaseExpression, loop: ExecutionPath) -> bool:
    """Whether the iterations are few, cover all data, wait for a user, or also train for long."""
    if (
        in_session(call.path)
        or most_iterations(call.path) <= _A_FEW
        or _is_of_all(given, loop)
        or _is_over_named(loop, given)
    ):
        return True
    beside = module.once(Pipelines).calls_in(loop)
    # A loop that plots, prompts or handles uploads waits for a user.
    if _is_over_uploads(loop) or any(_is_for_people(other, loop) for other in beside):
        return True
    seldom = counting_branch(call.path, loop)
    return (
        seldom is not None
        and not _fills_batch(seldom)
        or _is_asked_for(call, loop)
        or any(_trains_long(module, other, loop) for other in beside)
    )


def _loop_over_items(
    module: Module, call: Call, given: cst.BaseExpression, loop: ExecutionPath
) -> ExecutionPath | None:
    """The loop over items or batches around a predict.

    A loop over models around it changes nothing, nor does a loop inside one over batches.
    """
    models = (
        loop_that_changes(call.node.func.value, call.path, exactly=True)
        if isinstance(call.node, cst.Call) and isinstance(call.node.func, cst.Attribute)
        else None
    )
    batches = loop_that_changes(given, call.path, beside=models) if models is loop else None
    if batches is not None and _trains_on_batches(module, batches):
        return batches
    if models is not None and (
        models is loop or not loop.is_in(models) or not is_one_item(call.module.tree, given, loop)
    ):
        return None
    return loop


def _trains_on_batches(module: Module, loop: ExecutionPath) -> bool:
    return any(other.attribute == "train_on_batch" for other in module.once(Pipelines).calls_in(loop))


def _repeated(
    module: Module, call: Call, given: cst.BaseExpression, loop: ExecutionPath, *, is_again: bool
) -> RepeatedPrediction | None:
    first = module.once(Program).first_training
    # Another module that uses a trained model is an application of it.
    trains = any(outer.trains for outer in call.path.loops(within="program"))
    # An agent replays its memory in order to learn.
    replay = is_replay(module, loop)
    in_training = first is not None and first.module is call.module or trains or replay
    # With its own batch size, each iteration predicts a whole array. Exceptions are applications that wait for the next
    # input, and code beside training on a batch.
    waits = isinstance(loop.node, cst.While) and not in_training or _trains_on_batches(module, loop)
    sized = constant(call.given("batch_size"), 1) != 1 and not waits and not is_one_item(call.module.tree, given, loop)
    if constant(call.given("steps") or Constant(1)) != 1 or sized:
        return None
    measured = _is_measured(module, call, loop)
    # Such a call is a benchmark: its result is not used.
    if measured and is_left_unused(call):
        return None
    seldom = counting_branch(call.path, loop)
    by_batch = seldom is not None or isinstance(loop.node, cst.For) and _is_over_batches(loop) and not trains
    needs_last = isinstance(call.node, cst.Call) and feeds_back(loop, call.node)
    # A session's run is too cheap to batch. Data that cannot be predicted at once leaves no alternative.
    if module.runtime.multi_backend_keras and (
        needs_last or by_batch or BATCH_NAMES.search(call.module.tree.code_of(given))
    ):
        return None
    return RepeatedPrediction(
        call, loop, most_iterations(call.path), is_again, needs_last, in_training, by_batch, measured, replay
    )


@dataclass(frozen=True, slots=True)
class EvaluatedBatch:
    """An ``evaluate`` of the batch that the same iteration trains on, or takes from a dataset or loader.

    Attributes:
        call: the evaluate.
        loop: the loop.
        turns: the maximum number of calls; infinite if unknown.
    """

    call: Call
    loop: ExecutionPath
    turns: float


def evaluated_batches(module: Module) -> Iterator[EvaluatedBatch]:
    """Batches that a loop evaluates one by one, in more than a few iterations."""
    for call in () if module.runtime.multi_backend_keras else module.once(Program).model_calls("evaluate"):
        given, loop = call.written("x"), call.path.innermost_loop(within="program")
        if (
            given is None
            or loop is None
            or loop_that_changes(given.value, call.path) is not loop
            or most_iterations(call.path) <= _A_FEW
        ):
            continue
        # A hand-written method with that name takes other arguments.
        if len(call.arguments.positional) > 2:
            continue
        trained = any(
            other.attribute == "train_on_batch" and other.path.innermost_loop(within="program") is loop
            for other in module.once(Pipelines).calls_in(loop)
        )
        if (trained or _is_over_batches(loop)) and not any(call.path.conditions(within=loop)):
            yield EvaluatedBatch(call, loop, most_iterations(call.path))


def _turning_loop(module: Module, call: Call, given: cst.BaseExpression) -> ExecutionPath | None:
    """The innermost loop around a predict of random data, or one that trains on one batch per iteration.

    An example is ``model.predict(np.random.normal(size=(32, 100)))``.
    """
    loop = call.path.innermost_loop(within="program")
    if loop is None:
        return None
    inside = set(call.module.tree.descendants(given))
    turns_on = any(
        other.node in inside
        and (other.name or "").startswith(_DRAWS)
        or other.attribute == "train_on_batch"
        and other.path.innermost_loop(within="program") is loop
        for other in module.run.calls
    )
    return loop if turns_on else None


def _few_rows_again(call: Call, given: cst.BaseExpression) -> ExecutionPath | None:
    """The comprehension over a range that predicts the same few rows in each iteration, as with active dropout."""
    loop = call.path.innermost_loop(within="program")
    if (
        loop is None
        or not isinstance(loop.node, (cst.ListComp, cst.GeneratorExp))
        or not isinstance(loop.value, IteratorValue)
        or loop.value.kind != "range"
    ):
        return None
    rows = rows_of_slice(given)
    return loop if rows is not None and rows <= _FEW_ROWS or is_one_item(call.module.tree, given) else None


def _is_for_people(call: Call, loop: ExecutionPath) -> bool:
    """Whether every iteration unconditionally shows a picture or waits for input."""
    waits = call.name == "cv2.waitKey" and constant(call.given("delay") or Constant(0)) == 0
    shows = (
        waits
        or (call.name or "").startswith(("matplotlib.", "builtins.input"))
        or call.name is None
        and call.attribute in _OF_AXES
    )
    drawn = (
        call.name is None
        and call.attribute in _DRAWING
        and PLOT_AXES.match(call.module.tree.code_of(call.node)) is not None
    )
    return (shows or drawn) and not any(call.path.conditions(within=loop))


def _is_over_batches(loop: ExecutionPath) -> bool:
    """Whether a loop iterates over a dataset, or over a loader or batches judging by the name."""
    return (
        any(datasets_in(loop.value))
        or isinstance(loop.node, cst.For)
        and BATCH_ITERABLES.search(loop.module.tree.code_of(loop.node.iter)) is not None
    )


def _is_over_named(loop: ExecutionPath, given: cst.BaseExpression) -> bool:
    """Match ``for split, x in data.items(): model.predict(x)``: whole arrays, each with its name."""
    if (
        not isinstance(loop.node, cst.For)
        or not isinstance(given, cst.Name)
        or given.value not in bound_in(loop.module, loop.node)
    ):
        return False
    method = loop.node.iter.func if isinstance(loop.node.iter, cst.Call) else None
    return isinstance(method, cst.Attribute) and method.attr.value in ("items", "values")


def _is_over_uploads(loop: ExecutionPath) -> bool:
    """Match ``for name in uploaded.keys()``."""
    return isinstance(loop.node, cst.For) and UPLOADS.search(loop.module.tree.code_of(loop.node.iter)) is not None


def _is_measured(module: Module, call: Call, loop: ExecutionPath) -> bool:
    """Whether an iteration measures the time of the predict, which may process one item on purpose."""
    return any(
        each.start.order < call.order < each.end.order
        and each.start.path.innermost_loop(within="program") is loop
        and measures_speed(module, each)
        for each in measured_intervals(module)
    )


def _fills_batch(branch: ExecutionPath) -> bool:
    """Whether a condition waits for a full batch: ``if (i + 1) % batch_size == 0``."""
    return FULL_BATCHES.search(branch.question) is not None


def _is_asked_for(call: Call, loop: ExecutionPath) -> bool:
    """Whether a key press triggers the call, as under ``if key == ord("s")``."""
    return any(KEY_PRESSES.search(condition.question) for condition in call.path.conditions(within=loop))


def _trains_long(module: Module, call: Call, loop: ExecutionPath) -> bool:
    """Whether a call trains so long that a predict beside it is negligible.

    It trains more than one epoch on data that may be a batch, or on the same data in every iteration. A step of a game
    trains on a batch of its memory.
    """
    if call.attribute not in ("fit", "fit_generator"):
        return False
    epochs, given = call.given("epochs"), call.written("x")
    if given is not None and is_one_item(call.module.tree, given.value):
        return False
    # Epochs may be an inner loop of the iteration.
    if (
        call.attribute == "fit"
        and given is not None
        and next(call.path.loops(within="program"), loop) is not loop
        and loop_that_changes(given.value, call.path) is loop
    ):
        return True
    if (
        call.attribute != "fit"
        or epochs is not None
        and constant(epochs) != 1
        or call.given("steps_per_epoch") is not None
    ):
        return True
    return (
        given is not None
        and isinstance(given.value, (cst.Name, cst.Attribute))
        and loop_that_changes(given.value, call.path) is not loop
        and environment_loop(module, call.path) is not loop
    )


def _is_of_all(node: cst.BaseExpression, loop: ExecutionPath) -> bool:
    """Whether an expression selects a part of every example, as ``x[:, a:b]``.

    ``x[:, :n]``, and an array that the iterations fill, are a growing text instead.
    """
    if not isinstance(node, cst.Subscript) or {
        inner.value for inner in loop.module.tree.descendants(node.value) if isinstance(inner, cst.Name)
    } & bound_in(loop.module, loop.node):
        return False
    slices = [element.slice for element in node.slice]
    cuts = [(cut.lower is not None, cut.upper is not None) if isinstance(cut, cst.Slice) else None for cut in slices]
    return cuts[:1] == [(False, False)] and (True, True) in cuts
