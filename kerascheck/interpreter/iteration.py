"""Loops: their number of iterations, and the value of one iteration."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.array_shapes import length_of, shape_of
from kerascheck.interpreter.joins import any_of
from kerascheck.interpreter.nodes import dotted_name
from kerascheck.interpreter.purity import item_of_turn
from kerascheck.interpreter.value_kinds import is_array
from kerascheck.interpreter.values import (
    UNKNOWN,
    Dataset,
    DatasetConsumer,
    DictValue,
    ExecutionPath,
    ExternalInstance,
    IteratorValue,
    LoopVariable,
    SequenceValue,
    Tensor,
    Value,
    constant,
    largest,
    options_of,
)
from kerascheck.knowledge.python import item_of
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.written import assignment, written_trips


def enter_loop(
    state: AbstractState, node: cst.CSTNode, iterable: Value, syntax: cst.BaseExpression | None = None
) -> ExecutionPath:
    trips = trips_of(iterable)
    if trips is None and syntax is not None:
        trips = written_trips(syntax)
    most, break_at = _most(iterable), _break_iteration(node) if isinstance(node, (cst.For, cst.While)) else None
    if break_at is not None and break_at < (trips if trips is not None else most if most is not None else break_at + 1):
        trips, most = None, break_at
    loop = ExecutionPath("loop", state.path, state.module, node, value=iterable, trips=trips, most=most)
    state.loops.append(loop)
    for dataset in state.iterated(iterable):
        state.sinks.append(DatasetConsumer("loop", dataset.stage, state.module, node, loop, loop=loop))
    return loop


def trips_of(iterable: Value) -> int | None:
    if isinstance(iterable, SequenceValue):
        return None if iterable.open else len(iterable.items)
    if isinstance(iterable, DictValue) and not iterable.open:
        return len(iterable.items)
    if isinstance(iterable, IteratorValue):
        if iterable.kind == "range":
            numbers = [constant(value) for value in iterable.over]
            if all(isinstance(number, int) for number in numbers) and 1 <= len(numbers) <= 3:
                try:
                    return len(range(*numbers))
                except (ValueError, OverflowError):
                    return None
            return None
        known = [trips for trips in map(trips_of, iterable.over) if trips is not None]
        return min(known) if known else None
    if isinstance(iterable, Dataset):
        return length_of(iterable.stage)
    shape = shape_of(iterable) if is_array(iterable) else None
    return shape[0] if shape else None


def _most(iterable: Value) -> int | None:
    """Upper bound on the iterations of a loop over a value; None if unknown."""
    if isinstance(iterable, (SequenceValue, DictValue)):
        return iterable.most if iterable.open else len(iterable.items)
    if isinstance(iterable, IteratorValue) and iterable.kind == "range":
        return largest(iterable.over[0]) if len(iterable.over) == 1 else None
    if isinstance(iterable, IteratorValue):
        return min((most for most in map(_most, iterable.over) if most is not None), default=None)
    return None


def element_of(iterable: Value, loop: ExecutionPath) -> Value:
    """The value of one iteration of a loop over ``iterable``."""
    return any_of(_element_of_one(option, loop) for option in options_of(iterable))


def _element_of_one(value: Value, loop: ExecutionPath) -> Value:
    if isinstance(value, (Dataset, Tensor)):
        return Tensor("element")
    if isinstance(value, SequenceValue) and value.items:
        return item_of_turn(value.items, loop)
    if isinstance(value, ExternalInstance) and (kind := item_of(value.name)) is not None:
        return LoopVariable(kind, loop=loop)
    return _next_of(value, loop) if isinstance(value, IteratorValue) else UNKNOWN


def _next_of(iterator: IteratorValue, loop: ExecutionPath) -> Value:
    """The value of one iteration of a loop over an iterator."""
    inner = [element_of(value, loop) for value in iterator.over]
    if iterator.kind == "enumerate" and inner:
        return SequenceValue("tuple", [LoopVariable("builtins.int", loop=loop), inner[0]])
    if iterator.kind == "zip":
        return SequenceValue("tuple", inner)
    if iterator.kind == "items" and isinstance(iterator.over[0], DictValue):
        return SequenceValue("tuple", [UNKNOWN, any_of(iterator.over[0].items.values())])
    if iterator.kind == "range":
        return LoopVariable("builtins.int", loop=loop)
    return inner[0] if inner and iterator.kind != "as_numpy_iterator" else UNKNOWN


def _break_iteration(loop: cst.For | cst.While) -> int | None:
    """The iteration at which a loop breaks, from a test of a growing list or counter; None if there is none.

    Recognises ``if len(kept) == 100: break`` and ``if count > 100: break``, and ``continue`` after such tests.
    """
    body = loop.body
    statements = [
        each for line in body.body for each in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
    ]
    lists, numbers = _growing_lists(statements), _growing_numbers(loop, statements)
    for each in statements:
        if not isinstance(each, cst.If):
            continue
        test = each.test
        if not isinstance(test, cst.Comparison):
            continue
        operator, limit = test.comparisons[0].operator, test.comparisons[0].comparator
        if not isinstance(operator, (cst.Equal, cst.GreaterThan, cst.GreaterThanEqual)):
            continue
        measured = _argument_of_len(test.left)
        counted = (
            isinstance(test.left, cst.Name)
            and test.left.value in numbers
            or isinstance(measured, cst.Name)
            and measured.value in lists
        )
        last: cst.CSTNode | None = each.body.body[-1] if each.body.body else None
        last = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
        # Later iterations also skip the rest of the body.
        leaves = isinstance(last, cst.Break) or isinstance(last, cst.Continue) and not isinstance(operator, cst.Equal)
        if counted and leaves and isinstance(limit, cst.Integer) and not _is_reset(test.left, body):
            return limit.evaluated_value + 1
    return None


def _growing_lists(statements: Sequence[cst.CSTNode]) -> set[str]:
    """Names of the lists to which statements of a loop append."""
    return {
        each.value.func.value.value
        for each in statements
        if isinstance(each, cst.Expr)
        and isinstance(each.value, cst.Call)
        and isinstance(each.value.func, cst.Attribute)
        and each.value.func.attr.value == "append"
        and isinstance(each.value.func.value, cst.Name)
    }


def _growing_numbers(loop: cst.For | cst.While, statements: Sequence[cst.CSTNode]) -> set[str]:
    """Names that count the iterations of a loop: through ``count += 1`` or ``enumerate``."""
    numbers = {
        each.target.value
        for each in statements
        if isinstance(each, cst.AugAssign)
        and isinstance(each.operator, cst.AddAssign)
        and isinstance(each.target, cst.Name)
        and isinstance(each.value, cst.Integer)
    }
    if (
        isinstance(loop, cst.For)
        and isinstance(loop.iter, cst.Call)
        and len(loop.iter.args) == 1
        and isinstance(loop.target, cst.Tuple)
    ):
        first = loop.target.elements[0].value
        if dotted_name(loop.iter.func) == "enumerate" and isinstance(first, cst.Name):
            numbers.add(first.value)
    return numbers


def _argument_of_len(expression: cst.BaseExpression) -> cst.BaseExpression | None:
    if (
        isinstance(expression, cst.Call)
        and isinstance(expression.func, cst.Name)
        and expression.func.value == "len"
        and len(expression.args) == 1
    ):
        return expression.args[0].value
    return None


def _is_reset(counted: cst.BaseExpression, body: cst.CSTNode) -> bool:
    """Whether a statement resets the tested counter or list, as in ``if better: wait = 0``."""
    assigned = assignment(body)
    if assigned is not None:
        names = [target.value for target in assigned.targets if isinstance(target, cst.Name)]
        held = counted.args[0].value if isinstance(counted, cst.Call) else counted
        return isinstance(held, cst.Name) and held.value in names
    return not isinstance(body, (cst.BaseExpression, cst.FunctionDef, cst.ClassDef)) and any(
        _is_reset(counted, child) for child in Tree.children(body)
    )
