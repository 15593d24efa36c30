"""Syntactic forms: properties of expressions and statements that need no analysis of values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import libcst as cst

from kerascheck.syntax.conditions import written_conditions
from kerascheck.syntax.tree import Tree, alike

_TRAINING = re.compile(r"(?:^|_)train(?:ing)?(?:_|\d|$)", re.I)
_VERSION_NAME = re.compile(
    r"version|is_v[12]|(?:^|_)tf_?[12](?:_|$)|^hasattr$|^executing_eagerly$|^(?:is_)?keras_?[123]$", re.I
)
_HELD_OUT = re.compile(
    r"(?:^|_)(?:val|valid|validation|test|eval|evaluation|dev|hold_?out|held_?out|external|unseen|ood|out_of_distribution|"
    r"calib|calibration|benchmark|infer|inference|predict|prediction|serving)(?:_|\d|$)",
    re.I,
)


def written_trips(node: cst.BaseExpression) -> int | None:
    """Return the literal length of ``x[:5]``, ``x[2:6]``, ``ds.take(3)`` and ``df.head(min(5, n)).iterrows()``.

    Any x will do, also inside enumerate, zip and tqdm.
    """
    if isinstance(node, cst.Subscript):
        return rows_of_slice(node)
    if isinstance(node, cst.Call):
        if (
            isinstance(node.func, cst.Attribute)
            and node.func.attr.value in ("take", "head", "tail", "sample")
            and node.args
            and node.args[0].keyword is None
        ):
            return _at_most(node.args[0].value)
        if (
            isinstance(node.func, cst.Attribute)
            and node.func.attr.value in ("iterrows", "itertuples", "tolist", "to_list", "items")
            and not node.args
        ):
            return written_trips(node.func.value)
        if isinstance(node.func, cst.Name) and node.func.value in ("enumerate", "zip", "tqdm", "list", "iter"):
            known = [trips for trips in (written_trips(arg.value) for arg in node.args) if trips is not None]
            return min(known) if known else None
    return None


def rows_of_slice(node: cst.BaseExpression) -> int | None:
    """Return the maximum rows of ``x[:10]``, ``x[:10, 1]``, ``x[2:6]`` or ``x[start : start + 10]``, for any x.

    Returns None for all other expressions.
    """
    cut = node.slice[0].slice if isinstance(node, cst.Subscript) else None
    if not isinstance(cut, cst.Slice) or cut.upper is None or cut.step is not None:
        return None
    lower, upper = cut.lower, cut.upper
    if (
        isinstance(upper, cst.BinaryOperation)
        and isinstance(upper.operator, cst.Add)
        and lower is not None
        and alike(upper.left, lower)
    ):
        return _at_most(upper.right)
    first = 0 if lower is None else lower.evaluated_value if isinstance(lower, cst.Integer) else None
    end = _at_most(upper)
    return max(0, end - first) if first is not None and end is not None else None


def _at_most(number: cst.BaseExpression) -> int | None:
    """Return a literal number, or the literal in ``min(5, n)``; None for all other expressions."""
    if isinstance(number, cst.Integer):
        return number.evaluated_value
    if isinstance(number, cst.Call) and isinstance(number.func, cst.Name) and number.func.value == "min":
        return min(
            (arg.value.evaluated_value for arg in number.args if isinstance(arg.value, cst.Integer)), default=None
        )
    return None


class Assignment(NamedTuple):
    """Targets and value of an assignment, annotated or not."""

    targets: tuple[cst.BaseExpression, ...]
    value: cst.BaseExpression


def assignment(node: cst.CSTNode | None) -> Assignment | None:
    """Return the assignment ``a = b = value`` or ``a: int = value``.

    Returns None for any other node, such as the declaration ``a: int``.
    """
    if isinstance(node, cst.Assign):
        return Assignment(tuple(each.target for each in node.targets), node.value)
    if isinstance(node, cst.AnnAssign) and node.value is not None:
        return Assignment((node.target,), node.value)
    return None


def is_target(holder: cst.CSTNode | None, node: cst.CSTNode) -> bool:
    """Whether ``holder``, the parent of a node, assigns to the node."""
    return isinstance(holder, cst.AssignTarget) or isinstance(holder, cst.AnnAssign) and holder.target is node


def assigned_name(node: cst.CSTNode | None) -> str | None:
    """Return the name that an assignment binds, if it binds only one."""
    found = assignment(node)
    if found is None or len(found.targets) != 1 or not isinstance(found.targets[0], cst.Name):
        return None
    return found.targets[0].value


def bindings_of_name(tree: Tree, name: str) -> list[cst.Name]:
    """Return the places of a module, in any scope, that bind a name: assignments, parameters, loops, imports, ..."""
    return [node for node in tree.parents if type(node) is cst.Name and node.value == name and _is_bound(tree, node)]


def _is_bound(tree: Tree, node: cst.CSTNode) -> bool:
    holder = tree.parents.get(node)
    while isinstance(holder, (cst.Tuple, cst.List, cst.Element, cst.StarredElement)):
        node, holder = holder, tree.parents.get(holder)
    if isinstance(holder, (cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr)):
        return holder.target is node
    if isinstance(holder, (cst.Param, cst.FunctionDef, cst.ClassDef, cst.ImportAlias)):
        return holder.name is node
    return is_target(holder, node) or isinstance(holder, (cst.AsName, cst.Del, cst.NameItem))


def sole_value(tree: Tree, node: cst.BaseExpression) -> cst.BaseExpression:
    """Return the value of a name that a module binds once, by an assignment; other expressions as they are."""
    bound = bindings_of_name(tree, node.value) if isinstance(node, cst.Name) else []
    target = tree.parents.get(bound[0]) if len(bound) == 1 else None
    found = assignment(tree.parents.get(target) if isinstance(target, cst.AssignTarget) else target)
    return node if found is None else found.value


def unread_assignments(tree: Tree, beside: Iterable[cst.CSTNode]) -> list[cst.CSTNode]:
    """Return the single-name assignments whose value is never read.

    Reads in the nodes ``beside`` and in other unread assignments do not count.
    """
    reads: dict[str, list[cst.Name]] = {}
    written: list[tuple[str, cst.CSTNode]] = []
    for node in tree.parents:
        if type(node) is cst.Name and not is_no_read(tree.parents[node], node):
            reads.setdefault(node.value, []).append(node)
        elif (name := assigned_name(node)) is not None:
            written.append((name, node))
    aside, before = {id(node) for node in beside}, -1
    found: list[cst.CSTNode] = []
    while len(found) != before:
        before = len(found)
        for name, node in written:
            if id(node) not in aside and all(
                any(id(outer) in aside for outer in tree.ancestors(read)) for read in reads.get(name, ())
            ):
                aside.add(id(node))
                found.append(node)
    return found


def is_no_read(holder: cst.CSTNode | None, name: cst.Name) -> bool:
    """Whether a name is no read: an attribute, a keyword of an argument, or the target of an assignment."""
    return (
        is_target(holder, name)
        or isinstance(holder, cst.Attribute)
        and holder.attr is name
        or isinstance(holder, cst.Arg)
        and holder.keyword is name
    )


def stands_for_versions(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a node is specific to one of several versions; the syntactic form of ``handles_versions``."""
    return any(asks_for_version(tree, holder) for holder in tree.ancestors(node))


