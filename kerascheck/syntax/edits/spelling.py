"""The spelling of a library name at a location: through an existing import, or a new one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst

from kerascheck.knowledge.callables import TF_KERAS
from kerascheck.knowledge.namespaces import KERAS
from kerascheck.syntax.def_use import DefUse, def_use
from kerascheck.syntax.edits.contract import CannotEdit, Edits
from kerascheck.syntax.edits.imports import (
    Bindings,
    bindings_of,
    end_of_imports,
    insert_after_imports,
    meaning,
    runs_own_code,
)
from kerascheck.syntax.names import canonical
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.uses import target_names

_FAMILY = frozenset({"tensorflow", "keras", "tf_keras"})
"""Libraries that import each other; the import order changes which environment variables they read."""
_PLAIN_STARS = _FAMILY | {"numpy", "math", "typing", "os"}
"""Libraries whose ``import *`` binds no name of another library (tested with TensorFlow 2.21 and Keras 3.15)."""
_PACKAGES = frozenset({"tensorflow", "keras", TF_KERAS})
"""Exceptions among these: their ``import *`` binds modules such as ``data``, ``keras`` and ``layers``."""


def spelling(tree: Tree, dotted: str, at: cst.CSTNode | None = None) -> tuple[str, Edits]:
    """Return the spelling in this file of a canonical dotted name such as ``tensorflow.data.AUTOTUNE``.

    A name is usable if an import has always bound it before the expression is evaluated, and nothing else in the file
    binds it.

    Args:
        tree: the tree of the module.
        dotted: the canonical name.
        at: the node where the expression is evaluated; if None, the name has to be bound before any function of the file can run.

    Returns:
        The expression, and the edit that adds an import if nothing binds the name.

    Raises:
        CannotEdit: every importable name may have another meaning there, or a new import would precede the intended import of the
            library.
    """
    wanted = canonical(dotted)
    place = _Location(tree, at)
    text = place.spelled(wanted)
    if text is not None:
        return text, ()
    root, _, rest = wanted.partition(".")
    for name, statement in _imports_for(place.bindings, root):
        if place.is_free(name):
            place.check_new_import(root)
            return (f"{name}.{rest}" if rest else name), insert_after_imports(tree, statement)
    raise CannotEdit(f"no name is free for {root}")


def free_name(tree: Tree, names: Iterable[str]) -> str:
    """Return the first of some names that has no meaning in the file.

    Raises:
        CannotEdit: all are in use, or the program enumerates its names.
    """
    place = _Location(tree, None)
    found = next(filter(place.is_free, names), None)
    if found is None or _lists_names(tree, def_use(tree)):
        raise CannotEdit("no name is free")
    return found


def _is_public(dotted: str) -> bool:
    return not re.search(r"\b(python|contrib|src|_api)\b", dotted)


def _imports_for(bindings: Bindings, root: str) -> Iterator[tuple[str, str]]:
    """Yield imports of a library with the names that they bind, the most common first."""
    if root == "tensorflow":
        yield "tf", "import tensorflow as tf"
    elif root == "numpy":
        yield "np", "import numpy as np"
    elif root == "keras" and any(re.match(r"tf_keras\b", source) for source in bindings.sources):
        yield "keras", "import tf_keras as keras"
        return
    elif root == "keras" and not any(re.match(r"keras\b", source) for source in bindings.sources):
        # Up to TensorFlow 2.15, tf.keras and keras are two libraries: stay with the one in use.
        if any(re.match(r"tensorflow\b", source) for source in bindings.sources):
            yield "keras", "from tensorflow import keras"
            return
    yield root, f"import {root}"


class _Location:
    """The location where an expression is evaluated; any location if ``at`` is None."""

    def __init__(self, tree: Tree, at: cst.CSTNode | None):
        self._tree, self._at = tree, at
        self._analysis: DefUse = def_use(tree)
        self.bindings = bindings_of(tree)
        holders = [] if at is None else [at, *tree.ancestors(at)]
        self._top = next((each for each in holders if tree.parents.get(each) is tree.root), None)
        self._functions = [each for each in holders[1:] if isinstance(each, (cst.FunctionDef, cst.Lambda))]
        self._scope = None if at is None else self._analysis.scope_around(at)

    @property
    def _body(self) -> list[cst.CSTNode]:
        return list(self._tree.root.body)

    def _index(self, statement: cst.CSTNode) -> int:
        return next(index for index, other in enumerate(self._tree.root.body) if other is statement)

    def spelled(self, wanted: str) -> str | None:
        """Return the shortest spelling of ``wanted`` with the names bound at the location."""
        has_keras = any(re.match(r"(tf_)?keras\b", source) for source in self.bindings.sources)
        best: tuple[int, str] | None = None
        for name, dotted in (self.bindings.local | self.bindings.imports).items():
            meant = meaning(dotted)
            if not _is_public(dotted):
                continue
            if meant == wanted:
                rest = ""
            elif wanted.startswith(meant + "."):
                rest = wanted[len(meant) :]
            elif meant == "tensorflow" and wanted.startswith(KERAS) and not has_keras:
                rest = "." + wanted
            else:
                continue
            if (best is None or rest.count(".") < best[0]) and self._is_bound(name):
                best = (rest.count("."), name + rest)
        return None if best is None else best[1]

    # Whether a name is bound at the location, for names that only imports bind.

    def _is_bound(self, name: str) -> bool:
        if _may_be_none(self._tree, name, self._analysis):
            return False
        if self._at is None:
            return name in self.bindings.imports and self._is_bound_everywhere(name)
        if isinstance(self._scope, cst.ClassDef) and name in self._analysis.scope(self._scope).locals:
            return False
        for function in self._functions:
            if name in self._analysis.scope(function).locals:
                # An inner function may run before the import in the outer one.
                return function is self._scope and name in self._bound_here()
        return name in self.bindings.imports and self._is_bound_in_module(name)

    def _bound_here(self) -> frozenset[str]:
        assert self._at is not None
        return self._analysis.bound_before(self._tree.statement(self._at))

    def _is_bound_everywhere(self, name: str) -> bool:
        """Whether the module binds a name before its own code runs, and no function or class rebinds it."""
        index = self._binding_index(name)
        if index is None or any(runs_own_code(self._tree, each) for each in self._body[:index]):
            return False
        if self._may_be_starred(index, len(self._body)):
            return False
        for cls in self._tree.classes:
            if name in self._analysis.scope(cls).locals and self._analysis.uses(cls.body).calls:
                return False
        return all(
            name not in self._analysis.scope(function).locals or name in self._bound_first(function)
            for function in self._tree.functions
        )

    def _bound_first(self, function: cst.FunctionDef) -> frozenset[str]:
        """Return the names bound by the imports at the start of a function."""
        bound = frozenset[str]()
        for statement in getattr(function.body, "body", ()):
            parts = getattr(statement, "body", ())
            if all(isinstance(part, cst.Expr) and isinstance(part.value, cst.BaseString) for part in parts):
                continue
            if not all(isinstance(part, (cst.Import, cst.ImportFrom)) for part in parts):
                break
            bound |= self._analysis.uses(statement).certain
        return bound

    def _is_bound_in_module(self, name: str) -> bool:
        """Whether the module has always bound a name before the expression is evaluated."""
        top = self._index_of_top()
        if not self._functions and name in self._bound_here():
            before = self._body[:top]
            bound = [index for index, each in enumerate(before) if name in self._analysis.uses(each).certain]
            return not self._may_be_starred(max(bound, default=0), top)
        index = self._binding_index(name)
        if index is None or self._may_be_starred(index, len(self._body) if self._functions else top):
            return False
        if top > index:
            return True
        # The function precedes the import: nothing may call it in between.
        before = self._body[top:index]
        return bool(self._functions) and top < index and not any(runs_own_code(self._tree, each) for each in before)

    def _index_of_top(self) -> int:
        return 0 if self._top is None else self._index(self._top)

    def _binding_index(self, name: str) -> int | None:
        """Return the module index of the first statement after which a name is bound."""
        for index, statement in enumerate(self._tree.root.body):
            if name in self._analysis.uses(statement).certain or _tries_first(statement, name, self._analysis):
                return index
        return None

    def _may_be_starred(self, start: int, end: int) -> bool:
        """Whether one of the statements ``start`` to ``end`` is an ``import *`` that may bind arbitrary names."""
        for statement in self._body[start:end]:
            if self._analysis.uses(statement).star and not _is_plain_star(self._tree, statement):
                return True
        return False

    # New imports.

    def is_free(self, name: str) -> bool:
        """Whether a name has no meaning in the file: nothing binds it, and no ``import *`` is meant to."""
        module = self._analysis.module
        used = module.reads | module.later | self._analysis.scope(self._tree.root).locals
        return name not in self.bindings.taken and name not in used

    def check_new_import(self, root: str) -> None:
        """Raise CannotEdit if a new import at the end of the import block could have side effects."""
        end = end_of_imports(self._tree)
        if self._top is not None and self._index_of_top() < end:
            raise CannotEdit("the place runs before the imports")
        if self._may_be_starred(end, len(self._body)):
            raise CannotEdit("a later import may bind the name")
        if _lists_names(self._tree, self._analysis):
            raise CannotEdit("the program lists its names")
        # On another backend Keras does not import TensorFlow: a program that imports TensorFlow itself has its reasons.
        for family in ({root}, _FAMILY if root in _FAMILY else {root}):
            imported = [each for each, library in self.bindings.at_run_time.items() if library in family]
            if imported and not any(self._is_in_block(each, end) for each in imported):
                raise CannotEdit(f"the program imports {root} later, or not always")

    def _is_in_block(self, statement: cst.CSTNode, end: int) -> bool:
        """Whether the import block always runs an import."""
        line = self._tree.parents.get(statement)
        holder = None if line is None else self._tree.parents.get(line)
        if holder is self._tree.root and line is not None:
            return self._index(line) < end
        block = None if holder is None else self._tree.parents.get(holder)
        return isinstance(block, cst.Try) and block.body is holder and holder.body[0] is line


def _tries_first(statement: cst.CSTNode, name: str, analysis: DefUse) -> bool:
    """Whether a ``try`` begins with the import of a name: if it fails, the library is missing and unused."""
    if not isinstance(statement, cst.Try) or not isinstance(statement.body, cst.IndentedBlock):
        return False
    line = statement.body.body[0]
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    return isinstance(first, (cst.Import, cst.ImportFrom)) and name in analysis.uses(first).certain


def _may_be_none(tree: Tree, name: str, analysis: DefUse) -> bool:
    """Whether a handler assigns to a name although more than the import of the library may have failed.

    The value is None, presumably.
    """
    tries = (node for node in tree.parents if isinstance(node, cst.Try) and not _tries_first(node, name, analysis))
    return any(_sets(tree, handler, name) for statement in tries for handler in statement.handlers)


def _sets(tree: Tree, handler: cst.ExceptHandler, name: str) -> bool:
    """Whether a handler assigns to a name; another import does not count."""
    assigned = (node for node in tree.descendants(handler) if isinstance(node, cst.AssignTarget))
    return any(name in target_names(node.target) for node in assigned)


def _is_plain_star(tree: Tree, statement: cst.CSTNode) -> bool:
    """Whether each ``import *`` of a statement is from a library that binds no name of another library."""
    for node in tree.descendants(statement):
        if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar):
            dotted = "" if node.module is None or node.relative else tree.code_of(node.module)
            if dotted.partition(".")[0] not in _PLAIN_STARS or dotted in _PACKAGES:
                return False
    return True


def _lists_names(tree: Tree, analysis: DefUse) -> bool:
    """Whether the program enumerates the names of the module and would notice a new one."""
    module = analysis.module
    if {"globals", "dir", "vars", "locals", "sys", "inspect"}.isdisjoint(module.reads | module.later):
        return False
    for node in tree.parents:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and not node.args:
            name, parent = node.func.value, tree.parents[node]
            if name == "globals" and not isinstance(parent, cst.Subscript):
                return True
            if name in ("dir", "vars", "locals") and analysis.scope_around(node) is tree.root:
                return True
        elif isinstance(node, cst.Attribute) and node.attr.value in ("modules", "getmembers", "__dict__"):
            return True
    return False
