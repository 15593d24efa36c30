"""Def-use analysis of statements: which names each binds, reads and changes.

It answers from the text alone. :mod:`kerascheck.syntax.moves` asks it whether statements may move, and
:mod:`kerascheck.syntax.edits.imports` under which name a place knows a library.
"""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst

from kerascheck.syntax.tree import Tree

_BLOCKS = (cst.Module, cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite)
BUILTIN_NAMES = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
INTROSPECTION = frozenset({"exec", "eval", "globals", "locals"})
"""Names of whatever may read or bind every name of a module."""
_COMPOUND = (cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar)
_SUITES = (
    *(cst.IndentedBlock, cst.SimpleStatementSuite, cst.If, cst.Else, cst.Finally),
    *(cst.ExceptHandler, cst.ExceptStarHandler),
)
_MOST_NESTED = 40  # statements inside each other; deeper ones count as conditional
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Uses:
    """The names that a statement uses, of the scope it stands in and of those around it."""

    binds: frozenset[str] = _NONE
    """Names that it may bind."""
    certain: frozenset[str] = _NONE
    """Names that it has bound whenever it ends normally."""
    unbinds: frozenset[str] = _NONE
    """Names that it may delete."""
    reads: frozenset[str] = _NONE
    """Names that it reads when it runs; those that class bodies read are among them."""
    later: frozenset[str] = _NONE
    """Names that the functions defined in it read when they run."""
    rebinds: frozenset[str] = _NONE
    """Names that these functions bind or delete when they run, by ``global`` or ``nonlocal``."""
    changes: frozenset[str] = _NONE
    """Names of objects of which it sets or deletes attributes or items."""
    changes_later: frozenset[str] = _NONE
    """The same for the functions defined in it."""
    attributes: frozenset[str] = _NONE
    """Names of objects of which it reads attributes."""
    declared: frozenset[str] = _NONE
    """Names that it declares ``global`` or ``nonlocal``."""
    mutable: frozenset[str] = _NONE
    """Names that it may bind to an object that can change: to no module, function, class, number or text."""
    star: bool = False
    """It binds whatever names a module has."""
    calls: bool = False
    """It may run code that stands elsewhere."""


@dataclass(frozen=True, slots=True)
class _Where:
    """How a node is reached from the statement."""

    is_certain: bool = True
    is_later: bool = False
    """Inside of a function, whose body runs when it is called."""
    is_in_class: bool = False
    hidden: frozenset[str] = _NONE
    """Names of the scopes between the statement and the node."""
    outer: frozenset[str] = _NONE
    """Names that the function around the node declares ``global`` or ``nonlocal``."""


_Names = dict[str, set[str]]


