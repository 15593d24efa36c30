"""Where a piece of code stands: before what, under which conditions, for which versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.syntax.conditions import written_conditions
from kerascheck.interpreter.values import Call, Class, Function, Made, Scope, Value

if TYPE_CHECKING:
    from kerascheck.interpreter.module import Module
    from kerascheck.syntax.tree import Tree
    from kerascheck.interpreter.values import Stage


_TRAINING = re.compile(r"(?:^|_)train(?:ing)?(?:_|\d|$)", re.I)
_HELD_OUT = re.compile(r"(?:^|_)(?:val|valid|validation|test|eval|evaluation|dev|holdout|infer|inference|predict|prediction|serving)(?:_|\d|$)", re.I)


class Place:
    """A module and a node: where a finding about something absent goes."""

    def __init__(self, module: Module, node: cst.CSTNode):
        self.module, self.node = module, node


def seen_in(module: Module, call: Call) -> Place:
    """Where a module makes a call or, for one that stands in another module, calls what leads there; the call itself where only an import does."""
    written, node, scope = call.module, call.node, call.scope
    while written is not module:
        frame = scope.frame
        if frame.parent is None:
            return Place(call.module, call.node)
        written, node, scope = frame.module, frame.node, frame.parent
    return Place(module, node)


def construction_of(call: Call) -> tuple[Place, Class | None]:
    """Where the object is constructed whose ``__init__`` makes a call, the outermost of several, and its class; the call itself and None elsewhere."""
    place, cls, scope = Place(call.module, call.node), None, call.scope
    while (frame := scope.frame).function is not None and frame.function.name == "__init__" and frame.function.owner is not None and isinstance(frame.node, cst.Call):
        place, cls, scope = Place(frame.module, frame.node), frame.function.owner, frame.parent
    return place, cls


def is_left_unused(call: Call) -> bool:
    """Whether nothing takes what a call makes: it, or a list of it, stands alone, or under a name that is never read."""
    parents = call.module.tree.parents
    holder = parents.get(call.node)
    while isinstance(holder, (cst.Element, cst.List, cst.Tuple)):
        holder = parents.get(holder)
    if isinstance(holder, cst.Assign) and len(holder.targets) == 1 and isinstance(holder.targets[0].target, cst.Name):
        name = holder.targets[0].target
        return not any(type(node) is cst.Name and node.value == name.value and node is not name and not _is_no_read(parents[node], node) for node in parents)
    return isinstance(holder, cst.Expr)


def unread_assignments(tree: Tree, beside: list[cst.CSTNode]) -> list[cst.Assign]:
    """The assignments to single names that nothing reads, but for other such assignments and what stands in the nodes ``beside``."""
    reads: dict[str, list[cst.Name]] = {}
    written: list[tuple[str, cst.Assign]] = []
    for node in tree.parents:
        if type(node) is cst.Name and not _is_no_read(tree.parents[node], node):
            reads.setdefault(node.value, []).append(node)
        elif isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name):
            written.append((node.targets[0].target.value, node))
    aside, found, before = {id(node) for node in beside}, [], -1
    while len(found) != before:
        before = len(found)
        for name, node in written:
            if id(node) not in aside and all(any(id(outer) in aside for outer in tree.ancestors(read)) for read in reads.get(name, ())):
                aside.add(id(node))
                found.append(node)
    return found


def _is_no_read(holder: cst.CSTNode | None, name: cst.Name) -> bool:
    """Whether a name stands for an attribute or an argument, or for a variable that gets a value."""
    return isinstance(holder, cst.AssignTarget) or isinstance(holder, cst.Attribute) and holder.attr is name or isinstance(holder, cst.Arg) and holder.keyword is name


def expects_one(scope: Scope) -> bool:
    """Whether a place runs only where something is counted to be one, as in ``if len(gpus) == 1``."""
    for condition in scope.conditions(within="program"):
        test = condition.test if condition.label == "if" else None
        if isinstance(test, cst.Comparison) and any(
            isinstance(target.operator, cst.Equal) and isinstance(target.comparator, cst.Integer) and target.comparator.value == "1"
            for target in test.comparisons
        ):
            return True
    return False


def in_session(scope: Scope) -> bool:
    """Whether a place stands in the session of a TensorFlow 1 graph."""
    return any(isinstance(manager.value, Made) and manager.value.name.endswith("Session") for manager in scope.managers(within="program"))


_VERSION_NAME = re.compile(r"version|is_v[12]|(?:^|_)tf_?[12](?:_|$)|^hasattr$|^executing_eagerly$|^(?:is_)?keras_?[123]$", re.I)


def handles_versions(scope: Scope) -> bool:
    """Whether a place is written for one of several versions: under a test of a version, or in a try of its own function that expects the failure."""
    if any(_is_for_versions(each.module.tree, each.node) for each in (*scope.tries(within="function"), *scope.conditions(within="program"))):
        return True
    for function in scope.functions():
        tree = function.module.tree
        if any(_is_for_versions(tree, asked) for asked in written_conditions(tree, function.node, within=tree.root)):
            return True
    return False


def stands_for_versions(tree: Tree, node: cst.CSTNode) -> bool:
    """:func:`handles_versions` for a node that is no call."""
    return any(_is_for_versions(tree, holder) for holder in tree.ancestors(node))


def _is_for_versions(tree: Tree, node: cst.CSTNode) -> bool:
    if isinstance(node, (cst.If, cst.IfExp)):
        names = {inner.value for inner in tree.descendants(node.test) if isinstance(inner, cst.Name) and not _asks_self(tree.parents.get(inner))}
        return any(_VERSION_NAME.search(name) for name in names)
    return isinstance(node, cst.Try) and any(
        handler.type is None
        or any(
            isinstance(inner, cst.Name) and inner.value in ("TypeError", "AttributeError", "Exception", "ValueError", "ImportError", "ModuleNotFoundError")
            for inner in tree.descendants(handler.type)
        )
        for handler in node.handlers
    )


def _asks_self(call: cst.CSTNode | None) -> bool:
    """``hasattr(self, "validation")``, which asks for no version of anything."""
    return isinstance(call, cst.Call) and bool(call.args) and isinstance(call.args[0].value, cst.Name) and call.args[0].value.value == "self"


def names_parameter(tree: Tree, node: cst.BaseExpression | None) -> bool:
    """Whether an expression names a parameter of a function around it, so that callers choose what it is; also where it is not written out."""
    if node is None:
        return True
    names = {inner.value for inner in tree.descendants(node) if isinstance(inner, cst.Name)}
    functions = [outer for outer in tree.ancestors(node) if isinstance(outer, (cst.FunctionDef, cst.Lambda))]
    return any(parameter.name.value in names for outer in functions for parameter in tree.descendants(outer.params) if isinstance(parameter, cst.Param))


def takes_parameter(function: Value | None, name: str) -> bool:
    """Whether a function has a parameter of this name, or ``**kwargs`` that may hold it; what is no function of the tree may."""
    if not isinstance(function, Function):
        return True
    parameters = function.node.params
    named = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    return parameters.star_kwarg is not None or any(parameter.name.value == name for parameter in named)


def names_training(name: str) -> bool:
    """Whether a name says training data, or training."""
    return _TRAINING.search(name) is not None


def names_held_out(name: str) -> bool:
    """Whether a name says validation or test data, or inference."""
    return _HELD_OUT.search(name) is not None


def last_name(node: cst.BaseExpression) -> str:
    """``x`` of ``x`` and ``self.x``; empty for all else."""
    return node.value if isinstance(node, cst.Name) else node.attr.value if isinstance(node, cst.Attribute) else ""


def is_beside_training(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a branch around a node asks for held-out data or inference, or another one beside it for training."""
    around = {node, *tree.ancestors(node)}
    return any(
        condition.body in around and asks_for_held_out(condition.test)
        or isinstance(condition.orelse, cst.Else) and condition.orelse in around and _asks_for_training(condition.test)
        for condition in written_conditions(tree, node, within=tree.root) if isinstance(condition, cst.If)
    )


