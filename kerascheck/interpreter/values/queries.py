"""Queries on abstract values."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from kerascheck.interpreter.values.base import Constant, DictValue, SequenceValue, UnionValue, Value
from kerascheck.interpreter.values.objects import Dataset, ExternalInstance, IteratorValue, Tensor
from kerascheck.knowledge.namespaces import OF_KERAS_TUNER_HYPER_PARAMETERS


def options_of(value: Value | None) -> tuple[Value, ...]:
    """The alternatives of a value: itself, or the members of a union; empty for None.

    Example:
        >>> [constant(each) for each in options_of(call("f(x=1 if fast else 9)").keyword("x"))]
        [1, 9]
    """
    if value is None:
        return ()
    return value.options if isinstance(value, UnionValue) else (value,)


def flat(value: Value | None) -> Iterator[Value]:
    """The leaves of a structure or union of values.

    Each container is entered only once, because ``x = [x, x]`` sixty times would have 2**60 items.
    """
    pending, entered = [value], set()
    while pending:
        each = pending.pop()
        if isinstance(each, (UnionValue, SequenceValue, DictValue)):
            if id(each) not in entered:
                entered.add(id(each))
                pending += reversed([*_items_of(each)])
        elif each is not None:
            yield each


def _items_of(value: UnionValue | SequenceValue | DictValue) -> Collection[Value]:
    if isinstance(value, UnionValue):
        return value.options
    return value.items.values() if isinstance(value, DictValue) else value.items


def is_beyond(value: UnionValue | SequenceValue | DictValue, most: int) -> bool:
    """Whether a container has more than ``most`` items; nested containers count once per reference."""
    if len(_items_of(value)) > most:
        return True
    sizes: dict[int, int] = {}
    return any(type(item) in MAY_HOLD_VALUES for item in _items_of(value)) and _size(value, sizes) > most


def _size(value: Value, sizes: dict[int, int]) -> int:
    if not isinstance(value, (UnionValue, SequenceValue, DictValue)):
        return 1
    if (size := sizes.get(id(value))) is None:
        size = sizes[id(value)] = 1 + sum(_size(item, sizes) for item in _items_of(value))
    return size


def holds_container(value: Value, items: list[Value] | dict[Any, Value]) -> bool:
    """Whether a value is or contains, at any depth, the container of these ``items``.

    Every write into a container checks this, because all traversals rely on values being trees.
    """
    pending, seen = [value], set()
    while pending:
        each = pending.pop()
        if not isinstance(each, (UnionValue, SequenceValue, DictValue)) or id(each) in seen:
            continue
        seen.add(id(each))
        if not isinstance(each, UnionValue) and each.items is items:
            return True
        pending += _items_of(each)
    return False


def datasets_in(value: Value | None, depth: int = 3) -> Iterator[Dataset]:
    """Datasets in a value, including those inside tuples, lists and dictionaries.

    Example:
        >>> given = call("f((tf.data.Dataset.range(9), 1))").arguments.positional[0]
        >>> [each.stage.name for each in datasets_in(given)]
        ['tensorflow.data.Dataset.range']
    """
    return _datasets_in(value, depth) if type(value) in MAY_HOLD_DATASETS else _NONE


def _datasets_in(value: Value | None, depth: int) -> Iterator[Dataset]:
    for option in options_of(value):
        if isinstance(option, Dataset):
            yield option
        elif depth and isinstance(option, (SequenceValue, IteratorValue)):
            for item in option.items if isinstance(option, SequenceValue) else option.over:
                yield from datasets_in(item, depth - 1)
        elif depth and isinstance(option, DictValue):
            for item in option.items.values():
                yield from datasets_in(item, depth - 1)


# Called for most values, and the type usually decides.
_NONE: Iterator[Dataset] = iter(())


MAY_HOLD_VALUES = frozenset({UnionValue, SequenceValue, DictValue})


MAY_HOLD_DATASETS = frozenset({Dataset, UnionValue, SequenceValue, DictValue, IteratorValue})


_MAY_HOLD_TENSORS = frozenset({UnionValue, SequenceValue, DictValue})


def holds_tensor(value: Value | None, depth: int = 3) -> bool:
    """Whether a value certainly is a tensor, or a structure that contains one.

    Example:
        >>> holds_tensor(call("f({'a': tf.constant(1.0)})").arguments.positional[0])
        True
    """
    if type(value) not in _MAY_HOLD_TENSORS:
        return isinstance(value, Tensor)
    for option in options_of(value):
        if isinstance(option, Tensor):
            return True
        if depth and isinstance(option, SequenceValue) and any(holds_tensor(item, depth - 1) for item in option.items):
            return True
        if depth and isinstance(option, DictValue) and any(holds_tensor(i, depth - 1) for i in option.items.values()):
            return True
    return False


def shows_tensor(value: Value) -> bool:
    """Whether a value is a tensor, or a string that Python formats from one.

    Example:
        >>> shows_tensor(call("print(str(tf.constant(1.0)))").arguments.positional[0])
        True
    """
    return holds_tensor(value) or any(
        isinstance(option, ExternalInstance)
        and option.name == "builtins.str"
        and any(map(shows_tensor, flat(option.attributes.get("operands"))))
        for option in options_of(value)
    )


def largest(value: Value | None) -> int | None:
    """The largest integer that a value may be; None if unknown.

    The value is a constant, or a choice of KerasTuner by ``hp.Int`` or ``hp.Choice``.
    """
    numbers: list[Any] = []
    for option in options_of(value):
        chosen = (
            option.call
            if isinstance(option, ExternalInstance) and option.name.startswith(OF_KERAS_TUNER_HYPER_PARAMETERS)
            else None
        )
        among = chosen.given("values") if chosen is not None and chosen.attribute == "Choice" else None
        if isinstance(among, SequenceValue) and not among.open:
            numbers += map(constant, among.items)
        else:
            numbers.append(
                constant(chosen.given("max_value") if chosen is not None and chosen.attribute == "Int" else option)
            )
    return max(numbers) if numbers and all(type(number) is int for number in numbers) else None


def constant(value: Value | None, default: Any = None) -> Any:
    """The Python value of a constant, else ``default``.

    Example:
        >>> constant(call("model.fit(x, epochs=3)").given("epochs"))
        3
        >>> constant(call("model.fit(x)").given("epochs"), 1)
        1
    """
    return value.value if isinstance(value, Constant) else default
