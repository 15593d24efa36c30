"""Half precision: which models compute in it, and who scales the loss for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.semantics.tree import SyntaxProblem
from kerascheck.semantics.values import Call, Class, Function, Scope

if TYPE_CHECKING:
    from kerascheck.semantics.module import Module

HALF_POLICIES = frozenset({"mixed_float16", "mixed_bfloat16", "float16", "bfloat16"})

_SCALING = frozenset({"scale_loss", "get_scaled_loss", "train_step"})
_CALL = re.compile(r"(?m)^[ \t]+def call\(")
_STEP = re.compile(r"(?m)^[ \t]+def train_step\(")
# A type that is written down, or that a number or tensor has which is made without one.
_FLOAT32 = re.compile(
    r"\bfloat32\b|\b(?:tf|tensorflow|K|backend|ops|random)\.(?:constant|convert_to_tensor|eye|linspace|ones|zeros|(?:random[._])?(?:normal|uniform))\((?![^\n]*\bdtype\b)"
)
_WHOLE_NUMBERS = re.compile(r"\b(?:constant|convert_to_tensor)\([\s\d,()\[\]-]*\)")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")
# What is written there does not compute with what a layer is called on.
_NOT_COMPUTING = frozenset({"__init__", "build", "get_config", "from_config", "compute_output_shape", "train_step", "test_step"})


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


def needs_more_than_policy(modules: list[Module]) -> bool:
    """Whether a policy for half precision is not enough for a program of these modules, as their texts say.

    A step of the program's own has to scale the loss. A layer of its own that computes with tensors of float32 raises where they
    meet half precision (InvalidArgumentError and TypeError, tried with TensorFlow 2.21), also in a function that it calls.
    """
    if any(module.mentions(_STEP) for module in modules):
        return True
    if not any(module.mentions(_CALL) for module in modules) or not any(module.mentions(_FLOAT32) for module in modules):
        return False
    helpers: dict[str, list[str]] = {}
    layers: list[str] = []
    for module in modules:
        for function, owner in _functions_of(module) if module.mentions(_CALL) or module.mentions(_FLOAT32) else ():
            if owner is None:
                helpers.setdefault(function.name.value, []).append(module.tree.code_of(function))
            elif function.name.value not in _NOT_COMPUTING and any(isinstance(member, cst.FunctionDef) and member.name.value == "call" for member in owner.body.body):
                layers.append(module.tree.code_of(function))
    called = {name for code in layers for name in _CALLED.findall(code)}
    return any(_FLOAT32.search(_WHOLE_NUMBERS.sub("", code)) for code in [*layers, *(code for name in called for code in helpers.get(name, ()))])


def _functions_of(module: Module) -> Iterator[tuple[cst.FunctionDef, cst.ClassDef | None]]:
    """The functions of a module and the methods of its classes, each with its class; none of a module that does not parse."""
    try:
        tree = module.tree
    except SyntaxProblem:
        return
    for function in tree.functions:
        owner = next((node for node in tree.ancestors(function) if isinstance(node, (cst.ClassDef, cst.FunctionDef))), None)
        if not isinstance(owner, cst.FunctionDef):
            yield function, owner
