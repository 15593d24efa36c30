"""Clocks: the intervals that a program measures, and the calls between their readings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kerascheck.interpreter.values import Call, ExecutionPath, ExternalInstance, ModuleLike, Value
from kerascheck.knowledge.name_heuristics import FIRST_RUN_WORDS, SPEED_WORDS
from kerascheck.knowledge.namespaces import KERAS, OF_KERAS_MODEL, TENSORFLOW
from kerascheck.knowledge.python import CLOCKS
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.program.program import Program

if TYPE_CHECKING:
    import libcst as cst

    from kerascheck.interpreter.module import Module

# Models keep one compiled function for each row (keras/src/backend/tensorflow/trainer.py).
_FUNCTIONS = {
    "fit": "train", "train_on_batch": "train",
    "evaluate": "test", "test_on_batch": "test",
    "predict": "predict", "predict_on_batch": "predict",
}  # fmt: skip
_NEXT_LINE = re.compile(r"[^\r\n]*\s*[^\r\n]*")
# Operations that keep a device busy for a while.
_HEAVY = re.compile(
    r"keras\.Model\.__call__$|(?:tensorflow\.(?:linalg\.)?|keras\.ops\.)(?:matmul|einsum|tensordot|matvec)$|tensorflow\.nn\.conv"
)
# Calls that return before the device finishes, or that start no work on it.
_HANDED_OVER = re.compile(
    r"builtins\.next$|keras\.ops\.|tensorflow\.(?!Tensor\.numpy$|test\.|print$|data\.|io\.|strings\.|config\.|saved_model\.|summary\.|train\.|py_function|numpy_function)"
)
_PASSIVE = CLOCKS | {"builtins.list.append", "time.elapsed", "time.rate", "time.collected"}
_KNOWN = (KERAS, TENSORFLOW, "builtins.", "numpy.", "time.")


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a compiled function: of a tf.function, or of a model by one of its methods.

    Attributes:
        key: equal for all runs of one compiled function. For a method: "train", "test" or "predict", and the models
            that may own it.
        call: for models, the call of the method; for a tf.function, the first call inside it.
        module, node: the call site.
        path: the execution path to the call site.
    """

    key: object
    call: Call
    module: ModuleLike
    node: cst.CSTNode
    path: ExecutionPath


@dataclass(frozen=True, slots=True)
class Interval:
    """Two readings of a clock and their difference.

    Attributes:
        start, end: the readings. They are equal for a reading that a loop repeats and compares with the previous
            iteration.
        elapsed: the subtraction.
    """

    start: Call
    end: Call
    elapsed: Call


def measured_intervals(module: Module, *, again: bool = False) -> Iterator[Interval]:
    """The intervals that the module measures when it runs.

    Each place counts once, or once per run with ``again``.
    """
    seen = set()
    for call in module.once(CallIndex).named("time.elapsed"):
        if call.node not in seen and module.once(Program).is_executed(call.path):
            end, start = (
                reading.call if isinstance(reading, ExternalInstance) else None for reading in call.arguments.positional
            )
            if start is None or end is None:
                continue
            again_itself = start is end and start.path.innermost_loop(within="program") is not None
            if (start.order < end.order or again_itself) and start.path.root is end.path.root:
                if not again:
                    seen.add(call.node)
                yield Interval(start, end, call)


def calls_between(module: Module, interval: Interval) -> list[Call]:
    """The calls between two readings."""
    loop = interval.start.path.innermost_loop(within="program")
    if interval.start is interval.end and loop is not None:
        return [call for call in module.run.calls if call.path.is_in(loop)]
    return [
        call
        for call in module.run.calls
        if interval.start.order < call.order < interval.end.order and call.path.root is interval.start.path.root
    ]


def compiled_runs(calls: list[Call]) -> Iterator[Execution]:
    """The compiled functions that run among some calls, in program order.

    A method call on one of several possible models counts as one run.
    """
    entered = set()
    models: dict[object, list[Value]] = {}
    for call in calls:
        if call.attribute in _FUNCTIONS:
            models.setdefault((call.node, call.path), []).append(call.receiver)
    for call in calls:
        outer, function = next(
            (
                (frame, frame.function)
                for frame in reversed(list(call.path.frames()))
                if frame.traced == "tf.function" and frame.function is not None
            ),
            (None, None),
        )
        if outer is not None and function is not None:
            if outer not in entered:
                entered.add(outer)
                yield Execution(function.node, call, outer.module, outer.node, outer.parent or outer)
        elif call.attribute in _FUNCTIONS and call.name == f"{OF_KERAS_MODEL}{call.attribute}":
            alternatives = models.pop((call.node, call.path), None)
            if alternatives is not None:
                yield Execution(
                    (_FUNCTIONS[call.attribute], tuple(dict.fromkeys(alternatives))),
                    call,
                    call.module,
                    call.node,
                    call.path,
                )


