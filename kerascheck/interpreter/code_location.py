"""Context of a piece of code: its position in the module, its conditions, and its target versions."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.values import (
    Call,
    Class,
    DatasetOp,
    ExecutionPath,
    ExternalInstance,
    Function,
    ModuleLike,
    Value,
)
from kerascheck.syntax.conditions import written_conditions
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.written import asks_for_version, assigned_name, is_no_read


class CodeLocation:
    """A module and a node: the location of a finding about something that is missing.

    Example:
        >>> fit = call("model.fit(x)")
        >>> CodeLocation(fit.module, fit.node).node is fit.node
        True
    """

    def __init__(self, module: ModuleLike, node: cst.CSTNode):
        self.module, self.node = module, node


def place_in_module(module: ModuleLike, call: Call) -> CodeLocation:
    """The location in a module that makes a call, directly or through functions of other modules.

    Returns the call itself if only an import leads to it.
    """
    written, node, frame = call.module, call.node, call.path.frame
    while written is not module:
        if frame.parent is None:
            return CodeLocation(call.module, call.node)
        written, node, frame = frame.module, frame.node, frame.parent.frame
    return CodeLocation(module, node)


def construction_of(call: Call) -> tuple[CodeLocation, Class | None]:
    """The construction of the object whose ``__init__`` makes a call, and its class.

    Returns the outermost of several constructions; for calls outside of ``__init__`` the call itself and None.
    """
    place, cls = CodeLocation(call.module, call.node), None
    path: ExecutionPath | None = call.path
    while (
        path is not None
        and (frame := path.frame).function is not None
        and frame.function.name == "__init__"
        and frame.function.owner is not None
        and isinstance(frame.node, cst.Call)
    ):
        place, cls, path = CodeLocation(frame.module, frame.node), frame.function.owner, frame.parent
    return place, cls


def is_left_unused(call: Call) -> bool:
    """Whether the result of a call is unused.

    The call, or a list of it, is a statement by itself or is bound to a name that is never read.
    """
    parents = call.module.tree.parents
    holder = parents.get(call.node)
    while isinstance(holder, (cst.Element, cst.List, cst.Tuple)):
        holder = parents.get(holder)
    name = assigned_name(holder)
    if name is not None:
        return not any(
            type(node) is cst.Name and node.value == name and not is_no_read(parents[node], node) for node in parents
        )
    return isinstance(holder, cst.Expr)


def expects_one(path: ExecutionPath) -> bool:
    """Whether a location runs only if a count is one, as in ``if len(gpus) == 1``."""
    for condition in path.conditions(within="program"):
        test = condition.test if condition.label == "if" else None
        if isinstance(test, cst.Comparison) and any(
            isinstance(target.operator, cst.Equal)
            and isinstance(target.comparator, cst.Integer)
            and target.comparator.value == "1"
            for target in test.comparisons
        ):
            return True
    return False


def in_session(path: ExecutionPath) -> bool:
    """Whether a location is in the session of a TensorFlow 1 graph."""
    return any(
        isinstance(manager.value, ExternalInstance) and manager.value.name.endswith("Session")
        for manager in path.managers(within="program")
    )


def handles_versions(path: ExecutionPath) -> bool:
    """Whether code is written for one of several versions.

    It is under a version test, or in a try of its own function that expects the failure.
    """
    if any(
        asks_for_version(each.module.tree, each.node)
        for each in (*path.tries(within="function"), *path.conditions(within="program"))
    ):
        return True
    for function in path.functions():
        tree = function.module.tree
        if any(asks_for_version(tree, asked) for asked in written_conditions(tree, function.node, within=tree.root)):
            return True
    return False


def takes_parameter(function: Value | None, name: str) -> bool:
    """Whether a function has a parameter with this name, or ``**kwargs`` that may contain it; unknown functions may."""
    if not isinstance(function, Function):
        return True
    parameters = function.node.params
    named = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    return parameters.star_kwarg is not None or any(parameter.name.value == name for parameter in named)


def is_off_by_default(place: Call | DatasetOp) -> bool:
    """Whether a location is disabled by default.

    It is under ``if x`` in a function whose parameter ``x`` is false by default, or under ``if self.x`` in a class that
    never sets it to anything else.
    """
    for branch in place.path.conditions(within="program"):
        test = branch.test if branch.label == "if" else None
        ancestors = branch.module.tree.ancestors(branch.node)
        if isinstance(test, cst.Name):
            function = next((outer for outer in ancestors if isinstance(outer, cst.FunctionDef)), None)
            if function is not None and _is_off(function, test):
                return True
        elif isinstance(test, cst.Attribute) and isinstance(test.value, cst.Name) and test.value.value == "self":
            cls = next((outer for outer in ancestors if isinstance(outer, cst.ClassDef)), None)
            given = list(_given_to(branch.module.tree, cls, test.attr.value)) if cls is not None else []
            if given and all(_is_off(function, value) for function, value in given):
                return True
    return False


def _is_off(function: cst.FunctionDef | None, value: cst.BaseExpression | None) -> bool:
    """Whether an expression is False or None, or a parameter with such a default."""
    if not isinstance(value, cst.Name):
        return False
    parameters = (*function.params.params, *function.params.kwonly_params) if function is not None else ()
    default = next((parameter.default for parameter in parameters if parameter.name.value == value.value), value)
    return isinstance(default, cst.Name) and default.value in ("False", "None")


def _given_to(
    tree: Tree, cls: cst.ClassDef, attribute: str
) -> Iterator[tuple[cst.FunctionDef | None, cst.BaseExpression | None]]:
    """The values that a class assigns to ``self.attribute``, each with its function.

    None for other kinds of assignment.
    """
    for node in tree.descendants(cls):
        if (
            isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign))
            and isinstance(node.target, cst.Attribute)
            and node.target.attr.value == attribute
        ):
            holder = tree.parents[node] if isinstance(node, cst.AssignTarget) else node
            function = next((outer for outer in tree.ancestors(node) if isinstance(outer, cst.FunctionDef)), None)
            yield function, holder.value if isinstance(holder, (cst.Assign, cst.AnnAssign)) else None


def receiver_text(call: Call) -> str:
    function = call.node.func if isinstance(call.node, cst.Call) else None
    parts = []
    while isinstance(function, cst.Attribute):
        function = function.value
        if isinstance(function, cst.Attribute):
            parts.append(function.attr.value)
        elif isinstance(function, cst.Name):
            parts.append(function.value)
    return " ".join(parts).lower()
