"""Import statements."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.binding import bind_name
from kerascheck.interpreter.internal_values import Imported
from kerascheck.interpreter.modules import module_value, run_module, run_packages
from kerascheck.interpreter.nodes import dotted_name
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Constant,
    ExternalInstance,
    ModuleLike,
    SequenceValue,
    Value,
    constant,
    external,
)
from kerascheck.syntax.names import canonical


def run_import(state: AbstractState, node: cst.Import) -> None:
    for alias in node.names:
        dotted = dotted_name(alias.name)
        local = state.module.project.find(state.module, dotted, 0)
        if local is not None:
            run_packages(state, local, dotted.count("."))
        bound = alias.evaluated_alias
        if bound is not None:
            value: Value = module_value(state, local) if local else external(dotted)
            bind_name(state, bound, value)
        else:
            first = dotted.partition(".")[0]
            if local is None:
                bind_name(state, first, external(first))
            else:
                bind_name(state, first, _package(state, dotted, local))
        state.record(node, "builtins.import", dotted, UNKNOWN, Arguments([Constant(dotted)]))


def _package(state: AbstractState, dotted: str, local: ModuleLike) -> Value:
    """The value that ``import a.b.c`` binds to ``a``."""
    first, _, rest = dotted.partition(".")
    found = state.module.project.find(state.module, first, 0)
    if found is not None:
        return module_value(state, found)
    # A folder without an __init__.py contains only its modules.
    bound = state.scope.lookup(first)
    package = (
        bound
        if isinstance(bound, ExternalInstance) and bound.name == "builtins.module"
        else ExternalInstance("builtins.module")
    )
    inner = package
    *folders, last = rest.split(".")
    for folder in folders:
        held = inner.attributes.setdefault(folder, ExternalInstance("builtins.module"))
        if not isinstance(held, ExternalInstance):
            return UNKNOWN
        inner = held
    inner.attributes[last] = module_value(state, local)
    return package


def run_import_from(state: AbstractState, node: cst.ImportFrom) -> None:
    base = dotted_name(node.module) if node.module is not None else ""
    level = len(node.relative)
    local = state.module.project.find(state.module, base, level)
    if not level:
        state.record(node, "builtins.import", base, UNKNOWN, Arguments([Constant(base)]))
    if local is not None:
        run_packages(state, local, base.count("."))
    if isinstance(node.names, cst.ImportStar):
        if local is not None:
            variables = run_module(state, local).variables
            listed = variables.get("__all__")
            public = {constant(item) for item in listed.items} if isinstance(listed, SequenceValue) else None
            for name, value in list(variables.items()):
                if name in public if public is not None else not name.startswith("_"):
                    bind_name(state, name, value)
            if public is None:
                # Star imports are transitive.
                state.star_imports.setdefault(state.module, []).extend(state.star_imports.get(local, ()))
        elif not level:
            state.star_imports.setdefault(state.module, []).append(canonical(base))
        return
    for alias in node.names:
        name = alias.evaluated_name
        bound = alias.evaluated_alias or name
        if local is None and level:
            inner = state.module.project.find(state.module, f"{base}.{name}" if base else name, level)
            bind_name(state, bound, module_value(state, inner) if inner else UNKNOWN)
        elif local is None:
            inner = state.module.project.find(state.module, f"{base}.{name}", 0)
            if inner is not None:
                run_packages(state, inner, base.count(".") + 1)
            bind_name(state, bound, module_value(state, inner) if inner else external(f"{base}.{name}"))
        else:
            if local.acts_on_import:
                run_module(state, local)
            inner = state.module.project.find(local, name, 1) if local.is_package else None
            if inner is not None and inner.acts_on_import:
                run_module(state, inner)
            bind_name(state, bound, Imported(local, name))
