"""Replaces the references to an object, to remove wrappers from a user's objects."""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any


def unwrap(wrappers: Iterable[Any], namespaces: Iterable[dict[str, Any]] = ()) -> list[str]:
    """Replace every reference to each of ``wrappers`` by its ``__wrapped__``, as far as references can change.

    It searches variables of modules and closures, attributes, dictionaries and lists. Variables of running functions
    and tuples stay as they are.

    Args:
        wrappers: objects that can be referenced weakly.
        namespaces: variables of modules that are searched even if ``gc.freeze()`` hides them.

    Returns:
        The names of the wrappers that are still in use.
    """
    kept = {id(wrapper): wrapper for wrapper in wrappers}
    originals = {key: vars(wrapper)["__wrapped__"] for key, wrapper in kept.items()}
    if not kept:
        return []
    for holder in (*gc.get_referrers(*kept.values()), *namespaces):
        if holder is not kept:
            _replace_in(holder, originals)
    references = [(_name(wrapper), weakref.ref(wrapper)) for wrapper in kept.values()]
    kept.clear()
    if any(reference() is not None for _, reference in references):
        gc.collect()  # a cycle that nobody uses may hold them
    return sorted({name for name, reference in references if reference() is not None})


def _replace_in(holder: Any, originals: dict[int, Any]) -> None:
    """Replace what ``originals`` has, by identity."""
    if isinstance(holder, dict) and dict.__contains__(holder, "__module__"):
        # Python caches the attributes of classes, so only setattr() may change them.
        if (owner := _class_of(holder)) is not None:
            _replace_values(holder, originals, lambda name, value: setattr(owner, name, value))
    elif isinstance(holder, dict):
        _replace_values(holder, originals, lambda key, value: dict.__setitem__(holder, key, value))
    elif isinstance(holder, list):
        for index, value in enumerate(holder):
            if id(value) in originals:
                holder[index] = originals[id(value)]
    elif isinstance(holder, types.CellType):
        holder.cell_contents = originals.get(id(holder.cell_contents), holder.cell_contents)
    elif isinstance(getattr(holder, "__dict__", None), dict):
        # The attributes of an object need no dictionary of their own.
        _replace_values(vars(holder), originals, lambda name, value: setattr(holder, name, value))


def _class_of(namespace: dict[Any, Any]) -> type | None:
    """The class with this dictionary."""
    return next((each for each in gc.get_referrers(namespace) if isinstance(each, type)), None)


def _replace_values(found: dict[Any, Any], originals: dict[int, Any], put: Callable[[Any, Any], None]) -> None:
    for key, value in list(dict.items(found)):
        if id(value) in originals:
            put(key, originals[id(value)])


def _name(wrapper: Any) -> str:
    return str(getattr(wrapper, "__name__", type(wrapper).__name__))
