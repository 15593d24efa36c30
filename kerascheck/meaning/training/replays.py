"""Loops over the transitions that an agent has stored in its memory."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import ExecutionPath, datasets_in
from kerascheck.knowledge.name_heuristics import NEXT_STATE
from kerascheck.meaning.data.games import steps_environment
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.syntax.written import assignment

_LEAST_PARTS = 3  # names of a transition: a state, what follows it, and an action or a reward


def is_replay(module: Module, loop: ExecutionPath) -> bool:
    """Whether each iteration unpacks a stored transition, judging by the name of its next state.

    Matches ``for state, action, reward, next_state, done in batch`` and ``state, action, next_state = batch[i]``. A loop
    that steps an environment gets its transitions one by one, so it is no replay. The elements of a dataset may be
    batches.
    """
    return (
        isinstance(loop.node, cst.For)
        and next(datasets_in(loop.value), None) is None
        and any(len(names) >= _LEAST_PARTS and any(map(NEXT_STATE.search, names)) for names in _unpacked(loop))
        and not any(map(steps_environment, module.once(Pipelines).calls_in(loop)))
    )


def _unpacked(loop: ExecutionPath) -> Iterator[list[str]]:
    """The names that the target of a loop, and each assignment of stored data in it, unpack."""
    if not isinstance(loop.node, cst.For):
        return
    tree = loop.module.tree
    targets: list[cst.CSTNode] = [loop.node.target]
    for node in tree.descendants(loop.node.body):
        assigned = assignment(node)
        if assigned is not None and isinstance(assigned.value, (cst.Name, cst.Subscript)):
            targets += [target for target in assigned.targets if isinstance(target, cst.Tuple)]
    for target in targets:
        yield [node.value for node in tree.descendants(target) if isinstance(node, cst.Name)]
