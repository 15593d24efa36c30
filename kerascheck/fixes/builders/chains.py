"""Fixes that reorder the operations of a chain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import libcst as cst

from kerascheck.finding import Edit, Fix
from kerascheck.fixes import dataset_proofs
from kerascheck.fixes import proofs as obligations
from kerascheck.fixes.builders.datasets import autotune
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import Proof
from kerascheck.interpreter.values import DatasetOp
from kerascheck.meaning.data.order import Added, ReorderRequest, arrangement
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.module import Module
from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit, call_at
from kerascheck.syntax.tree import Tree


def rearranged(module: Module, wishes: Collection[ReorderRequest], message: str, *proofs: Proof) -> Fix | None:
    """Reorder a chain so that it satisfies all requests.

    Returns None if no order does, or if other code uses or creates parts of the chain.
    """
    plan = arrangement(module.once(Pipelines), wishes)
    if plan is None:
        return None
    changed = [
        place
        for place, stage in enumerate(plan.before)
        if stage is not [item for item in plan.after if isinstance(item, DatasetOp)][place]
    ]
    slots = _slots(plan.after)
    if slots is None:
        return None
    changed += [place for place, (_, added) in enumerate(slots) if added]
    if not changed:
        return None
    run = slice(min(changed), max(changed) + 1)
    stages, wanted = plan.before[run], slots[run]
    tree = stages[0].module.tree
    if any(
        stage.module is not stages[0].module or stage.maybe or not isinstance(stage.node, cst.Call) for stage in stages
    ):
        return None
    if len({stage.node for stage in stages}) < len(stages) or any(map(module.once(Pipelines).is_shared, stages[:-1])):
        return None

    def build() -> edits.Edits:
        texts = {shuffle: _scaled_buffer(shuffle, batch) for shuffle, batch in plan.scaled}
        links = [call_at(stage.node) for stage in stages]
        moved = _single_move(links, [call_at(stage.node) for stage, _ in wanted])
        if not any(added for _, added in wanted) and moved is not None:
            return _with_texts(tree, _moved(tree, *moved), texts)
        buffer, imports = (
            autotune(stages[0].module)
            if any(each.name == "prefetch" for _, added in wanted for each in added)
            else ("", ())
        )
        calls = {"cache": ".cache()", "prefetch": f".prefetch({buffer})"}
        placed = [
            edits.Slot(call_at(stage.node), texts.get(stage), tuple(calls[each.name] for each in added))
            for stage, added in wanted
        ]
        return (*imports, *edits.arrange_links(tree, links, placed))

    return offer(message, build, proofs)


def _slots(order: Iterable[DatasetOp | Added]) -> list[tuple[DatasetOp, list[Added]]] | None:
    """Return the operations of an order, each with those added behind it; None if one is added in front."""
    slots: list[tuple[DatasetOp, list[Added]]] = []
    for item in order:
        if isinstance(item, DatasetOp):
            slots.append((item, []))
        elif slots:
            slots[-1][1].append(item)
        else:
            return None
    return slots


def _single_move(
    before: Sequence[cst.Call], after: Sequence[cst.Call]
) -> tuple[cst.Call, cst.BaseExpression, cst.Call | None] | None:
    """Return the one link whose move yields the new order, the link it goes behind, and the link it swaps with, if any."""
    for call in (before[-1], before[0]):
        if [each for each in before if each is not call] == [each for each in after if each is not call]:
            place = next(index for index, each in enumerate(after) if each is call)
            behind = (
                after[place - 1]
                if place
                else before[0].func.value
                if isinstance(before[0].func, cst.Attribute)
                else None
            )
            return (call, behind, before[0] if len(before) == 2 else None) if behind is not None else None
    return None


def _moved(tree: Tree, call: cst.Call, behind: cst.BaseExpression, neighbour: cst.Call | None) -> edits.Edits:
    if neighbour is not None:
        try:
            return edits.swap_calls(tree, neighbour, call)
        except CannotEdit:
            pass
    return edits.move_call(tree, call, behind)


def _with_texts(tree: Tree, moved: edits.Edits, texts: dict[DatasetOp, str]) -> edits.Edits:
    """Return the same edits with new texts for some links."""
    for stage, new in texts.items():
        start, end = edits.link_range(tree, call_at(stage.node))
        old, moves = tree.text[start:end], any(edit.start < end and start < edit.end for edit in moved)
        if moves and sum(edit.content.count(old) for edit in moved) != 1:
            raise CannotEdit("the call does not move as a whole")
        if moves:
            moved = tuple(type(edit)(edit.start, edit.end, edit.content.replace(old, new)) for edit in moved)
        else:
            moved = tuple(sorted((*moved, Edit(start, end, new))))
    return moved


def _scaled_buffer(shuffle: DatasetOp, batch: DatasetOp) -> str:
    """Return the link of a shuffle of batches, with its buffer scaled to as many examples."""
    module = shuffle.module
    sizes = [
        written.value
        for stage, key in ((shuffle, "buffer_size"), (batch, "batch_size"))
        if stage.call is not None and (written := stage.call.written(key)) is not None
    ]
    if batch.module is not module or len(sizes) < 2:
        raise CannotEdit("sizes that are not written out")
    ranges = [module.tree.range_of(size) for size in sizes]
    buffer, examples = (module.text[slice(*each)] for each in ranges)
    if buffer.replace("_", "").isdigit() and examples.isdigit():
        product = str(int(buffer) * int(examples))
    elif all(isinstance(size, (cst.Name, cst.Attribute, cst.Integer)) for size in sizes):
        product = f"{buffer} * {examples}"
    else:
        raise CannotEdit("not a number or a name")
    start, end = edits.link_range(module.tree, call_at(shuffle.node))
    return module.text[start : ranges[0][0]] + product + module.text[ranges[0][1] : end]


def take_before_cache(module: Module, request: ReorderRequest, cache: DatasetOp, take: DatasetOp) -> Fix | None:
    """Move a take in front of the cache that it keeps from completing.

    Args:
        module: the module.
        request: the rule's request to reorder the chain of both.
        cache: the cache.
        take: the take.
    """
    passed = [each for each in take.upstream() if cache in each.upstream()]
    chain = [*reversed(passed)]
    return rearranged(
        module,
        [request],
        "Take before the cache",
        obligations.SAME_NAMES.unless(
            None if cache.given("filename") is None else "an earlier run may have completed the file"
        ),
        dataset_proofs.same_every_epoch(module, passed[1] if len(passed) > 1 else cache),
        dataset_proofs.passed_on(*zip(chain, chain[1:])),
        dataset_proofs.known_consumers(module, chain),
    )


def skip_before_map(module: Module, request: ReorderRequest) -> Fix | None:
    """Move a skip in front of the maps whose results it discards.

    Args:
        module: the module.
        request: the rule's request for the skip.
    """
    passed = [request.stage]
    while (before := passed[-1].input) is not None and before.name in ("map", "prefetch", "with_options"):
        passed.append(before)
    chain = passed[::-1]
    return rearranged(
        module,
        [request],
        "Skip before the map",
        dataset_proofs.pure_function(chain),
        dataset_proofs.same_order(module, chain),
        dataset_proofs.passed_on(*zip(chain, chain[1:])),
        dataset_proofs.known_consumers(module, chain),
    )
