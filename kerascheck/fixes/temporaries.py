"""Values that live between the expression that creates them and a single use."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.values import ModuleLike
from kerascheck.syntax.tree import Tree

_BY_NAME = frozenset("locals globals vars exec eval".split())
"""Functions of Python that access variables by name."""


def other_reader(module: ModuleLike, made: cst.BaseExpression, use: cst.Name) -> cst.CSTNode | None:
    """Return another reader of a value besides its single use; None if there cannot be one.

    The value is assigned to a variable. Either nothing else names that variable, or the statement of the use reassigns it, and
    nothing in between, or in another function, reads it.

    Args:
        module: the module.
        made: the expression that creates the value.
        use: the name that refers to it at its use.
    """
    tree, name = module.tree, use.value
    assignment = tree.parents.get(made)
    if not isinstance(assignment, cst.Assign) or not _binds_only(assignment, name):
        return use
    by_name = next((node for node in _names(tree) if node.value in _BY_NAME), None)
    if by_name is not None:
        return by_name
    mentions = [node for node in _names(tree) if node.value == name]
    if len(mentions) == 2:
        return None
    run = _statements_between(tree, assignment, use)
    if run is None or _is_split(module, run[0], run[-1]):
        return use
    inside = {id(node) for statement in run[1:] for node in tree.descendants(statement)}
    target = _target(tree, run[-1], name)
    if target is None:
        return use
    return next(
        (
            node
            for node in mentions
            if node not in (use, target) and (id(node) in inside or _is_captured(tree, node, made))
        ),
        None,
    )


def _names(tree: Tree) -> Iterator[cst.Name]:
    return (node for node in tree.parents if isinstance(node, cst.Name) and not _is_member(tree, node))


def _is_member(tree: Tree, node: cst.Name) -> bool:
    """Whether a name is an attribute or a keyword instead of a variable."""
    parent = tree.parents.get(node)
    return (isinstance(parent, cst.Attribute) and parent.attr is node) or (
        isinstance(parent, cst.Arg) and parent.keyword is node
    )


def _binds_only(assignment: cst.Assign, name: str) -> bool:
    targets = [each.target for each in assignment.targets]
    return len(targets) == 1 and isinstance(targets[0], cst.Name) and targets[0].value == name


def _statements_between(tree: Tree, assignment: cst.Assign, use: cst.Name) -> list[cst.CSTNode] | None:
    """Return the statements of one block from an assignment to the use of a name; None if they are in two blocks."""
    first, last = tree.parents.get(assignment), tree.statement(use)
    block = tree.parents.get(first) if first is not None else None
    if first is None or block is None or tree.parents.get(last) is not block:
        return None
    places = {id(each): place for place, each in enumerate(getattr(block, "body", ()))}
    start, end = places.get(id(first), -1), places.get(id(last), -1)
    return list(block.body[start : end + 1]) if 0 <= start < end else None  # type: ignore[attr-defined]


def _target(tree: Tree, statement: cst.CSTNode, name: str) -> cst.Name | None:
    """Return the name that a plain assignment of one variable sets."""
    line = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    if len(line) == 1 and isinstance(line[0], cst.Assign) and _binds_only(line[0], name):
        target = line[0].targets[0].target
        return target if isinstance(target, cst.Name) else None
    return None


def _is_split(module: ModuleLike, first: cst.CSTNode, last: cst.CSTNode) -> bool:
    """Whether two statements are in different notebook cells, so that the user may inspect the variable in between."""
    cells = {module.source.locate(*module.tree.range_of(each)).cell for each in (first, last)}
    return len(cells) > 1


def _is_captured(tree: Tree, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether a name lies in a function, lambda or class that does not also hold the expression."""
    around = set(tree.ancestors(made))
    return any(
        isinstance(each, (cst.FunctionDef, cst.Lambda, cst.ClassDef)) and each not in around
        for each in tree.ancestors(node)
    )
