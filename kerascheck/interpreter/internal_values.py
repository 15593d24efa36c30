"""Values that never leave the interpreter."""

from __future__ import annotations

import sys

from kerascheck.interpreter.values import Class, ModuleLike, Value


class _Missing(Value):
    """The value of an unbound variable."""

    __slots__ = ()


MISSING = _Missing()
LATER = sys.maxsize
"""A time after all others of :data:`now`."""
NEW = object()
"""The key of a log entry that records the creation of a container."""


class Imported(Value):
    """A name of ``from module import name``, resolved at its first use."""

    __slots__ = ("module", "name")

    def __init__(self, module: ModuleLike, name: str):
        self.module, self.name = module, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Imported) and (self.module, self.name) == (other.module, other.name)


class SuperValue(Value):
    """A call of ``super()`` inside a method."""

    __slots__ = ("cls", "instance")

    def __init__(self, instance: Value, cls: Class):
        self.instance, self.cls = instance, cls