class _Collector:
    """Walks a statement without recursion into its nodes."""

    def __init__(self, def_use: DefUse) -> None:
        self._def_use = def_use
        self.names: _Names = defaultdict(set)
        self.star = self.calls = False
        self._stack: list[tuple[cst.CSTNode, _Where]] = []

    def collect(self, nodes: Iterable[cst.CSTNode]) -> Uses:
        self._push(nodes, _Where())
        while self._stack:
            node, where = self._stack.pop()
            handler = _HANDLERS.get(type(node))
            if handler is None:
                self._push(Tree.children(node), where)
            else:
                handler(self, node, where)
        return Uses(**{name: frozenset(found) for name, found in self.names.items()}, star=self.star, calls=self.calls)

    def _push(self, nodes: Iterable[cst.CSTNode | None], where: _Where) -> None:
        self._stack.extend((node, where) for node in nodes if node is not None)

    # Names.

    def bind(self, name: str, where: _Where, into: str = "binds", *, mutable: bool = False) -> None:
        if mutable and (not where.is_later or name in where.outer) and not where.is_in_class:
            self.names["mutable"].add(name)
        if where.is_later:
            if name in where.outer and name not in where.hidden:
                self.names["rebinds"].add(name)
        elif not where.is_in_class:
            self.names[into].add(name)
            if where.is_certain and into == "binds":
                self.names["certain"].add(name)

    def _note(self, kind: str, node: cst.CSTNode, where: _Where) -> None:
        root = root_name(node)
        if root is not None and root not in where.hidden:
            self.names[kind].add(root)

    def store(self, target: cst.CSTNode, where: _Where, value: cst.CSTNode | None = None) -> None:
        """Handle what an assignment, a loop or ``with`` assigns to."""
        mutable = not is_literal(value)
        stack = [target]
        while stack:
            node = stack.pop()
            if isinstance(node, cst.Name):
                self.bind(node.value, where, mutable=mutable)
            elif isinstance(node, (cst.Tuple, cst.List)):
                # To take a value apart runs its iterator.
                self.calls = self.calls or not where.is_later
                stack += [element.value for element in node.elements]
            else:
                self._change(node, where)

    def _change(self, node: cst.CSTNode, where: _Where) -> None:
        if isinstance(node, (cst.Attribute, cst.Subscript)):
            self._note("changes_later" if where.is_later else "changes", node, where)
            # A property or __setitem__ may run any code.
            self.calls = self.calls or not where.is_later
            self._push([node.value], where)
            if isinstance(node, cst.Subscript):
                self._push(node.slice, where)
        else:
            self._push([node], where)

    def name(self, node: cst.Name, where: _Where) -> None:
        if node.value not in where.hidden:
            self.names["later" if where.is_later else "reads"].add(node.value)

    def attribute(self, node: cst.Attribute, where: _Where) -> None:
        if not where.is_later:
            self._note("attributes", node, where)
        self._push([node.value], where)

    def call(self, node: cst.CSTNode, where: _Where) -> None:
        self.calls = self.calls or not where.is_later
        self._push(Tree.children(node), where)

    def argument(self, node: cst.Arg, where: _Where) -> None:
        self._push([node.value], where)

    # Statements.

    def assign(self, node: cst.Assign, where: _Where) -> None:
        self._push([node.value], where)
        for target in node.targets:
            self.store(target.target, where, node.value)

    def annotated(self, node: cst.AnnAssign, where: _Where) -> None:
        self._push([node.annotation, node.value], where)
        if node.value is not None:
            self.store(node.target, where, node.value)
        elif isinstance(node.target, cst.Name):
            # The name is a local one, which is not bound yet.
            self.bind(node.target.value, replace(where, is_certain=False))
        else:
            self._push([node.target], where)

    def augmented(self, node: cst.AugAssign, where: _Where) -> None:
        self._push([node.value, node.target], where)
        self.calls = self.calls or not where.is_later
        self.store(node.target, where)

    def walrus(self, node: cst.NamedExpr, where: _Where) -> None:
        self._push([node.value], where)
        self.store(node.target, where, node.value)

    def delete(self, node: cst.Del, where: _Where) -> None:
        stack: list[cst.CSTNode] = [node.target]
        while stack:
            target = stack.pop()
            if isinstance(target, (cst.Tuple, cst.List)):
                stack += [element.value for element in target.elements]
            elif isinstance(target, cst.Name):
                self.name(target, where)
                self.bind(target.value, where, into="unbinds")
            else:
                self._change(target, where)

    def declared(self, node: cst.Global | cst.Nonlocal, where: _Where) -> None:
        if not where.is_later and not where.is_in_class:
            self.names["declared"].update(item.name.value for item in node.names)

    def imported(self, node: cst.Import | cst.ImportFrom, where: _Where) -> None:
        # The module that is imported runs.
        self.calls = self.calls or not where.is_later
        if isinstance(node.names, cst.ImportStar):
            self.star = True
            return
        for alias in node.names:
            name = alias.evaluated_alias or alias.evaluated_name
            self.bind(name if isinstance(node, cst.ImportFrom) else name.partition(".")[0], where)

    def if_(self, node: cst.If, where: _Where) -> None:
        self._push([node.test], where)
        self._push([node.body, node.orelse], replace(where, is_certain=False))

    def loop(self, node: cst.For, where: _Where) -> None:
        self._push([node.iter], where)
        self.calls = self.calls or not where.is_later
        inner = replace(where, is_certain=False)
        self.store(node.target, inner)
        self._push([node.body, node.orelse], inner)

    def while_(self, node: cst.While, where: _Where) -> None:
        self._push([node.test], where)
        self._push([node.body, node.orelse], replace(where, is_certain=False))

    def with_(self, node: cst.With, where: _Where) -> None:
        self.calls = self.calls or not where.is_later
        for item in node.items:
            self._push([item.item], where)
            if item.asname is not None:
                self.store(item.asname.name, where)
        # The manager may swallow what the body raises.
        self._push([node.body], replace(where, is_certain=False))

    def try_(self, node: cst.Try | cst.TryStar, where: _Where) -> None:
        inner = replace(where, is_certain=False)
        self._push([node.body, *node.handlers, node.orelse], inner)
        self._push([node.finalbody], where)

    def handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler, where: _Where) -> None:
        self._push([node.type, node.body], where)
        if node.name is not None and isinstance(node.name.name, cst.Name):
            self.bind(node.name.name.value, where)
            self.bind(node.name.name.value, where, into="unbinds")

    def match(self, node: cst.Match, where: _Where) -> None:
        self._push([node.subject], where)
        self.calls = self.calls or not where.is_later
        self._push(node.cases, replace(where, is_certain=False))

    def captured(self, node: cst.MatchAs | cst.MatchStar | cst.MatchMapping, where: _Where) -> None:
        captured = node.rest if isinstance(node, cst.MatchMapping) else node.name
        if captured is not None:
            self.bind(captured.value, where, mutable=True)
        if isinstance(node, cst.MatchAs):
            self._push([node.pattern], where)
        elif isinstance(node, cst.MatchMapping):
            self._push(node.elements, where)

    def keyword_pattern(self, node: cst.MatchKeywordElement, where: _Where) -> None:
        self._push([node.pattern], where)

    def asserted(self, node: cst.Assert, where: _Where) -> None:
        # ``python -O`` leaves it out.
        self._push(Tree.children(node), replace(where, is_certain=False))

    # Expressions of which parts may not run.

    def either(self, node: cst.BooleanOperation, where: _Where) -> None:
        self._push([node.left], where)
        self._push([node.right], replace(where, is_certain=False))

    def chosen(self, node: cst.IfExp, where: _Where) -> None:
        self._push([node.test], where)
        self._push([node.body, node.orelse], replace(where, is_certain=False))

    def compared(self, node: cst.Comparison, where: _Where) -> None:
        self._push([node.left, *node.comparisons[:1]], where)
        self._push(node.comparisons[1:], replace(where, is_certain=False))

    # Scopes.

    def function(self, node: cst.FunctionDef, where: _Where) -> None:
        self.bind(node.name.value, where)
        self.calls = self.calls or bool(node.decorators) and not where.is_later
        parameters = parameters_of(node)
        self._push([each.decorator for each in node.decorators], where)
        self._push([part for each in parameters for part in (each.default, each.annotation)], where)
        self._push([node.returns], where)
        self._inner(node, [node.body], where)

    def lambda_(self, node: cst.Lambda, where: _Where) -> None:
        self._push([each.default for each in parameters_of(node)], where)
        self._inner(node, [node.body], where)

    def _inner(self, node: cst.FunctionDef | cst.Lambda, body: list[cst.CSTNode], where: _Where) -> None:
        scope = self._def_use.scope(node)
        outer = (where.outer - scope.locals) | scope.declared
        hidden = (where.hidden | scope.locals) - scope.declared
        self._push(body, _Where(False, True, False, hidden, outer))

    def class_(self, node: cst.ClassDef, where: _Where) -> None:
        self.bind(node.name.value, where)
        self.calls = True if not where.is_later else self.calls
        self._push([each.decorator for each in node.decorators], where)
        self._push([*node.bases, *node.keywords], where)
        self._push([node.body], replace(where, is_certain=False, is_in_class=True))

    def comprehension(self, node: cst.BaseSimpleComp | cst.DictComp, where: _Where) -> None:
        first: Any = node.for_in
        self.calls = self.calls or not where.is_later
        self._push([first.iter], where)
        targets: set[str] = set()
        inner: list[cst.CSTNode | None] = []
        part = first
        while part is not None:
            targets.update(target_names(part.target))
            inner += [each.test for each in part.ifs]
            part = part.inner_for_in
            inner += [part.iter] if part is not None else []
        inner += [node.key, node.value] if isinstance(node, cst.DictComp) else [node.elt]
        self._push(inner, replace(where, is_certain=False, hidden=where.hidden | targets))

    def type_alias(self, node: cst.TypeAlias, where: _Where) -> None:
        self.bind(node.name.value, where)
        self._push([node.value], _Where(False, True, False, where.hidden, where.outer))


