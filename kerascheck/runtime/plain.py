"""Dataclasses as JSON and back, by their annotations: what two sides with the same code tell each other."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """``value`` in types that JSON knows."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value


def restored(kind: Any, value: Any) -> Any:
    """The value of type ``kind`` that :func:`plain` made ``value`` of; raises TypeError or ValueError if it did not."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is None or value is None:
        return value
    if origin in (typing.Union, types.UnionType):
        return restored(next(each for each in arguments if each is not type(None)), value)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{name: restored(hints[name], item) for name, item in value.items()})
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if origin is tuple:
        each = [arguments[0]] * len(value) if arguments[1:] == (...,) else arguments
        return tuple(restored(part, item) for part, item in zip(each, value))
    if origin is not None and isinstance(value, list):
        return [restored(arguments[0], item) for item in value]
    if origin is not None and isinstance(value, dict):
        return {key: restored(arguments[1], item) for key, item in value.items()}
    return value
