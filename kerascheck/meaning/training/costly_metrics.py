"""Metrics of ``compile`` that run much slower than the step that they watch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    Instance,
    SequenceValue,
    Value,
    constant,
    flat,
    options_of,
)
from kerascheck.knowledge.callables import CTC_BEAM_SEARCH_DECODER, PY_FUNCTIONS, SEQUENCE_SCORES
from kerascheck.meaning.graph.traced_code import tracing_frame
from kerascheck.meaning.program.program import Program

# Libraries whose scores check and copy their arguments at each call, which takes about as long as a small step.
_SCORES = ("sklearn.", "skimage.", "scipy.")
_METRICS = ("metrics", "weighted_metrics")


@dataclass(frozen=True, slots=True)
class CostlyMetric:
    """A metric of ``compile`` that decodes sequences, or computes a score in Python, for every training batch.

    Attributes:
        place: the metric in the call of ``compile``.
        call: the first call that costs time.
    """

    place: CodeLocation
    call: Call

    @property
    def is_python(self) -> bool:
        """Whether it runs Python, rather than an operation of TensorFlow for the CPU."""
        return self.call.name in PY_FUNCTIONS

    @property
    def searches(self) -> bool:
        """Whether it decodes by beam search."""
        return (
            self.call.name == CTC_BEAM_SEARCH_DECODER
            or constant(self.call.keyword("greedy"), True) is False
            or constant(self.call.keyword("strategy")) == "beam_search"
        )


def costly_metrics(module: Module) -> Iterator[CostlyMetric]:
    """The costly metrics of models that train, each place once."""
    program = module.once(Program)
    costs = _costs(module)
    seen: set[cst.CSTNode] = set()
    for call in program.model_calls("compile") if costs else ():
        if not _may_train(program, call):
            continue
        for parameter in _METRICS:
            for metric, place in _items(call, parameter):
                found = next((costs[node] for node in _bodies(metric) if node in costs), None)
                if found is not None and place.node not in seen:
                    seen.add(place.node)
                    yield CostlyMetric(place, found)


def _costs(module: Module) -> dict[cst.CSTNode, Call]:
    """The bodies of metrics with the first unconditional call in each that costs time."""
    found: dict[cst.CSTNode, Call] = {}
    for call in module.run.calls:
        frame = tracing_frame(call.path) if call.name in SEQUENCE_SCORES or _computes_score(call) else None
        if frame is None or frame.traced != "metric" or frame.function is None or _is_optional(call, frame):
            continue
        found.setdefault(frame.function.node, call)
    return found


def _computes_score(call: Call) -> bool:
    """Whether a call passes a function of a library for scores to ``py_function``."""
    if call.name not in PY_FUNCTIONS:
        return False
    return any(isinstance(each, External) and each.name.startswith(_SCORES) for each in options_of(call.given("func")))


def _is_optional(call: Call, frame: ExecutionPath) -> bool:
    """Whether a condition, or a function such as ``tf.cond``, decides whether a call of a metric runs."""
    path: ExecutionPath | None = call.path
    while path is not None and path is not frame:
        if path.kind == "handed" or path.traced is not None:
            return True
        path = path.parent
    return any(call.path.conditions(within=frame))


def _may_train(program: Program, compile_call: Call) -> bool:
    """Whether the compiled model is not only evaluated or used for predictions."""
    receiver = compile_call.receiver
    if not isinstance(receiver, (ExternalInstance, Instance)):
        return True
    fits = program.model_calls("fit", "fit_generator", "train_on_batch")
    others = program.model_calls("evaluate", "predict", "test_on_batch", "predict_on_batch")
    return any(each.receiver is receiver for each in fits) or not any(each.receiver is receiver for each in others)


def _items(call: Call, parameter: str) -> Iterator[tuple[Value, CodeLocation]]:
    """The metrics of an argument of ``compile``, each with its place: the item of a literal list, or the argument."""
    given, written = call.given(parameter), call.written(parameter)
    node = written.value if written is not None else call.node
    elements = node.elements if isinstance(node, (cst.List, cst.Tuple)) else ()
    if isinstance(given, SequenceValue) and not given.open and len(elements) == len(given.items):
        for value, element in zip(given.items, elements, strict=True):
            yield from ((each, CodeLocation(call.module, element.value)) for each in flat(value))
    else:
        yield from ((each, CodeLocation(call.module, node)) for each in flat(given))


def _bodies(metric: Value) -> Iterator[cst.CSTNode]:
    """The function that computes a metric."""
    function = metric.cls.member("update_state") if isinstance(metric, Instance) else metric
    if isinstance(function, Function):
        yield function.node