def asks_for_version(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a branch tests a version, or a ``try`` expects the failure of one."""
    if isinstance(node, (cst.If, cst.IfExp)):
        names = {
            inner.value
            for inner in tree.descendants(node.test)
            if isinstance(inner, cst.Name) and not _tests_self(tree.parents.get(inner))
        }
        return any(_VERSION_NAME.search(name) for name in names)
    return isinstance(node, cst.Try) and any(
        handler.type is None
        or any(
            isinstance(inner, cst.Name)
            and inner.value
            in ("TypeError", "AttributeError", "Exception", "ValueError", "ImportError", "ModuleNotFoundError")
            for inner in tree.descendants(handler.type)
        )
        for handler in node.handlers
    )


def _tests_self(call: cst.CSTNode | None) -> bool:
    """Whether a call is of the form ``hasattr(self, "validation")``, which tests no version."""
    return (
        isinstance(call, cst.Call)
        and bool(call.args)
        and isinstance(call.args[0].value, cst.Name)
        and call.args[0].value.value == "self"
    )


def names_parameter(tree: Tree, node: cst.BaseExpression | None) -> bool:
    """Whether an expression names a parameter of an enclosing function, so callers choose its value.

    Also true for an omitted expression (None).
    """
    if node is None:
        return True
    names = {inner.value for inner in tree.descendants(node) if isinstance(inner, cst.Name)}
    functions = [outer for outer in tree.ancestors(node) if isinstance(outer, (cst.FunctionDef, cst.Lambda))]
    return any(
        parameter.name.value in names
        for outer in functions
        for parameter in tree.descendants(outer.params)
        if isinstance(parameter, cst.Param)
    )


def names_training(name: str) -> bool:
    """Whether a name suggests training data, or training."""
    return _TRAINING.search(name) is not None


def names_held_out(name: str) -> bool:
    """Whether a name suggests validation or test data, or inference."""
    return _HELD_OUT.search(name) is not None


def last_name(node: cst.BaseExpression) -> str:
    """Return ``x`` for ``x`` and ``self.x``; empty for all other expressions."""
    return node.value if isinstance(node, cst.Name) else node.attr.value if isinstance(node, cst.Attribute) else ""


def is_beside_training(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a branch around a node tests for held-out data or inference, or its sibling for training."""
    around = {node, *tree.ancestors(node)}
    return any(
        condition.body in around
        and asks_for_held_out(condition.test)
        or isinstance(condition.orelse, cst.Else)
        and condition.orelse in around
        and _tests_for_training(condition.test)
        for condition in written_conditions(tree, node, within=tree.root)
        if isinstance(condition, cst.If)
    )


def asks_for_held_out(test: cst.BaseExpression) -> bool:
    """Whether a test is of the form ``which == Set.TEST`` or ``split == "test"``."""
    return names_held_out(_compared_with(test))


def _tests_for_training(test: cst.BaseExpression) -> bool:
    """Whether a test is of the form ``is_training``, ``self.train`` or ``split == "train"``."""
    name = last_name(test)
    return names_training(_compared_with(test)) or names_training(name) and not names_held_out(name)


def _compared_with(test: cst.BaseExpression) -> str:
    """Return the string or the last name that an expression compares with for equality; empty otherwise."""
    if not isinstance(test, cst.Comparison) or not isinstance(test.comparisons[0].operator, (cst.Equal, cst.Is)):
        return ""
    other = test.comparisons[0].comparator
    return other.raw_value if isinstance(other, cst.SimpleString) else last_name(other)
