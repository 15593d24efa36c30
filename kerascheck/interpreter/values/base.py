"""Values that refer to no call: constants, library symbols and containers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any

from kerascheck.syntax.names import canonical

now = count(1).__next__
"""A logical clock: later calls return higher numbers.

Mutable objects store the time of their creation, to separate old from new.
"""


class Value:
    """An abstract value of a run-time value. Unknown is a separate value, never the absence of one.

    Example:
        >>> isinstance(call("model.fit(x, epochs=3)").given("epochs"), Value)
        True
    """

    __slots__ = ()


class _Unknown(Value):
    """A given value about which nothing is known. An argument that is certainly not given is None instead.

    Example:
        >>> call("model.fit(x, epochs=n)").given("epochs") is UNKNOWN
        True
        >>> call("model.fit(x)").given("epochs") is None
        True
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


@dataclass(frozen=True, slots=True)
class Constant(Value):
    """A literal number, string, bytes, bool or None.

    Example:
        >>> call("model.fit(x, epochs=3)").given("epochs")
        Constant(value=3)
    """

    value: Any


@dataclass(frozen=True, slots=True)
class External(Value):
    """A symbol of a library outside the linted tree, by canonical dotted name.

    Example:
        >>> call("tf.cast(x, tf.float64)").given("dtype")
        External(name='tensorflow.float64')
    """

    name: str


@cache
def external(dotted: str) -> External:
    """The library symbol for a fully qualified name, canonical or not."""
    return External(canonical(dotted))


@dataclass(eq=False, slots=True)
class SequenceValue(Value):
    """A tuple, list or set with known items; ``kind`` is "tuple", "list" or "set".

    ``open`` is set if there may be fewer or more items of the same kinds, or another order. Then ``most`` is the
    maximum length, if known.

    Example:
        >>> callbacks = call("model.fit(x, callbacks=[keras.callbacks.TensorBoard()])").given("callbacks")
        >>> callbacks.kind, [each.name for each in callbacks.items]
        ('list', ['keras.callbacks.TensorBoard'])
    """

    kind: str
    items: list[Value]
    open: bool = False
    most: int | None = None
    created: int = field(default_factory=now, repr=False, kw_only=True)


@dataclass(eq=False, slots=True)
class DictValue(Value):
    """A dictionary with known string keys. ``open`` and ``most`` are as in :class:`SequenceValue`.

    Example:
        >>> call("print({'a': 1})").arguments.positional[0].items
        {'a': Constant(value=1)}
    """

    items: dict[Any, Value]
    open: bool = False
    most: int | None = None
    created: int = field(default_factory=now, repr=False, kw_only=True)


@dataclass(eq=False, slots=True)
class Method(Value):
    """The attribute ``name`` of a value, not yet called.

    Example:
        >>> call("model = keras.Sequential(); f(model.fit)").arguments.positional[0].name
        'fit'
    """

    receiver: Value
    name: str


@dataclass(eq=False, slots=True)
class UnionValue(Value):
    """One of several values, depending on the path taken."""

    options: tuple[Value, ...]
