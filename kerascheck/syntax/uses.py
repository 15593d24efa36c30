"""Collection of the names that a statement uses: one walk over its nodes, without recursion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from kerascheck.syntax.tree import Tree

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Uses:
    """The names that a statement uses, from its own scope and the enclosing ones."""

    binds: frozenset[str] = _NONE
    """Names that may be bound."""
    certain: frozenset[str] = _NONE
    """Names that are bound whenever the statement ends normally."""
    unbinds: frozenset[str] = _NONE
    """Names that may be deleted."""
    reads: frozenset[str] = _NONE
    """Names that are read when the statement runs, class bodies included."""
    later: frozenset[str] = _NONE
    """Names that nested functions read when they run."""
    rebinds: frozenset[str] = _NONE
    """Names that nested functions bind or delete when they run, by ``global`` or ``nonlocal``."""
    changes: frozenset[str] = _NONE
    """Names of objects whose attributes or items are set or deleted."""
    changes_later: frozenset[str] = _NONE
    """The same for nested functions."""
    attributes: frozenset[str] = _NONE
    """Names of objects whose attributes are read."""
    declared: frozenset[str] = _NONE
    """Names declared ``global`` or ``nonlocal``."""
    mutable: frozenset[str] = _NONE
    """Names possibly bound to a mutable object: not to a module, function, class, number or string."""
    star: bool = False
    """Whether ``import *`` binds unknown names."""
    calls: bool = False
    """Whether code elsewhere may run."""


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a node within the statement."""

    is_certain: bool = True
    is_later: bool = False
    """Inside a function, whose body runs when it is called."""
    is_in_class: bool = False
    hidden: frozenset[str] = _NONE
    """Names of the scopes between the statement and the node."""
    outer: frozenset[str] = _NONE
    """Names that the enclosing function declares ``global`` or ``nonlocal``."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of a function, class or module."""

    locals: frozenset[str]
    """Names that are bound or deleted in it, parameters included."""
    parameters: frozenset[str] = _NONE
    declared: frozenset[str] = _NONE
    """Names declared ``global`` or ``nonlocal``."""
    mutable: frozenset[str] = _NONE
    """Names possibly bound to a mutable object."""


_Names = dict[str, set[str]]


