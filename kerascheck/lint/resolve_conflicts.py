"""Conflicting advice about one chain of dataset operations becomes one finding, with one order that serves all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.fixes.builders.chains import rearranged
from kerascheck.fixes.proofs import SAME_ORDER
from kerascheck.interpreter.values import DatasetOp
from kerascheck.meaning.data.order import CONFLICTING, Added, Arrangement, WishKind, arrangement

if TYPE_CHECKING:
    from kerascheck.catalog.registry import Room
    from kerascheck.catalog.rule import Diagnosis
    from kerascheck.finding import Severity
    from kerascheck.meaning.data.order import Wish
    from kerascheck.meaning.module import Module

    Asked = tuple[Room, Diagnosis]

_SHOWN = 20
"""Characters of an argument that the recipe repeats."""


def settled(module: Module, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Sequence[Asked]]]:
    """Of what rules ask of chains: each by itself, or in place of several about one chain one that joins them, with those.

    Args:
        asked: diagnoses with a wish, each with the room of its rule.
    """
    pending = list(asked)
    while pending:
        group = [pending.pop(0)]
        for other in _related(group[0], pending):
            group.append(other)
            pending.remove(other)
        if not _conflict(module, group):
            yield from ((each, ()) for each in group)
            continue
        group.sort(key=_weight, reverse=True)
        served, plan = group, None
        while len(served) > 1 and plan is None:
            plan = arrangement(module.pipelines, [_wish(each) for each in served])
            served = served if plan is not None else served[:-1]
        yield (_joined(module, served, plan), served) if plan is not None else (served[0], ())
        # What does not go with the others waits until they are served.
        yield from (((room, replace(diagnosis, fix=None)), ()) for room, diagnosis in group[len(served) :])


def _related(first: Asked, others: Sequence[Asked]) -> list[Asked]:
    """Those that are about operations of one chain with the first, and with each other."""
    found = [first]
    for other in others:
        if all(_on_one_line(_wish(other).stage, _wish(each).stage) for each in found):
            found.append(other)
    return found[1:]


def _conflict(module: Module, group: Sequence[Asked]) -> bool:
    """Whether what is asked of the order of one chain may undo each other, or moves the end that something is asked for."""
    wishes = [_wish(each) for each in group]
    moves = [wish for wish in wishes if wish.kind in CONFLICTING]
    if len(moves) != 1 or len(wishes) == 1:
        return len(moves) > 1
    plan = arrangement(module.pipelines, moves)
    return plan is not None and [item for item in plan.after if isinstance(item, DatasetOp)][-1] is not plan.before[-1]


def _on_one_line(one: DatasetOp, other: DatasetOp) -> bool:
    return any(stage.identity is other.identity for stage in one.upstream()) or any(
        stage.identity is one.identity for stage in other.upstream()
    )


def _wish(asked: Asked) -> Wish:
    wish = asked[1].wish
    assert wish is not None, "only what wishes something is settled"
    return wish


def _weight(asked: Asked) -> tuple[Severity, bool, int]:
    room, diagnosis = asked
    return diagnosis.severity, _wish(asked).kind in CONFLICTING, -int(room.code[2:])


def _joined(module: Module, group: Sequence[Asked], plan: Arrangement) -> Asked:
    room, first = group[0]
    diagnoses = [(each.code, diagnosis) for each, diagnosis in group]
    wishes = [_wish(each) for each in group]
    uncached = (
        arrangement(module.pipelines, [wish for wish in wishes if wish.kind is not WishKind.ADD_CACHE])
        if any(wish.kind is WishKind.ADD_CACHE for wish in wishes)
        else None
    )
    joined = replace(
        first,
        message=f"The operations of this chain are out of order; write {_recipe(plan)}.",
        because=" ".join(
            f"{diagnosis.message.partition(';')[0].rstrip('.')} ({code})." for code, diagnosis in diagnoses
        )
        + (f" Where memory is too small for the cache, write {_recipe(uncached)}." if uncached is not None else ""),
        fix=rearranged(
            module,
            wishes,
            "Put the operations of the chain in order",
            SAME_ORDER.unless("the elements come in another order"),
        ),
        related=tuple(dict.fromkeys((*first.related, *((diagnosis.at, code) for code, diagnosis in diagnoses[1:])))),
        pedantic=all(diagnosis.pedantic for _, diagnosis in diagnoses),
    )
    return room, joined


def _recipe(plan: Arrangement) -> str:
    """The part of the chain that changes, in its new order, as it could be written."""
    places = [
        place for place, item in enumerate(plan.after) if place >= len(plan.before) or item is not plan.before[place]
    ]
    start = max(min(places, default=0) - 1, 0)
    scaled = {shuffle for shuffle, _ in plan.scaled}
    return "".join(
        f".{item.name}({_argument(item, item in scaled)})" for item in plan.after[start : max(places, default=0) + 1]
    )


def _argument(item: DatasetOp | Added, is_scaled: bool) -> str:
    """What stands in the brackets of an operation, where that is short."""
    if isinstance(item, Added):
        return "" if item.name == "cache" else "..."
    arguments = item.node.args if isinstance(item.node, cst.Call) else ()
    if not arguments or is_scaled:
        return "..." if is_scaled else ""
    text = item.module.tree.code_of(arguments[0]).strip().rstrip(",")
    return text if len(text) <= _SHOWN and "\n" not in text else "..."
