"""Fixes that run dataset operations in parallel, ahead of the training, or on whole batches."""

from __future__ import annotations

import libcst as cst

from kerascheck.finding import Fix
from kerascheck.fixes import dataset_proofs
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import RAISES_NOW, RUNTIME_DOES_IT, SAME_ORDER
from kerascheck.fixes.run_proofs import possible_handler
from kerascheck.interpreter.values import (
    Call,
    DatasetOp,
    DictValue,
    ExternalInstance,
    Function,
    ModuleLike,
    options_of,
)
from kerascheck.knowledge.callables import IO_FIXED_LEN_FEATURE, IO_PARSE_EXAMPLE
from kerascheck.knowledge.datasets import AUTOTUNE
from kerascheck.meaning.data.pipelines import Operation
from kerascheck.meaning.module import Module
from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit, call_at


def autotune(module: ModuleLike) -> tuple[str, edits.Edits]:
    """Return the spelling of ``tf.data.AUTOTUNE`` in a module, and the edits of its import."""
    text, imports = edits.spelling(module.tree, AUTOTUNE)
    if text.endswith("data.AUTOTUNE") and "experimental" in module.runtime.autotune:
        text = text.removesuffix("AUTOTUNE") + "experimental.AUTOTUNE"
    return text, imports


def _autotuned(op: Operation, keyword: str) -> edits.Edits:
    """Set an argument to AUTOTUNE, or add it."""
    text, imports = autotune(op.module)
    written = op.call.written(keyword) if op.call is not None else None
    if written is not None:
        return (*imports, *edits.set_argument_value(op.module.tree, written, text))
    return (*imports, *edits.add_keyword(op.module.tree, call_at(op.node), keyword, text))


def parallel_calls(module: Module, op: Operation) -> Fix | None:
    """Give an operation ``num_parallel_calls=tf.data.AUTOTUNE``.

    Returns None if its function has side effects, whose order then matters.

    Args:
        module: the linted module, whose run has the operation.
        op: the operation.
    """
    if op.facts.written is not None:
        return None
    ends = [end for stage in op.stages for end in dataset_proofs.ends_of(module, stage)]
    anyway = dataset_proofs.objection_to_runtime_parallelism(module, op) is None
    if anyway:
        ahead = [RUNTIME_DOES_IT.unless(None)]
    elif op.name == "interleave":
        # It opens three times as many files as its cycle length, long before it reads them.
        ahead = [dataset_proofs.unchanged_sources(module, op.stages)]
    else:
        ahead = dataset_proofs.ahead(module, ends, op.stages)
    return offer(
        f"Add num_parallel_calls={op.module.runtime.autotune}",
        lambda: _autotuned(op, "num_parallel_calls"),
        [
            dataset_proofs.pure_function(op.stages, may_read=anyway),
            dataset_proofs.same_order(module, op.stages),
            *ahead,
            dataset_proofs.known_consumers(module, op.stages),
        ],
    )


def parallel_reads(op: Operation) -> Fix | None:
    """Give a source ``num_parallel_reads=tf.data.AUTOTUNE``; unsafe, because it interleaves the records of the files."""
    return offer(
        f"Add num_parallel_reads={op.module.runtime.autotune}",
        lambda: _autotuned(op, "num_parallel_reads"),
        [SAME_ORDER.unless("the records of several files are then mixed")],
    )


def append_prefetch(module: Module, last: DatasetOp) -> Fix | None:
    """Append a prefetch to a dataset.

    Args:
        module: the linted module, whose run has the dataset.
        last: its last operation.
    """
    tree = last.module.tree

    def build() -> edits.Edits:
        if not isinstance(last.node, cst.Call):
            raise CannotEdit("no expression")
        text, imports = autotune(last.module)
        return (*imports, *edits.append_method(tree, last.node, f".prefetch({text})"))

    return offer(
        f"Append .prefetch({last.module.runtime.autotune})",
        build,
        [*dataset_proofs.ahead(module, [last], [last]), dataset_proofs.known_consumers(module, [last])],
    )


def move_prefetch(module: Module, prefetch: DatasetOp, last: DatasetOp) -> Fix | None:
    """Move a prefetch behind the last operation of its dataset."""

    def build() -> edits.Edits:
        if not isinstance(last.node, cst.BaseExpression):
            raise CannotEdit("no expression")
        return edits.move_call(last.module.tree, call_at(prefetch.node), last.node)

    return offer(
        "Move the prefetch to the end",
        build,
        [
            dataset_proofs.same_memory(prefetch, last),
            *dataset_proofs.ahead(module, [last], [last]),
            dataset_proofs.known_consumers(module, [prefetch, last]),
        ],
    )


