"""Clock readings, their differences, and rates computed from them."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.value_kinds import is_number, reading_of
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    ExternalInstance,
    SequenceValue,
    UnionValue,
    Value,
    constant,
    options_of,
)

_UNITS_OF_TIME = (60, 3600, 1000, 1_000_000, 1_000_000_000)


_OF_TIMES = frozenset({cst.Add, cst.Subtract, cst.Multiply, cst.Divide})


_MAY_BE_TIMES = (ExternalInstance, SequenceValue, UnionValue)


def clock_arithmetic(
    state: AbstractState, node: cst.CSTNode, operator: type[cst.CSTNode] | None, left: Value, right: Value
) -> Value | None:
    """The result of arithmetic on clock readings; None for other values.

    Covers differences of two readings in any unit, sums of differences, and quotients, which are rates.
    """
    if operator not in _OF_TIMES or not (isinstance(left, _MAY_BE_TIMES) or isinstance(right, _MAY_BE_TIMES)):
        return None
    start, end = reading_of(left), reading_of(right)
    if start is not None and end is not None and operator is cst.Subtract:
        return elapsed_time(state, node, start, end, each=[start, end] != [left, right])
    times = [next(filter(_is_elapsed, options_of(side)), None) for side in (left, right)]
    elapsed = times[0] or times[1]
    if elapsed is None or operator is cst.Subtract:
        return None
    other = right if times[0] else left
    if operator is cst.Add:
        return elapsed if is_number(other) or None not in times else None
    if constant(other) in _UNITS_OF_TIME and (times[0] or operator is cst.Multiply):
        return elapsed
    return ExternalInstance(
        "time.rate", state.record(node, "time.rate", None, UNKNOWN, Arguments([times[0] or left, times[1] or right]))
    )


def elapsed_time(
    state: AbstractState, node: cst.CSTNode, start: Value, end: Value, *, each: bool = False
) -> ExternalInstance:
    """The time between two readings of a clock, or ``each`` time between two lists of readings."""
    elapsed = ExternalInstance(
        "time.elapsed", state.record(node, "time.elapsed", None, UNKNOWN, Arguments([start, end]))
    )
    if each:
        collect(state, node, [elapsed])
    return elapsed


def collect(state: AbstractState, node: cst.CSTNode, values: list[Value]) -> None:
    """Record times that are collected, since repeated measurements indicate a speed."""
    times = list(filter(_is_elapsed, values))
    if times:
        state.record(node, "time.collected", None, UNKNOWN, Arguments(times))


def _is_elapsed(value: Value) -> bool:
    """Whether a value is the time between two readings of a clock."""
    return isinstance(value, ExternalInstance) and value.name == "time.elapsed"
