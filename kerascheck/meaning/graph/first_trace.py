"""Code that runs only in the first trace of a function, such as code that creates state."""

from __future__ import annotations

import re

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    ExecutionPath,
    holds_tensor,
)
from kerascheck.knowledge.callables import (
    TENSOR_ITEM,
    TENSOR_NUMPY,
    TENSOR_TOLIST,
)
from kerascheck.knowledge.name_heuristics import CHANGING_CONDITIONS, UNBUILT_STATE
from kerascheck.meaning.data.mapped_functions import creates_state
from kerascheck.meaning.graph.traced_code import compiled_by, tracing_frame
from kerascheck.meaning.program.loops import arguments_for
from kerascheck.syntax.conditions import written_conditions
from kerascheck.syntax.tree import Tree


def cannot_be_compiled(module: Module) -> bool:
    """Whether code to compile creates variables in each trace, or reads values of tensors.

    Without a switch to eager execution it raises an error.
    """
    return any(
        compiled_by(call.path) in ("tf.function", "train_step", "call")
        and (
            creates_state(call) is not None
            and not _is_made_once(call)
            or call.name in (TENSOR_NUMPY, TENSOR_ITEM, TENSOR_TOLIST)
            or (call.name or "").startswith("numpy.")
            and any(map(holds_tensor, call.arguments.values()))
        )
        for call in module.run.calls
    )


def _is_made_once(call: Call) -> bool:
    """Whether a call in compiled code is guarded by a condition on existing state."""
    return any(
        condition.kind == "handler" or UNBUILT_STATE.search(condition.question) or clears_own_condition(condition)
        for condition in call.path.conditions(within=tracing_frame(call.path) or "program")
    )


def clears_own_condition(branch: ExecutionPath) -> bool:
    """Whether a branch resets its own condition and so runs once, as in ``if self.first: ...; self.first = False``."""
    if not isinstance(branch.node, cst.If):
        return False
    tree = branch.module.tree
    asked = {
        tree.code_of(node)
        for node in (branch.node.test, *tree.descendants(branch.node.test))
        if isinstance(node, (cst.Name, cst.Attribute))
    }
    return any(
        isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)) and tree.code_of(node.target) in asked
        for node in tree.descendants(branch.node.body)
    )


def only_in_first_trace(call: Call) -> bool:
    """Whether a call in compiled code may run only in the first trace, as under ``if self.layer is None``.

    That also holds for a call under ``if layer is None``, if the caller of the compiled function may pass the layer or
    not. A condition on numbers and flags, such as ``if self.rate > 0 and training``, holds in every trace or in none.
    """
    frame = tracing_frame(call.path)
    if not all(map(_asks_settings, call.path.conditions(within=frame or "program"))):
        return True
    names: set[str] = set()
    node = call.node
    for inner in call.path.frames():
        function = inner.function
        if function is None or not isinstance(function.node, cst.FunctionDef):
            return False
        # A condition on a parameter is a condition on the argument of the caller.
        tree = function.module.tree
        names = (names | _asked_for_none(tree, node, function.node)) & {
            parameter.name.value
            for parameter in tree.descendants(function.node.params)
            if isinstance(parameter, cst.Param)
        }
        if inner is frame:
            return bool(names)
        if not isinstance(inner.node, cst.Call):
            return False
        names = (
            {given.value for given in arguments_for(names, function, inner.node) if isinstance(given, cst.Name)}
            if names
            else set()
        )
        node = inner.node
    return False


def _asks_settings(branch: ExecutionPath) -> bool:
    """Whether a condition only compares and combines settings, which a first trace does not change."""
    if branch.test is None or clears_own_condition(branch):
        return False
    # A trace never changes an attribute that only the constructor sets.
    asked = re.sub(
        r"\bnot self\.(\w+)\b(?!\.)",
        lambda asked: asked[1] if _is_set_once(branch, asked[1]) else asked[0],
        branch.question,
    )
    return CHANGING_CONDITIONS.search(asked) is None


def _is_set_once(branch: ExecutionPath, name: str) -> bool:
    """Whether only the constructors of the enclosing class set an attribute of its objects."""
    tree = branch.module.tree
    cls = tree.enclosing(branch.node, cst.ClassDef)
    if cls is None:
        return False
    setters = set()
    for node in tree.descendants(cls):
        if not isinstance(node, cst.Attribute) or node.attr.value != name:
            continue
        holder = tree.parents.get(node)
        if isinstance(holder, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
            method = tree.enclosing(node, cst.FunctionDef)
            setters.add(None if method is None else method.name.value)
        elif isinstance(holder, (cst.Attribute, cst.Subscript)):
            # A list, or another object whose methods modify it.
            return False
    return setters == {"__init__"}


def _asked_for_none(tree: Tree, node: cst.CSTNode, function: cst.FunctionDef) -> set[str]:
    """The variables that the conditions around a node in a function compare with None."""
    found = set()
    for condition in written_conditions(tree, node, within=function):
        for test in tree.descendants(condition.test) if isinstance(condition, cst.If) else ():
            if (
                isinstance(test, cst.Comparison)
                and isinstance(test.left, cst.Name)
                and any(
                    isinstance(target.comparator, cst.Name) and target.comparator.value == "None"
                    for target in test.comparisons
                )
            ):
                found.add(test.left.value)
    return found
