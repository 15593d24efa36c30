"""Evaluated arguments of a call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from kerascheck.interpreter.values.base import UNKNOWN, Value
from kerascheck.knowledge.signatures import Signature


@dataclass(eq=False, slots=True)
class Arguments:
    """Evaluated arguments of a call; ``nodes`` has their syntax for messages and fixes."""

    positional: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    nodes: dict[int | str, cst.Arg] = field(default_factory=dict)
    unknown_positional: bool = False
    unknown_keywords: bool = False

    def get(self, position: int | None, keyword: str | None) -> Value | None:
        """The argument for a parameter, by position or name; None if certainly not given.

        UNKNOWN if ``*args`` or ``**kwargs`` may provide it.
        """
        if keyword is not None and keyword in self.keywords:
            return self.keywords[keyword]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        if (self.unknown_keywords and keyword is not None) or (self.unknown_positional and position is not None):
            return UNKNOWN
        return None

    def first(self, keyword: str | None) -> Value | None:
        """The first argument, or the one with this keyword; see ``get``."""
        return self.get(0, keyword)

    def given(self, signature: Signature, parameter: str) -> Value | None:
        """The argument for a parameter of this signature.

        None if certainly not given; UNKNOWN if one of the positional arguments may belong to it.
        """
        for position, name in signature.places(parameter):
            value = self.get(position, name)
            if value is not None:
                return value
        return UNKNOWN if signature.may_hold(len(self.positional), parameter) else None

    def written(self, signature: Signature, parameter: str) -> cst.Arg | None:
        """The syntax node of the argument that ``given`` evaluates; None if the call does not contain it literally."""
        nodes = (self.node(position, name) for position, name in signature.places(parameter))
        return next((node for node in nodes if node is not None), None)

    def node(self, position: int | None, keyword: str | None) -> cst.Arg | None:
        """The syntax node of the argument that ``get`` evaluates; None if the call does not contain it literally."""
        if keyword is not None and keyword in self.nodes:
            return self.nodes[keyword]
        return self.nodes.get(position) if position is not None else None

    def values(self) -> Iterator[Value]:
        """Every argument."""
        yield from self.positional
        yield from self.keywords.values()
