"""Gradient tapes of weight updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExecutionPath
from kerascheck.knowledge.classes import GRADIENT_TAPE
from kerascheck.meaning.calls import CallIndex


@dataclass(frozen=True, slots=True)
class Tape:
    """The tape that records the gradients of an update.

    Attributes:
        call: the GradientTape.
        frame: the innermost function that reaches both the update and the tape.
        node, path: the tape in that function, or the call that leads to it.
    """

    call: Call
    frame: ExecutionPath
    node: cst.CSTNode
    path: ExecutionPath


def tape_of(module: Module, update: Call) -> Tape | None:
    """The GradientTape of a weight update.

    Prefers a tape in the same function and nearest loop, then one in a function that the same iteration calls before
    the update.
    """
    tapes = module.once(tapes_of)
    own = next((frame for frame in update.path.frames() if frame in tapes), None)
    near = [Tape(tape, own, tape.node, tape.path) for tape in tapes[own]] if own is not None else []
    # One network may have its own loop beside another's, or an optimizer may have one after their common tape.
    loops = seen_from(own or update.path.frame, update)[1].loops(within="function")
    around: list[ExecutionPath | None] = [*loops] or [None]
    beside = next(
        (tape for loop in around for tape in near if tape.path.innermost_loop(within="function") is loop), None
    )
    return beside or next(_called_tapes(module, update), near[0] if near else None)


def _called_tapes(module: Module, update: Call) -> Iterator[Tape]:
    """The tapes of uncompiled functions that Python calls beside a weight update; those of the nearest loop come first.

    Excludes the functions around the update itself.
    """
    tapes = {tape: inner for inner, (tape, *_) in module.once(tapes_of).items() if tape.order < update.order}
    compiled = {tape.node for tape in tapes if tape.path.traced_by()}
    around = list(update.path.frames())
    for frame in around:
        turn = seen_from(frame, update)[1].innermost_loop(within="function")
        reached = {
            tape: seen_from(frame, tape)
            for tape, inner in tapes.items()
            if inner not in around and any(each is frame for each in inner.frames())
        }
        same = {tape: way for tape, way in reached.items() if way[1].innermost_loop(within="function") is turn}
        # The gradients may come from the compiled function.
        if any(tape.node in compiled for tape in same):
            return
        for tape, (node, path) in same.items():
            if not any(function.opaque or function.node in module.run.compiled for function in tapes[tape].functions()):
                yield Tape(tape, frame, node, path)


def seen_from(frame: ExecutionPath, call: Call) -> tuple[cst.CSTNode, ExecutionPath]:
    """The node and path of a call, or of the call that leads to it, in a function of its execution path."""
    node, path = call.node, call.path
    while (inner := path.frame) is not frame:
        if inner.parent is None:
            raise ValueError("no function leads there")
        node, path = inner.node, inner.parent
    return node, path


def tapes_of(module: Module) -> dict[ExecutionPath, list[Call]]:
    """The calls of GradientTape in each function and in the module itself, in program order."""
    found: dict[ExecutionPath, list[Call]] = {}
    for call in module.once(CallIndex).named(GRADIENT_TAPE):
        found.setdefault(call.path.frame, []).append(call)
    return found
