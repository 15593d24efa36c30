"""Proofs about functions and sources: nothing else in the program changes their result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kerascheck.fixes import proofs
from kerascheck.fixes.dataset_proofs.objections import Objection, first_objection
from kerascheck.fixes.lines import line
from kerascheck.fixes.proofs import Proof
from kerascheck.interpreter.values import (
    Call,
    Dataset,
    DatasetOp,
    External,
    ExternalInstance,
    Function,
    Instance,
    Tensor,
    datasets_in,
)
from kerascheck.knowledge.callables import READ_FILE, VARIABLE_GET
from kerascheck.knowledge.datasets import (
    IN_MEMORY_SOURCES,
)
from kerascheck.knowledge.layers import LAYERS, Holds, holds
from kerascheck.knowledge.stateless import (
    IMMUTABLE_TABLES,
    is_stateless,
)
from kerascheck.knowledge.symbols import State
from kerascheck.meaning.data.captures import (
    Capture,
    doubtful_captures,
    has_plain_settings,
)
from kerascheck.meaning.data.mapped_functions import display_name, facts_of, state_of
from kerascheck.meaning.data.stages import COMBINING
from kerascheck.meaning.module import Module

PURE_DATASET_OPS = frozenset(
    "shuffle batch padded_batch repeat take skip cache prefetch with_options shard zip concatenate enumerate unbatch window".split()
)
"""Operations without a function that read only their input datasets."""
_STATES = {
    State.DRAWS: "draws random numbers",
    State.LOOKS_UP: "looks up a table that may change",
    State.READS: "reads variables, which the training may change",
    State.PRINTS: "prints",
    State.ASSIGNS: "changes what outlives the call",
    State.RUNS_PYTHON: "runs Python",
}


def pure_function(stages: Sequence[DatasetOp], *, may_read: bool = False) -> Proof:
    """PURE_FUNCTION: the functions of some operations share no state with the rest of the program.

    Args:
        stages: the operations.
        may_read: ignore files that they read, since tf.data itself reads them at the same time.
    """
    return proofs.PURE_FUNCTION.unless(first_objection(impurity(stage, may_read) for stage in stages))


def impurity(stage: DatasetOp, may_read: bool = False) -> Objection:
    """Return the state that the function of an operation shares with the program; ``may_read`` ignores files it reads."""
    facts = facts_of(stage)
    if facts is None:
        return None if stage.call is None or not _has_function(stage) else "its function is not visible"
    if (written := facts.written) is not None:
        return f"its function changes what outlives the call ({line(written.module, written.node)})"
    found = first_objection(_state(call) for call in facts.calls if not (may_read and call.name == READ_FILE))
    if found is None and not facts.known:
        found = "not all that its function does is visible"
    return found or first_objection(map(_captured, doubtful_captures(stage)))


def _captured(capture: Capture) -> Objection:
    where = line(capture.module, capture.node)
    if isinstance(capture.value, Dataset):
        return first_objection(map(unstable_source, lineage(capture.value.stage)))
    if isinstance(capture.value, External):
        return f"`{capture.text}` may keep state ({where})"
    text = f"`{capture.text}`" if capture.text else "its function"
    return f"{text} may be a variable, or hold one ({where})"


def _has_function(stage: DatasetOp) -> bool:
    return stage.name not in PURE_DATASET_OPS and not stage.is_source


def _state(call: Call) -> Objection:
    """Return the state that a call in a dataset function shares with the program; None if there is none."""
    name = call.name or ""
    where = line(call.module, call.node)
    if name == VARIABLE_GET:
        return f"`{call.module.tree.code_of(call.node)}` is a variable, which the training may change ({where})"
    found = state_of(call)
    if found is not None and not (found.state is State.LOOKS_UP and _is_immutable(call)):
        return f"`{display_name(found.name)}` {_STATES[found.state]} ({where})"
    if not name:
        # The calls include those that a called project object makes itself.
        followed = (
            isinstance(call.receiver, Instance) or call.attribute == "__call__" and isinstance(call.receiver, Function)
        )
        return None if followed or isinstance(call.receiver, Tensor) else f"what is called in {where} is not known"
    if name.endswith(".__call__") and isinstance(call.receiver, ExternalInstance):
        return (
            None
            if _layer_is_pure(name.removesuffix(".__call__")) and has_plain_settings(call.receiver)
            else f"`{display_name(name[:-9])}` may keep state ({where})"
        )
    if name == READ_FILE:
        return f"`{display_name(name)}` reads a file, which the program may change meanwhile ({where})"
    if name.endswith((".__setattr__", ".__set__", ".__iadd__")) or is_stateless(name) or found is not None:
        return None
    return (
        None
        if _makes_dataset(call) or _layer_is_pure(name)
        else f"`{display_name(name)}` is not known to be free of state ({where})"
    )


def _makes_dataset(call: Call) -> bool:
    return any(datasets_in(call.result))


def _is_immutable(call: Call) -> bool:
    receiver = call.receiver
    if not isinstance(receiver, ExternalInstance):
        return False
    return receiver.name in IMMUTABLE_TABLES or holds(receiver.name) is Holds.TABLE


def _layer_is_pure(name: str) -> bool:
    return name.startswith(LAYERS) and holds(name) in (Holds.NOTHING, Holds.TABLE)


def unchanged_sources(module: Module, stages: Iterable[DatasetOp]) -> Proof:
    """UNCHANGED_SOURCES: the inputs of some operations read nothing that the program may change meanwhile."""
    objections = (objection for stage in stages for each in lineage(stage) for objection in [unstable_source(each)])
    return proofs.UNCHANGED_SOURCES.unless(first_objection(objections))


def lineage(stage: DatasetOp) -> Iterator[DatasetOp]:
    """Yield an operation and all upstream ones, on every path."""
    pending, seen = [stage], set()
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            yield current
            pending += current.inputs


def unstable_source(stage: DatasetOp) -> Objection:
    where = line(stage.module, stage.node)
    if stage.is_source:
        if stage.name in IN_MEMORY_SOURCES:
            return None
        if stage.name.endswith("from_generator"):
            return f"the generator of {where} would run further ahead of the training"
        if stage.name == "parameter":
            return f"which dataset comes in {where} is not visible"
        return f"`{display_name(stage.name)}` reads files, which the program may change meanwhile ({where})"
    if stage.name == "cache" and stage.given("filename") is not None:
        return f"the cache of {where} is a file"
    if stage.facts is None and stage.name not in PURE_DATASET_OPS | COMBINING:
        return f"what `{stage.name}` reads in {where} is not visible"
    facts = facts_of(stage)
    # The function of an interleave creates datasets, whose sources count too.
    made = (
        dataset.stage for call in (facts.calls if facts is not None else ()) for dataset in datasets_in(call.result)
    )
    sources = (each for inner in made for each in lineage(inner) if each.is_source)
    found = first_objection(unstable_source(each) for each in sources)
    if found is not None:
        return found
    return impurity(stage)
