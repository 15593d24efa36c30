"""Queries on the control flow around a call: conditions, loops, and order.

Every query takes its extent: ``within="program"`` follows all calls, ``within="function"`` stays in the current function,
and ``within=loop`` covers one iteration of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, Union

import libcst as cst

if TYPE_CHECKING:
    from typing_extensions import Self

    from kerascheck.syntax.tree import Tree

Extent = Union["PathQueries", Literal["program", "function"]]
"""The extent of a query: an enclosing path, another path, or one of these words."""

CONDITIONS = frozenset({"branch", "handler"})
"""Kinds of path elements whose execution is uncertain."""


AnyPath = TypeVar("AnyPath", bound="PathQueries")


class InTree(Protocol):
    """An object with a syntax tree, such as a module."""

    @property
    def tree(self) -> Tree: ...


class PathQueries:
    """Queries that every element of an execution path answers.

    The fields are those of :class:`kerascheck.interpreter.values.ExecutionPath`.
    """

    __slots__ = ()

    kind: str
    parent: Self | None
    module: InTree
    node: cst.CSTNode
    function: object | None
    label: str
    depth: int
    """The number of enclosing elements."""
    root: Self
    """The outermost element, which identifies the run."""
    frame: Self
    """The innermost function, or the root."""
    loop: Self | None
    """The innermost loop, through calls; possibly this element itself."""
    condition: Self | None
    """The innermost branch or handler, through calls; possibly this element itself."""

    def chain(self) -> Iterator[Self]:
        """Yield this element and the enclosing ones, innermost first, through calls."""
        path: Self | None = self
        while path is not None:
            yield path
            path = path.parent

    def way(self, *, within: Extent) -> Iterator[Self]:
        """Yield the elements between ``within`` (exclusive) and this one (inclusive), innermost first.

        If ``within`` is another path, yield only the elements that the two paths do not share.
        """
        if isinstance(within, str):
            end: PathQueries | None = self.root if within == "program" else self.frame
        else:
            end = self._shared(within)
        path: Self | None = self
        while path is not None and path is not end:
            yield path
            path = path.parent

    def _shared(self, other: PathQueries) -> PathQueries | None:
        """Return the innermost element that both paths share."""
        one: PathQueries | None = self
        two: PathQueries | None = other
        while one is not two and one is not None and two is not None:
            if one.depth >= two.depth:
                one = one.parent
            else:
                two = two.parent
        return one if one is two else None

    def frames(self) -> Iterator[Self]:
        """Yield the enclosing functions, innermost first, and the root."""
        frame = self.frame
        yield frame
        while frame.parent is not None:
            frame = frame.parent.frame
            yield frame

    def is_in(self, outer: PathQueries) -> bool:
        """Whether this path lies inside another, directly or through calls."""
        path: PathQueries | None = self
        while path is not None and path.depth > outer.depth:
            path = path.parent
        return path is outer

    def conditions(self, *, within: Extent) -> Iterator[Self]:
        """Yield the branches and handlers that decide whether this path runs when ``within`` does, innermost first."""
        first = self.condition
        return iter(()) if first is None else self._linked(first, _next_condition, within)

    def loops(self, *, within: Extent, comprehensions: bool = True) -> Iterator[Self]:
        """Yield the loops around this path in ``within``, innermost first.

        Args:
            within: the extent.
            comprehensions: include comprehensions; otherwise only loop statements.
        """
        first = self.loop
        if first is None:
            return iter(())
        loops = self._linked(first, _next_loop, within)
        return loops if comprehensions else (loop for loop in loops if isinstance(loop.node, (cst.For, cst.While)))

    def _linked(self, first: Self, following: Callable[[Self], Self | None], within: Extent) -> Iterator[Self]:
        """Yield the enclosing elements of one kind in ``within``, each of which links to the next; others are skipped."""
        shared = None if isinstance(within, str) else self._shared(within)
        depth = -1 if shared is None else shared.depth
        frame = self.frame if within == "function" else None
        path: Self | None = first
        while path is not None and path.depth > depth and (frame is None or path.frame is frame):
            yield path
            path = following(path)

    def innermost_loop(self, *, within: Extent, comprehensions: bool = True) -> Self | None:
        """Return the first of :meth:`loops`, or None."""
        if comprehensions and within == "program":
            return self.loop
        return next(self.loops(within=within, comprehensions=comprehensions), None)

    def managers(self, *, within: Extent) -> Iterator[Self]:
        """Yield the enclosing ``with`` statements, innermost first."""
        return (path for path in self.way(within=within) if path.kind == "with")

    def tries(self, *, within: Extent) -> Iterator[Self]:
        """Yield the ``try`` blocks whose body encloses this path, innermost first; handlers and ``else`` do not count."""
        return (path for path in self.way(within=within) if path.kind == "try")

    @property
    def test(self) -> cst.BaseExpression | None:
        """The test of a branch; None for handlers, ``match`` and elements that are no condition."""
        return self.node.test if self.kind == "branch" and isinstance(self.node, (cst.If, cst.IfExp)) else None

    @property
    def question(self) -> str:
        """The code of :attr:`test`; empty if there is none."""
        return self.module.tree.code_of(self.test) if self.test is not None else ""


def _next_loop(path: AnyPath) -> AnyPath | None:
    return None if path.parent is None else path.parent.loop


def _next_condition(path: AnyPath) -> AnyPath | None:
    return None if path.parent is None else path.parent.condition


class Event(Protocol):
    """An event in program order: a call."""

    @property
    def path(self) -> PathQueries: ...

    @property
    def order(self) -> int: ...


def happens_before(first: Event, second: Event) -> bool:
    """Whether ``first`` has certainly run when ``second`` runs, given their program order."""
    if first.order >= second.order:
        return False
    roots = first.path.root, second.path.root
    if roots[0] is not roots[1] and (roots[0].function is not None or "process" in (roots[0].label, roots[1].label)):
        return False
    return not _deciding(first, second)


def branch_before(first: Event, second: Event) -> PathQueries | None:
    """Return the branch of an ``if`` that alone decides whether ``first`` has run when ``second`` runs.

    The ``if`` has an ``else``. Returns None if other conditions decide too, or none does.
    """
    deciding = _deciding(first, second)
    return deciding[0] if len(deciding) == 1 and isinstance(deciding[0].node, cst.If) else None


def _deciding(first: Event, second: Event) -> list[PathQueries]:
    """Return the conditions on ``first`` alone; a callable passed to a library may run later, or never."""
    return [path for path in first.path.way(within=second.path) if path.kind in CONDITIONS or path.kind == "handed"]


def written_conditions(tree: Tree, node: cst.CSTNode, *, within: cst.CSTNode) -> Iterator[cst.If | cst.IfExp]:
    """Yield the ``if`` statements and expressions written around a node in ``within``, innermost first.

    Conditions around the node's function count; conditions around calls of that function do not: for these see
    :meth:`PathQueries.conditions`. ``within=tree.root`` covers the whole file.
    """
    for outer in tree.ancestors(node):
        if outer is within:
            return
        if isinstance(outer, (cst.If, cst.IfExp)):
            yield outer
