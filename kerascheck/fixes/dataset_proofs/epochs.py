"""Proofs about caches and buffers: the same elements in every epoch, and no more memory."""

from __future__ import annotations

from kerascheck.fixes import proofs
from kerascheck.fixes.dataset_proofs.objections import Objection, first_objection
from kerascheck.fixes.dataset_proofs.sources import (
    lineage,
    unstable_source,
)
from kerascheck.fixes.lines import line
from kerascheck.fixes.proofs import Proof
from kerascheck.interpreter.values import (
    DatasetOp,
    External,
    constant,
)
from kerascheck.meaning.data.epochs import is_reshuffled
from kerascheck.meaning.data.mapped_functions import display_name
from kerascheck.meaning.data.stages import COMBINING
from kerascheck.meaning.module import Module


def same_every_epoch(module: Module, stage: DatasetOp) -> Proof:
    """SAME_EVERY_EPOCH: the input of an operation yields the same elements in the same order in every epoch."""
    return proofs.SAME_EVERY_EPOCH.unless(first_objection(map(_varies, lineage(stage))))


def _varies(stage: DatasetOp) -> Objection:
    if is_reshuffled(stage) or stage.name == "shuffle" and stage.given("seed") is None:
        return f"`{display_name(stage.name)}` gives another order in each epoch ({line(stage.module, stage.node)})"
    if stage.name in COMBINING - {"zip", "concatenate"}:
        return f"`{stage.name}` draws in each epoch ({line(stage.module, stage.node)})"
    if stage.name.endswith("from_generator"):
        return f"the generator of {line(stage.module, stage.node)} may give others in each epoch"
    return unstable_source(stage)


def same_memory(prefetch: DatasetOp, last: DatasetOp) -> Proof:
    """SAME_MEMORY: a prefetch buffers no more behind the operations up to ``last`` than at its current place."""
    size = prefetch.given("buffer_size")
    if isinstance(size, External) and size.name.endswith("AUTOTUNE") or constant(size) == -1:
        return proofs.SAME_MEMORY.unless(None)
    passed = [each for each in last.upstream() if prefetch in each.upstream() and each is not prefetch]
    larger = next((each for each in passed if each.name not in _KEEPS_SIZE), None)
    return proofs.SAME_MEMORY.unless(
        None
        if larger is None
        else f"the buffer then holds what `{larger.name}` makes ({line(larger.module, larger.node)})"
    )


_KEEPS_SIZE = frozenset("shuffle repeat take skip cache prefetch shard with_options".split())
