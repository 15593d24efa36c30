"""Values that never leave the interpreter."""

from __future__ import annotations

import sys

from kerascheck.interpreter.values import Class, ModuleLike, Value


class _Missing(Value):
    """What a variable is that has no value."""

    __slots__ = ()


MISSING = _Missing()
LATER = sys.maxsize
"""A moment that never comes, as :data:`now` counts them."""
NEW = object()
"""Stands for the key of a write that is the making of what is written to."""


class Imported(Value):
    """``from module import name`` of the tree, looked up when it is first used."""

    __slots__ = ("module", "name")

    def __init__(self, module: ModuleLike, name: str):
        self.module, self.name = module, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Imported) and (self.module, self.name) == (other.module, other.name)


class SuperValue(Value):
    """``super()`` inside a method."""

    __slots__ = ("cls", "instance")

    def __init__(self, instance: Value, cls: Class):
        self.instance, self.cls = instance, cls
