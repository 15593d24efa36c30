"""Python loops around training steps, compiled or eager, and calls beside the steps."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    ExecutionPath,
)
from kerascheck.knowledge.classes import GRADIENT_TAPE_GRADIENT
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.games import environment_loop
from kerascheck.meaning.program.loops import SHORT_LOOP, most_iterations
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.tree import alike
from kerascheck.syntax.written import assignment


def compiled_training(module: Module) -> dict[ExecutionPath, Call]:
    """Python loops that run a compiled training step in each iteration, with the call that updates the weights."""
    found: dict[ExecutionPath, Call] = {}
    for update in () if module.once(Program).runs_eagerly else module.once(Program).updates:
        compiled = [frame for frame in update.path.frames() if frame.traced]
        outside = compiled[-1].parent if compiled and compiled[-1].traced == "tf.function" else None
        loop = outside.innermost_loop(within="program") if outside is not None else None
        # A loop inside the compiled code runs many steps per iteration.
        if loop is not None and update.path.innermost_loop(within="program") is loop:
            found.setdefault(loop, update)
    return found


def eager_training(module: Module) -> dict[ExecutionPath, Call]:
    """Python loops that train operation by operation, with the call that updates the weights.

    Excludes loops that act in a game or simulation, because they need a number in each iteration.
    """
    found: dict[ExecutionPath, Call] = {}
    for update in () if module.once(Program).runs_eagerly else module.once(Program).updates:
        loop = update.path.innermost_loop(within="program")
        if loop is not None and update.path.traced_by() is None and environment_loop(module, update.path) is None:
            found.setdefault(loop, update)
    return found


def calls_beside_training(
    module: Module, *, least: float = SHORT_LOOP, eager: bool = False
) -> Iterator[tuple[Call, ExecutionPath, Call]]:
    """Unconditional Python calls beside compiled training steps in a loop: the call, the loop, and the update.

    Each call site counts once.

    Args:
        least: skip loops with at most this many iterations in total.
        eager: include steps that are not compiled.
    """
    loops = (eager_training(module) if eager else {}) | compiled_training(module)
    # Skip code that another path compiles, since it is written for compilation.
    seen = {call.node for call in module.run.calls if call.path.traced_by()} if loops else set()
    for call in module.run.calls if loops else ():
        loop = call.path.innermost_loop(within="program")
        if (
            loop not in loops
            or call.node in seen
            or any(call.path.conditions(within=loop))
            or most_iterations(call.path) <= least
        ):
            continue
        seen.add(call.node)
        yield call, loop, loops[loop]


def rare_updates(module: Module) -> Iterator[tuple[Call, Call, ExecutionPath]]:
    """Weight updates that happen once in several iterations of a loop that computes gradients in each.

    Yields the update, the call that computes the gradients, and the condition.
    """
    gradients = module.once(CallIndex).named(GRADIENT_TAPE_GRADIENT)
    seen = set()
    for update in module.once(Program).updates:
        loop = update.path.innermost_loop(within="program", comprehensions=False)
        branch = counting_branch(update.path, loop) if loop is not None else None
        if loop is None or branch is None or update.node in seen:
            continue
        before = [call for call in gradients if call.path.is_in(loop) and call.order < update.order]
        taken = next((call for call in before if not any(call.path.conditions(within=loop))), None)
        # Gradients computed under the condition are applied there: another network, in every fifth iteration.
        if taken is not None and not any(call.path.is_in(branch) for call in before):
            seen.add(update.node)
            yield update, taken, branch


def counting_branch(path: ExecutionPath, loop: ExecutionPath) -> ExecutionPath | None:
    """The condition between a loop and a place in it that is true once in several iterations.

    It uses ``%``, or a counter that is incremented and reset.
    """
    for condition in path.conditions(within=loop):
        if isinstance(condition.node, cst.If):
            parts = condition.module.tree.descendants(condition.node.test)
            if any(isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Modulo) for node in parts):
                return condition
            if condition.label == "if" and (_sets_back(condition, loop) or _picks_turns(condition, loop)):
                return condition
    return None


def _picks_turns(branch: ExecutionPath, loop: ExecutionPath) -> bool:
    """``if epoch == 100 or epoch == 200:`` and ``if epoch in (1, 5, 50):`` for the counter of the loop."""
    names = (
        {node.value for node in loop.module.tree.descendants(loop.node.target) if isinstance(node, cst.Name)}
        if isinstance(loop.node, cst.For)
        else set()
    )
    pending, found = [branch.test], False
    while pending:
        test = pending.pop()
        if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or):
            pending += [test.left, test.right]
            continue
        if not isinstance(test, cst.Comparison) or not isinstance(test.left, cst.Name) or test.left.value not in names:
            return False
        operator, other = test.comparisons[0].operator, test.comparisons[0].comparator
        picked = (
            [element.value for element in other.elements]
            if isinstance(operator, cst.In) and isinstance(other, (cst.List, cst.Tuple, cst.Set))
            else [other]
            if isinstance(operator, cst.Equal)
            else []
        )
        if not picked or not all(isinstance(each, cst.Integer) for each in picked):
            return False
        found = True
    return found


def _sets_back(branch: ExecutionPath, loop: ExecutionPath) -> bool:
    """``if count == k: ...; count = 0`` in a loop that has ``count += 1``."""
    test = branch.test
    if (
        not isinstance(test, cst.Comparison)
        or not isinstance(test.left, cst.Name)
        or not isinstance(test.comparisons[0].operator, (cst.Equal, cst.GreaterThanEqual))
    ):
        return False
    tree = branch.module.tree
    counted = any(
        isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign) and alike(node.target, test.left)
        for node in tree.descendants(loop.node)
    )
    body = branch.node.body if isinstance(branch.node, cst.If) else None
    return counted and any(
        (assigned := assignment(node)) is not None
        and alike(assigned.targets[0], test.left)
        and isinstance(assigned.value, cst.Integer)
        for node in (tree.descendants(body) if body is not None else ())
    )