class UseCollector:
    """Collects the names of a statement without recursion into its nodes."""

    def __init__(self, scope_of: Callable[[cst.CSTNode], Scope]) -> None:
        self._scope_of = scope_of
        self.names: _Names = defaultdict(set)
        self.star = self.calls = False
        self._stack: list[tuple[cst.CSTNode, Context]] = []

    def collect(self, nodes: Iterable[cst.CSTNode]) -> Uses:
        self._push(nodes, Context())
        while self._stack:
            node, context = self._stack.pop()
            handler = _HANDLERS.get(type(node))
            if handler is None:
                self._push(Tree.children(node), context)
            else:
                handler(self, node, context)
        return Uses(**{name: frozenset(found) for name, found in self.names.items()}, star=self.star, calls=self.calls)

    def _push(self, nodes: Iterable[cst.CSTNode | None], context: Context) -> None:
        self._stack.extend((node, context) for node in nodes if node is not None)

    # Names.

    def bind(self, name: str, context: Context, into: str = "binds", *, mutable: bool = False) -> None:
        if mutable and (not context.is_later or name in context.outer) and not context.is_in_class:
            self.names["mutable"].add(name)
        if context.is_later:
            if name in context.outer and name not in context.hidden:
                self.names["rebinds"].add(name)
        elif not context.is_in_class:
            self.names[into].add(name)
            if context.is_certain and into == "binds":
                self.names["certain"].add(name)

    def _note(self, kind: str, node: cst.CSTNode, context: Context) -> None:
        root = root_name(node)
        if root is not None and root not in context.hidden:
            self.names[kind].add(root)

    def store(self, target: cst.CSTNode, context: Context, value: cst.CSTNode | None = None) -> None:
        """Record the target of an assignment, a loop or ``with``."""
        mutable = not is_literal(value)
        stack = [target]
        while stack:
            node = stack.pop()
            if isinstance(node, cst.Name):
                self.bind(node.value, context, mutable=mutable)
            elif isinstance(node, (cst.Tuple, cst.List)):
                # Unpacking runs the iterator of the value.
                self.calls = self.calls or not context.is_later
                stack += [element.value for element in node.elements]
            else:
                self._change(node, context)

    def _change(self, node: cst.CSTNode, context: Context) -> None:
        if isinstance(node, (cst.Attribute, cst.Subscript)):
            self._note("changes_later" if context.is_later else "changes", node, context)
            # A property or __setitem__ may run any code.
            self.calls = self.calls or not context.is_later
            self._push([node.value], context)
            if isinstance(node, cst.Subscript):
                self._push(node.slice, context)
        else:
            self._push([node], context)

    def name(self, node: cst.Name, context: Context) -> None:
        if node.value not in context.hidden:
            self.names["later" if context.is_later else "reads"].add(node.value)

    def attribute(self, node: cst.Attribute, context: Context) -> None:
        if not context.is_later:
            self._note("attributes", node, context)
        self._push([node.value], context)

    def call(self, node: cst.CSTNode, context: Context) -> None:
        self.calls = self.calls or not context.is_later
        self._push(Tree.children(node), context)

    def argument(self, node: cst.Arg, context: Context) -> None:
        self._push([node.value], context)

    # Statements.

    def assign(self, node: cst.Assign, context: Context) -> None:
        self._push([node.value], context)
        for target in node.targets:
            self.store(target.target, context, node.value)

    def annotated(self, node: cst.AnnAssign, context: Context) -> None:
        self._push([node.annotation, node.value], context)
        if node.value is not None:
            self.store(node.target, context, node.value)
        elif isinstance(node.target, cst.Name):
            # The name is local, but not bound yet.
            self.bind(node.target.value, replace(context, is_certain=False))
        else:
            self._push([node.target], context)

    def augmented(self, node: cst.AugAssign, context: Context) -> None:
        self._push([node.value, node.target], context)
        self.calls = self.calls or not context.is_later
        self.store(node.target, context)

    def walrus(self, node: cst.NamedExpr, context: Context) -> None:
        self._push([node.value], context)
        self.store(node.target, context, node.value)

    def delete(self, node: cst.Del, context: Context) -> None:
        stack: list[cst.CSTNode] = [node.target]
        while stack:
            target = stack.pop()
            if isinstance(target, (cst.Tuple, cst.List)):
                stack += [element.value for element in target.elements]
            elif isinstance(target, cst.Name):
                self.name(target, context)
                self.bind(target.value, context, into="unbinds")
            else:
                self._change(target, context)

    def declared(self, node: cst.Global | cst.Nonlocal, context: Context) -> None:
        if not context.is_later and not context.is_in_class:
            self.names["declared"].update(item.name.value for item in node.names)

    def imported(self, node: cst.Import | cst.ImportFrom, context: Context) -> None:
        # The imported module runs.
        self.calls = self.calls or not context.is_later
        if isinstance(node.names, cst.ImportStar):
            self.star = True
            return
        for alias in node.names:
            name = alias.evaluated_alias or alias.evaluated_name
            self.bind(name if isinstance(node, cst.ImportFrom) else name.partition(".")[0], context)

    def if_(self, node: cst.If, context: Context) -> None:
        self._push([node.test], context)
        self._push([node.body, node.orelse], replace(context, is_certain=False))

    def loop(self, node: cst.For, context: Context) -> None:
        self._push([node.iter], context)
        self.calls = self.calls or not context.is_later
        inner = replace(context, is_certain=False)
        self.store(node.target, inner)
        self._push([node.body, node.orelse], inner)

    def while_(self, node: cst.While, context: Context) -> None:
        self._push([node.test], context)
        self._push([node.body, node.orelse], replace(context, is_certain=False))

    def with_(self, node: cst.With, context: Context) -> None:
        self.calls = self.calls or not context.is_later
        for item in node.items:
            self._push([item.item], context)
            if item.asname is not None:
                self.store(item.asname.name, context)
        # The context manager may swallow exceptions of the body.
        self._push([node.body], replace(context, is_certain=False))

    def try_(self, node: cst.Try | cst.TryStar, context: Context) -> None:
        inner = replace(context, is_certain=False)
        self._push([node.body, *node.handlers, node.orelse], inner)
        self._push([node.finalbody], context)

    def handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler, context: Context) -> None:
        self._push([node.type, node.body], context)
        if node.name is not None and isinstance(node.name.name, cst.Name):
            self.bind(node.name.name.value, context)
            self.bind(node.name.name.value, context, into="unbinds")

    def match(self, node: cst.Match, context: Context) -> None:
        self._push([node.subject], context)
        self.calls = self.calls or not context.is_later
        self._push(node.cases, replace(context, is_certain=False))

    def captured(self, node: cst.MatchAs | cst.MatchStar | cst.MatchMapping, context: Context) -> None:
        captured = node.rest if isinstance(node, cst.MatchMapping) else node.name
        if captured is not None:
            self.bind(captured.value, context, mutable=True)
        if isinstance(node, cst.MatchAs):
            self._push([node.pattern], context)
        elif isinstance(node, cst.MatchMapping):
            self._push(node.elements, context)

    def keyword_pattern(self, node: cst.MatchKeywordElement, context: Context) -> None:
        self._push([node.pattern], context)

    def asserted(self, node: cst.Assert, context: Context) -> None:
        # ``python -O`` omits it.
        self._push(Tree.children(node), replace(context, is_certain=False))

    # Expressions whose parts may not run.

    def either(self, node: cst.BooleanOperation, context: Context) -> None:
        self._push([node.left], context)
        self._push([node.right], replace(context, is_certain=False))

    def chosen(self, node: cst.IfExp, context: Context) -> None:
        self._push([node.test], context)
        self._push([node.body, node.orelse], replace(context, is_certain=False))

    def compared(self, node: cst.Comparison, context: Context) -> None:
        self._push([node.left, *node.comparisons[:1]], context)
        self._push(node.comparisons[1:], replace(context, is_certain=False))

    # Scopes.

    def function(self, node: cst.FunctionDef, context: Context) -> None:
        self.bind(node.name.value, context)
        self.calls = self.calls or bool(node.decorators) and not context.is_later
        parameters = parameters_of(node)
        self._push([each.decorator for each in node.decorators], context)
        self._push([part for each in parameters for part in (each.default, each.annotation)], context)
        self._push([node.returns], context)
        self._inner(node, [node.body], context)

    def lambda_(self, node: cst.Lambda, context: Context) -> None:
        self._push([each.default for each in parameters_of(node)], context)
        self._inner(node, [node.body], context)

    def _inner(self, node: cst.FunctionDef | cst.Lambda, body: list[cst.CSTNode], context: Context) -> None:
        scope = self._scope_of(node)
        outer = (context.outer - scope.locals) | scope.declared
        hidden = (context.hidden | scope.locals) - scope.declared
        self._push(body, Context(False, True, False, hidden, outer))

    def class_(self, node: cst.ClassDef, context: Context) -> None:
        self.bind(node.name.value, context)
        self.calls = True if not context.is_later else self.calls
        self._push([each.decorator for each in node.decorators], context)
        self._push([*node.bases, *node.keywords], context)
        self._push([node.body], replace(context, is_certain=False, is_in_class=True))

    def comprehension(self, node: cst.BaseSimpleComp | cst.DictComp, context: Context) -> None:
        first: Any = node.for_in
        self.calls = self.calls or not context.is_later
        self._push([first.iter], context)
        targets: set[str] = set()
        inner: list[cst.CSTNode | None] = []
        part = first
        while part is not None:
            targets.update(target_names(part.target))
            inner += [each.test for each in part.ifs]
            part = part.inner_for_in
            inner += [part.iter] if part is not None else []
        inner += [node.key, node.value] if isinstance(node, cst.DictComp) else [node.elt]
        self._push(inner, replace(context, is_certain=False, hidden=context.hidden | targets))

    def type_alias(self, node: cst.TypeAlias, context: Context) -> None:
        self.bind(node.name.value, context)
        self._push([node.value], Context(False, True, False, context.hidden, context.outer))


