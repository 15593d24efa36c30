"""Prints in compiled code: their contents, and whether they are meant for the trace itself."""

from __future__ import annotations

import re

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    Dataset,
    IteratorValue,
    Tensor,
    Value,
    constant,
    options_of,
    shows_tensor,
)
from kerascheck.knowledge.callables import (
    TENSOR_BOOL,
)
from kerascheck.knowledge.name_heuristics import TRACING_MESSAGES, TRACING_WORDS
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.graph.trace_state import is_local_in_trace
from kerascheck.meaning.graph.traced_code import tracing_frame


def tells_of_tracing(call: Call, words: re.Pattern[str] = TRACING_WORDS) -> bool:
    """Whether a print is meant for the trace, judging by its texts and names, or by the shape that it shows."""
    found = call.module.tree.descendants(call.node)
    return any(
        isinstance(node, cst.Attribute)
        and node.attr.value == "shape"
        or isinstance(node, (cst.SimpleString, cst.FormattedStringText, cst.Name))
        and words.search(node.value) is not None
        for node in found
    )


def prints_in_each_step(module: Module, call: Call, how: str) -> bool:
    """Whether a print of words is meant for each step.

    It shows only words, none of them about tracing, and is in code that runs repeatedly or under a condition on a
    tensor.
    """
    words = [constant(value) for value in call.arguments.positional]
    if (
        not words
        or not all(isinstance(word, str) for word in words)
        or call.arguments.unknown_positional
        or tells_of_tracing(call, TRACING_MESSAGES)
    ):
        return False
    frame = tracing_frame(call.path)
    if frame is None:
        return False
    conditions = list(call.path.conditions(within=frame))
    if any(call.path.tries(within=frame)) or any(condition.kind == "handler" for condition in conditions):
        return False
    tests = {condition.test for condition in conditions} - {None}
    if tests:
        return any(other.node in tests for other in module.once(CallIndex).named(TENSOR_BOOL))
    if how == "train_step" or frame.innermost_loop(within="program") is not None:
        return True
    return any(_is_graph_loop(option) for loop in call.path.loops(within=frame) for option in options_of(loop.value))


def _is_graph_loop(over: Value) -> bool:
    """Whether AutoGraph converts a loop over this value into a graph loop, whose body is traced once."""
    return (
        isinstance(over, (Tensor, Dataset))
        or isinstance(over, IteratorValue)
        and over.kind == "enumerate"
        and any(map(_is_graph_loop, over.over))
    )


_NUMBER_FORMAT = re.compile(r"%[-+ #0-9.]*[a-qt-z]|\{[^{}]*:[^{}]*\}", re.I)


def formats_number(call: Call) -> bool:
    """Whether a print formats a number, as in ``f"{loss:.3f}"``.

    That raises TypeError for tensors of a trace (tested with TensorFlow 2.21).
    """
    return any(
        isinstance(node, cst.FormattedStringExpression)
        and node.format_spec is not None
        or isinstance(node, cst.SimpleString)
        and _NUMBER_FORMAT.search(node.value) is not None
        for node in call.module.tree.descendants(call.node)
    )


def prints_captured_values(call: Call) -> bool:
    """Whether a print shows only captured variables, also in its f-strings: these have values during tracing."""
    given = [
        call.arguments.node(place, None) for place, value in enumerate(call.arguments.positional) if shows_tensor(value)
    ]
    return all(node is not None and _names_outside(node.value, call) for node in given)


def _names_outside(node: cst.BaseExpression, call: Call) -> bool:
    """Whether an expression is a captured variable, or a string that contains only such variables."""
    if isinstance(node, cst.FormattedString):
        shown = [part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
        return all(isinstance(each, cst.Name) and not is_local_in_trace(each.value, call.path) for each in shown)
    return isinstance(node, cst.Name) and not is_local_in_trace(node.value, call.path)
