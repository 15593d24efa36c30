"""Games and simulations in Python whose steps produce the data."""

from __future__ import annotations

from kerascheck.interpreter.code_location import receiver_text
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExecutionPath
from kerascheck.meaning.data.pipelines import Pipelines


def environment_loop(module: Module, path: ExecutionPath) -> ExecutionPath | None:
    """The innermost loop around a path or its callers whose iterations step a game or simulation in Python."""
    loops = list(path.loops(within="program", comprehensions=False))
    return next((loop for loop in loops if any(map(steps_environment, module.once(Pipelines).calls_in(loop)))), None)


def steps_environment(call: Call) -> bool:
    """Whether a call steps a game or simulation in Python, such as one of Gym."""
    return call.attribute == "step" and (
        call.name is None and "env" in receiver_text(call) or (call.name or "").startswith(("gym.", "gymnasium."))
    )