_HANDLERS: dict[type, Callable[[_Collector, Any, _Where], None]] = {
    cst.Name: _Collector.name,
    cst.Attribute: _Collector.attribute,
    cst.Call: _Collector.call,
    cst.Await: _Collector.call,
    cst.Arg: _Collector.argument,
    cst.Assign: _Collector.assign,
    cst.AnnAssign: _Collector.annotated,
    cst.AugAssign: _Collector.augmented,
    cst.NamedExpr: _Collector.walrus,
    cst.Del: _Collector.delete,
    cst.Global: _Collector.declared,
    cst.Nonlocal: _Collector.declared,
    cst.Import: _Collector.imported,
    cst.ImportFrom: _Collector.imported,
    cst.If: _Collector.if_,
    cst.For: _Collector.loop,
    cst.While: _Collector.while_,
    cst.With: _Collector.with_,
    cst.Try: _Collector.try_,
    cst.TryStar: _Collector.try_,
    cst.ExceptHandler: _Collector.handler,
    cst.ExceptStarHandler: _Collector.handler,
    cst.Match: _Collector.match,
    cst.MatchAs: _Collector.captured,
    cst.MatchStar: _Collector.captured,
    cst.MatchMapping: _Collector.captured,
    cst.MatchKeywordElement: _Collector.keyword_pattern,
    cst.Assert: _Collector.asserted,
    cst.BooleanOperation: _Collector.either,
    cst.IfExp: _Collector.chosen,
    cst.Comparison: _Collector.compared,
    cst.FunctionDef: _Collector.function,
    cst.Lambda: _Collector.lambda_,
    cst.ClassDef: _Collector.class_,
    cst.ListComp: _Collector.comprehension,
    cst.SetComp: _Collector.comprehension,
    cst.DictComp: _Collector.comprehension,
    cst.GeneratorExp: _Collector.comprehension,
    cst.TypeAlias: _Collector.type_alias,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of a function, class or module."""

    locals: frozenset[str]
    """Names that it binds or deletes itself, its parameters among them."""
    parameters: frozenset[str] = _NONE
    declared: frozenset[str] = _NONE
    """Names that it declares ``global`` or ``nonlocal``."""
    mutable: frozenset[str] = _NONE
    """Names that may be bound to an object that can change."""


@dataclass(slots=True)
class DefUse:
    """The def-use analysis of a tree; each answer is computed once."""

    tree: Tree
    _uses: dict[cst.CSTNode, Uses] = field(default_factory=dict)
    _scopes: dict[cst.CSTNode, Scope] = field(default_factory=dict)
    _module: list[Uses] = field(default_factory=list)

    def uses(self, node: cst.CSTNode) -> Uses:
        """The names that a statement, or an expression, uses."""
        found = self._uses.get(node)
        if found is None:
            found = _Collector(self).collect([node])
            if isinstance(node, (cst.If, cst.Try, cst.TryStar)):
                found = replace(found, certain=found.certain | (self._certain(node) or _NONE))
            self._uses[node] = found
        return found

    def header(self, loop: cst.CSTNode) -> Uses:
        """The names that a loop uses without its body."""
        collector = _Collector(self)
        if isinstance(loop, cst.For):
            collector.store(loop.target, _Where(is_certain=False))
            collector.calls = True
        return collector.collect([part for part in [_header(loop)] if part is not None])

    @property
    def module(self) -> Uses:
        """The names that the whole module uses."""
        if not self._module:
            self._module.append(_Collector(self).collect(self.tree.root.body))
        return self._module[0]

    def scope(self, node: cst.CSTNode) -> Scope:
        """The names of the function, class or module that ``node`` is."""
        found = self._scopes.get(node)
        if found is None:
            body = (
                [node.body] if isinstance(node, (cst.FunctionDef, cst.Lambda, cst.ClassDef)) else [*Tree.children(node)]
            )
            uses = _Collector(self).collect(body)
            parameters: frozenset[str] = _NONE
            if isinstance(node, (cst.FunctionDef, cst.Lambda)):
                parameters = frozenset(each.name.value for each in parameters_of(node))
            bound = (uses.binds | uses.unbinds | parameters) - uses.declared
            found = self._scopes[node] = Scope(bound, parameters, uses.declared, uses.mutable | parameters)
        return found

    def scope_around(self, node: cst.CSTNode) -> cst.CSTNode:
        """The function, class or module that a node stands in; of a definition, the one around it."""
        child = node
        for holder in self.tree.ancestors(node):
            if isinstance(holder, (cst.FunctionDef, cst.Lambda, cst.ClassDef)) and child is holder.body:
                return holder
            child = holder
        return self.tree.root

    def bound_before(self, statement: cst.CSTNode, *, since: cst.CSTNode | None = None) -> frozenset[str]:
        """The names of its scope that are certainly bound whenever a statement is about to run.

        Args:
            since: a statement around it; then only the names count that this one has bound by itself.
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
        """The names that a statement reads, but for those that it has always bound itself before."""
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
        """The statements inside of one, each with the names that it, or its header, reads."""
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
        """Change the bound names from those before ``outer`` to those before ``inner``, which is directly below it."""
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

    # Names that are bound after a block; None where the block never ends normally.

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
    """The expression that a compound statement evaluates first."""
    return getattr(node, "test", None) or getattr(node, "iter", None) or getattr(node, "subject", None)


def parameters_of(function: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    """All parameters of a function, ``*args`` and ``**kwargs`` among them."""
    given = function.params
    stars = [each for each in (given.star_arg, given.star_kwarg) if isinstance(each, cst.Param)]
    return [*given.posonly_params, *given.params, *given.kwonly_params, *stars]


def target_names(target: cst.CSTNode) -> Iterator[str]:
    """The names that an assignment to ``target`` binds."""
    stack = [target]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Name):
            yield node.value
        elif isinstance(node, cst.StarredElement):
            stack.append(node.value)
        elif isinstance(node, (cst.Tuple, cst.List)):
            stack += [element.value for element in node.elements]


def is_literal(value: cst.CSTNode | None) -> bool:
    """Whether an expression is a number, a text, True, False or None."""
    if isinstance(value, cst.UnaryOperation):
        value = value.expression
    if isinstance(value, cst.Name):
        return value.value in ("True", "False", "None")
    return isinstance(value, (cst.BaseNumber, cst.SimpleString, cst.ConcatenatedString))


def root_name(node: cst.CSTNode) -> str | None:
    """The name that a chain of attributes, items and calls begins with."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else None


def def_use(tree: Tree) -> DefUse:
    """The analysis of a tree, the same object each time."""
    found: DefUse = tree.memory.setdefault(DefUse, DefUse(tree))
    return found
