"""Results of training steps that Python reads back from the device, which makes it wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    ExecutionPath,
    ExternalInstance,
    Method,
    Tensor,
    Value,
    holds_tensor,
    options_of,
)
from kerascheck.knowledge.classes import METRIC_RESULT, OPTIMIZER, class_of
from kerascheck.meaning.graph.training_loops import calls_beside_training
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.training.steps import is_acted_on

_READERS = frozenset({"builtins.print", "builtins.format", "builtins.float", "builtins.int"})
# These functions read a tensor's shape but not its values.
_OF_SHAPES = frozenset({"numpy.shape", "numpy.ndim", "numpy.size"})
_DISPLAYS = frozenset({"set_postfix", "set_description"})


@dataclass(frozen=True, slots=True)
class ReadResults:
    """Read-backs in each step of a loop.

    Attributes:
        loop: the loop.
        update: the call in it that updates the weights.
        calls: the reading calls in program order; those in the file of the loop come first.
    """

    loop: ExecutionPath
    update: Call
    calls: list[Call]


def results_read_back(module: Module, least: int) -> Iterator[ReadResults]:
    """Training loops with more than ``least`` iterations that read results back in each.

    Excludes steps on the CPU, and results that the program needs to continue.
    """
    reads: dict[ExecutionPath, ReadResults] = {}
    for call, loop, update in calls_beside_training(module, least=least, eager=True):
        if not _reads_back(call) or module.once(Program).cpu_device(update.path) is not None:
            continue
        if not is_acted_on(module, call.module.tree, call.node):
            reads.setdefault(loop, ReadResults(loop, update, [])).calls.append(call)
    for found in reads.values():
        # For reads in a helper, the file of the loop shows both the loop and the call.
        found.calls.sort(key=lambda call: call.module is not found.loop.module)
        yield found


def _reads_back(call: Call) -> bool:
    if call.attribute == "numpy":
        return _is_on_device(call.receiver)
    name = call.name or ""
    reads = name in _READERS or name.startswith("numpy.") and name not in _OF_SHAPES or call.attribute in _DISPLAYS
    return reads and any(map(_is_on_device, call.arguments.values()))


def _is_on_device(value: Value) -> bool:
    """Whether the device computes a tensor; the elements of a dataset are still in host memory."""
    is_element = isinstance(value, Tensor) and value.origin == "element"
    return holds_tensor(value) and not is_element or any(map(_is_counted_on_device, options_of(value)))


def _is_counted_on_device(value: Value) -> bool:
    """Whether a value is the result of a metric, or the iterations of an optimizer."""
    if isinstance(value, ExternalInstance):
        return value.name == METRIC_RESULT
    return (
        isinstance(value, Method)
        and value.name == "iterations"
        and isinstance(value.receiver, ExternalInstance)
        and class_of(value.receiver.name) == OPTIMIZER
    )
