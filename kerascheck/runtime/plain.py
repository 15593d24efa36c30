"""Conversion of dataclasses to JSON and back, by their annotations: the message format between processes."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import types
import typing
from collections.abc import Mapping
from typing import Any

_SHOWN = 60  # maximum characters of an invalid value in an error message


def plain(value: Any) -> Any:
    """Convert ``value`` to JSON types."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value


def restored(kind: Any, value: Any, where: str = "the value") -> Any:
    """Build an object of type ``kind`` from the JSON that :func:`plain` returns.

    A dataclass may also be an array of its fields in order, which is shorter for long tables.

    Args:
        kind: a dataclass, or a type that may occur in its annotations.
        value: from ``json.loads``.
        where: description of ``value`` for errors.

    Raises:
        ValueError: ``value`` does not fit the annotations; ``str()`` names the field.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        return _one_of(arguments, value, where)
    if not _fits(kind, value):
        raise ValueError(f"{where} cannot be {_shown(value)}")
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        values = fields_of(kind, value, where) if isinstance(value, dict) else _columns(kind, value, where)
        if missing := _required(kind) - values.keys():
            raise ValueError(f"{where} lacks the field {min(missing)!r}")
        return kind(**values)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if origin is tuple:
        kinds = [arguments[0]] * len(value) if arguments[1:] == (...,) else arguments
        if len(kinds) != len(value):
            raise ValueError(f"{where} must have {len(kinds)} items, not {len(value)}")
        return tuple(restored(each, item, where) for each, item in zip(kinds, value))
    if isinstance(value, list) and origin is not None:
        return [restored(arguments[0], item, where) for item in value]
    if isinstance(value, dict) and origin is not None:
        keys = int if arguments[0] is int else str  # JSON keys are always strings
        return {keys(key): restored(arguments[1], item, f"{where}[{key!r}]") for key, item in value.items()}
    return float(value) if kind is float else value


def fields_of(kind: type, value: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Restore fields of the dataclass ``kind`` from ``value``; fields with a default may be missing.

    Raises:
        ValueError: like :func:`restored`.
    """
    hints = _hints(kind)
    if unknown := sorted(value.keys() - hints.keys()):
        raise ValueError(f"{where} has no field {unknown[0]!r}")
    return {name: restored(hints[name], item, f"{where}.{name}") for name, item in value.items()}


def _columns(kind: type, value: list[Any], where: str) -> dict[str, Any]:
    """Restore all fields of a dataclass from an array."""
    hints = _hints(kind)
    if len(hints) != len(value):
        raise ValueError(f"{where} must have {len(hints)} items, not {len(value)}")
    return {name: restored(hint, item, f"{where}.{name}") for (name, hint), item in zip(hints.items(), value)}


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    for kind in kinds:
        if kind is not type(None) and _fits(kind, value):
            return restored(kind, value, where)
    raise ValueError(f"{where} cannot be {_shown(value)}")


def _fits(kind: Any, value: Any) -> bool:
    """Whether ``value`` has the JSON type of ``kind``, without checking its items."""
    origin = typing.get_origin(kind)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return isinstance(value, (dict, list))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return value in {each.value for each in kind}
    if origin is not None:
        is_table = isinstance(origin, type) and issubclass(origin, Mapping)
        return kind is Any or isinstance(value, dict if is_table else list)
    if kind is bool or isinstance(value, bool):
        return kind in (bool, Any) and isinstance(value, bool)
    return kind is Any or isinstance(value, (int, float) if kind is float else kind)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields of a dataclass, in their order."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


@functools.cache
def _required(kind: type) -> frozenset[str]:
    """The fields of a dataclass that have no default."""
    missing = dataclasses.MISSING
    return frozenset(
        field.name
        for field in dataclasses.fields(kind)
        if field.default is missing and field.default_factory is missing
    )


def _shown(value: Any) -> str:
    return json.dumps(value, default=str)[:_SHOWN]
