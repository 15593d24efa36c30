"""Conversion of values to JSON and back. Anybody may have written the JSON: reading checks every type."""

from __future__ import annotations

import enum
import functools
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

_Reader = Callable[[Any], Any]


class Damaged(Exception):
    """Stored data does not have the expected form."""


def write(value: Any) -> Any:
    """Convert a value to JSON types.

    Supports dataclasses, tuples, lists, sets, mappings with string keys, enum members, strings, integers, booleans
    and None.
    """
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (tuple, list, set, frozenset)):
        return [write(each) for each in value]
    if isinstance(value, Mapping):
        return {key: write(each) for key, each in value.items()}
    if is_dataclass(value):
        return [write(getattr(value, each.name)) for each in fields(value)]
    raise TypeError(f"{type(value).__name__} cannot be kept")


def read(kind: Any, data: Any) -> Any:
    """Convert ``data`` from :func:`write` back to a value of type ``kind``; raises :class:`Damaged`."""
    return _reader(kind)(data)


@functools.cache
def _reader(kind: Any) -> _Reader:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is type(None) or kind in (str, int, bool):
        return functools.partial(_plain, kind)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (_reader(each) for each in arguments if each is not type(None))
        return lambda data: None if data is None else inner(data)
    if origin in (list, set, frozenset) or origin is tuple and arguments[1:] == (...,):
        each = _reader(arguments[0])
        return lambda data: origin(map(each, _plain(list, data)))
    if origin is tuple:
        return functools.partial(_row, tuple, [_reader(each) for each in arguments])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        value = _reader(arguments[1])
        return lambda data: {key: value(each) for key, each in _plain(dict, data).items()}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return lambda data: _member(kind, data)
    if is_dataclass(kind):
        make: Any = kind
        hints = typing.get_type_hints(make)
        return functools.partial(
            _row, lambda row: make(*row), [_reader(hints[name]) for name in (each.name for each in fields(make))]
        )
    raise TypeError(f"{kind} cannot be kept")


def _plain(kind: type, data: Any) -> Any:
    if type(data) is not kind:
        raise Damaged
    return data


def _row(make: Callable[[list[Any]], Any], readers: list[_Reader], data: Any) -> Any:
    if type(data) is not list or len(data) != len(readers):
        raise Damaged
    return make([reader(each) for reader, each in zip(readers, data)])


def _member(kind: type[enum.Enum], data: Any) -> enum.Enum:
    try:
        return kind[data]
    except (KeyError, TypeError):
        raise Damaged from None
