"""What the function of a dataset operation takes from outside: the values of its free names and of their attributes.

A captured ``tf.Variable`` is read each time the function runs, everything else once, when tf.data traces the function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.values import (
    UNKNOWN,
    Class,
    Const,
    Dataset,
    External,
    Function,
    Group,
    Instance,
    Made,
    Mapping,
    Method,
    ModuleValue,
    Partial,
    SeenModule,
    Tensor,
    Union,
    Value,
    options_of,
)
from kerascheck.knowledge.callables import TENSOR_LIBRARIES
from kerascheck.knowledge.layers import LAYERS, Holds, holds
from kerascheck.knowledge.python import BUILTINS
from kerascheck.knowledge.stateless import adds_no_operations, is_constant
from kerascheck.syntax.tree import Tree

_DEPTH = 4
"""Containers within containers that are looked into."""


@dataclass(frozen=True, slots=True)
class Capture:
    """An expression in a function whose value may be a variable, or is not known.

    Attributes:
        module, node: where the function reads it.
        text: how it is written.
        value: what it stands for.
    """

    module: SeenModule
    node: cst.CSTNode
    text: str
    value: Value


def doubtful_captures(function: Value) -> Iterator[Capture]:
    """What a function, and the functions that it calls, take from outside that is not known to stay as it is."""
    seen: set[int] = set()
    pending = list(options_of(function))
    while pending:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, Partial):
            pending += (each.target, *each.arguments.values())
        elif isinstance(each, Method):
            pending.append(each.receiver)
        elif isinstance(each, Function):
            for capture in _free(each):
                if _stays(capture.value):
                    pending += (
                        option for option in options_of(capture.value) if isinstance(option, (Function, Partial))
                    )
                else:
                    yield capture


def _free(function: Function) -> Iterator[Capture]:
    """The free names of a function with their attributes, each with its value."""
    tree = function.module.tree
    bound = _bound_in(tree, function.node)
    for node in tree.descendants(function.node.body):
        if not isinstance(node, cst.Name) or node.value in bound or not _is_read(tree, node):
            continue
        value = function.env.lookup(node.value)
        if value is None:
            value = External(f"builtins.{node.value}") if node.value in BUILTINS else UNKNOWN
        yield _with_attributes(function, tree, node, value)
    if function.receiver is not None:
        yield from _of_receiver(function, tree)


def _of_receiver(function: Function, tree: Tree) -> Iterator[Capture]:
    parameters = [*function.node.params.posonly_params, *function.node.params.params]
    own = parameters[0].name.value if parameters else ""
    for node in tree.descendants(function.node.body):
        parent = tree.parents.get(node)
        is_owner = isinstance(node, cst.Name) and node.value == own and isinstance(parent, cst.Attribute)
        if is_owner and isinstance(node, cst.Name) and function.receiver is not None:
            yield _with_attributes(function, tree, node, function.receiver)


def _with_attributes(function: Function, tree: Tree, node: cst.Name, value: Value) -> Capture:
    """The longest dotted name from ``node`` on whose value is known, with that value."""
    outer: cst.CSTNode = node
    while isinstance(value, (Instance, ModuleValue, Class)):
        parent = tree.parents.get(outer)
        if not isinstance(parent, cst.Attribute) or parent.value is not outer:
            break
        outer, value = parent, _attribute(function, value, parent.attr.value)
    return Capture(function.module, outer, tree.code_of(outer), value)


def _attribute(function: Function, owner: Value, name: str) -> Value:
    if isinstance(owner, Instance):
        return owner.attributes.get(name) or owner.cls.member(name) or UNKNOWN
    if isinstance(owner, Class):
        return owner.member(name) or UNKNOWN
    # The globals of another module are known to the run that looked into it, and here to its functions alone.
    return UNKNOWN


def _is_read(tree: Tree, node: cst.Name) -> bool:
    parent = tree.parents.get(node)
    if (
        isinstance(parent, cst.Attribute)
        and parent.attr is node
        or isinstance(parent, cst.Arg)
        and parent.keyword is node
    ):
        return False
    return not isinstance(parent, (cst.AssignTarget, cst.Param, cst.Annotation))


def _bound_in(tree: Tree, function: cst.CSTNode) -> set[str]:
    """The names that a function binds itself, those of the functions and comprehensions in it too."""
    found: set[str] = set()
    for node in tree.descendants(function):
        if isinstance(node, cst.Param):
            found.add(node.name.value)
        elif isinstance(node, (cst.AssignTarget, cst.For, cst.CompFor, cst.NamedExpr, cst.AnnAssign)):
            found |= {each.value for each in tree.descendants(node.target) if isinstance(each, cst.Name)}
        elif isinstance(node, cst.AsName):
            found |= {each.value for each in tree.descendants(node.name) if isinstance(each, cst.Name)}
        elif isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node is not function:
            found.add(node.name.value)
        elif isinstance(node, cst.ImportAlias):
            found.add(node.evaluated_alias or node.evaluated_name.partition(".")[0])
    return found


def _stays(value: Value, depth: int = _DEPTH) -> bool:
    """Whether a value is certainly no variable, and holds none."""
    if depth == 0:
        return False
    if isinstance(value, Union):
        return all(_stays(each, depth) for each in value.options)
    if isinstance(value, Group):
        return all(_stays(each, depth - 1) for each in value.items)
    if isinstance(value, Mapping):
        return all(_stays(each, depth - 1) for each in value.items.values())
    if isinstance(value, (Const, Tensor, Function, Partial, Dataset, ModuleValue, Class)):
        return True
    if isinstance(value, External):
        return is_constant(value.name)
    if isinstance(value, Made):
        return _is_made_constant(value.name)
    # A layer of the tree: what its call reads is judged where it is called.
    return isinstance(value, Instance)


def _is_made_constant(name: str) -> bool:
    """Whether what a call of this name returned is no variable: an array, a number, a table, a layer without weights."""
    if name.startswith(LAYERS):
        # What layers with state do is judged where they are called.
        return holds(name) is not Holds.UNKNOWN
    if name.startswith(TENSOR_LIBRARIES):
        return is_constant(name)
    return adds_no_operations(name)
