"""Tables from the callables of libraries to what they do; each library's file fills them in.

A handler gets the machine and the call, and gives the result. None says that the call is none of its concern: the next
one is asked, and in the end what is true of every library (:mod:`kerascheck.interpreter.calls`) holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.values import UNKNOWN, Arguments, Call, Value
from kerascheck.knowledge.signatures import Signature


@dataclass(slots=True)
class Invocation:
    """A call that is about to be made, and not recorded yet.

    Attributes:
        name: canonical name of the function, or of the class and the method; empty where the class is not known.
        arguments: what is given.
        node: the call.
        receiver: the object of a method.
        attribute: the name of a method; empty for a function.
        owner: the class of the receiver, where that is known.
    """

    name: str
    arguments: Arguments
    node: cst.CSTNode
    receiver: Value = UNKNOWN
    attribute: str = ""
    owner: str | None = None

    @property
    def first(self) -> Value:
        """The first positional argument; UNKNOWN where there is none."""
        return self.arguments.positional[0] if self.arguments.positional else UNKNOWN

    def given(self, state: AbstractState, parameter: str) -> Value | None:
        """The argument for a parameter; see :meth:`~kerascheck.interpreter.values.Arguments.given`."""
        return self.arguments.given(self.signature(state), parameter)

    def signature(self, state: AbstractState) -> Signature:
        """What the callable takes in the program's versions."""
        return state.module.runtime.signature_of(self.name or None, self.attribute or None)

    def record(self, state: AbstractState) -> Call:
        """Note the call."""
        return state.record(self.node, self.name or None, self.attribute or None, self.receiver, self.arguments)


Kind = TypeVar("Kind", bound=Value)

Handler = Callable[[AbstractState, Invocation], "Value | None"]
HandlerOn = Callable[[AbstractState, Invocation, Kind], "Value | None"]
"""A handler that is given the receiver, too, whose kind is known."""
Outcome = Callable[[AbstractState, Call, str], "Value | None"]
"""What gives the result of a recorded call, of a function of this name."""

_FUNCTIONS: dict[str, Handler] = {}
_FAMILIES: list[tuple[Callable[[str], bool], Handler]] = []
_METHODS: dict[str, list[Handler]] = {}
_CLASSES: dict[str, Handler] = {}
_KINDS: dict[type[Value], Handler] = {}
_OUTCOMES: list[tuple[Callable[[str], bool], Outcome]] = []
_TAKERS: list[tuple[Callable[[str], bool], Handler]] = []


def function(*names: str) -> Callable[[Handler], Handler]:
    """Register what functions and classes of these canonical names do when they are called."""
    return lambda handler: _register(_FUNCTIONS, names, handler)


def functions(belongs: Callable[[str], bool]) -> Callable[[Handler], Handler]:
    """Register what all functions do whose canonical name ``belongs``, and that have no handler of their own."""

    def register(handler: Handler) -> Handler:
        _FAMILIES.append((belongs, handler))
        return handler

    return register


def method(*names: str) -> Callable[[Handler], Handler]:
    """Register what methods of these names do; the handler asks whose."""

    def register(handler: Handler) -> Handler:
        for name in names:
            _METHODS.setdefault(name, []).append(handler)
        return handler

    return register


def methods_of(*classes: str) -> Callable[[Handler], Handler]:
    """Register what all methods of classes of these canonical names do."""
    return lambda handler: _register(_CLASSES, classes, handler)


def methods_on(kind: type[Kind]) -> Callable[[HandlerOn[Kind]], HandlerOn[Kind]]:
    """Register what all methods do of values of a kind, whatever a library makes of them."""

    def register(handler: HandlerOn[Kind]) -> HandlerOn[Kind]:
        def on_kind(state: AbstractState, call: Invocation) -> Value | None:
            receiver = call.receiver
            return handler(state, call, receiver) if isinstance(receiver, kind) else None

        _KINDS[kind] = on_kind
        return handler

    return register


def takes_functions(belongs: Callable[[str], bool]) -> Callable[[Handler], Handler]:
    """Register what becomes of the functions that are given to what has a canonical name that ``belongs``."""

    def register(handler: Handler) -> Handler:
        _TAKERS.append((belongs, handler))
        return handler

    return register


def outcome(belongs: Callable[[str], bool]) -> Callable[[Outcome], Outcome]:
    """Register what all functions give whose canonical name ``belongs``, after they were recorded.

    Of several the first decides that gives something.
    """

    def register(handler: Outcome) -> Outcome:
        _OUTCOMES.append((belongs, handler))
        return handler

    return register


def _register(table: dict[str, Handler], keys: Iterable[str], handler: Handler) -> Handler:
    table.update(dict.fromkeys(keys, handler))
    return handler


@cache
def function_handlers(name: str) -> tuple[Handler, ...]:
    """Who may know what a function of this name does, the nearest first."""
    own = (_FUNCTIONS[name],) if name in _FUNCTIONS else ()
    return (*own, *(handler for belongs, handler in _FAMILIES if belongs(name)))


def method_handlers(call: Invocation) -> Iterator[Handler]:
    """Who may know what a method does, the nearest first."""
    kind = type(call.receiver)
    if kind in _KINDS:
        yield _KINDS[kind]
    if call.owner in _CLASSES:
        yield _CLASSES[call.owner]
    yield from _METHODS.get(call.attribute, ())


@cache
def taker(name: str) -> Handler | None:
    """Who knows what becomes of the functions that are given to what has this name."""
    return next((handler for belongs, handler in _TAKERS if belongs(name)), None)


@cache
def outcomes(name: str) -> tuple[Outcome, ...]:
    """Who may know what a function of this name gives."""
    return tuple(handler for belongs, handler in _OUTCOMES if belongs(name))
