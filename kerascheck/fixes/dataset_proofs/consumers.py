"""Proofs about consumers: all are visible, and none depends on the class of the dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import libcst as cst

from kerascheck.fixes import proofs
from kerascheck.fixes.dataset_proofs.objections import Objection, first_objection
from kerascheck.fixes.dataset_proofs.sources import (
    lineage,
)
from kerascheck.fixes.lines import line
from kerascheck.fixes.proofs import Proof
from kerascheck.interpreter.module import Module as InterpretedModule
from kerascheck.interpreter.values import (
    Call,
    Constant,
    DatasetOp,
    External,
    ExternalInstance,
    Function,
    ModuleLike,
    Value,
    datasets_in,
    options_of,
)
from kerascheck.knowledge.datasets import (
    OPTIONS,
)
from kerascheck.knowledge.namespaces import OF_DATA
from kerascheck.meaning.module import Module

_SHOWS = frozenset(f"builtins.{name}" for name in "print format str repr type isinstance id hash".split())


def downstream(module: Module, stage: DatasetOp) -> list[DatasetOp]:
    """Return an operation and all downstream ones, also outside the function of an ``interleave`` or ``flat_map``."""
    found: dict[DatasetOp, DatasetOp] = {}
    pending = [stage]
    while pending:
        current = pending.pop()
        if current.identity in found:
            continue
        found[current.identity] = current
        pending += module.pipelines.children(current)
        nested = (sink for sink in module.run.sinks if sink.role == "nested")
        pending += [sink.outer for sink in nested if sink.outer and sink.stage.identity is current.identity]
    return list(found.values())


def connected(module: Module, stage: DatasetOp) -> Iterator[DatasetOp]:
    yield from lineage(stage)
    yield from downstream(module, stage)


def unknown_options(module: Module, stage: DatasetOp) -> Objection:
    for each in connected(module, stage):
        if each.name != "with_options":
            continue
        options = options_of(each.given("options"))
        if not options or not all(map(_is_known_option, options)):
            return f"the options of {line(each.module, each.node)} are not known"
    return None


def _is_known_option(value: Value) -> bool:
    if isinstance(value, ExternalInstance):
        plain = value.name == OPTIONS or value.name.startswith(OF_DATA)
        return plain and all(map(_is_known_option, value.attributes.values()))
    return isinstance(value, (Constant, External))


def consumers(module: Module, stage: DatasetOp) -> Iterator[tuple[Any, str]]:
    reached = {each.identity for each in downstream(module, stage)}
    return ((sink, role) for sink, role in module.pipelines.sinks if sink.stage.identity in reached)


def known_consumers(module: Module, stages: Iterable[DatasetOp]) -> Proof:
    """KNOWN_CONSUMERS: every consumer of some datasets is visible, and none reveals their class, which the fix changes."""
    return proofs.KNOWN_CONSUMERS.unless(first_objection(_use_of(module, stage) for stage in stages))


def _use_of(module: Module, stage: DatasetOp) -> Objection:
    pipelines = module.pipelines
    for sink, role in consumers(module, stage):
        if role == "unknown" or sink.role == "escape":
            return f"what uses the dataset after {line(sink.module, sink.node)} is not visible"
    if "unknown" in pipelines.roles(stage):
        return "what uses the dataset is not visible"
    call = module.once(_shown).get(stage.identity)
    if call is not None:
        return f"`{(call.name or '').removeprefix('builtins.')}` looks at the dataset in {line(call.module, call.node)}"
    reader = stage.module.once(_class_reader)
    if reader is not None:
        return f"{line(stage.module, reader)} asks an object for its class"
    shown = next((node for node in _cell_outputs(module) if _may_show(module, node, stage)), None)
    return None if shown is None else f"the notebook shows it ({line(module, shown)})"


def _shown(module: InterpretedModule) -> dict[DatasetOp, Call]:
    """Return the datasets whose class a Python function reveals, each with the first such call."""
    found: dict[DatasetOp, Call] = {}
    for call in module.run.calls:
        if call.name in _SHOWS:
            for value in call.arguments.values():
                for dataset in datasets_in(value):
                    found.setdefault(dataset.stage.identity, call)
    return found


def _cell_outputs(module: Module) -> Iterator[cst.BaseExpression]:
    if module.source.cells is not None:
        found = (node.value for node in module.tree.parents if isinstance(node, cst.Expr))
        yield from (value for value in found if module.is_cell_output(value))


def _may_show(module: Module, output: cst.BaseExpression, stage: DatasetOp) -> bool:
    """Whether the output of a notebook cell may be the dataset of an operation, or contain it."""
    if isinstance(output, cst.Call):
        results = [call.result for call in module.run.calls if call.node is output]
        called = module.run.globals_of(module).get(output.func.value) if isinstance(output.func, cst.Name) else None
        returned = (module.run.returned.get(each.node) for each in options_of(called) if isinstance(each, Function))
        return output is stage.node or any(
            each.stage.node is stage.node for result in (*results, *returned) for each in datasets_in(result)
        )
    statement = module.tree.statement(stage.node) if stage.module is module else output
    targets = (each.target for each in module.tree.descendants(statement) if isinstance(each, cst.AssignTarget))
    assigned = {target.value for target in targets if isinstance(target, cst.Name)}
    named = {each.value for each in module.tree.descendants(output) if isinstance(each, cst.Name)}
    left = (module.run.globals_of(module).get(name) for name in named)
    return bool(named & assigned) or any(
        each.stage.identity is stage.identity for value in left for each in datasets_in(value)
    )


def _class_reader(module: ModuleLike) -> cst.CSTNode | None:
    """Return the first node of a module that reads an object's class or internals."""
    attributes = (node for node in module.tree.parents if isinstance(node, cst.Attribute))
    return next((node for node in attributes if node.attr.value in _OF_CLASS), None)


_OF_CLASS = frozenset("__class__ __repr__ __str__ __dict__ _input_dataset _inputs _variant_tensor _type_spec".split())
"""Attributes that reveal the operation that created a dataset."""
