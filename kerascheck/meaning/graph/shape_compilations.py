"""Steps that XLA compiles again for every new shape of their batches."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, Dataset, DatasetOp, ExecutionPath, Value, constant
from kerascheck.knowledge.datasets import FROM_TENSOR_SLICES
from kerascheck.knowledge.layers import layers_where
from kerascheck.meaning.graph.compiled_loops import open_padding, shapes_for_xla
from kerascheck.meaning.models.building import models_of
from kerascheck.meaning.models.models import Model
from kerascheck.meaning.program.loops import makes_few_steps
from kerascheck.meaning.program.program import Program

_WITHOUT_XLA = layers_where(lambda layer: not layer.jit)
_CUDNN = layers_where(lambda layer: layer.cudnn)


class XlaBy(enum.Enum):
    """The reason why XLA compiles a step."""

    ARGUMENT = enum.auto()
    """``jit_compile=True``."""
    JAX = enum.auto()
    """Keras compiles every step on JAX."""
    GPU = enum.auto()
    """On TensorFlow, Keras 3 compiles a step on a machine with a GPU."""


@dataclass(frozen=True, slots=True)
class Recompilation:
    """A step that XLA compiles for every new shape.

    Attributes:
        cause: the operation that pads each batch to its longest element, or the call that extends a tensor; None if
            the loop slices a tensor.
        call: the ``fit``, or the call of a compiled function in a loop.
        loop: the loop; None for ``fit``.
        by: the reason why XLA compiles it.
    """

    cause: Call | DatasetOp | None
    call: Call
    loop: ExecutionPath | None
    by: XlaBy


def recompilations(module: Module) -> Iterator[Recompilation]:
    """The distinct steps with changing shapes that XLA compiles: compiled functions in loops, and ``fit``."""
    for found in shapes_for_xla(module):
        yield Recompilation(found.cause, found.call, found.loop, XlaBy.ARGUMENT)
    models = module.once(models_of)
    seen = set()
    for fit in module.once(Program).model_calls("fit"):
        cause = _open_batches(fit.given("x"))
        if cause is None or cause.node in seen or makes_few_steps(fit):
            continue
        fitted = [model for model in models if fit in model.fits]
        reasons = [_xla_of(module, model) for model in fitted]
        if reasons and reasons[0] is not None and len(set(reasons)) == 1:
            seen.add(cause.node)
            yield Recompilation(cause, fit, None, reasons[0])


def _open_batches(data: Value | None) -> DatasetOp | None:
    """The padding of a dataset whose batches differ in their shape; None if they may all have the same one."""
    stage = open_padding(data.stage) if isinstance(data, Dataset) else None
    if stage is None or stage.name != "padded_batch" or stage.given("padded_shapes") is not None:
        return stage
    # Rows of an array have one shape, unless a map changes it.
    before = list(stage.upstream())
    return None if before[-1].name == FROM_TENSOR_SLICES and not any(each.name == "map" for each in before) else stage


def _xla_of(module: Module, model: Model) -> XlaBy | None:
    """The reason why XLA compiles the steps of a model; None if it may not compile them."""
    program, backend = module.once(Program), module.runtime.backend
    if (
        backend not in ("jax", "tensorflow")
        or not model.compiles
        or program.runs_eagerly
        or any(call.given("run_eagerly") is not None for call in model.compiles)
        or not (model.closed or model.kind == "subclassed" and model.layers)
        or any(layer.name in _WITHOUT_XLA or layer.name in _CUDNN and backend == "tensorflow" for layer in model.layers)
        or model.inputs
        and all(shape is not None and None not in shape[1:] for shape in model.inputs)
    ):
        return None
    switches = {_switch(call) for call in model.compiles}
    if switches == {True}:
        return XlaBy.ARGUMENT
    if switches != {"auto"} or not model.complete or program.keras < 3:
        return None
    if backend == "jax":
        return XlaBy.JAX
    return None if program.distributes or program.is_deterministic or program.pins_cpu else XlaBy.GPU


def _switch(call: Call) -> object:
    """The value of ``jit_compile``; None if it is unknown."""
    given = call.given("jit_compile")
    return "auto" if given is None else constant(given)
