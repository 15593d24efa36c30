"""Namespaces of functions, classes and modules."""

from __future__ import annotations

from dataclasses import dataclass, field

from kerascheck.interpreter.values.base import Value


@dataclass(eq=False, slots=True)
class Scope:
    """The variables of one function, class or module body."""

    parent: Scope | None
    variables: dict[str, Value] = field(default_factory=dict)
    redirected: dict[str, Scope] = field(default_factory=dict)
    """Names declared ``global`` or ``nonlocal`` here, with the scope that contains them."""
    parameters: frozenset[str] = frozenset()
    """Parameters whose arguments the current call determines."""

    def owner(self, name: str) -> Scope | None:
        """The nearest scope that binds ``name``; None if none does."""
        scope: Scope | None = self
        while scope is not None:
            scope = scope.redirected.get(name, scope)
            if name in scope.variables:
                return scope
            scope = scope.parent
        return None

    def lookup(self, name: str) -> Value | None:
        """The value of ``name`` here or in an enclosing scope; None if unbound."""
        scope = self.owner(name)
        return None if scope is None else scope.variables[name]
