"""Def-use analysis: the names that each statement binds, reads and changes.

It reads the text alone. :mod:`kerascheck.syntax.moves` uses it to decide whether statements may move, and
:mod:`kerascheck.syntax.edits.imports` uses it to find the local name of a library.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst

from kerascheck.syntax.tree import Tree
from kerascheck.syntax.uses import Context, Scope, UseCollector, Uses, parameters_of, target_names

_BLOCKS = (cst.Module, cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite)
BUILTIN_NAMES = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
INTROSPECTION = frozenset({"exec", "eval", "globals", "locals"})
"""Names of functions that may read or bind any name of a module."""
_COMPOUND = (cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar)
_SUITES = (
    *(cst.IndentedBlock, cst.SimpleStatementSuite, cst.If, cst.Else, cst.Finally),
    *(cst.ExceptHandler, cst.ExceptStarHandler),
)
_MOST_NESTED = 40  # levels of nested statements; deeper ones count as conditional
_NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class DefUse:
    """The def-use analysis of a tree; results are memoised."""

    tree: Tree
    _uses: dict[cst.CSTNode, Uses] = field(default_factory=dict)
    _scopes: dict[cst.CSTNode, Scope] = field(default_factory=dict)
    _module: list[Uses] = field(default_factory=list)

    def uses(self, node: cst.CSTNode) -> Uses:
        """Return the names that a statement or expression uses."""
        found = self._uses.get(node)
        if found is None:
            found = UseCollector(self.scope).collect([node])
            if isinstance(node, (cst.If, cst.Try, cst.TryStar)):
                found = replace(found, certain=found.certain | (self._certain(node) or _NONE))
            self._uses[node] = found
        return found

    def header(self, loop: cst.CSTNode) -> Uses:
        """Return the names that a loop uses outside its body."""
        collector = UseCollector(self.scope)
        if isinstance(loop, cst.For):
            collector.store(loop.target, Context(is_certain=False))
            collector.calls = True
        return collector.collect([part for part in [_header(loop)] if part is not None])

    @property
    def module(self) -> Uses:
        """The names that the whole module uses."""
        if not self._module:
            self._module.append(UseCollector(self.scope).collect(self.tree.root.body))
        return self._module[0]

    def scope(self, node: cst.CSTNode) -> Scope:
        """Return the names of a function, class or module."""
        found = self._scopes.get(node)
        if found is None:
            body = (
                [node.body] if isinstance(node, (cst.FunctionDef, cst.Lambda, cst.ClassDef)) else [*Tree.children(node)]
            )
            uses = UseCollector(self.scope).collect(body)
            parameters: frozenset[str] = _NONE
            if isinstance(node, (cst.FunctionDef, cst.Lambda)):
                parameters = frozenset(each.name.value for each in parameters_of(node))
            bound = (uses.binds | uses.unbinds | parameters) - uses.declared
            found = self._scopes[node] = Scope(bound, parameters, uses.declared, uses.mutable | parameters)
        return found

    def scope_around(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return the function, class or module that encloses a node; for a definition, the one around it."""
        child = node
        for holder in self.tree.ancestors(node):
            if isinstance(holder, (cst.FunctionDef, cst.Lambda, cst.ClassDef)) and child is holder.body:
                return holder
            child = holder
        return self.tree.root

    def bound_before(self, statement: cst.CSTNode, *, since: cst.CSTNode | None = None) -> frozenset[str]:
        """Return the local names that are certainly bound before a statement runs.

        Args:
            statement: the statement.
            since: an enclosing statement; then only names count that it binds itself.
        """
        start = self.scope_around(statement) if since is None else since
        path = [statement]
        for holder in self.tree.ancestors(statement):
            if holder is start:
                break
            path.append(holder)
        bound = set(self.scope(start).parameters) if since is None else set()
        if statement is start:
            return frozenset()
        outer = start
        for holder in reversed(path):
            self._enter(outer, holder, bound)
            outer = holder
        return frozenset(bound)

    def free_reads(self, statement: cst.CSTNode) -> frozenset[str]:
        """Return the names that a statement reads from outside: it has not always bound them itself before."""
        uses = self.uses(statement)
        own = uses.reads & uses.binds if isinstance(statement, _COMPOUND) else _NONE
        if not own:
            return uses.reads
        free: set[str] = set()
        for part, reads in self._parts(statement):
            asked = reads & own - free
            if asked:
                free |= asked - self.bound_before(part, since=statement)
        return uses.reads - (own - free)

    def _parts(self, statement: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, frozenset[str]]]:
        """Yield the nested statements, each with the names that it, or its header, reads."""
        stack: list[cst.CSTNode] = [statement]
        while stack:
            node = stack.pop()
            if not isinstance(node, _COMPOUND):
                yield node, self.uses(node).reads
                continue
            header: list[Any] = [item.item for item in node.items] if isinstance(node, cst.With) else [_header(node)]
            inner: list[cst.CSTNode] = [part for part in Tree.children(node) if isinstance(part, _SUITES)]
            while inner:
                suite = inner.pop()
                if isinstance(suite, cst.If):
                    stack.append(suite)
                elif isinstance(suite, (cst.IndentedBlock, cst.SimpleStatementSuite)):
                    stack += suite.body
                elif isinstance(suite, (cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler)):
                    inner.append(suite.body)
                    header.append(getattr(suite, "type", None))
            yield node, _NONE.union(*(self.uses(part).reads for part in header if part is not None))

    def _enter(self, outer: cst.CSTNode, inner: cst.CSTNode, bound: set[str]) -> None:
        """Update the bound names from those before ``outer`` to those before its child ``inner``."""
        if isinstance(outer, _BLOCKS):
            for other in outer.body:
                if other is inner:
                    return
                uses = self.uses(other)
                bound |= uses.certain
                bound -= uses.unbinds
        elif isinstance(outer, (cst.For, cst.While, cst.With, cst.If, cst.Match)):
            header = _header(outer)
            if inner is not header and not isinstance(inner, (cst.Else, cst.If)):
                bound |= self._bound_by_header(outer)
            if isinstance(outer, (cst.For, cst.While)):
                # An earlier iteration may have deleted them.
                bound -= self.uses(outer).unbinds
        elif isinstance(outer, (cst.ExceptHandler, cst.ExceptStarHandler)):
            if outer.name is not None:
                bound |= set(target_names(outer.name.name))
        elif isinstance(outer, (cst.Try, cst.TryStar)) and inner is not outer.body:
            bound -= self.uses(outer.body).unbinds
            if inner is outer.orelse:
                bound |= self._certain_block(outer.body) or _NONE

    def _bound_by_header(self, node: cst.CSTNode) -> frozenset[str]:
        if isinstance(node, cst.For):
            return frozenset(target_names(node.target)) | self.uses(node.iter).certain
        if isinstance(node, cst.With):
            items = [self.uses(item.item).certain for item in node.items]
            targets = [target_names(item.asname.name) for item in node.items if item.asname is not None]
            return frozenset[str]().union(*items, *targets)
        if isinstance(node, (cst.If, cst.While)):
            return self.uses(node.test).certain
        return _NONE

    # Names bound after a block; None if the block never ends normally.

    def _certain(self, node: cst.CSTNode, depth: int = 0) -> frozenset[str] | None:
        if depth > _MOST_NESTED:
            return _NONE
        if isinstance(node, cst.If):
            orelse = node.orelse.body if isinstance(node.orelse, cst.Else) else node.orelse
            other = _NONE if orelse is None else self._certain_block(orelse, depth + 1)
            here = self._certain_block(node.body, depth + 1)
            both = here if other is None else other if here is None else here & other
            return None if both is None else both | self.uses(node.test).certain
        if isinstance(node, (cst.Try, cst.TryStar)):
            ends = [self._certain_block(node.body, depth + 1)]
            if node.orelse is not None and ends[0] is not None:
                after = self._certain_block(node.orelse.body, depth + 1)
                ends[0] = None if after is None else ends[0] | after
            for handler in node.handlers:
                found = self._certain_block(handler.body, depth + 1)
                ends.append(None if found is None else found - self.uses(node.body).unbinds)
            ended = [end for end in ends if end is not None]
            if not ended:
                return None
            final = self.uses(node.finalbody).certain if node.finalbody is not None else _NONE
            return frozenset.intersection(*ended) | final
        return self.uses(node).certain

    def _certain_block(self, block: cst.CSTNode, depth: int = 0) -> frozenset[str] | None:
        if isinstance(block, cst.If):
            return self._certain(block, depth)
        bound: frozenset[str] = _NONE
        for statement in getattr(block, "body", ()):
            if (
                isinstance(statement, cst.SimpleStatementLine)
                and any(map(_leaves, statement.body))
                or _leaves(statement)
            ):
                return None
            found = self._certain(statement, depth)
            if found is None:
                return None
            bound = (bound | found) - self.uses(statement).unbinds
        return bound


def _leaves(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.Return, cst.Raise, cst.Continue, cst.Break))


def _header(node: cst.CSTNode) -> cst.CSTNode | None:
    """Return the expression that a compound statement evaluates first."""
    return getattr(node, "test", None) or getattr(node, "iter", None) or getattr(node, "subject", None)


def def_use(tree: Tree) -> DefUse:
    """Return the analysis of a tree; memoised."""
    found: DefUse = tree.memory.setdefault(DefUse, DefUse(tree))
    return found
