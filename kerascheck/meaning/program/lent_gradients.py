"""Gradients that one function returns and another one applies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExecutionPath
from kerascheck.knowledge.classes import GRADIENT_TAPE_GRADIENT
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.program.loops import value_reaches
from kerascheck.meaning.program.tapes import Tape, seen_from, tapes_of


@dataclass(frozen=True, slots=True)
class LentGradients:
    """Gradients that a function returns, and that its caller passes to the function of a weight update.

    Attributes:
        tape: the tape, seen from the function that computes the gradients.
        gradient: the call that computes them.
        update: the call that updates the weights in the same iteration.
    """

    tape: Tape
    gradient: Call
    update: Call


def lent_gradients(module: Module, updates: list[Call]) -> Iterator[LentGradients]:
    """The gradients of functions that nothing compiles, each with the first update that depends on them.

    Excludes tapes in a loop of their function, and those under another tape of the same iteration.
    """
    tapes = module.once(tapes_of)
    gradients = module.once(CallIndex).named(GRADIENT_TAPE_GRADIENT) if updates else []
    compiled = {call.node for call in gradients if call.path.traced_by()}
    for call in gradients:
        frame = call.path.frame
        tape = next((tape for tape in reversed(tapes.get(frame, [])) if tape.order < call.order), None)
        if call.node in compiled or tape is None or frame.function is None or frame.parent is None:
            continue
        loop = tape.path.innermost_loop(within="program")
        outer = (other for around in frame.parent.frames() for other in tapes.get(around, ()))
        if loop is None or loop.is_in(frame) or any(other.path.is_in(loop) for other in outer):
            continue
        update = next((update for update in updates if _depends_on(update, call)), None)
        if update is not None:
            yield LentGradients(Tape(tape, frame, tape.node, tape.path), call, update)


def is_part_of_steps(lent: LentGradients, steps: Iterable[Tape]) -> bool:
    """Whether one of these steps contains the function that computes the gradients."""
    outside = lent.tape.frame.parent
    regions = (tape.path.innermost_loop(within="function", comprehensions=False) or tape.frame for tape in steps)
    return outside is not None and any(map(outside.is_in, regions))


def _depends_on(update: Call, gradient: Call) -> bool:
    """Whether an update receives gradients from another function in the same iteration, judging by names."""
    own = gradient.path.frame
    around = list(update.path.frames())
    if update.order < gradient.order or own in around or own.parent is None:
        return False
    common = next((frame for frame in own.parent.frames() if frame in around), None)
    returned = _returned_to(common, gradient) if common is not None else None
    if common is None or returned is None:
        return False
    (node, path), (applied, there) = returned, seen_from(common, update)
    loop = path.innermost_loop(within="function")
    if loop is not there.innermost_loop(within="function") or not isinstance(applied, cst.Call):
        return False
    if not set(path.conditions(within=loop or common)) <= set(there.conditions(within=loop or common)):
        return False
    code = loop.node if loop is not None else common.function.node if common.function is not None else None
    if not isinstance(code, (cst.For, cst.While, cst.FunctionDef)):
        return False
    return any(value_reaches(path.module.tree, code.body, node, argument) for argument in applied.args)


def _returned_to(frame: ExecutionPath, call: Call) -> tuple[cst.CSTNode, ExecutionPath] | None:
    """The expression in an outer function that has the value of a call; None if a function between does not return it."""
    node, path = call.node, call.path
    while (inner := path.frame) is not frame:
        function = inner.function
        if function is None or inner.parent is None or not isinstance(function.node, cst.FunctionDef):
            return None
        tree, body = function.module.tree, function.node.body
        returns = (each.value for each in tree.descendants(body) if isinstance(each, cst.Return))
        if not any(value is not None and value_reaches(tree, body, node, value) for value in returns):
            return None
        node, path = inner.node, inner.parent
    return node, path