def swap_with_batch(module: Module, op: Operation, batch: DatasetOp) -> Fix | None:
    """Move a map behind the batch that directly follows it; unsafe if the shape of the elements matters."""
    if batch.module is not op.module or not any(
        batch.input is not None and batch.input.node is stage.node for stage in op.stages
    ):
        return None
    return offer(
        "Batch first, then map",
        lambda: edits.swap_calls(op.module.tree, call_at(op.node), call_at(batch.node)),
        [
            dataset_proofs.batch_like_elements(op),
            dataset_proofs.static_shape(op),
            dataset_proofs.only_consumer(op, batch),
            dataset_proofs.plain_calls(op, batch),
            dataset_proofs.known_consumers(module, [*op.stages, batch]),
        ],
    )


def parse_batches(program: Module, op: Operation, batch: DatasetOp, parse: Call) -> Fix | None:
    """Batch serialized records and parse them with tf.io.parse_example.

    Args:
        program: the linted module, whose run has the dataset.
        op: the map.
        batch: the batch that follows.
        parse: the call that parses one record.
    """
    module = op.module
    function = next((option for option in options_of(op.stages[0].function) if isinstance(option, Function)), None)
    if function is None or parse.module is not module or function.module is not module or batch.module is not module:
        return None
    if not any(batch.input is not None and batch.input.node is stage.node for stage in op.stages):
        return None
    body = function.node.body
    if isinstance(function.node, cst.FunctionDef):
        # The function must do nothing else, and have no other caller.
        if module.name_counts[function.name] != 2 or not _returns_only(function.node, parse.node):
            return None
    elif body is not parse.node:
        return None
    if not _parses_fixed_features(parse):
        return None

    def build() -> edits.Edits:
        text, imports = edits.spelling(module.tree, IO_PARSE_EXAMPLE)
        swapped = edits.swap_calls(module.tree, call_at(op.node), call_at(batch.node))
        if isinstance(function.node, cst.Lambda):
            # The lambda moves with its map, so the moved text renames it.
            return (*imports, *_renamed_inside(module, swapped, call_at(parse.node).func, text))
        return (*imports, *swapped, *edits.rename_callee(module.tree, call_at(parse.node), text))

    return offer(
        "Batch the records and parse them with tf.io.parse_example",
        build,
        [
            dataset_proofs.parses_batches(program, op, parse),
            dataset_proofs.records_of_one_shape(op, parse),
            dataset_proofs.only_caller(program, function),
            dataset_proofs.only_consumer(op, batch),
            dataset_proofs.plain_calls(op, batch),
            dataset_proofs.known_consumers(program, [*op.stages, batch]),
        ],
    )


def _parses_fixed_features(parse: Call) -> bool:
    """Whether a call parses one record of fixed-length features, without further arguments."""
    # There are as many example names as records.
    if set(parse.arguments.keywords) - {"serialized", "features"} or len(parse.arguments.positional) > 2:
        return False
    spec = parse.given("features")
    kinds = (
        [item.name for item in spec.items.values() if isinstance(item, ExternalInstance)]
        if isinstance(spec, DictValue)
        else []
    )
    return bool(kinds) and all(kind == IO_FIXED_LEN_FEATURE for kind in kinds)


def _returns_only(function: cst.FunctionDef, expression: cst.CSTNode) -> bool:
    statements = [
        small
        for line in function.body.body
        for small in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
        if not (isinstance(small, cst.Expr) and isinstance(small.value, cst.BaseString))
    ]
    last = statements[-1] if statements else None
    return (
        isinstance(last, cst.Return)
        and last.value is expression
        and all(isinstance(s, cst.Assign) for s in statements[:-1])
    )


def _renamed_inside(module: ModuleLike, swapped: edits.Edits, callee: cst.CSTNode, text: str) -> edits.Edits:
    old = module.text[slice(*module.tree.range_of(callee))]
    renamed, count = [], 0
    for edit in swapped:
        count += edit.content.count(old + "(")
        renamed.append(type(edit)(edit.start, edit.end, edit.content.replace(old + "(", text + "(")))
    if count != 1:
        raise CannotEdit("the call does not move as a whole")
    return tuple(renamed)


def pass_dataset(call: Call, node: cst.CSTNode, method: str, refused: bool) -> Fix | None:
    """Turn ``model.fit(dataset.method())`` into ``model.fit(dataset)``; None for other forms.

    Args:
        call: the call that receives the data.
        node: the argument.
        method: the method.
        refused: whether the call raises for the result of the method.
    """
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.func.attr.value != method:
        return None
    module = call.module
    start, end = module.tree.range_of(node.func.value)
    return offer(
        f"Remove .{method}()",
        lambda: edits.replace(module.tree, node, module.text[start:end]),
        [
            RAISES_NOW.unless(possible_handler(call))
            if refused
            else RAISES_NOW.unless("Keras 2 takes the iterator, and ends the training with it")
        ],
    )
