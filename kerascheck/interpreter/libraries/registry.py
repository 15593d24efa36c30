"""Tables of library callables and their handlers; each library's file fills them in.

A handler receives the state and the call, and returns the result. If it returns None, the next handler is tried, and
finally the defaults for all libraries (:mod:`kerascheck.interpreter.calls`).
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
    """A call before it is recorded.

    Attributes:
        name: canonical name of the function, or of the class and the method; empty if the class is unknown.
        arguments: the arguments.
        node: the call.
        receiver: the object of a method.
        attribute: the name of a method; empty for a function.
        owner: the class of the receiver, if known.
    """

    name: str
    arguments: Arguments
    node: cst.CSTNode
    receiver: Value = UNKNOWN
    attribute: str = ""
    owner: str | None = None

    @property
    def first(self) -> Value:
        """The first positional argument; UNKNOWN if there is none."""
        return self.arguments.positional[0] if self.arguments.positional else UNKNOWN

    def given(self, state: AbstractState, parameter: str) -> Value | None:
        """The argument for a parameter; see :meth:`~kerascheck.interpreter.values.Arguments.given`."""
        return self.arguments.given(self.signature(state), parameter)

    def signature(self, state: AbstractState) -> Signature:
        """The signature of the callable in the program's versions."""
        return state.module.runtime.signature_of(self.name or None, self.attribute or None)

    def record(self, state: AbstractState) -> Call:
        """Record the call."""
        return state.record(self.node, self.name or None, self.attribute or None, self.receiver, self.arguments)


Kind = TypeVar("Kind", bound=Value)

Handler = Callable[[AbstractState, Invocation], "Value | None"]
HandlerOn = Callable[[AbstractState, Invocation, Kind], "Value | None"]
"""A handler that also receives the receiver, of a known type."""
Outcome = Callable[[AbstractState, Call, str], "Value | None"]
"""A function that returns the result of a recorded call of the named function."""

_FUNCTIONS: dict[str, Handler] = {}
_FAMILIES: list[tuple[Callable[[str], bool], Handler]] = []
_METHODS: dict[str, list[Handler]] = {}
_CLASSES: dict[str, Handler] = {}
_KINDS: dict[type[Value], Handler] = {}
_OUTCOMES: list[tuple[Callable[[str], bool], Outcome]] = []
_CALLBACK_HANDLERS: list[tuple[Callable[[str], bool], Handler]] = []


def function(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler for functions and classes of these canonical names."""
    return lambda handler: _register(_FUNCTIONS, names, handler)


def functions(belongs: Callable[[str], bool]) -> Callable[[Handler], Handler]:
    """Register a handler for all functions without a specific one whose canonical name satisfies ``belongs``."""

    def register(handler: Handler) -> Handler:
        _FAMILIES.append((belongs, handler))
        return handler

    return register


def method(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler for methods of these names; the handler checks the receiver."""

    def register(handler: Handler) -> Handler:
        for name in names:
            _METHODS.setdefault(name, []).append(handler)
        return handler

    return register


def methods_of(*classes: str) -> Callable[[Handler], Handler]:
    """Register a handler for all methods of classes of these canonical names."""
    return lambda handler: _register(_CLASSES, classes, handler)


def methods_on(kind: type[Kind]) -> Callable[[HandlerOn[Kind]], HandlerOn[Kind]]:
    """Register a handler for all methods of a type of value, whichever library it comes from."""

    def register(handler: HandlerOn[Kind]) -> HandlerOn[Kind]:
        def on_kind(state: AbstractState, call: Invocation) -> Value | None:
            receiver = call.receiver
            return handler(state, call, receiver) if isinstance(receiver, kind) else None

        _KINDS[kind] = on_kind
        return handler

    return register


def takes_functions(belongs: Callable[[str], bool]) -> Callable[[Handler], Handler]:
    """Register a handler for functions passed to callables whose canonical name satisfies ``belongs``."""

    def register(handler: Handler) -> Handler:
        _CALLBACK_HANDLERS.append((belongs, handler))
        return handler

    return register


def outcome(belongs: Callable[[str], bool]) -> Callable[[Outcome], Outcome]:
    """Register a function that returns results of recorded calls whose canonical name satisfies ``belongs``.

    The first result that is not None is used.
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
    """Handlers of a function, most specific first."""
    own = (_FUNCTIONS[name],) if name in _FUNCTIONS else ()
    return (*own, *(handler for belongs, handler in _FAMILIES if belongs(name)))


def method_handlers(call: Invocation) -> Iterator[Handler]:
    """Handlers of a method, most specific first."""
    kind = type(call.receiver)
    if kind in _KINDS:
        yield _KINDS[kind]
    if call.owner in _CLASSES:
        yield _CLASSES[call.owner]
    yield from _METHODS.get(call.attribute, ())


@cache
def callback_handler(name: str) -> Handler | None:
    """The handler of functions passed to a callable with this name; None if there is none."""
    return next((handler for belongs, handler in _CALLBACK_HANDLERS if belongs(name)), None)


@cache
def outcomes(name: str) -> tuple[Outcome, ...]:
    """Functions that may return the result of a call of this name."""
    return tuple(handler for belongs, handler in _OUTCOMES if belongs(name))
