"""Removed and outdated names of TensorFlow and Keras that a module uses."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation, handles_versions
from kerascheck.interpreter.module import Module
from kerascheck.knowledge.callables import COMPAT_V1_CONFIG_PROTO
from kerascheck.knowledge.namespaces import OF_DATA_DATASET, OF_DISTRIBUTE_STRATEGY
from kerascheck.knowledge.runtime import DEPRECATED, OLD_NAMESPACES, REMOVED, REMOVED_NAMESPACES, Runtime
from kerascheck.meaning.calls import CallIndex
from kerascheck.syntax.edits import imports_as_written, names_as_written
from kerascheck.syntax.written import stands_for_versions

_SUCCESSORS = {**REMOVED, **REMOVED_NAMESPACES, **DEPRECATED}
_LAST = frozenset(name.rpartition(".")[2] for name in _SUCCESSORS)
_METHODS = (OF_DATA_DATASET, OF_DISTRIBUTE_STRATEGY)


class Fate(enum.Enum):
    """The status of a name in the target versions of a module."""

    GONE = enum.auto()
    GOING = enum.auto()
    """It works in these versions, but raises an error in later ones."""
    KEPT = enum.auto()
    """It works, but only for old code."""


@dataclass(frozen=True, slots=True)
class OldName:
    """One use of a removed or outdated name.

    Attributes:
        place: the name, or the alias of the import that binds it.
        name: dotted, with ``tensorflow.keras`` as ``keras``; a namespace if all of it was removed.
        successor: the new name in the same form; None if more than the name changes.
        fate: the status of the name.
        is_imported: whether an import binds the name itself, so renaming the use is not enough.
    """

    place: CodeLocation
    name: str
    successor: str | None
    fate: Fate
    is_imported: bool


def old_names(module: Module) -> Iterator[OldName]:
    """The distinct uses of old names.

    A failing import counts for the names that it binds, and a removed namespace for its members. Skips code for several
    versions, and names that the target versions may still have.
    """
    bound = set()
    reported = set()
    for alias, local, name in _imports_of_old(module):
        bound.add(local)
        statement = module.tree.statement_range(alias)
        namespace = _namespace_of(name)
        if (statement, namespace) not in reported:
            reported.add((statement, namespace))
            lacking = name in REMOVED and module.runtime.lacks(name)
            yield _old_name(module, alias, name if lacking else namespace, is_imported=True)
    yield from _uses(module, bound)


def session_configs(module: Module) -> Iterator[CodeLocation]:
    """Uses of TensorFlow 1's ``ConfigProto`` with ``allow_growth`` in code for TensorFlow 2."""
    if "allow_growth" not in module.code or module.runtime.tensorflow < (2, 0):
        return
    for node, name in names_as_written(module.tree, {COMPAT_V1_CONFIG_PROTO.rpartition(".")[2]}):
        if name == COMPAT_V1_CONFIG_PROTO and not stands_for_versions(module.tree, node):
            yield CodeLocation(module, node)


def _imports_of_old(module: Module) -> Iterator[tuple[cst.ImportAlias, str, str]]:
    """Imports of removed or outdated names: the alias, the name it binds, and the dotted name."""
    for alias, local, name in imports_as_written(module.tree):
        namespace = _namespace_of(name)
        if name not in REMOVED and namespace not in REMOVED_NAMESPACES:
            continue
        is_old = module.runtime.lacks(namespace) or _is_going(namespace, module.runtime)
        if is_old and not stands_for_versions(module.tree, alias):
            yield alias, local, name


def _uses(module: Module, bound: set[str]) -> Iterator[OldName]:
    """The uses of old names, except those that an import in ``bound`` binds."""
    uses = _names_in(module)
    imported = {name for node, name in uses.items() if isinstance(node, cst.Name)}
    namespaces = set()
    for node, name in uses.items():
        if module.tree.code_of(node).partition(".")[0] in bound or name in namespaces:
            continue
        # A finding about a name covers its namespace.
        if not module.runtime.lacks(name) or module.tree.parents.get(node) in uses:
            continue
        if REMOVED_NAMESPACES.get(name, name) is None:
            namespaces.add(name)
        yield _old_name(module, node, name, is_imported=name in imported)


def _names_in(module: Module) -> dict[cst.CSTNode, str]:
    """The nodes of old names and of calls of old methods."""
    uses: dict[cst.CSTNode, str] = {}
    for node, name in names_as_written(module.tree, _LAST):
        namespace = name.rpartition(".")[0]
        if name not in REMOVED and namespace in REMOVED_NAMESPACES:
            name = namespace
        if name in _SUCCESSORS and not stands_for_versions(module.tree, node):
            uses[node] = name
    calls = module.once(CallIndex)
    removed = [name for name in calls.names if name in REMOVED and name.startswith(_METHODS)]
    for call in calls.named(*removed):
        if call.module is module and call.name is not None:
            if not handles_versions(call.path):
                uses[call.node] = call.name
    return uses


def _old_name(module: Module, node: cst.CSTNode, name: str, *, is_imported: bool) -> OldName:
    return OldName(CodeLocation(module, node), name, _SUCCESSORS[name], _fate(name, module.runtime), is_imported)


def _fate(name: str, runtime: Runtime) -> Fate:
    if name in OLD_NAMESPACES and not runtime.lacks(name):
        return Fate.GOING
    return Fate.KEPT if name in DEPRECATED else Fate.GONE


def _namespace_of(name: str) -> str:
    """The removed namespace that contains a name; the name itself if there is none."""
    return next((outer for outer in REMOVED_NAMESPACES if f"{name}.".startswith(outer + ".")), name)


def _is_going(namespace: str, runtime: Runtime) -> bool:
    return namespace in OLD_NAMESPACES and runtime.tensorflow >= OLD_NAMESPACES[namespace]
