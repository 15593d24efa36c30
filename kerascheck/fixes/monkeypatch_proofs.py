"""Proofs that a library name still refers to the library's object: no monkeypatching in the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from kerascheck.fixes.lines import line
from kerascheck.fixes.run_proofs import modules_of
from kerascheck.interpreter.values import ModuleLike
from kerascheck.knowledge.runtime import ONE_OBJECT
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.uses import root_name

_REPLACING = frozenset(
    {"setattr", "delattr", "__setattr__", "__delattr__", "patch", "object", "multiple", "setitem", "delitem"}
)
"""Functions and methods that set an attribute by name: Python's own, unittest.mock's, and pytest's monkeypatch."""
_OTHER_WORDS = ("reload", "sys", "vars", "__dict__")
_LIBRARIES = frozenset({"tensorflow", "keras", "tf_keras"})
_OWN = frozenset({"self", "cls"})


def objection_to_alias(module: ModuleLike, old: str, new: str) -> str | None:
    """Return why two names of a library may refer to different objects here, as a clause; None if they cannot."""
    if old not in ONE_OBJECT:
        return f"`{old}` is another object than `{new}`"
    return replacement(module, frozenset({*old.split(".")[1:], *new.split(".")[1:]}))


def replacement(module: ModuleLike, names: frozenset[str]) -> str | None:
    """Return code that may replace a library attribute under some names, in any module of the program.

    Args:
        module: the module of the fix.
        names: the parts of the dotted name after the library.
    """
    for each in modules_of(module):
        # Most modules contain none of these words, so they need no tree.
        if not any(word in each.code for word in (*_REPLACING, *_OTHER_WORDS, *names)):
            continue
        imported = _library_names(each.tree)
        for node in each.tree.parents:
            if _replaces(each.tree, node, names, imported):
                return f"{line(each, node)} may replace it by name"
    return None


def _library_names(tree: Tree) -> frozenset[str]:
    """Return the names that imports of the libraries bind."""
    names: set[str] = set()
    for statement in tree.imports:
        source = statement.module if isinstance(statement, cst.ImportFrom) else None
        for alias in () if isinstance(statement.names, cst.ImportStar) else statement.names:
            dotted = tree.code_of(source) if source is not None else alias.evaluated_name
            if dotted.partition(".")[0] in _LIBRARIES:
                names.add(alias.evaluated_alias or alias.evaluated_name.partition(".")[0])
    return frozenset(names)


def _replaces(tree: Tree, node: cst.CSTNode, names: frozenset[str], imported: frozenset[str]) -> bool:
    if isinstance(node, cst.Call):
        function = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        called = function.value if isinstance(function, cst.Name) else None
        if called == "reload":
            return True
        if called in ("vars", "setattr", "delattr") and node.args and root_name(node.args[0].value) in imported:
            return called == "vars" or _may_name(node.args[1:2], names)
        return called in _REPLACING and any(_names_one(arg.value, names) for arg in _flat_arguments(node))
    if isinstance(node, cst.Attribute):
        if node.attr.value == "modules":
            # Any ``modules`` counts: ``sys`` may have another local name.
            return True
        if node.attr.value == "__dict__":
            return root_name(node) in imported
        root = root_name(node)
        return node.attr.value in names and _is_target(tree, node) and root not in _OWN
    return False


def _may_name(arguments: Sequence[cst.Arg], names: frozenset[str]) -> bool:
    """Whether an argument is one of some names, or not a literal."""
    return any(not isinstance(arg.value, cst.SimpleString) or _names_one(arg.value, names) for arg in arguments)


def _flat_arguments(call: cst.Call) -> Iterator[cst.Arg]:
    """Yield the arguments of a call, and its keywords as string arguments."""
    for arg in call.args:
        yield arg
        if arg.keyword is not None:
            yield cst.Arg(cst.SimpleString(repr(arg.keyword.value)))


def _names_one(value: cst.BaseExpression, names: frozenset[str]) -> bool:
    """Whether a string is, or ends in, one of some names."""
    if not isinstance(value, (cst.SimpleString, cst.ConcatenatedString)):
        return False
    text = value.evaluated_value
    return isinstance(text, str) and text.rpartition(".")[2] in names


def _is_target(tree: Tree, node: cst.Attribute) -> bool:
    """Whether an attribute is assigned to or deleted."""
    child: cst.CSTNode = node
    for holder in tree.ancestors(node):
        if isinstance(holder, (cst.AssignTarget, cst.Del, cst.AsName)):
            return True
        if isinstance(holder, (cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr)):
            return holder.target is child
        if not isinstance(holder, (cst.Tuple, cst.List, cst.Element, cst.StarredElement)):
            return False
        child = holder
    return False
