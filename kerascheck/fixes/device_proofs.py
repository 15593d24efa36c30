"""Proofs about device set-up: effects of moved statements, and earlier set-up or start of the devices."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

import libcst as cst

from kerascheck.fixes.lines import line
from kerascheck.fixes.run_proofs import statement_of
from kerascheck.interpreter.values import Call
from kerascheck.knowledge.devices import (
    DEVICE_SETTINGS,
    GET_VISIBLE_DEVICES,
    LIST_PHYSICAL_DEVICES,
    LOGICAL_DEVICE_CONFIGURATION,
)
from kerascheck.meaning.module import Module
from kerascheck.meaning.program.device_start import initialising_calls
from kerascheck.syntax.def_use import def_use

_HARMLESS = frozenset(
    {
        *(*DEVICE_SETTINGS, LIST_PHYSICAL_DEVICES, GET_VISIBLE_DEVICES, LOGICAL_DEVICE_CONFIGURATION),
        *(f"builtins.{name}" for name in "len range enumerate zip list tuple bool int float str min max".split()),
    }
)
"""Callables that set up devices, and pure ones."""
_WITHOUT_EFFECT = frozenset(
    "tensorflow keras tf_keras numpy pandas scipy sklearn matplotlib PIL cv2 tqdm tensorflow_datasets".split()
) | (sys.stdlib_module_names - {"os", "runpy", "importlib", "subprocess", "builtins"})
"""Libraries whose import neither starts the devices nor sets environment variables."""
_ENVIRONMENT = ("environ", "putenv", "unsetenv", "dotenv")
"""Words of code that sets environment variables."""


# --- what the moved statements do ------------------------------------------------------------------


def effect(module: Module, statements: Sequence[cst.CSTNode]) -> str | None:
    """Return other effects of statements than the set-up of devices, as a clause; None if there are none."""
    names = {call.node: call.name for call in module.run.calls if call.module is module}
    for statement in statements:
        changed = def_use(module.tree).uses(statement).changes
        if changed:
            return f"it changes `{min(changed)}`"
        for node in module.tree.descendants(statement):
            if isinstance(node, cst.Call) and names.get(node) not in _HARMLESS:
                return f"it also calls `{module.tree.code_of(node.func)}`"
            if isinstance(node, (cst.Import, cst.ImportFrom, cst.Raise, cst.Await, cst.Yield, cst.With, cst.Assert)):
                return f"it does more than set up devices at {line(module, node)}"
            if isinstance(node, cst.Subscript) and not _is_guarded(module, node, statement):
                return f"`{module.tree.code_of(node)}` may raise, which then comes earlier"
    return None


def only_sets_up_devices(module: Module, statement: cst.CSTNode) -> bool:
    """Whether a statement only sets up devices and prints messages about it."""
    if isinstance(statement, cst.SimpleStatementLine):
        return True
    names = {call.node: call.name for call in module.run.calls if call.module is module}
    calls = (node for node in module.tree.descendants(statement) if isinstance(node, cst.Call))
    return isinstance(statement, (cst.If, cst.For, cst.Try)) and all(
        names.get(node) in _HARMLESS or names.get(node) == "builtins.print" for node in calls
    )


def _is_guarded(module: Module, node: cst.Subscript, statement: cst.CSTNode) -> bool:
    """Whether ``gpus[0]`` is guarded by ``if gpus:`` in the statement, or is a slice and cannot raise."""
    index = node.slice[0].slice
    if isinstance(index, cst.Slice):
        return True
    if not isinstance(index, cst.Index) or not isinstance(index.value, cst.Integer) or index.value.value != "0":
        return False
    child: cst.CSTNode = node
    for holder in module.tree.ancestors(node):
        if isinstance(holder, cst.If) and child is holder.body and isinstance(holder.test, cst.Name):
            if isinstance(node.value, cst.Name) and node.value.value == holder.test.value:
                return True
        if holder is statement:
            break
        child = holder
    return False


# --- what runs before ------------------------------------------------------------------------------


def change_between(call: Call, module: Module, between: Collection[cst.CSTNode]) -> str | None:
    """Return code in some statements that may set up devices, or change the environment for listing them."""
    statements = set(between)
    unknown = _unknown_relative_import(module, statements)
    if unknown is not None:
        return f"{unknown} may change the environment, which TensorFlow reads when it lists the devices"
    for other in module.run.calls:
        if other.order >= call.order:
            break
        root = other.path.root
        if root.function is not None:
            continue
        place = statement_of(other, module, module.tree.root)
        if place is not None and place not in statements:
            continue
        if place is None and root.module is module:
            continue
        where = line(module, place) if place is not None else line(other.module, other.node)
        if other.name in DEVICE_SETTINGS:
            return f"{where} sets up devices, too"
        if _may_set_environment(other, module):
            return f"{where} may change the environment, which TensorFlow reads when it lists the devices"
    return None


def _may_set_environment(call: Call, module: Module) -> bool:
    if call.name == "builtins.import":
        return not _is_quiet_import(call, module)
    if call.name is None:
        # A method of an object counts as its constructor.
        return call.attribute is None
    library = call.name.partition(".")[0]
    if library == "os":
        return any(word in call.name for word in _ENVIRONMENT)
    return library not in _WITHOUT_EFFECT and library != "builtins" or call.name in ("builtins.exec", "builtins.eval")


def _is_quiet_import(call: Call, module: Module) -> bool:
    """Whether an import runs only known code: a harmless library, or an analysed module."""
    dotted = call.attribute or ""
    if dotted.partition(".")[0] in _WITHOUT_EFFECT | {"os"}:
        return True
    return call.module.project.find(call.module, dotted, 0) in module.run.modules


def _unknown_relative_import(module: Module, statements: Collection[cst.CSTNode]) -> str | None:
    """Return a relative import of an unanalysed module, in some statements or in an analysed module."""
    for importer in module.run.modules:
        for node in importer.tree.imports:
            if not isinstance(node, cst.ImportFrom) or not node.relative:
                continue
            top = next((each for each in importer.tree.ancestors(node) if each in importer.tree.root.body), None)
            if importer is module and top not in statements:
                continue
            dotted = importer.tree.code_of(node.module) if node.module is not None else ""
            if importer.project.find(importer, dotted, len(node.relative)) not in module.run.modules:
                return f"the import at {line(importer, node)}"
    return None


def earlier_start(module: Module, place: cst.CSTNode | None) -> str | None:
    """Return code that may have started the devices before a statement of the module runs; None if there is none."""
    before = _statements_before(module, place)
    for call in initialising_calls(module):
        if call.path.root.function is not None:
            continue
        statement = statement_of(call, module, module.tree.root)
        if statement in before or statement is None and call.path.root.module is not module:
            return f"{line(call.module, call.node)} starts the devices before"
    unknown = _unknown_relative_import(module, before)
    if unknown is not None:
        return f"{unknown} may start the devices before"
    for call in module.run.calls:
        if call.name == "builtins.import" and not _is_quiet_import(call, module) and call.path.root.function is None:
            statement = statement_of(call, module, module.tree.root)
            if statement in before or call.module is not module:
                return f"the import at {line(call.module, call.node)} may start the devices before"
    return None


def _statements_before(module: Module, place: cst.CSTNode | None) -> list[cst.CSTNode]:
    body: list[cst.CSTNode] = list(module.tree.root.body)
    indices = [index for index, statement in enumerate(body) if statement is place]
    return body[: indices[0]] if indices else body
