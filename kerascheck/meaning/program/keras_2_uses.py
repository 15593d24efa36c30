"""Code for Keras 2 that Keras 3 refuses, or runs with another effect."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation, handles_versions
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, constant
from kerascheck.knowledge.classes import MODEL_CHECKPOINT, OPTIMIZER, class_of
from kerascheck.knowledge.namespaces import OF_KERAS_MODEL, OF_KERAS_OPTIMIZERS
from kerascheck.knowledge.runtime import VARIABLE_ACCESS

_WEIGHTS = ".weights.h5"
_OF_CHECKPOINTS = (".keras", ".h5")
_OF_MODELS = (".keras", ".h5", ".hdf5")


class Keras2Use(enum.Enum):
    """Uses that Keras 3 no longer supports. Source: each was tried with Keras 3.15."""

    RATE_ARGUMENT = enum.auto()
    """``Adam(lr=...)`` raises ValueError."""
    DECAY_ARGUMENT = enum.auto()
    """``Adam(decay=...)`` warns, and the learning rate stays constant."""
    RATE_ASSIGNED = enum.auto()
    """``optimizer.lr = ...`` sets a new attribute, and the learning rate stays as it is."""
    RATE_READ = enum.auto()
    """``optimizer.lr`` raises AttributeError."""
    WEIGHTS_PATH = enum.auto()
    """``save_weights`` raises ValueError for names that do not end in ``.weights.h5``."""
    MODEL_PATH = enum.auto()
    """``save`` raises ValueError for names that do not end in ``.keras``, ``.h5`` or ``.hdf5``."""
    WEIGHTS_CHECKPOINT = enum.auto()
    """``ModelCheckpoint`` raises ValueError, as ``save_weights`` does."""
    MODEL_CHECKPOINT = enum.auto()
    """``ModelCheckpoint`` of whole models raises ValueError for names that do not end in ``.keras`` or ``.h5``."""
    GONE_METHOD = enum.auto()
    """Models have no ``reset_states``, ``predict_classes`` and ``predict_proba``: calls raise AttributeError."""


@dataclass(frozen=True, slots=True)
class OldUse:
    """A use at its place: an argument, or the call."""

    kind: Keras2Use
    call: Call
    place: CodeLocation


def keras_2_uses(module: Module) -> Iterator[OldUse]:
    """The uses in the code of a module, except on branches for versions and in modules for Keras 2.

    Example:
        >>> [use.kind.name for use in program.keras_2_uses(module("keras.optimizers.Adam(lr=0.1)"))]
        ['RATE_ARGUMENT']
    """
    seen = set()
    for call in module.run.calls:
        if call.node in seen or call.module.runtime.keras < 3 or handles_versions(call.path):
            continue
        for kind, node in _uses_of(call):
            seen.add(call.node)
            yield OldUse(kind, call, CodeLocation(call.module, node))


def _uses_of(call: Call) -> Iterator[tuple[Keras2Use, cst.CSTNode]]:
    name = call.name or ""
    if call.attribute == "lr" and call.assigned is not None and _is_rate(call, call.node):
        yield Keras2Use.RATE_ASSIGNED, call.node
    elif call.attribute is None and name.startswith(OF_KERAS_OPTIMIZERS) and class_of(name) == OPTIMIZER:
        yield from _arguments(call)
    elif (
        name in VARIABLE_ACCESS
        and call.arguments.nodes
        and _is_rate(call, node := next(iter(call.arguments.nodes.values())).value)
    ):
        yield Keras2Use.RATE_READ, node
    elif name.startswith(OF_KERAS_MODEL):
        yield from _of_model(call)
    elif name == MODEL_CHECKPOINT:
        weights = constant(call.given("save_weights_only"), False)
        endings = (_WEIGHTS,) if weights is True else _OF_CHECKPOINTS if weights is False else None
        if endings is not None and _ends_otherwise(call, endings):
            yield (Keras2Use.WEIGHTS_CHECKPOINT if weights else Keras2Use.MODEL_CHECKPOINT), call.node


def _arguments(call: Call) -> Iterator[tuple[Keras2Use, cst.CSTNode]]:
    nodes = call.arguments.nodes
    if "lr" in nodes:
        yield Keras2Use.RATE_ARGUMENT, nodes["lr"]
    decay = constant(call.arguments.keywords.get("decay"))
    if "decay" in nodes and isinstance(decay, float) and decay > 0:
        yield Keras2Use.DECAY_ARGUMENT, nodes["decay"]


def _of_model(call: Call) -> Iterator[tuple[Keras2Use, cst.CSTNode]]:
    if call.attribute in ("reset_states", "predict_classes", "predict_proba"):
        yield Keras2Use.GONE_METHOD, call.node
    elif call.attribute == "save_weights" and _ends_otherwise(call, (_WEIGHTS,)):
        yield Keras2Use.WEIGHTS_PATH, call.node
    elif call.attribute == "save" and _ends_otherwise(call, _OF_MODELS):
        yield Keras2Use.MODEL_PATH, call.node


def _is_rate(call: Call, node: cst.CSTNode) -> bool:
    """Whether an expression is the ``lr`` of an optimizer."""
    if call.name == f"{OPTIMIZER}.__setattr__":
        return True
    if not isinstance(node, cst.Attribute) or node.attr.value != "lr":
        return False
    owner = node.value
    last = owner.attr if isinstance(owner, cst.Attribute) else owner
    return isinstance(last, cst.Name) and last.value == "optimizer"


def _ends_otherwise(call: Call, endings: tuple[str, ...]) -> bool:
    """Whether the path is a literal with none of the endings."""
    given = call.arguments.keywords.get("filepath") or next(iter(call.arguments.positional), None)
    path = constant(given)
    return isinstance(path, str) and not path.endswith(endings)
