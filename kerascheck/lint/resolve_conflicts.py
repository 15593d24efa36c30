"""Merges conflicting advice about one chain of dataset operations into one finding with one order for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.fixes.builders.chains import rearranged
from kerascheck.fixes.proofs import SAME_ORDER
from kerascheck.interpreter.values import DatasetOp
from kerascheck.meaning.data.order import CONFLICTING, Added, Arrangement, ReorderKind, arrangement

if TYPE_CHECKING:
    from kerascheck.catalog.registry import RuleSpec
    from kerascheck.catalog.rule import Diagnosis
    from kerascheck.finding import Severity
    from kerascheck.meaning.data.order import ReorderRequest
    from kerascheck.meaning.module import Module

    Asked = tuple[RuleSpec, Diagnosis]

_SHOWN = 20
"""Maximum characters of an argument in the suggested code; longer ones become an ellipsis."""


def resolve_conflicts(module: Module, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Sequence[Asked]]]:
    """Merge conflicting diagnoses about one chain into a single diagnosis.

    Args:
        asked: diagnoses with a reorder request, each with its rule.

    Yields:
        Each diagnosis to report, with the diagnoses that it replaces, if any.
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
            plan = arrangement(module.pipelines, [_request(each) for each in served])
            served = served if plan is not None else served[:-1]
        yield (_joined(module, served, plan), served) if plan is not None else (served[0], ())
        # Their fixes would undo the order of the merged finding.
        yield from (((spec, replace(diagnosis, fix=None)), ()) for spec, diagnosis in group[len(served) :])


def _related(first: Asked, others: Sequence[Asked]) -> list[Asked]:
    """Select the diagnoses about the chain of the first one."""
    found = [first]
    for other in others:
        if all(_on_one_line(_request(other).stage, _request(each).stage) for each in found):
            found.append(other)
    return found[1:]


def _conflict(module: Module, group: Sequence[Asked]) -> bool:
    """Whether requests for one chain may undo each other or move the last operation."""
    requests = [_request(each) for each in group]
    moves = [request for request in requests if request.kind in CONFLICTING]
    if len(moves) != 1 or len(requests) == 1:
        return len(moves) > 1
    plan = arrangement(module.pipelines, moves)
    return plan is not None and [item for item in plan.after if isinstance(item, DatasetOp)][-1] is not plan.before[-1]


def _on_one_line(one: DatasetOp, other: DatasetOp) -> bool:
    return any(stage.identity is other.identity for stage in one.upstream()) or any(
        stage.identity is one.identity for stage in other.upstream()
    )


def _request(asked: Asked) -> ReorderRequest:
    request = asked[1].reorder
    assert request is not None, "only diagnoses with a request get here"
    return request


def _weight(asked: Asked) -> tuple[Severity, bool, int]:
    spec, diagnosis = asked
    return diagnosis.severity, _request(asked).kind in CONFLICTING, -int(spec.code[2:])


def _joined(module: Module, group: Sequence[Asked], plan: Arrangement) -> Asked:
    spec, first = group[0]
    diagnoses = [(each.code, diagnosis) for each, diagnosis in group]
    requests = [_request(each) for each in group]
    uncached = (
        arrangement(module.pipelines, [request for request in requests if request.kind is not ReorderKind.ADD_CACHE])
        if any(request.kind is ReorderKind.ADD_CACHE for request in requests)
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
            requests,
            "Put the operations of the chain in order",
            SAME_ORDER.unless("the elements come in another order"),
        ),
        related=tuple(dict.fromkeys((*first.related, *((diagnosis.at, code) for code, diagnosis in diagnoses[1:])))),
        pedantic=all(diagnosis.pedantic for _, diagnosis in diagnoses),
        tally=None,
    )
    return spec, joined


def _recipe(plan: Arrangement) -> str:
    """The part of the chain that changes, as code in its new order."""
    places = [
        place for place, item in enumerate(plan.after) if place >= len(plan.before) or item is not plan.before[place]
    ]
    start = max(min(places, default=0) - 1, 0)
    scaled = {shuffle for shuffle, _ in plan.scaled}
    return "".join(
        f".{item.name}({_argument(item, item in scaled)})" for item in plan.after[start : max(places, default=0) + 1]
    )


def _argument(item: DatasetOp | Added, is_scaled: bool) -> str:
    """The argument of an operation in the suggested code; an ellipsis if it is long."""
    if isinstance(item, Added):
        return "" if item.name == "cache" else "..."
    arguments = item.node.args if isinstance(item.node, cst.Call) else ()
    if not arguments or is_scaled:
        return "..." if is_scaled else ""
    text = item.module.tree.code_of(arguments[0]).strip().rstrip(",")
    return text if len(text) <= _SHOWN and "\n" not in text else "..."
