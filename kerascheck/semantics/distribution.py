"""Distribution strategies: where they are made, and what they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.semantics.training import SHORT_LOOP, is_guarded, turns
from kerascheck.semantics.values import Call, Function, Made, Scope, options_of

if TYPE_CHECKING:
    from kerascheck.semantics.module import Module

_SEVERAL = re.compile(r"num_replicas_in_sync|(?:logical|virtual)_device|cross_device_ops|nccl|multi_?gpu|num_gpus?\b|n_gpus?\b|len\(gpus\)|MultiWorker|TF_CONFIG", re.I)

# These hand a function on to the one place where everything runs anyway.
_SINGLE = ("get_strategy", "OneDeviceStrategy")


def eager_runs(module: Module) -> Iterator[tuple[Call, Scope]]:
    """``strategy.run(step)`` in a loop of Python that trains, with nothing compiled on the way or in ``step``: the call, and the innermost loop."""
    if module.is_graph_code or module.program.runs_eagerly:
        return
    runs = [
        call for call in module.run.calls
        if call.attribute in ("run", "experimental_run_v2") and call.name == f"tensorflow.distribute.Strategy.{call.attribute}"
    ]
    compiled = {call.node for call in runs if call.scope.traced_by()}
    seen = set()
    for call in runs:
        loop = next((loop for loop in call.scope.loops() if isinstance(loop.node, (cst.For, cst.While))), None)
        if loop is None or not any(outer.trains for outer in call.scope.loops()) or call.node in compiled or call.node in seen or turns(call.scope) <= SHORT_LOOP or _is_single(call):
            continue
        steps = options_of(call.argument(0, "fn"))
        if not all(isinstance(step, Function) and not step.traced and not step.opaque for step in steps):
            continue
        if any(frame.function is not None and (frame.function.opaque or frame.function.node in module.run.compiled) for frame in call.scope.frames()):
            continue
        seen.add(call.node)
        yield call, loop


def _is_single(call: Call) -> bool:
    return any(isinstance(option, Made) and option.name.endswith(_SINGLE) for option in options_of(call.receiver))


def unconditional_mirrors(module: Module) -> Iterator[Call]:
    """Calls of MirroredStrategy for whatever GPUs there are, under no condition, in a program that nowhere speaks of several."""
    if module.mentions(_SEVERAL):
        return
    for call in module.program.calls("tensorflow.distribute.MirroredStrategy", "tensorflow.distribute.experimental.MirroredStrategy"):
        if call.argument(0, "devices") is None and not is_guarded(call.scope):
            yield call
