"""Facts about a line on which no rule looked at anything, as sentences for its author."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.interpreter.values import UNKNOWN, Call, DatasetOp, External, Method, ModuleLike, Value, holds_tensor
from kerascheck.knowledge.callables import TENSOR_LIBRARIES
from kerascheck.knowledge.classes import GRADIENT_TAPE
from kerascheck.lint.analyze_file import lines_of
from kerascheck.meaning.data.stages import is_cut_short
from kerascheck.meaning.graph.traced_code import compiled_by
from kerascheck.syntax.written import bindings_of_name

if TYPE_CHECKING:
    from kerascheck.meaning.module import Module

_MODEL_METHODS = frozenset(
    "compile fit evaluate predict train_on_batch test_on_batch predict_on_batch fit_generator".split()
)
_HOST = "numpy."
_ROLES = {
    "train": "training", "validation": "validation", "evaluate": "evaluation", "predict": "prediction",
    "adapt": "adapting a layer", "inspect": "a look at some elements", "side": "debugging or a benchmark",
}  # fmt: skip


def facts_of_line(module: Module, line: int) -> Iterator[str]:
    """What is known of the dataset operations and the calls of a line, each call site once."""
    stages: dict[cst.CSTNode, list[DatasetOp]] = {}
    for stage in module.run.stages:
        if stage.module is module and line in lines_of(stage):
            stages.setdefault(stage.node, []).append(stage)
    for found in stages.values():
        yield from _about_stages(module, found)
    calls: dict[cst.CSTNode, Call] = {}
    for call in module.run.calls:
        if call.module is module and call.node not in stages and line in lines_of(call):
            calls.setdefault(call.node, call)
    for call in calls.values():
        yield from dict.fromkeys(_about_call(module, call))
    for node, function in module.run.functions.items():
        if function.traced and function.module is module and isinstance(node, cst.FunctionDef):
            if any(_line(module, decorator) == line for decorator in node.decorators):
                yield f"`{function.name}` is compiled ({function.traced})."
    if not stages and not calls and any(_line(module, node) == line for node in _calls_written(module)):
        yield "No path that kerascheck follows reaches this line."


def _calls_written(module: Module) -> Iterator[cst.CSTNode]:
    return (node for node in module.tree.parents if isinstance(node, cst.Call))


def _about_stages(module: Module, stages: list[DatasetOp]) -> Iterator[str]:
    what = f"`{stages[0].name.rpartition('.')[2]}`"
    roles = sorted(frozenset().union(*map(module.pipelines.roles, stages)))
    uses = [_ROLES[role] for role in roles if role in _ROLES]
    if all(map(is_cut_short, stages)):
        yield f"{what} gets a handful of elements, which a literal limits."
    elif uses:
        yield f"{what} is part of a dataset for {' and '.join(uses)}."
    elif roles:
        yield f"{what} is part of a dataset whose use is not seen."
    else:
        yield f"{what} is part of a dataset that nothing consumes."
    call = stages[0].call
    if call is not None:
        yield from dict.fromkeys(_unknown_arguments(module, call, what))


def _about_call(module: Module, call: Call) -> Iterator[str]:
    what = f"`{call.attribute or (call.name or '').rpartition('.')[2]}`"
    if call.attribute in _MODEL_METHODS:
        if not module.program.is_model_call(call):
            yield f"{what} is not known to be a method of a Keras model: the value of {_receiver(module, call)} is unknown."
            return
        yield from _unknown_arguments(module, call, what)
    elif call.attribute not in ("numpy", "run") and not (call.name or "").startswith((_HOST, GRADIENT_TAPE)):
        return
    how = compiled_by(call.path)
    loop = call.path.innermost_loop(within="program")
    if how is not None:
        yield f"{what} is in code that is compiled ({how})."
        if (call.name or "").startswith(_HOST) and not any(map(holds_tensor, call.arguments.values())):
            yield f"{what} is not seen to get a tensor."
    elif loop is None:
        yield f"{what} runs outside of all loops, as plain Python."
    else:
        yield f"{what} runs in the loop of line {_line(loop.module, loop.node)}, as plain Python."
    conditions = call.path.conditions(within=loop if loop is not None else "program")
    asked = next((condition.question for condition in conditions if condition.question), None)
    if asked is not None:
        yield f"{what} runs only in one branch of `if {asked}`."


def _receiver(module: Module, call: Call) -> str:
    function = call.node.func if isinstance(call.node, cst.Call) else None
    held = function.value if isinstance(function, cst.Attribute) else None
    return f"`{module.tree.code_of(held)}`{_origin(module, held)}" if held is not None else "its receiver"


def _unknown_arguments(module: Module, call: Call, what: str) -> Iterator[str]:
    for argument in call.node.args if isinstance(call.node, cst.Call) else ():
        key = argument.keyword.value if argument.keyword is not None else None
        if key is None and argument.star:
            yield f"{what} spreads `{module.tree.code_of(argument.value)}`, whose items may be unknown."
            continue
        position = call.node.args.index(argument) if isinstance(call.node, cst.Call) else 0
        value = call.arguments.get(None if key else position, key)
        if _is_unknown(value):
            written = module.tree.code_of(argument.value)
            yield f"{what} gets `{written}`, whose value is unknown{_origin(module, argument.value)}."


def _is_unknown(value: Value | None) -> bool:
    """Whether nothing is known of a value, or only the library that it comes from."""
    if isinstance(value, Method):
        # An attribute of an unknown object may be anything.
        return True
    return value is UNKNOWN or isinstance(value, External) and not value.name.startswith((*TENSOR_LIBRARIES, "numpy."))


def _origin(module: Module, node: cst.CSTNode | None) -> str:
    """Where an unknown name is bound, as a suffix; empty for other expressions."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    bound = bindings_of_name(module.tree, node.value) if isinstance(node, cst.Name) else []
    if not bound:
        return ""
    kinds = {type(module.tree.parents.get(each)) for each in bound}
    kind = "a parameter in" if kinds == {cst.Param} else "imported in" if kinds == {cst.ImportAlias} else "bound in"
    return f" ({kind} line {_line(module, bound[-1])})"


def _line(module: ModuleLike, node: cst.CSTNode) -> int:
    return int(module.source.line_of(module.tree.range_of(node)[0]))
