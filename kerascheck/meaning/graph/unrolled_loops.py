"""Python loops in compiled code that tracing unrolls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    Constant,
    ExecutionPath,
    IteratorValue,
    ModuleLike,
    SequenceValue,
    Tensor,
    Value,
    constant,
    options_of,
)
from kerascheck.knowledge.callables import (
    LISTS_OF_TENSORS,
    OPS_TRANSPOSE,
    TRANSPOSE,
)
from kerascheck.knowledge.name_heuristics import SEQUENCE_LENGTHS
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.graph.layer_uses import is_only_called_eagerly
from kerascheck.meaning.graph.traced_code import compiled_by
from kerascheck.meaning.program.program import Program


@dataclass(frozen=True, slots=True)
class UnrolledLoop:
    """A Python loop over the positions of a tensor in compiled code.

    Attributes:
        module, node: the ``for``, or the comprehension.
        turns: the number of iterations; None for the length of an axis that is not a literal.
        how: the compiler of the code, one of :data:`COMPILERS`.
        may_be_short: whether the batch size gives the number of iterations.
    """

    module: ModuleLike
    node: cst.CSTNode
    turns: int | None
    how: str
    may_be_short: bool = False


_EXAMPLES = re.compile(r"\.shape\[0\]")


def unrolled_loops(module: Module) -> Iterator[UnrolledLoop]:
    """Loops in compiled code that take a tensor apart by position, each once.

    They iterate over ``range``, or over the list from ``tf.unstack``. Excludes loops over layers, over ``tf.range``,
    over the examples of a batch, and over lengths of unknown kind.
    """
    program = module.once(Program)
    if module.builds_graphs or program.runs_eagerly:
        return
    lists = {id(call.result): call for call in module.once(CallIndex).named(*LISTS_OF_TENSORS)}
    seen = set()
    for loop in module.run.loops:
        how = compiled_by(loop)
        if (
            how is None
            or how == "metric"
            or loop.node in seen
            or (how not in ("tf.function", "train_step") and program.steps_eagerly)
        ):
            continue
        taken = next((lists[id(value)] for value in _gone_through(loop.value) if id(value) in lists), None)
        if (
            not (_is_over_positions(module, loop) if taken is None else _is_along_steps(module, taken))
            or how == "call"
            and is_only_called_eagerly(module, loop)
        ):
            continue
        seen.add(loop.node)
        # Report only the outermost of nested loops.
        if any(outer.node in seen for outer in loop.loops(within="program") if outer is not loop):
            continue
        over = loop.node.iter if isinstance(loop.node, cst.For) else None
        by_batch = (
            taken is None and loop.trips is None and over is not None and "batch" in loop.module.tree.code_of(over)
        )
        yield UnrolledLoop(loop.module, loop.node, loop.trips, how, by_batch)


def _gone_through(value: Value) -> Iterator[Value]:
    """The iterables of a loop, also inside ``enumerate``, ``zip`` and similar functions."""
    for option in options_of(value):
        yield option
        if isinstance(option, IteratorValue):
            yield from (inner for over in option.over for inner in _gone_through(over))


def _is_over_positions(module: Module, loop: ExecutionPath) -> bool:
    """Whether a loop over ``range`` runs along an axis other than the first, and indexes a tensor in each iteration."""
    counted = (
        loop.value.over[0] if isinstance(loop.value, IteratorValue) and loop.value.kind == "wrapper" else loop.value
    )
    if (
        not isinstance(loop.node, cst.For)
        or not isinstance(counted, IteratorValue)
        or counted.kind != "range"
        or not isinstance(loop.node.target, cst.Name)
    ):
        return False
    # Over a number of the graph, such as tf.shape(x)[0], AutoGraph makes a graph loop, and Python raises TypeError.
    if any(isinstance(option, Tensor) for value in counted.over for option in options_of(value)):
        return False
    along = loop.module.tree.code_of(loop.node.iter)
    # The first axis holds the examples.
    if loop.trips is None and (not SEQUENCE_LENGTHS.search(along) or _EXAMPLES.search(along)):
        return False
    return _takes_apart(module, loop)


def _is_along_steps(module: Module, call: Call) -> bool:
    """Whether an unstacking runs along the axis after that of the examples.

    After a transposition of the two, this is the first axis.
    """
    axis = constant(call.given("axis") or Constant(0))
    if axis != 0:
        return axis in (1, -2)
    given = call.first
    moved = next(
        (other for other in module.once(CallIndex).named(TRANSPOSE, OPS_TRANSPOSE) if other.result is given),
        None,
    )
    order = moved.given("perm" if moved.name == TRANSPOSE else "axes") if moved is not None else None
    return isinstance(order, SequenceValue) and bool(order.items) and constant(order.items[0]) == 1


def _takes_apart(module: Module, loop: ExecutionPath) -> bool:
    """Whether the body indexes a tensor with the loop variable: ``x[:, i]``."""
    if not isinstance(loop.node, cst.For) or not isinstance(loop.node.target, cst.Name):
        return False
    tree, variable = loop.module.tree, loop.node.target.value
    tensors = module.run.indexed
    for node in tree.descendants(loop.node.body):
        if isinstance(node, cst.Subscript) and node in tensors:
            if any(
                isinstance(name, cst.Name) and name.value == variable
                for element in node.slice
                for name in tree.descendants(element)
            ):
                return True
    return False