def asks_for_held_out(test: cst.BaseExpression) -> bool:
    """``which == Set.TEST`` or ``split == "test"``."""
    return names_held_out(_compared_with(test))


def _asks_for_training(test: cst.BaseExpression) -> bool:
    """``is_training``, ``self.train`` or ``split == "train"``."""
    name = last_name(test)
    return names_training(_compared_with(test)) or names_training(name) and not names_held_out(name)


def _compared_with(test: cst.BaseExpression) -> str:
    """The text or the last name that an expression compares something with for equality; empty for all else."""
    if not isinstance(test, cst.Comparison) or not isinstance(test.comparisons[0].operator, (cst.Equal, cst.Is)):
        return ""
    other = test.comparisons[0].comparator
    return other.raw_value if isinstance(other, cst.SimpleString) else last_name(other)


def is_off_by_default(place: Call | Stage) -> bool:
    """Whether a place stands under ``if x`` in a function whose parameter ``x`` is false where nothing is given for it,
    or under ``if self.x`` where the class sets that to nothing else."""
    for branch in place.scope.conditions(within="program"):
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
    """Whether an expression in a function is False or None, or a parameter that is by default."""
    if not isinstance(value, cst.Name):
        return False
    parameters = (*function.params.params, *function.params.kwonly_params) if function is not None else ()
    default = next((parameter.default for parameter in parameters if parameter.name.value == value.value), value)
    return isinstance(default, cst.Name) and default.value in ("False", "None")


def _given_to(tree: Tree, cls: cst.ClassDef, attribute: str) -> Iterator[tuple[cst.FunctionDef | None, cst.BaseExpression | None]]:
    """What a class sets ``self.attribute`` to, each with the function where it does; None for what is no plain assignment."""
    for node in tree.descendants(cls):
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)) and isinstance(node.target, cst.Attribute) and node.target.attr.value == attribute:
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
