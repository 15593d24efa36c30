"""Python state that compiled code reads or changes: captured variables, attributes and counters."""

from __future__ import annotations

from itertools import takewhile

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.nodes import remembered
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    ExecutionPath,
)
from kerascheck.meaning.program.loops import bound_in, local_names
from kerascheck.syntax.tree import Tree, alike
from kerascheck.syntax.written import assignment, is_target


def is_captured(call: Call) -> bool:
    """Whether the receiver of a method call is a variable from outside the calling function, or an item of one.

    In compiled code, it has to come from outside the compiled function, because each trace may recreate a list of an
    inner function.
    """
    function = call.path.frame.function
    receiver = (
        call.node.func.value if isinstance(call.node, cst.Call) and isinstance(call.node.func, cst.Attribute) else None
    )
    if function is None or receiver is None:
        return False
    while isinstance(receiver, cst.Subscript):
        receiver = receiver.value
    if isinstance(receiver, cst.Attribute):
        return True
    if not isinstance(receiver, cst.Name):
        return False
    tree = call.module.tree
    if any(
        isinstance(outer, cst.BaseComp) and receiver.value in bound_in(call.module, outer)
        for outer in tree.ancestors(call.node)
    ):
        return False
    around = _enclosing(tree, call.node)
    for frame in call.path.frames():
        if (
            frame.function is not None
            and frame.function.node in around
            and receiver.value in remembered(frame.function.module, frame.function.node, local_names)
        ):
            return False
        if frame.traced:
            break
    return True


def _enclosing(tree: Tree, node: cst.CSTNode) -> set[cst.CSTNode]:
    """The functions around a node."""
    return {outer for outer in tree.ancestors(node) if isinstance(outer, (cst.FunctionDef, cst.Lambda))}


def is_local_in_trace(name: str, path: ExecutionPath) -> bool:
    """Whether a name belongs to the function of a path, or to one between it and the compiled function."""
    for frame in path.frames():
        if frame.function is not None and name in remembered(frame.function.module, frame.function.node, local_names):
            return True
        if frame.traced:
            break
    return False


def keeps_in_trace(module: Module, call: Call) -> bool:
    """Whether an attribute set in compiled code is read only there, judging by the visible runs of its class."""
    target = call.node
    tree = call.module.tree
    around = tree.enclosing(target, cst.ClassDef)
    if not isinstance(target, cst.Attribute) or around is None:
        return False
    reading = (
        node
        for node in tree.descendants(around)
        if isinstance(node, cst.Attribute) and alike(node, target) and not is_target(tree.parents[node], node)
    )
    readers = {tree.enclosing(node, cst.FunctionDef) for node in reading}
    runs: dict[cst.CSTNode, set[str | None]] = {}
    for other in module.run.calls:
        function = other.path.frame.function
        if function is not None and function.node in readers:
            runs.setdefault(function.node, set()).add(other.path.traced_by())
    return bool(runs) and all(None not in how for how in runs.values())


def counts_up(call: Call) -> bool:
    """Whether an assignment to an attribute adds a literal number to a value that is not a tensor."""
    statement = call.module.tree.parents.get(call.node)
    return adds_number(statement) and call.given("value") is UNKNOWN and not _names_things(call)


def is_reset_before_trace(call: Call) -> bool:
    """Whether a function on the path into the trace resets the attribute first, so it counts within one trace."""
    tree, node = call.module.tree, call.node
    for frame in call.path.frames():
        if frame.function is not None and isinstance(frame.function.node, cst.FunctionDef):
            around = {node, *tree.ancestors(node)}
            for statement in takewhile(lambda statement: statement not in around, frame.function.node.body.body):
                small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
                assigned = assignment(small)
                if assigned is not None and any(alike(target, call.node) for target in assigned.targets):
                    return True
        if frame.traced:
            break
        tree, node = frame.parent.module.tree if frame.parent is not None else tree, frame.node
    return False


def adds_number(statement: cst.CSTNode | None) -> bool:
    return (
        isinstance(statement, cst.AugAssign)
        and isinstance(statement.operator, (cst.AddAssign, cst.SubtractAssign))
        and _is_number(statement.value)
    )


def _is_number(node: cst.BaseExpression) -> bool:
    """Whether an expression is a literal number, or arithmetic of literals: ``1 / 1440``."""
    return (
        isinstance(node, (cst.Integer, cst.Float))
        or isinstance(node, cst.BinaryOperation)
        and _is_number(node.left)
        and _is_number(node.right)
    )


def _makes_text(node: cst.CSTNode) -> bool:
    """Match ``str(x)``, ``"...".format(x)`` and ``"..." % x``."""
    if isinstance(node, cst.Call):
        return (
            isinstance(node.func, cst.Name)
            and node.func.value == "str"
            or isinstance(node.func, cst.Attribute)
            and node.func.attr.value == "format"
        )
    return (
        isinstance(node, cst.BinaryOperation)
        and isinstance(node.operator, cst.Modulo)
        and isinstance(node.left, (cst.SimpleString, cst.ConcatenatedString))
    )


def _names_things(call: Call) -> bool:
    """Whether the same function formats the counted attribute into a text, so that it numbers traced objects."""
    function = call.path.frame.function
    if function is None:
        return False
    tree = function.module.tree
    for node in tree.descendants(function.node.body):
        if isinstance(node, cst.Attribute) and node.attr.value == call.attribute:
            for outer in tree.ancestors(node):
                if (
                    isinstance(outer, cst.FormattedString)
                    or isinstance(outer, cst.Arg)
                    and outer.keyword is not None
                    or _makes_text(outer)
                ):
                    return True
                if isinstance(outer, cst.BaseStatement):
                    break
    return False
