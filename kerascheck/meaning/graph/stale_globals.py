"""Global numbers that a compiled function reads and the program changes later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.module import Module
from kerascheck.meaning.graph.traced_code import compiled_functions
from kerascheck.syntax.written import assignment


@dataclass(frozen=True, slots=True)
class StaleGlobal:
    """A global number that a compiled function reads and the program changes; ``at`` and ``change`` are locations."""

    at: CodeLocation
    name: str
    change: CodeLocation


def stale_globals(module: Module) -> Iterator[StaleGlobal]:
    """Reads of changing module-level Python numbers in functions under ``tf.function``.

    Each name counts once per function. Constants do not count.
    """
    functions = list(compiled_functions(module))
    declared = _declared_globals(module) if functions else {}
    changes = _changed_numbers(module, declared) if functions else {}
    if not changes:
        return
    tree = module.tree
    for function in functions:
        own = _bound_names(module, function.node) - declared.get(function.node, set())
        seen = set()
        for node in tree.descendants(function.node.body):
            if not isinstance(node, cst.Name) or node.value not in changes or node.value in own or node.value in seen:
                continue
            if node.value in declared.get(function.node, ()):
                # A change in the function itself is a side effect of the trace, not a stale value.
                continue
            parent = tree.parents.get(node)
            if (
                isinstance(parent, cst.Attribute)
                and parent.attr is node
                or isinstance(parent, cst.Arg)
                and parent.keyword is node
            ):
                continue
            seen.add(node.value)
            yield StaleGlobal(CodeLocation(module, node), node.value, CodeLocation(module, changes[node.value]))


def _changed_numbers(module: Module, declared: dict[cst.CSTNode, set[str]]) -> dict[str, cst.CSTNode]:
    """Global names that contain only numbers and that a function or loop changes, each with the change.

    A later plain assignment belongs to another section of a script or notebook, so it is not a change.
    """
    tree = module.tree
    numbers: set[str] = set()
    changed: dict[str, cst.CSTNode] = {}
    other: set[str] = set()
    for node in tree.parents:
        assigned = assignment(node)
        if isinstance(node, cst.AugAssign):
            targets: Sequence[cst.BaseExpression] = (node.target,)
            value = node.value
        elif assigned is not None:
            targets, value = assigned
        else:
            continue
        around = tree.enclosing(node, cst.FunctionDef, cst.Lambda, cst.ClassDef)
        for target in targets:
            if not isinstance(target, cst.Name) or around is not None and target.value not in declared.get(around, ()):
                continue
            number = isinstance(node, cst.AugAssign) or isinstance(value, (cst.BaseNumber, cst.BinaryOperation))
            moving = (
                isinstance(node, cst.AugAssign)
                or around is not None
                or tree.enclosing(node, cst.For, cst.While) is not None
            )
            if not number:
                other.add(target.value)
            elif moving:
                changed.setdefault(target.value, node)
            else:
                numbers.add(target.value)
    return {name: node for name, node in changed.items() if name in numbers and name not in other}


def _declared_globals(module: Module) -> dict[cst.CSTNode, set[str]]:
    """The names that ``global`` declares in each function, lambda or class."""
    found: dict[cst.CSTNode, set[str]] = {}
    for node in module.tree.parents:
        if isinstance(node, cst.Global):
            names = {item.name.value for item in node.names}
            for outer in module.tree.ancestors(node):
                if isinstance(outer, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
                    found.setdefault(outer, set()).update(names)
    return found


def _bound_names(module: Module, function: cst.FunctionDef | cst.Lambda) -> set[str]:
    """Names that are parameters or variables of a function."""
    tree = module.tree
    names = {
        parameter.name.value for parameter in tree.descendants(function.params) if isinstance(parameter, cst.Param)
    }
    for node in tree.descendants(function.body):
        if isinstance(node, (cst.AssignTarget, cst.For, cst.AugAssign, cst.AnnAssign, cst.NamedExpr, cst.CompFor)):
            names |= {
                name.value for name in [node.target, *tree.descendants(node.target)] if isinstance(name, cst.Name)
            }
        elif isinstance(node, cst.AsName):
            names |= {name.value for name in tree.descendants(node) if isinstance(name, cst.Name)}
    return names
