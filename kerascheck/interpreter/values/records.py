"""Recorded events other than calls: compilations and dataset consumers."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.values.execution import DatasetOp, ExecutionPath, Function, ModuleLike
from kerascheck.interpreter.values.objects import ExternalInstance


@dataclass(eq=False, slots=True)
class Compilation:
    """An application of tf.function or another compiler: its call, or the decorated ``def``."""

    module: ModuleLike
    node: cst.CSTNode
    function: Function | ExternalInstance
    """The compiled object: a function of the tree, or an object such as a model."""
    how: str
    """"tf.function", "jax.jit", ..."""
    path: ExecutionPath


@dataclass(eq=False, slots=True)
class DatasetConsumer:
    """A consumer of a dataset.

    ``role`` is one of "train", "validation", "evaluate", "predict", "adapt", "inspect", "loop" (resolved to
    train/evaluate/inspect by the loop body), "nested" (returned to interleave/flat_map), "discard", or "escape"
    (returned or passed to invisible code).
    """

    role: str
    stage: DatasetOp
    module: ModuleLike
    node: cst.CSTNode
    path: ExecutionPath
    outer: DatasetOp | None = None
    loop: ExecutionPath | None = None
