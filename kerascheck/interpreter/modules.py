"""Modules of the linted tree: running them, and resolving names imported from them."""

from __future__ import annotations

import re
from itertools import takewhile

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.internal_values import Imported
from kerascheck.interpreter.joins import any_of
from kerascheck.interpreter.limits import A_WHOLE_MODULE, MAX_IMPORT_DEPTH, MAX_MODULES
from kerascheck.interpreter.values import (
    UNKNOWN,
    Constant,
    ExecutionPath,
    ModuleLike,
    ModuleValue,
    Scope,
    UnionValue,
    Value,
)
from kerascheck.syntax.tree import SyntaxProblem


def run_module(state: AbstractState, module: ModuleLike) -> Scope:
    scope = state.module_scopes.get(module)
    if scope is not None:
        return scope
    scope = state.module_scopes[module] = Scope(None)
    if not _is_followed(state, module):
        return scope
    scope.variables["__name__"] = Constant("__main__" if module is state.entry else module.dotted)
    saved = state.module, state.scope, state.path
    state.module, state.scope = module, scope
    state.path = ExecutionPath("root", None, module, module.tree.root)
    try:
        if module is state.entry and any(level for _, level in module.import_names):
            # Relative imports work only in a package, which Python has run before.
            run_packages(state, module, MAX_IMPORT_DEPTH)
        state.run_block(module.tree.root.body)
    finally:
        state.module, state.scope, state.path = saved
    return scope


def _is_followed(state: AbstractState, module: ModuleLike) -> bool:
    """Whether to follow an imported module: it is near enough, relevant, and readable."""
    if module is state.entry:
        state.import_depths[module] = 0
        return True
    depth = state.import_depths.get(state.module, MAX_IMPORT_DEPTH) + 1
    # The layers show whether a switch to eager execution is needed.
    worth = module.worth_following or state.entry.mentions(_EAGER_SWITCH)
    if depth > MAX_IMPORT_DEPTH or state.followed_modules > MAX_MODULES or not worth:
        return False
    try:
        module.tree
    except SyntaxProblem:
        return False
    state.import_depths[module] = depth
    state.followed_modules += min(1.0, len(module.text) / A_WHOLE_MODULE)
    return True


_EAGER_SWITCH = re.compile(r"\brun_(?:functions_)?eagerly\b")


def run_packages(state: AbstractState, module: ModuleLike, depth: int) -> None:
    """Run the packages around a module that act on import, the outermost first.

    Args:
        depth: how many packages to run at most: the number of dots in the imported name.
    """
    own = 2 if module.is_package else 1
    found = (module.project.find(module, "", level) for level in range(own, own + depth))
    # A folder without an __init__.py ends the package: the folders above may belong to another project.
    around = [package for package in takewhile(bool, found) if package is not None]
    for package in reversed(around):
        if package.acts_on_import:
            run_module(state, package)


def module_value(state: AbstractState, module: ModuleLike) -> Value:
    if module.acts_on_import:
        run_module(state, module)
    return ModuleValue(module)


def member_of(state: AbstractState, module: ModuleLike, name: str) -> Value:
    scope = run_module(state, module)
    if name in scope.variables:
        return resolved(state, scope, name, scope.variables[name])
    inner = module.project.find(module, name, 1) if module.is_package else None
    return module_value(state, inner) if inner else UNKNOWN


def resolved(state: AbstractState, scope: Scope, name: str, value: Value) -> Value:
    """A value with its unresolved imports resolved."""
    if isinstance(value, Imported):
        # In an import cycle, the name stays unknown.
        scope.variables[name] = UNKNOWN
        value = scope.variables[name] = member_of(state, value.module, value.name)
    elif isinstance(value, UnionValue) and any(isinstance(option, Imported) for option in value.options):
        scope.variables[name] = UNKNOWN
        value = scope.variables[name] = any_of(
            member_of(state, option.module, option.name) if isinstance(option, Imported) else option
            for option in value.options
        )
    return value
