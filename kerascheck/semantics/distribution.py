"""Distribution strategies: where they are made, and what they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.semantics.repetition import constructor
from kerascheck.semantics.training import SHORT_LOOP, happens_before, is_guarded, turns
from kerascheck.semantics.values import Call, Function, Made, Scope, Value, options_of

if TYPE_CHECKING:
    from kerascheck.semantics.module import Module

_SEVERAL = re.compile(r"num_replicas_in_sync|(?:logical|virtual)_device|cross_device_ops|nccl|multi_?gpu|num_gpus?\b|n_gpus?\b|len\(gpus\)|MultiWorker|TF_CONFIG", re.I)

# These hand a function on to the one place where everything runs anyway.
_SINGLE = ("get_strategy", "OneDeviceStrategy")
_SEVERAL_DEVICES = ("MirroredStrategy", "TPUStrategy")
_OTHER_WAYS = re.compile(r"experimental_set_strategy|__enter__|enter_context|parameter_server", re.I)


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


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A model that is trained beside a strategy: made outside of every scope, although a strategy was there.

    Attributes:
        strategy, made, fit: the calls that made the strategy and the model, and the one that trains it.
        compiled_inside: a ``compile`` of the model in a scope; None where there is none.
    """

    strategy: Call
    made: Call
    fit: Call
    compiled_inside: Call | None


def unplaced_models(module: Module) -> Iterator[Unplaced]:
    """Fitted models that no scope of a strategy holds, in a program that makes strategies for several devices, and uses them for no other model."""
    made = [
        call for call in module.run.calls
        if (call.name or "").startswith("tensorflow.distribute.") and (call.name or "").endswith(_SEVERAL_DEVICES)
    ]
    if not made or module.is_graph_code or module.mentions(_OTHER_WAYS):
        return
    found: dict[cst.CSTNode, Unplaced] = {}
    for fit in module.program.model_calls("fit"):
        for option in options_of(fit.receiver):
            model = constructor(module, option)
            strategy = next((call for call in made if model is not None and happens_before(call, model)), None)
            if strategy is None or _may_be_placed(model.scope) or _may_be_placed(fit.scope):
                return
            compiled = [call for call in module.program.model_calls("compile") if any(other is option for other in options_of(call.receiver))]
            inside = next((call for call in compiled if _is_placed(call.scope)), None)
            if inside is None and any(_may_be_placed(call.scope) for call in compiled):
                return
            found.setdefault(model.node, Unplaced(strategy, model, fit, inside))
    yield from found.values()


def _may_be_placed(scope: Scope) -> bool:
    """Whether a place is in the scope of a strategy, or of something that may be one."""
    return any(each.kind == "with" and any(map(_may_be_scope, options_of(each.value))) for each in scope.chain())


def _may_be_scope(value: Value) -> bool:
    return _is_scope(value) or not (isinstance(value, Made) and value.name.startswith(("tensorflow.", "keras.", "builtins.")))


def _is_placed(scope: Scope) -> bool:
    return any(each.kind == "with" and all(map(_is_scope, options_of(each.value))) for each in scope.chain())


def _is_scope(value: Value) -> bool:
    return isinstance(value, Made) and value.name == "tensorflow.distribute.Strategy.scope"
