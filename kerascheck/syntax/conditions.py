"""Under which conditions a place runs, in which loop, and after what: the one vocabulary for these questions.

Every question says how far it looks: ``within="program"`` through all calls, ``within="function"`` in the function at hand,
and ``within=loop`` in one iteration of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, Union

import libcst as cst

if TYPE_CHECKING:
    from typing_extensions import Self

    from kerascheck.syntax.tree import Tree

Reach = Union["Nested", Literal["program", "function"]]
"""How far a question looks: a scope around the place, or another place, or one of these words."""

CONDITIONS = frozenset({"branch", "handler"})
"""Kinds of scopes of which it is not known whether they are entered."""


AnyNested = TypeVar("AnyNested", bound="Nested")


class InTree(Protocol):
    """What stands in a tree: a module."""

    @property
    def tree(self) -> Tree: ...


class Nested:
    """A step of the way that leads to a piece of running code: the answers that every step can give about it.

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
    """How many scopes are around this one."""
    root: Self
    """The outermost scope: which run this is."""
    frame: Self
    """The innermost function (or root) scope."""
    loop: Self | None
    """The innermost loop, through calls: this scope where it is one."""
    condition: Self | None
    """The innermost branch or handler, through calls: this scope where it is one."""

    def chain(self) -> Iterator[Self]:
        """This scope and those around it, innermost first, through calls."""
        path: Self | None = self
        while path is not None:
            yield path
            path = path.parent

    def way(self, *, within: Reach) -> Iterator[Self]:
        """The scopes that lead from ``within`` to this place, innermost first; ``within`` is not one of them.

        Where that is another place, those that are around this place only, and not around the other.
        """
        if isinstance(within, str):
            end: Nested | None = self.root if within == "program" else self.frame
        else:
            end = self._shared(within)
        path: Self | None = self
        while path is not None and path is not end:
            yield path
            path = path.parent

    def _shared(self, other: Nested) -> Nested | None:
        """The innermost scope that is around, or is, this place and another."""
        one: Nested | None = self
        two: Nested | None = other
        while one is not two and one is not None and two is not None:
            if one.depth >= two.depth:
                one = one.parent
            else:
                two = two.parent
        return one if one is two else None

    def frames(self) -> Iterator[Self]:
        """The functions around this place, innermost first, and the root."""
        frame = self.frame
        yield frame
        while frame.parent is not None:
            frame = frame.parent.frame
            yield frame

    def is_in(self, outer: Nested) -> bool:
        """Whether this place is in another, or in a function that is called there."""
        path: Nested | None = self
        while path is not None and path.depth > outer.depth:
            path = path.parent
        return path is outer

    def conditions(self, *, within: Reach) -> Iterator[Self]:
        """The branches and handlers that decide whether this place runs when ``within`` does, innermost first."""
        first = self.condition
        return iter(()) if first is None else self._linked(first, _next_condition, within)

    def loops(self, *, within: Reach, comprehensions: bool = True) -> Iterator[Self]:
        """The loops around this place in ``within``, innermost first; those that are statements only, without ``comprehensions``."""
        first = self.loop
        if first is None:
            return iter(())
        loops = self._linked(first, _next_loop, within)
        return loops if comprehensions else (loop for loop in loops if isinstance(loop.node, (cst.For, cst.While)))

    def _linked(self, first: Self, following: Callable[[Self], Self | None], within: Reach) -> Iterator[Self]:
        """Scopes of one kind around this place in ``within``, each of which knows the next: those between are not looked at."""
        shared = None if isinstance(within, str) else self._shared(within)
        depth = -1 if shared is None else shared.depth
        frame = self.frame if within == "function" else None
        path: Self | None = first
        while path is not None and path.depth > depth and (frame is None or path.frame is frame):
            yield path
            path = following(path)

    def innermost_loop(self, *, within: Reach, comprehensions: bool = True) -> Self | None:
        """The first of :meth:`loops`; None where there is none."""
        if comprehensions and within == "program":
            return self.loop
        return next(self.loops(within=within, comprehensions=comprehensions), None)

    def managers(self, *, within: Reach) -> Iterator[Self]:
        """The ``with`` statements that this place stands in, innermost first."""
        return (path for path in self.way(within=within) if path.kind == "with")

    def tries(self, *, within: Reach) -> Iterator[Self]:
        """The ``try`` blocks that this place stands in, innermost first; neither their handlers nor what follows them."""
        return (path for path in self.way(within=within) if path.kind == "try")

    @property
    def test(self) -> cst.BaseExpression | None:
        """The expression that decides on a branch; None for handlers, for ``match``, and for what is no condition."""
        return self.node.test if self.kind == "branch" and isinstance(self.node, (cst.If, cst.IfExp)) else None

    @property
    def question(self) -> str:
        """The code of :attr:`test`; empty where there is none."""
        return self.module.tree.code_of(self.test) if self.test is not None else ""


def _next_loop(path: AnyNested) -> AnyNested | None:
    return None if path.parent is None else path.parent.loop


def _next_condition(path: AnyNested) -> AnyNested | None:
    return None if path.parent is None else path.parent.condition


class Event(Protocol):
    """What happens at a place, in program order: a call."""

    @property
    def path(self) -> Nested: ...

    @property
    def order(self) -> int: ...


def happens_before(first: Event, second: Event) -> bool:
    """Whether ``first`` has certainly run when ``second`` runs, both seen in program order."""
    if first.order >= second.order:
        return False
    roots = first.path.root, second.path.root
    if roots[0] is not roots[1] and (roots[0].function is not None or "process" in (roots[0].label, roots[1].label)):
        return False
    return not _deciding(first, second)


def branch_before(first: Event, second: Event) -> Nested | None:
    """The branch of an ``if`` with an ``else`` that alone decides whether ``first`` has run when ``second`` runs.

    None where more or nothing else does.
    """
    deciding = _deciding(first, second)
    return deciding[0] if len(deciding) == 1 and isinstance(deciding[0].node, cst.If) else None


def _deciding(first: Event, second: Event) -> list[Nested]:
    """The conditions that ``first`` alone is under; what a library is handed may run later, or never."""
    return [path for path in first.path.way(within=second.path) if path.kind in CONDITIONS or path.kind == "handed"]


def written_conditions(tree: Tree, node: cst.CSTNode, *, within: cst.CSTNode) -> Iterator[cst.If | cst.IfExp]:
    """The ``if`` statements and expressions that are written around a node of ``within``, innermost first; ``tree.root`` is the whole file.

    Those around its function count, too, and those around the calls of that do not: :meth:`Nested.conditions` tells of these.
    """
    for outer in tree.ancestors(node):
        if outer is within:
            return
        if isinstance(outer, (cst.If, cst.IfExp)):
            yield outer
