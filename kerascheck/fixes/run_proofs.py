"""Proofs about the run of a program: exception handlers around a call, and statements that make a call."""

from __future__ import annotations

import builtins
from collections.abc import Mapping

import libcst as cst

from kerascheck.fixes.lines import line
from kerascheck.interpreter.values import Call, Function, ModuleLike
from kerascheck.knowledge.namespaces import KERAS, TENSORFLOW

_OPENING = (TENSORFLOW, KERAS, "builtins.open", "open")
"""Prefixes of context managers that never swallow exceptions."""
_Names = Mapping[cst.CSTNode, str]
"""Names of the callees in a program, by call."""
_CATCH_ALL = frozenset({"Exception", "BaseException"})


def modules_of(module: ModuleLike) -> list[ModuleLike]:
    """Return a module and all project modules that it imports or that the interpreter followed, each once."""
    return list(dict.fromkeys((module, *module.run.modules, *module.project.imported(module))))


def statement_of(call: Call, module: ModuleLike, block: cst.CSTNode) -> cst.CSTNode | None:
    """Return the statement of ``block`` that makes a call, directly or through functions of the program.

    Returns None if an import makes the call, or code without a visible caller.
    """
    node, frame, holder = call.node, call.path.frame, call.module
    while True:
        if holder is module:
            found = statement_in_block(module, node, block)
            if found is not None:
                return found
        if frame.parent is None:
            return None
        node, holder, frame = frame.node, frame.module, frame.parent.frame


def statement_in_block(module: ModuleLike, node: cst.CSTNode, block: cst.CSTNode) -> cst.CSTNode | None:
    """Return the statement of ``block`` that runs ``node``; None if a nested function or class runs it."""
    parents = module.tree.parents
    for holder in (node, *module.tree.ancestors(node)):
        if isinstance(holder, (cst.FunctionDef, cst.Lambda)) and holder is not node:
            return None
        if parents.get(holder) is block:
            return holder
    return None


def possible_handler(call: Call, exceptions: frozenset[str] | None = None) -> str | None:
    """Return a possible handler of a call's exception, in its function or around call sites; None if there is none.

    Args:
        call: the call.
        exceptions: names of the relevant exceptions; None makes every ``try`` count.
    """
    for path in (call, *(other for other in call.module.run.calls if other.node is call.node)):
        found = _handler_on_path(path, exceptions)
        if found is not None:
            return found
    return _hook(call)


def _hook(call: Call) -> str | None:
    """Return a hook of the program that Python calls with uncaught exceptions."""
    for module in modules_of(call.module):
        for node in module.tree.parents if "excepthook" in module.code else ():
            if isinstance(node, cst.Attribute) and node.attr.value == "excepthook":
                return f"{line(module, node)} handles what nothing catches"
    return None


def _handler_on_path(call: Call, exceptions: frozenset[str] | None) -> str | None:
    """Return the handler of a call's exception on its execution path."""
    for path in call.path.chain():
        if path.kind == "handed":
            return f"a library calls it at {line(path.module, path.node)}"
    names = {each.node: each.name or "" for each in call.module.run.calls}
    node, module = call.node, call.module
    for frame in call.path.frames():
        found = _handler_around(module, node, exceptions, names)
        if found is None and frame.function is not None:
            found = _handler_at_other_call_sites(frame.function, exceptions, names)
        if found is not None:
            return found
        if frame.parent is None:
            return f"the callers of `{frame.function.name}` are not visible" if frame.function is not None else None
        node, module = frame.node, frame.module
    return None


def _handler_at_other_call_sites(function: Function, exceptions: frozenset[str] | None, names: _Names) -> str | None:
    """Return a handler at an unanalysed call site of a function, or a use of the function as a value."""
    tree = function.module.tree
    for node, parent in tree.parents.items():
        if not isinstance(node, cst.Name) or node.value != function.name or parent is function.node:
            continue
        used: cst.CSTNode = parent if isinstance(parent, cst.Attribute) and parent.attr is node else node
        user = tree.parents.get(used)
        if (
            isinstance(user, (cst.Arg, cst.Assign, cst.Element, cst.DictElement))
            and getattr(user, "value", None) is used
        ):
            return f"`{function.name}` is handed on at {line(function.module, used)}"
        found = _handler_around(function.module, used, exceptions, names)
        if found is not None:
            return found
    return None


def _handler_around(
    module: ModuleLike, node: cst.CSTNode, exceptions: frozenset[str] | None, names: _Names
) -> str | None:
    """Return the handler of an exception within the function or module that encloses a node."""
    for holder in module.tree.ancestors(node):
        if isinstance(holder, (cst.FunctionDef, cst.Lambda)):
            return None
        if isinstance(holder, (cst.Try, cst.TryStar)) and _catches(holder, exceptions):
            return f"it stands in the `try` of {line(module, holder)}"
        if isinstance(holder, cst.With):
            if not all(names.get(item.item, "").startswith(_OPENING) for item in holder.items):
                return f"the `with` of {line(module, holder)} may catch what it raises"
    return None


def _catches(statement: cst.Try | cst.TryStar, exceptions: frozenset[str] | None) -> bool:
    if exceptions is None:
        return True
    for handler in statement.handlers:
        kinds = (
            [element.value for element in handler.type.elements]
            if isinstance(handler.type, cst.Tuple)
            else [handler.type]
        )
        for kind in kinds:
            if (
                not isinstance(kind, cst.Name)
                or kind.value in exceptions | _CATCH_ALL
                or not _is_builtin_error(kind.value)
            ):
                return True
    return False


def _is_builtin_error(name: str) -> bool:
    return isinstance(getattr(builtins, name, None), type)