def is_warm(module: Module, execution: Execution, interval: Interval) -> bool:
    """Whether the same function has run, or may have run, before the clock starts."""
    before = [call for call in module.run.calls if call.order < interval.start.order]
    if any(_may_be_same(other.key, execution.key) for other in compiled_runs(before)):
        return True
    if not isinstance(execution.key, tuple):
        return False
    function, models = execution.key
    if any(module.once(Program).constructor_of(model) is None for model in models):
        return True
    for call in before:
        if (
            function == "test"
            and call.receiver in models
            and call.attribute == "fit"
            and call.given("validation_data") is not None
        ):
            return True
        if not (call.name or "").startswith(_KNOWN) and any(value in models for value in call.arguments.values()):
            return True
    return False


def _may_be_same(key: object, other: object) -> bool:
    """Whether two runs may execute the same compiled function.

    For methods of models, one possible owner in common is enough.
    """
    if isinstance(key, tuple) and isinstance(other, tuple):
        return key[0] == other[0] and not set(key[1]).isdisjoint(other[1])
    return key == other


def is_warmed_up(module: Module, execution: Execution, interval: Interval) -> bool:
    """Whether the same function ran right before the clock starts, outside of any measurement.

    In that case, timing one run is intentional.
    """
    before = list(compiled_runs([call for call in module.run.calls if call.order < interval.start.order]))
    if not before or not _may_be_same(before[-1].key, execution.key):
        return False
    return not any(other.start.order < before[-1].call.order < other.end.order for other in measured_intervals(module))


def measures_speed(module: Module, interval: Interval) -> bool:
    """Whether an interval measures speed rather than the duration of the program.

    The program divides it by a number of items, collects it in a list, or calls it a latency, throughput or similar.
    Measurements of the first run do not count.
    """
    if interval.start.module is not interval.elapsed.module or FIRST_RUN_WORDS.search(_code_around(interval)):
        return False
    if any(_tells(call, interval.elapsed) for call in module.run.calls):
        return True
    measured = _code_around(interval, interval.end)
    return SPEED_WORDS.search(measured) is not None and not _is_phase(module, interval)


def _is_phase(module: Module, interval: Interval) -> bool:
    """Whether an interval shares a reading with another, as in a program that times its phases and their total."""
    ends = {interval.start, interval.end}
    return any(
        other.elapsed.node is not interval.elapsed.node
        and other.start is not other.end
        and not ends.isdisjoint((other.start, other.end))
        for other in measured_intervals(module)
    )


def _code_around(interval: Interval, since: Call | None = None) -> str:
    """The code from the line above a measurement to the line below it, all in one module.

    Args:
        since: a call of the measurement at whose statement the code starts.
    """
    text, tree = interval.elapsed.module.code, interval.elapsed.module.tree
    first = tree.statement_range((since or interval.start).node)[0]
    last = max(tree.statement_range(node)[1] for node in (interval.end.node, interval.elapsed.node))
    above = text[:first].rstrip().rpartition("\n")[2] if since is None else ""
    following = _NEXT_LINE.match(text, last)
    end = len(text) if following is None else following.end()
    return above + text[first:end]


def _tells(call: Call, elapsed: Call) -> bool:
    """Whether a call divides a time by a number of items, or collects it with others."""
    return (call.name in ("time.rate", "time.collected") or call.attribute == "append") and any(
        isinstance(value, ExternalInstance) and value.call is elapsed for value in call.arguments.positional
    )


def unread_work(module: Module, calls: list[Call]) -> Execution | None:
    """The last compiled function or eager training step among some calls, unless something after it waits for its
    result.

    Methods of models other than ``__call__`` return numbers to Python, so they wait. Any other call after the work may
    read it.
    """
    runs = [run for run in compiled_runs(calls) if not isinstance(run.key, tuple)]
    updates = set(module.once(Program).updates)
    eager = [call for call in calls if call in updates and call.path.traced_by() is None]
    if eager and (not runs or runs[-1].call.order < eager[-1].order):
        last = eager[-1]
        work = Execution(last.node, last, last.module, last.node, last.path)
        inside = []
    elif runs:
        work = runs[-1]
        inside = [next(frame for frame in work.call.path.frames() if frame.node is work.node)]
    else:
        return None
    behind = [
        call for call in calls if call.order > work.call.order and not any(call.path.is_in(frame) for frame in inside)
    ]
    waits = any(call.name not in _PASSIVE and not _HANDED_OVER.match(call.name or "") for call in behind)
    return None if waits else work


def eager_work(calls: list[Call]) -> Execution | None:
    """The last model or matrix product that runs eagerly among some calls.

    Returns None if another call takes time or reads its result.
    """
    work = [call for call in calls if call.path.traced_by() is None and _HEAVY.match(call.name or "")]
    handed_over = all(
        call in work or call.path.traced_by() or call.name in _PASSIVE or _HANDED_OVER.match(call.name or "")
        for call in calls
    )
    return (
        Execution(work[-1].node, work[-1], work[-1].module, work[-1].node, work[-1].path)
        if work and handed_over
        else None
    )