_HANDLERS: dict[type, Callable[[UseCollector, Any, Context], None]] = {
    cst.Name: UseCollector.name,
    cst.Attribute: UseCollector.attribute,
    cst.Call: UseCollector.call,
    cst.Await: UseCollector.call,
    cst.Arg: UseCollector.argument,
    cst.Assign: UseCollector.assign,
    cst.AnnAssign: UseCollector.annotated,
    cst.AugAssign: UseCollector.augmented,
    cst.NamedExpr: UseCollector.walrus,
    cst.Del: UseCollector.delete,
    cst.Global: UseCollector.declared,
    cst.Nonlocal: UseCollector.declared,
    cst.Import: UseCollector.imported,
    cst.ImportFrom: UseCollector.imported,
    cst.If: UseCollector.if_,
    cst.For: UseCollector.loop,
    cst.While: UseCollector.while_,
    cst.With: UseCollector.with_,
    cst.Try: UseCollector.try_,
    cst.TryStar: UseCollector.try_,
    cst.ExceptHandler: UseCollector.handler,
    cst.ExceptStarHandler: UseCollector.handler,
    cst.Match: UseCollector.match,
    cst.MatchAs: UseCollector.captured,
    cst.MatchStar: UseCollector.captured,
    cst.MatchMapping: UseCollector.captured,
    cst.MatchKeywordElement: UseCollector.keyword_pattern,
    cst.Assert: UseCollector.asserted,
    cst.BooleanOperation: UseCollector.either,
    cst.IfExp: UseCollector.chosen,
    cst.Comparison: UseCollector.compared,
    cst.FunctionDef: UseCollector.function,
    cst.Lambda: UseCollector.lambda_,
    cst.ClassDef: UseCollector.class_,
    cst.ListComp: UseCollector.comprehension,
    cst.SetComp: UseCollector.comprehension,
    cst.DictComp: UseCollector.comprehension,
    cst.GeneratorExp: UseCollector.comprehension,
    cst.TypeAlias: UseCollector.type_alias,
}


def parameters_of(function: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    """Return all parameters of a function, ``*args`` and ``**kwargs`` included."""
    given = function.params
    stars = [each for each in (given.star_arg, given.star_kwarg) if isinstance(each, cst.Param)]
    return [*given.posonly_params, *given.params, *given.kwonly_params, *stars]


def target_names(target: cst.CSTNode) -> Iterator[str]:
    """Yield the names that an assignment to ``target`` binds."""
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
    """Whether an expression is a number, a string, True, False or None."""
    if isinstance(value, cst.UnaryOperation):
        value = value.expression
    if isinstance(value, cst.Name):
        return value.value in ("True", "False", "None")
    return isinstance(value, (cst.BaseNumber, cst.SimpleString, cst.ConcatenatedString))


def root_name(node: cst.CSTNode) -> str | None:
    """Return the first name of a chain of attributes, items and calls."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else None
