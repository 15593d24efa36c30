"""Moves of statements to an earlier place: objections from the def-use analysis.

Names do not reveal side effects such as output; callers have to check these for the moved statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from kerascheck.syntax.def_use import BUILTIN_NAMES, INTROSPECTION, DefUse, def_use
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.uses import Uses

Line = Callable[[cst.CSTNode], str]
"""Formats the location of a node for people, such as "line 12"."""
_STABLE = frozenset({"tensorflow", "keras", "tf_keras", "numpy", "os"})
"""Libraries whose attributes the program changes only visibly."""
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Objections:
    """Objections to a move, as clauses for users; None if there is none.

    Attributes:
        unbound: the moved statements read a name that is bound below the new place, so they would not run there.
        doubtful: they read a name that may be unbound, at the new place as well as at the old one.
        between: a statement in between reads or changes what the moved ones use.
    """

    unbound: str | None = None
    doubtful: str | None = None
    between: str | None = None


def objections_to_move(tree: Tree, moved: Sequence[cst.CSTNode], place: cst.CSTNode, line: Line) -> Objections:
    """Return the objections to moving statements up to before another one.

    Args:
        tree: the tree of the module.
        moved: statements of one block, in the order of the text.
        place: an earlier statement of the same block, or the loop whose body holds the moved statements.
        line: formats locations in the objections.
    """
    move = _Move(def_use(tree), moved, place, line)
    return Objections(next(move.unbound(), None), next(move.doubtful(), None), next(move.between(), None))


class _Move:
    """A move of statements to an earlier place."""

    def __init__(self, analysis: DefUse, moved: Sequence[cst.CSTNode], place: cst.CSTNode, line: Line):
        self._analysis, self._tree, self._place, self._line = analysis, analysis.tree, place, line
        self._moved = moved
        self._leaves_loop = any(holder is place for holder in self._tree.ancestors(moved[0]))
        self._others = [each for each in self._find_between() if not any(each is other for other in moved)]
        self._scope = analysis.scope_around(place)
        self._reads, self._binds = self._needs()

    def _find_between(self) -> Iterator[cst.CSTNode]:
        if self._leaves_loop:
            # Each iteration comes in between; the loop node represents its header.
            yield self._place
            for part in self._tree.children(self._place):
                suite = part.body if isinstance(part, cst.Else) else part
                yield from suite.body if isinstance(suite, cst.IndentedBlock) else ()
            return
        block = self._tree.parents[self._place]
        body = list(block.body) if isinstance(block, (cst.Module, cst.IndentedBlock)) else []
        indices = {id(statement): index for index, statement in enumerate(body)}
        yield from body[indices[id(self._place)] : indices[id(self._moved[-1])]]

    def _needs(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names that the moved statements read from outside, also through functions, and those that they bind."""
        reads, bound, binds = set[str](), set[str](), set[str]()
        calls = False
        for statement in self._moved:
            uses = self._analysis.uses(statement)
            reads |= self._analysis.free_reads(statement) - bound
            bound |= uses.certain
            binds |= uses.binds | uses.unbinds
            calls = calls or uses.calls
        if calls:
            reads |= self._read_by_functions(reads) - bound
        return frozenset(reads), frozenset(binds)

    def _read_by_functions(self, names: set[str]) -> set[str]:
        """Return the names that the named functions and classes of the module read when they run."""
        seen, found, pending = set[str](), set[str](), set(names)
        while pending:
            name = pending.pop()
            seen.add(name)
            definitions: list[cst.FunctionDef | cst.ClassDef] = [*self._tree.functions, *self._tree.classes]
            for definition in definitions:
                if definition.name.value == name:
                    later = self._analysis.uses(definition).later
                    found |= later
                    pending |= later - seen
        return found

    def unbound(self) -> Iterator[str]:
        """Yield objections: names that are bound below the new place."""
        bound = self._analysis.bound_before(self._place)
        scope, known = self._analysis.scope(self._scope), self._names_around() | BUILTIN_NAMES
        for name in sorted(self._reads):
            binder = self._binder(name) if name in scope.locals else None
            if binder is not None:
                again = " again" if name in bound else ""
                yield f"`{name}` is bound{again} at {self._line(binder)}, below the new place"
            elif name not in bound and name not in known | scope.locals:
                binder = self._unseen_binder(name)
                if binder is not None:
                    yield f"`{name}` may be bound at {self._line(binder)}, below the new place"

    def doubtful(self) -> Iterator[str]:
        """Yield objections: names that may be unbound at either place."""
        bound = self._analysis.bound_before(self._place)
        scope = self._analysis.scope(self._scope)
        known = self._names_around() | BUILTIN_NAMES
        for name in sorted(self._reads - bound):
            if name in scope.locals:
                yield f"`{name}` may not be bound before {self._line(self._place)}"
            elif name not in known:
                yield f"nothing in this file binds `{name}`"

    def _unseen_binder(self, name: str) -> cst.CSTNode | None:
        """Return code in between that may bind a name although no statement of the scope does."""
        module = self._analysis.module
        by_call = name in module.rebinds or not INTROSPECTION.isdisjoint(module.reads | module.later)
        return next(
            (each for each in self._others if self._uses(each).star or by_call and self._uses(each).calls), None
        )

    def _names_around(self) -> frozenset[str]:
        """Return the names of the enclosing scopes."""
        names = _NONE
        if self._scope is not self._tree.root:
            for holder in self._tree.ancestors(self._scope):
                if isinstance(holder, (cst.FunctionDef, cst.Lambda, cst.Module)):
                    names |= self._analysis.scope(holder).locals
        return names

    def _binder(self, name: str) -> cst.CSTNode | None:
        """Return the innermost statement in between that binds or deletes a name."""
        inner: cst.CSTNode | None = next((each for each in self._others if name in self._bound_by(each)), None)
        found = inner
        while inner is not None and not (isinstance(found, (cst.FunctionDef, cst.ClassDef)) or self._is_header(found)):
            found = inner
            inner = next((each for each in self._tree.children(found) if name in self._bound_by(each)), None)
        return found

    def _bound_by(self, node: cst.CSTNode) -> frozenset[str]:
        uses = self._uses(node)
        return uses.binds | uses.unbinds

    def _uses(self, node: cst.CSTNode) -> Uses:
        return self._analysis.header(node) if self._is_header(node) else self._analysis.uses(node)

    def _is_header(self, node: cst.CSTNode | None) -> bool:
        return node is self._place and self._leaves_loop

    def between(self) -> Iterator[str]:
        """Yield objections: statements in between that conflict with the moved ones."""
        own = [self._analysis.uses(each) for each in self._moved]
        attributes = _NONE.union(*(each.attributes for each in own)) - self._stable_names()
        changed = _NONE.union(*(each.changes for each in own))
        module = self._analysis.module
        is_introspective = not INTROSPECTION.isdisjoint(module.reads | module.later)
        for other in self._others:
            uses, where = self._uses(other), self._line(other)
            yield from self._about_names(uses, where)
            if uses.calls and attributes:
                yield f"the attributes of `{min(attributes)}` may change at {where}"
            if changed and (uses.calls or changed & uses.reads):
                yield f"{where} may read what the moved statement changes of `{min(changed)}`"
            if uses.star or uses.calls and is_introspective:
                yield f"{where} may bind any name"
            if not self._is_header(other) and self._may_leave(other):
                yield f"{where} may leave the block before"

    def _about_names(self, uses: Uses, where: str) -> Iterator[str]:
        module = self._analysis.module
        reads, binds, changes = uses.reads | uses.later, uses.binds | uses.unbinds, uses.changes
        if uses.calls:
            # Code that runs there may call any function of the module.
            reads, binds, changes = reads | module.later, binds | module.rebinds, changes | module.changes_later
        for name in sorted(self._binds & reads):
            yield f"`{name}`, which the moved statement binds, may be read at {where}"
        for name in sorted(self._binds & binds):
            yield f"`{name}`, which the moved statement binds, may also be bound at {where}"
        for name in sorted(self._reads & (binds | changes | reads & self._mutable())):
            yield f"`{name}` may change at {where}"

    def _mutable(self) -> frozenset[str]:
        """Names possibly bound to a mutable object."""
        names = self._analysis.scope(self._scope).mutable
        for holder in self._tree.ancestors(self._scope):
            names |= (
                self._analysis.scope(holder).mutable if isinstance(holder, (cst.FunctionDef, cst.Module)) else _NONE
            )
        return names | self._analysis.module.mutable

    def _stable_names(self) -> frozenset[str]:
        """Names of libraries whose attributes never change."""
        names: set[str] = set()
        for statement in self._tree.imports:
            if isinstance(statement.names, cst.ImportStar):
                continue
            for alias in statement.names:
                dotted = alias.evaluated_name
                if isinstance(statement, cst.ImportFrom):
                    module = self._tree.code_of(statement.module) if statement.module is not None else ""
                    dotted = "" if statement.relative else f"{module}.{dotted}"
                if dotted.partition(".")[0] in _STABLE:
                    names.add(alias.evaluated_alias or alias.evaluated_name.partition(".")[0])
        return frozenset(names)

    def _may_leave(self, statement: cst.CSTNode) -> bool:
        leaving: tuple[type[cst.CSTNode], ...] = (cst.Return, cst.Break, cst.Continue)
        if self._scope is not self._tree.root:
            leaving = (*leaving, cst.Raise)
        stack = [statement]
        while stack:
            node = stack.pop()
            if isinstance(node, leaving):
                return True
            if not isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
                stack += self._tree.children(node)
        return False
