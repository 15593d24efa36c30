"""Functions passed to a library, which calls them."""

from __future__ import annotations

from functools import partial

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.arguments import bound_arguments, spread
from kerascheck.interpreter.keras_data import is_py_dataset
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    DictValue,
    ExecutionPath,
    Function,
    Instance,
    IteratorValue,
    Partial,
    SequenceValue,
    Value,
    datasets_in,
    flat,
    options_of,
)
from kerascheck.knowledge.classes import traced_hook


def run_callables(
    state: AbstractState, value: Value | None, traced: str | None, node: cst.CSTNode, *, tensors: bool = True
) -> Value:
    """Run functions passed to a library, with tensors (or unknown values) as arguments.

    Args:
        value: a function, or a structure of them.
        traced: the purpose for which the library compiles them; None if it calls them from Python.
        node: the call that passes them.
        tensors: whether the library passes tensors.
    """
    result: Value = UNKNOWN
    for option in options_of(value):
        if isinstance(option, (SequenceValue, DictValue)):
            for item in option.items if isinstance(option, SequenceValue) else option.items.values():
                run_callables(state, item, traced, node, tensors=tensors)
            continue
        bound = option.arguments if isinstance(option, Partial) else Arguments()
        target = option.target if isinstance(option, Partial) else option
        if isinstance(target, Function):
            passed = spread(target, tensors and traced != "py_function", bound.keywords)
            passed = bound_arguments(bound, passed)
            # The library may call it now, later or never.
            path = ExecutionPath("handed", state.path, state.module, node) if traced is None else state.path
            run = partial(state.inline, arguments=passed, node=node, traced=traced)
            result = state.inside(path, run, target)
    return result


def run_arguments(state: AbstractState, arguments: Arguments, node: cst.CSTNode, *, tensors: bool) -> None:
    for value in arguments.values():
        for option in options_of(value):
            if isinstance(option, (Function, Partial)):
                for dataset in datasets_in(run_callables(state, option, None, node, tensors=tensors)):
                    state.sink("escape", dataset, node)


def run_items(state: AbstractState, value: Value, node: cst.CSTNode) -> None:
    """Run ``__getitem__`` of a PyDataset of another module, like Keras; functions of this module run anyway.

    Args:
        value: the PyDataset, or ``enumerate`` and the like around one; others are ignored.
        node: the code that takes the items.
    """
    for option in options_of(value):
        if isinstance(option, IteratorValue):
            for inner in option.over:
                run_items(state, inner, node)
        function = option.cls.member("__getitem__") if isinstance(option, Instance) and is_py_dataset(option) else None
        if isinstance(function, Function) and function.module is not state.entry:
            path = ExecutionPath("handed", state.path, state.module, node)
            given = Arguments([UNKNOWN])
            state.inside(path, lambda item: state.inline(item, given, node), state.bound(function, option))


def run_updates(state: AbstractState, value: Value | None, node: cst.CSTNode) -> None:
    """Run ``update_state`` of metrics of other modules, like Keras; functions of this module run anyway.

    Args:
        value: the metrics, or a structure of them.
        node: the call that passes them.
    """
    for option in flat(value):
        metric = option if isinstance(option, Instance) else None
        update = metric.cls.member("update_state") if metric is not None else None
        if metric is not None and isinstance(update, Function) and update.module is not state.entry:
            how = traced_hook(metric.cls.external_bases(), "update_state")
            if how is not None:
                run_callables(state, state.bound(update, metric), how, node)
