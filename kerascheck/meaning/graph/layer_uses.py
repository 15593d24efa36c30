"""Uses of layers and models: only for inference, or only on eager values."""

from __future__ import annotations

from collections.abc import Iterator

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    Class,
    ExecutionPath,
    ExternalInstance,
    Function,
    Instance,
    SequenceValue,
    Value,
    options_of,
)
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.graph.traced_code import tracing_frame
from kerascheck.syntax.written import is_beside_training


def is_for_inference(module: Module, path: ExecutionPath) -> bool:
    """Whether a layer or model exists besides the one for training, as under ``if mode == "inference"``.

    The execution path is in one of its methods.
    """
    frame = tracing_frame(path)
    owner = frame.function.owner if frame is not None and frame.function is not None else None
    # Calling the base class's constructor creates no additional object.
    made = module.once(_instantiations).get(owner) if owner is not None else None
    return made is not None and all(is_beside_training(call.module.tree, call.node) for call in made)


def _instantiations(module: Module) -> dict[Class, list[Call]]:
    """The constructor calls of each project class."""
    found: dict[Class, list[Call]] = {}
    for call in module.once(CallIndex).of_methods("__init__"):
        if isinstance(call.result, Instance):
            found.setdefault(call.result.cls, []).append(call)
    return found


def is_only_called_eagerly(module: Module, path: ExecutionPath) -> bool:
    """Whether the program only calls objects of the class around a ``call`` method on eager values."""
    frame = tracing_frame(path)
    method = frame.function if frame is not None and frame.kind == "call" else None
    if method is None:
        return False

    def is_kind(value: Value) -> bool:
        own = value.cls.member("call") if isinstance(value, Instance) else None
        return isinstance(own, Function) and own.node is method.node

    for call in module.run.calls:
        # A project object may keep it, but its uses there are visible.
        keeps = call.attribute == "__init__" and isinstance(call.receiver, Instance)
        if not keeps and any(is_kind(inner) for value in call.arguments.values() for inner in _held(value)):
            return False
        if (
            not any(map(is_kind, options_of(call.receiver)))
            or call.attribute == "__init__"
            or (call.name or "").endswith("__setattr__")
        ):
            continue
        if (
            call.attribute != "__call__"
            or call.path.traced_by() is not None
            or isinstance(call.result, ExternalInstance)
        ):
            return False
    return True


def _held(value: Value) -> Iterator[Value]:
    """The alternatives of a value, with lists replaced by their items."""
    for option in options_of(value):
        yield from option.items if isinstance(option, SequenceValue) else [option]
