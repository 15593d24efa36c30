"""Queries on syntax nodes that do not need values."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeVar

import libcst as cst

from kerascheck.interpreter.values import UNKNOWN, Class, Constant, Instance, ModuleLike, SequenceValue, Value
from kerascheck.syntax.written import assignment

_DERIVATIVES = frozenset({"gradient", "jacobian", "batch_jacobian"})
SINGLETONS = {"True": Constant(True), "False": Constant(False), "None": Constant(None)}
Node = TypeVar("Node", bound=cst.CSTNode)
Found = TypeVar("Found")
_SCALES = frozenset({"get_scaled_loss", "scale_loss"})


def dotted_name(node: cst.CSTNode) -> str:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if isinstance(node, cst.Name):
        parts.append(node.value)
    return ".".join(reversed(parts))


def literal_of(node: cst.BaseExpression) -> Constant | None:
    """The constant of a literal expression."""
    if isinstance(node, cst.Name):
        return SINGLETONS.get(node.value)
    if isinstance(node, cst.Integer):
        return number(node)
    value = text_of(node) if isinstance(node, cst.SimpleString) else None
    return None if value is None else Constant(value)


def number(node: cst.Integer | cst.Float) -> Constant | None:
    """The number of a literal; None if it has more digits than Python accepts."""
    return _number(node.value, isinstance(node, cst.Integer))


@lru_cache
def _number(text: str, is_whole: bool) -> Constant | None:
    try:
        return Constant(int(text, 0) if is_whole else float(text))
    except ValueError:
        return None


def text_of(node: cst.SimpleString | cst.ConcatenatedString) -> str | bytes | None:
    """The value of a literal; None if it contains an expression.

    Also None if Python rejects it but libcst does not, as ``"\\U"``.
    """
    if type(node) is cst.SimpleString and node.value[0] in "\"'" and "\\" not in node.value:
        # Equivalent to literal_eval, in a tenth of the time.
        width = 3 if node.value[:3] in ('"""', "'''") else 1
        return node.value[width:-width]
    try:
        with warnings.catch_warnings():
            # Since Python 3.12, it warns about unknown escapes.
            warnings.simplefilter("ignore")
            return node.evaluated_value
    except SyntaxError:
        return None


def fields_of(cls: Class) -> list[str]:
    """The annotated fields of a class and its bases in the tree, in the order of a generated constructor."""
    names: dict[str, None] = {}
    for base in reversed([base for base in cls.ancestry() if isinstance(base, Class)]):
        for line in base.node.body.body:
            for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                if isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name):
                    names[statement.target.value] = None
    return list(names)


def attributes_of(record: Instance) -> dict[str, Value]:
    """The values of the annotated fields of an instance; UNKNOWN for one without a visible value."""
    return {name: record.attributes.get(name) or record.cls.member(name) or UNKNOWN for name in fields_of(record.cls)}


def as_tuple(value: Value) -> Value:
    """The items of an instance of a ``NamedTuple`` class of the tree; other values as they are."""
    if not isinstance(value, Instance) or "typing.NamedTuple" not in value.cls.external_bases():
        return value
    return SequenceValue("tuple", list(attributes_of(value).values()))


def differentiated(module: ModuleLike, node: cst.FunctionDef | cst.Lambda | cst.Module) -> set[str]:
    """The names whose gradients a tape in a function or module computes; they are tensors, whatever creates them.

    Includes the loss itself if a scaled loss is differentiated.
    """
    nodes = list(
        module.tree.descendants(node.body) if isinstance(node, cst.FunctionDef) else module.tree.descendants(node)
    )
    entered = [item for each in nodes if isinstance(each, cst.With) for item in each.items]
    tapes = {
        dotted_name(item.asname.name)
        for item in entered
        if item.asname is not None
        and isinstance(item.item, cst.Call)
        and dotted_name(item.item.func).endswith("GradientTape")
    }
    calls = [
        (each, each.func)
        for each in nodes
        if isinstance(each, cst.Call) and isinstance(each.func, cst.Attribute) and each.args
    ]
    found: set[str] = set()
    for call, function in calls:
        if function.attr.value in _DERIVATIVES and dotted_name(function.value) in tapes:
            target = next(
                (arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "target"),
                call.args[0].value,
            )
            found |= (
                {dotted_name(each.value) for each in target.elements}
                if isinstance(target, (cst.List, cst.Tuple))
                else {dotted_name(target)}
            )
    for call, function in calls:
        assigned = assignment(module.tree.parents.get(call))
        if function.attr.value in _SCALES and assigned is not None and dotted_name(assigned.targets[0]) in found:
            found.add(dotted_name(call.args[0].value))
    return found


def parameters_of(parameters: cst.Parameters) -> Iterator[cst.Param]:
    yield from (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)


def remembered(module: ModuleLike, node: Node, find: Callable[[ModuleLike, Node], Found]) -> Found:
    """The memoised result of ``find`` for a node, because many paths reach the same loop."""
    key = (find.__name__, node)
    if key not in module.memory:
        module.memory[key] = find(module, node)
    found: Found = module.memory[key]
    return found
