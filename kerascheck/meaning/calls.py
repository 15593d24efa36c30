"""An index of the calls of a program by name, method, node and function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

from kerascheck.interpreter.values import Call, ModuleLike

if TYPE_CHECKING:
    import libcst as cst

    from kerascheck.interpreter.values import Function


class CallIndex:
    """The calls that running a module makes, in the order of execution.

    Analyses look calls up here instead of scanning the whole record. A large program makes thousands of calls, and some
    sixty analyses each need a handful of names.

    Example:
        >>> calls = module("ds = tf.data.Dataset.range(9)", "ds = ds.batch(3)").calls
        >>> [call.attribute for call in calls.of_methods("batch")]
        ['batch']
    """

    def __init__(self, module: ModuleLike) -> None:
        self._calls = module.run.calls

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls)

    def __reversed__(self) -> Iterator[Call]:
        return reversed(self._calls)

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[int, Call]]]:
        found: dict[str, list[tuple[int, Call]]] = defaultdict(list)
        for position, call in enumerate(self._calls):
            if call.name is not None:
                found[call.name].append((position, call))
        return dict(found)

    @cached_property
    def _by_method(self) -> dict[str, list[tuple[int, Call]]]:
        found: dict[str, list[tuple[int, Call]]] = defaultdict(list)
        for position, call in enumerate(self._calls):
            if call.attribute is not None:
                found[call.attribute].append((position, call))
        return dict(found)

    @cached_property
    def _by_node(self) -> dict[cst.CSTNode, list[Call]]:
        """The calls of each node."""
        found: dict[cst.CSTNode, list[Call]] = defaultdict(list)
        for call in self._calls:
            found[call.node].append(call)
        return dict(found)

    @cached_property
    def _by_function(self) -> dict[cst.CSTNode, list[Call]]:
        found: dict[cst.CSTNode, list[Call]] = defaultdict(list)
        for call in self._calls:
            # A recursive function encloses a call several times.
            for node in dict.fromkeys(function.node for function in call.path.functions()):
                found[node].append(call)
        return dict(found)

    def named(self, *names: str) -> list[Call]:
        """The calls of these canonical names, such as ``keras.Model.fit``."""
        return _merged(self._by_name, names)

    def with_prefix(self, *prefixes: str) -> list[Call]:
        """The calls whose canonical names start with one of these prefixes."""
        return _merged(self._by_name, [name for name in self._by_name if name.startswith(prefixes)])

    def of_methods(self, *methods: str) -> list[Call]:
        """The calls of methods of these names, whatever their receivers are."""
        return _merged(self._by_method, methods)

    @property
    def names(self) -> frozenset[str]:
        """The canonical names of all calls."""
        return frozenset(self._by_name)

    def at(self, node: cst.CSTNode) -> list[Call]:
        """The calls that a node makes: one for each path that reaches it."""
        return self._by_node.get(node, [])

    def within(self, function: Function) -> list[Call]:
        """The calls that a function makes, directly or through its callees."""
        return self._by_function.get(function.node, [])


def _merged(index: dict[str, list[tuple[int, Call]]], keys: Iterable[str]) -> list[Call]:
    """The calls under several keys of an index, in the order of execution."""
    found = [index[key] for key in dict.fromkeys(keys) if key in index]
    if len(found) == 1:
        return [call for _, call in found[0]]
    return [call for _, call in sorted((each for calls in found for each in calls), key=itemgetter(0))]
