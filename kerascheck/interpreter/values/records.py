"""Events that the interpreter records besides calls: compilations and dataset consumers."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.values.execution import DatasetOp, ExecutionPath, Function, ModuleLike
from kerascheck.interpreter.values.objects import ExternalInstance


@dataclass(eq=False, slots=True)
class Compilation:
    """One place where tf.function or another compiler is applied: its call, or the ``def`` that it decorates."""

    module: ModuleLike
    node: cst.CSTNode
    function: Function | ExternalInstance
    """What came out: a function of the tree, or a compiled object such as a model."""
    how: str
    """"tf.function", "jax.jit", ..."""
    path: ExecutionPath


@dataclass(eq=False, slots=True)
class DatasetConsumer:
    """A place that consumes a dataset.

    ``role`` is one of "train", "validation", "evaluate", "predict", "adapt", "inspect",
    "loop" (resolved to train/evaluate/inspect by what the loop does), "nested" (returned to
    interleave/flat_map), "discard", "escape" (returned to, or passed to, code that is not visible).
    """

    role: str
    stage: DatasetOp
    module: ModuleLike
    node: cst.CSTNode
    path: ExecutionPath
    outer: DatasetOp | None = None
    loop: ExecutionPath | None = None
