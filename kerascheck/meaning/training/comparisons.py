"""Loops that compare settings: each iteration trains with a different one, and measures or keeps its result."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExecutionPath
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.program.clocks import Interval, measured_intervals
from kerascheck.meaning.program.loops import loop_that_changes
from kerascheck.meaning.training.repeated_training import Repetition, repeated_calls
from kerascheck.syntax.written import assignment

_STARTS_ANEW = frozenset({"set_weights", "load_weights"})
_SETTINGS = ("batch_size", "steps_per_epoch")


def compared_fits(module: Module) -> Iterator[Repetition]:
    """Calls of ``fit`` that train the same model with a new setting per iteration, without resetting its weights."""
    measured = list(measured_intervals(module))
    for each in repeated_calls(module, "fit"):
        inside = module.once(Pipelines).calls_in(each.loop)
        if not each.is_same or any(call.attribute in _STARTS_ANEW for call in inside):
            continue
        if not _has_setting(each) and not any(_sets_model(call, each) for call in inside):
            continue
        if any(_measures(interval, each) for interval in measured) or _keeps_by_setting(each.loop):
            yield each


def _has_setting(fit: Repetition) -> bool:
    """Whether an argument of ``fit`` depends on the iteration; the size of the iteration's data is not a setting."""
    settings = [node for name in _SETTINGS if (node := fit.call.written(name)) is not None]
    return any(
        loop_that_changes(node.value, fit.call.path) is fit.loop and not _is_size(node.value) for node in settings
    )


def _is_size(node: cst.BaseExpression) -> bool:
    """``x.shape[0]``, ``len(x)``"""
    if isinstance(node, cst.Subscript):
        return isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape"
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "len"


def _sets_model(call: Call, fit: Repetition) -> bool:
    """Whether a call compiles the model, or sets its learning rate, with a value of the iteration."""
    if call.attribute == "compile" and call.receiver is fit.call.receiver and isinstance(call.node, cst.Call):
        return any(loop_that_changes(argument.value, call.path) is fit.loop for argument in call.node.args)
    # model.optimizer.learning_rate = rate
    if call.attribute not in ("learning_rate", "lr") or not isinstance(call.node, cst.Attribute):
        return False
    parents = call.module.tree.parents
    target = parents.get(call.node)
    assigned = assignment(parents.get(target) if isinstance(target, cst.AssignTarget) else target)
    return assigned is not None and loop_that_changes(assigned.value, call.path) is fit.loop


def _measures(interval: Interval, fit: Repetition) -> bool:
    return interval.start.order < fit.call.order < interval.end.order and fit.loop in interval.start.path.loops(
        within="program"
    )


def _keeps_by_setting(loop: ExecutionPath) -> bool:
    """Whether a loop stores a result under the setting of its iteration."""
    return any(
        isinstance(node, (cst.AssignTarget, cst.AnnAssign))
        and isinstance(node.target, cst.Subscript)
        and loop_that_changes(node.target.slice[0], loop) is loop
        for node in loop.module.tree.descendants(loop.node)
    )
