"""Loops over datasets that call a model outside of every compiled function."""

from __future__ import annotations

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, Class, ExecutionPath, Instance
from kerascheck.knowledge.namespaces import OF_KERAS_MODEL
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.graph.traced_code import tracing_frame
from kerascheck.meaning.models.building import models_of
from kerascheck.meaning.models.models import Model
from kerascheck.meaning.program.program import Program

_CALL = f"{OF_KERAS_MODEL}__call__"


def eager_caller(module: Module, call: Call) -> Call | None:
    """The call of a model that runs a call in ``Layer.call`` eagerly, once per batch of a dataset.

    None if the program trains, since Keras then compiles the model, and if the model may lack the layer.

    Example:
        >>> there = module("class L(keras.layers.Layer):\\n    def call(self, x): return f(x)",
        ...     "model = keras.Sequential([L()])", "for x in tf.data.Dataset.range(9).batch(3): model(x)")
        >>> next(call for call in there.run.calls if call.name == "keras.Model.__call__").path.loop.kind
        'loop'
    """
    if module.once(Program).trains:
        return None
    frame = tracing_frame(call.path)
    owner = frame.function.owner if frame is not None and frame.function is not None else None
    if frame is None or owner is None:
        return None
    frames = list(call.path.frames())
    for caller in module.once(_callers):
        reached = any(each.parent is caller.path for each in frames)
        if reached or any(
            _has_layer(model, owner) for model in module.once(models_of) if model.value is caller.receiver
        ):
            return caller
    return None


def _callers(module: Module) -> list[Call]:
    """The calls of models in loops over datasets, outside of compiled functions."""
    loops: set[ExecutionPath | None] = {sink.loop for sink in module.run.sinks if sink.role == "loop"} - {None}
    return [
        call
        for call in module.once(CallIndex).of_methods("__call__")
        if call.name == _CALL
        and call.path.traced_by() is None
        and call.path.innermost_loop(within="program", comprehensions=False) in loops
    ]


def _has_layer(model: Model, cls: Class) -> bool:
    return any(layer.certain and isinstance(layer.value, Instance) and layer.value.cls is cls for layer in model.layers)
