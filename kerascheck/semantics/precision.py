"""Half precision: which models compute in it, and who scales the loss for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kerascheck.semantics.values import Call, Class, Function, Scope

if TYPE_CHECKING:
    from kerascheck.semantics.module import Module

HALF_POLICIES = frozenset({"mixed_float16", "mixed_bfloat16", "float16", "bfloat16"})

_SCALING = frozenset({"scale_loss", "get_scaled_loss", "train_step"})


def train_step_of(scope: Scope) -> Function | None:
    """The ``train_step`` of a Keras model that a place runs in; None outside of one."""
    return next((frame.function for frame in scope.frames() if frame.traced == "train_step" and frame.function is not None), None)


def scales_loss(update: Call) -> bool:
    """Whether a loss is scaled in a function that leads to an update of weights, or in one that such a function calls.

    Calling ``super().train_step()`` counts: Keras' own scales.
    """
    around = {frame.function.node if frame.function is not None else frame.node for frame in update.scope.frames()}
    for call in update.scope.root.module.run.calls:
        if call.attribute in _SCALING and any(
            (frame.function.node if frame.function is not None else frame.node) in around and (frame.function is not None or frame is update.scope.frame)
            for frame in call.scope.frames()
        ):
            return True
    return False


def float16_models(module: Module, cls: Class | None) -> Iterator[Call]:
    """The calls that make models of a class, or of one derived from it, while the policy is certainly ``mixed_float16``."""
    for instance, made in module.program.constructors.items():
        if cls is not None and any(base is cls or getattr(base, "node", None) is cls.node for base in instance.cls.ancestry()):
            if made.argument(None, "dtype") is None and module.program.policy_at(made) == "mixed_float16":
                yield made
