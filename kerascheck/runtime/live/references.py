"""Replaces the references to an object, to remove wrappers from a user's objects."""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any


def unwrap(wrappers: Iterable[tuple[Any, Any]], namespaces: Iterable[dict[str, Any]] = ()) -> list[str]:
    """Replace every reference to a wrapper by its original, as far as references can change.

    It searches variables of modules and closures, attributes, dictionaries, lists and bound methods in these. Variables
    of running functions and tuples stay as they are.

    Args:
        wrappers: pairs of a wrapper, which can be referenced weakly, and its original.
        namespaces: variables of modules that are searched even if ``gc.freeze()`` hides them.

    Returns:
        The names of the wrappers that are still in use, except by the frames of a traceback.
    """
    kept, originals = {}, {}
    for wrapper, original in wrappers:
        kept[id(wrapper)], originals[id(wrapper)] = wrapper, original
    if not kept:
        return []
    references = [(_name(wrapper), weakref.ref(wrapper)) for wrapper in kept.values()]
    del wrapper, wrappers  # no references of this function
    for method in gc.get_referrers(*kept.values()):
        if isinstance(method, types.MethodType):
            kept[id(method)] = method
            originals[id(method)] = types.MethodType(originals[id(method.__func__)], method.__self__)
    method = None
    for holder in (*gc.get_referrers(*kept.values()), *namespaces):
        if holder is not kept:
            _replace_in(holder, originals)
    kept.clear()
    if any(reference() is not None for _, reference in references):
        gc.collect()  # a cycle that nobody uses may hold them
    return sorted({name for name, reference in references if _is_held(reference)})


def _is_held(reference: weakref.ref[Any]) -> bool:
    """Whether somebody holds an object besides the frames of a traceback."""
    if reference() is None:
        return False
    holders = gc.get_referrers(reference())
    return not holders or not all(isinstance(holder, types.FrameType) for holder in holders)


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
