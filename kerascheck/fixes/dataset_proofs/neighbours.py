"""Proofs about two adjacent operations of a chain that swap."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.fixes import proofs
from kerascheck.fixes.dataset_proofs.objections import Objection, first_objection
from kerascheck.fixes.lines import line
from kerascheck.fixes.proofs import Proof
from kerascheck.fixes.temporaries import other_reader
from kerascheck.interpreter.values import (
    Call,
    DatasetOp,
)
from kerascheck.meaning.data.pipelines import Operation
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.written import last_name


def plain_calls(op: Operation, batch: DatasetOp) -> Proof:
    """PLAIN_CALL: no argument of the map or the batch changes its meaning in the other order."""
    extra = _extra_argument(op.call, {"map_func", "num_parallel_calls", "deterministic"}, 2) or _extra_argument(
        batch.call, {"batch_size", "drop_remainder", "num_parallel_calls", "deterministic"}, 2
    )
    return proofs.PLAIN_CALL.unless(extra)


def _extra_argument(call: Call | None, known: set[str], most: int) -> Objection:
    if call is None:
        return "a call is not visible"
    given = call.arguments
    if given.unknown_keywords or given.unknown_positional or len(given.positional) > most:
        return f"not all arguments of the call in {line(call.module, call.node)} are known"
    other = next((name for name in given.keywords if name not in known), None)
    if other is not None:
        return f"the call in {line(call.module, call.node)} has the argument `{other}`"
    tree = call.module.tree
    written = (node for arg in given.nodes.values() for node in _evaluated(tree, arg.value))
    acting = next((node for node in written if isinstance(node, _ACTS) and not _binds_arguments(node)), None)
    return (
        None if acting is None else f"the arguments in {line(call.module, acting)} would be evaluated in another order"
    )


_ACTS = (cst.Call, cst.Await, cst.Yield, cst.NamedExpr)


def _binds_arguments(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and last_name(node.func) == "partial"


def _evaluated(tree: Tree, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield an expression and its parts that run on evaluation; bodies of lambdas do not."""
    yield node
    for child in tree.children(node):
        if not isinstance(node, cst.Lambda):
            yield from _evaluated(tree, child)


def only_consumer(op: Operation, batch: DatasetOp) -> Proof:
    """ONLY_CONSUMER: only the batch consumes the result of the map."""
    return passed_on(*((stage, batch) for stage in op.stages))


def passed_on(*pairs: tuple[DatasetOp, DatasetOp]) -> Proof:
    """ONLY_CONSUMER: in each pair of operations, only the second consumes the result of the first."""
    return proofs.ONLY_CONSUMER.unless(first_objection(_also_used(*pair) for pair in pairs))


def _also_used(stage: DatasetOp, following: DatasetOp) -> Objection:
    """Return another possible consumer of an operation's dataset besides the following one; None if there is none."""
    call = following.node
    if stage.maybe or following.maybe or not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return "the operations are applied under conditions"
    made, receiver = stage.node, call.func.value
    if receiver is made:
        return None
    if (
        not isinstance(made, cst.BaseExpression)
        or not isinstance(receiver, cst.Name)
        or stage.module is not following.module
    ):
        return "the dataset between both operations may be used elsewhere"
    if any(isinstance(each, (cst.Try, cst.TryStar)) for each in stage.module.tree.ancestors(made)):
        return "an exception between both operations would leave another dataset"
    reader = other_reader(stage.module, made, receiver)
    if reader is None:
        return None
    return f"`{receiver.value}` is also used in {line(stage.module, reader)}"
