"""Traced code, its compilers, and their rules for Python.

Tested on TensorFlow 2.21 and Keras 3.15: Keras 3 traces ``call``, ``train_step``, losses and metrics *without*
AutoGraph, so ``if tensor:`` raises an error there. AutoGraph converts it in functions under ``tf.function``. Keras 2
converts all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    ExecutionPath,
    ExternalInstance,
    Function,
    constant,
)
from kerascheck.knowledge.callables import (
    INIT_SCOPE,
)
from kerascheck.knowledge.classes import GRADIENT_TAPE
from kerascheck.knowledge.name_heuristics import EXECUTION_MODES
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.program.tapes import tapes_of
from kerascheck.syntax.conditions import CONDITIONS

COMPILERS = frozenset({"call", "train_step", "test_step", "predict_step", "loss", "metric", "Lambda", "tf.function"})
"""The compilers of code: methods and functions that Keras traces, and ``tf.function``."""


def compiled_by(path: ExecutionPath) -> str | None:
    """The compiler of the code on an execution path, one of :data:`COMPILERS`; None for eager code.

    ``tf.init_scope`` lifts code out of the graph. On PyTorch nothing is compiled.
    """
    how = _written_for(path)
    lifted = how is not None and any(map(_lifts, path.managers(within=tracing_frame(path) or "program")))
    return None if lifted else how


def _written_for(path: ExecutionPath) -> str | None:
    """The compiler of the code on an execution path, ignoring ``tf.init_scope``."""
    how = path.traced_by()
    return how if how in COMPILERS and path.module.runtime.backend != "torch" else None


def _lifts(manager: ExecutionPath) -> bool:
    return isinstance(manager.value, ExternalInstance) and manager.value.name == INIT_SCOPE


def traced_calls(module: Module) -> tuple[tuple[Call, str], ...]:
    """Calls in compiled code, in program order, with their compiler. Each call site is listed once.

    Excludes programs that disable compilation, layers that only a hand-written eager loop calls, metrics without a
    visible ``compile``, branches on the execution mode, and graphs of TensorFlow 1.
    """
    return module.once(find_traced_calls)


def find_traced_calls(module: Module) -> tuple[tuple[Call, str], ...]:
    """Find the calls that :func:`traced_calls` memoises."""
    return tuple(_traced_calls(module))


def _traced_calls(module: Module) -> Iterator[tuple[Call, str]]:
    program = module.once(Program)
    if module.builds_graphs or program.runs_eagerly:
        return
    seen = set()
    # Many calls share a path, and many paths share a prefix.
    leaving: dict[ExecutionPath, bool] = {}
    for call in module.run.calls:
        how = _certain_compiler(call.path, program, leaving) if call.node not in seen else None
        if how is not None:
            seen.add(call.node)
            yield call, how


def _certain_compiler(path: ExecutionPath, program: Program, leaving: dict[ExecutionPath, bool]) -> str | None:
    """The compiler of an execution path, unless the program does or may run it eagerly; see :func:`_leaves_graph`."""
    how = _written_for(path)
    if how is None or _leaves_graph(path, leaving):
        return None
    if how not in ("tf.function", "train_step") and program.steps_eagerly:
        return None
    # Some metrics are only for eager evaluation, without a visible sign.
    frame = tracing_frame(path) if how == "metric" else None
    metric = None if frame is None else frame.function
    if metric is not None and metric.owner is not None and metric.owner not in program.compiled_metrics:
        return None
    return how


def _leaves_graph(path: ExecutionPath, known: dict[ExecutionPath, bool]) -> bool:
    """Whether compiled code leaves the graph on the way from the traced function to a path, or depends on the mode.

    Adds to the results in ``known``.
    """
    way: list[ExecutionPath] = []
    while path not in known and not path.traced and path.parent is not None:
        way.append(path)
        path = path.parent
    leaves = known.get(path, False)
    for each in reversed(way):
        leaves = (
            leaves or (each.kind == "with" and _lifts(each)) or (each.kind in CONDITIONS and _depends_on_mode(each))
        )
        known[each] = leaves
    return leaves


def is_seen_compiled(module: Module, how: str) -> bool:
    """Whether the program certainly compiles code that is written for the compiler ``how``.

    The user of a module with layers but without a training may call them eagerly.
    """
    return how in ("tf.function", "train_step") or module.once(Program).trains


_BACKEND = re.compile(r"\b(?:\w+\.)*backend\(\) *== *['\"](\w+)['\"]")


def asks_for_mode(path: ExecutionPath) -> bool:
    """Whether a condition such as ``if tf.executing_eagerly()`` guards a path in compiled code.

    The path may then be for eager code.
    """
    return any(map(_depends_on_mode, path.conditions(within=tracing_frame(path) or "program")))


def _depends_on_mode(branch: ExecutionPath) -> bool:
    test = branch.question
    return test != "" and _asks_for_mode(test, branch.label == "if")


@lru_cache(1000)
def _asks_for_mode(test: str, is_if: bool) -> bool:
    backend = _BACKEND.search(test)
    if backend is None:
        return EXECUTION_MODES.search(test) is not None
    # A branch for TensorFlow, or the else branch of one for another backend, is traced normally.
    return (backend[1] == "tensorflow") != is_if or EXECUTION_MODES.search(_BACKEND.sub("", test)) is not None


def tracing_frame(path: ExecutionPath) -> ExecutionPath | None:
    """The traced function around an execution path; None for eager code."""
    return next((frame for frame in path.frames() if frame.traced), None)


def converts_branches(call: Call, how: str) -> bool:
    """Whether AutoGraph converts ``if`` and ``while`` over tensors at a call that ``how`` compiles.

    It also does so for a decorated function that Keras traces. ``autograph=False`` disables it.
    """
    decorated = next((function for function in call.path.functions() if function.traced == "tf.function"), None)
    if decorated is not None:
        return decorated.options is None or constant(decorated.options.given("autograph")) is not False
    return how == "tf.function" or call.module.runtime.keras < 3


def compiled_functions(module: Module) -> Iterator[Function]:
    """The functions of a module that ``tf.function`` compiles, in the order of the text."""
    for node, function in module.run.functions.items():
        if function.module is module and isinstance(node, cst.FunctionDef) and (function.traced == "tf.function"):
            yield function


def trains_in(module: Module, path: ExecutionPath) -> bool:
    """Whether a path in compiled code is in a training step rather than an evaluation.

    A tape opens in the same compiled code, or records the call of that code. Tapes elsewhere in the program train
    another model.
    """
    frames = list(path.frames())
    while frames and not frames[-1].traced:
        frames.pop()
    return any(frame in module.once(tapes_of) for frame in frames) or any(
        isinstance(manager.value, ExternalInstance) and manager.value.name == GRADIENT_TAPE
        for manager in path.managers(within="program")
    )
