"""The data sets that ship with Keras. Source: keras/src/datasets (3.15)."""

from __future__ import annotations

from dataclasses import dataclass

from kerascheck.knowledge.namespaces import OF_KERAS_DATASETS

Shapes = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class KerasDataset:
    """A data set.

    Attributes:
        short: the module that loads it.
        shapes: shapes of the four arrays of ``load_data()``; None if they depend on its arguments.
        toy: the set is small, and so are models trained on it, as a rule.
        many: it has a thousand examples or more.
        integers: its arrays hold integers.
    """

    short: str
    shapes: Shapes | None = None
    toy: bool = False
    many: bool = True
    integers: bool = False


_DATASETS = (
    KerasDataset("mnist", ((60000, 28, 28), (60000,), (10000, 28, 28), (10000,)), toy=True, integers=True),
    KerasDataset("fashion_mnist", ((60000, 28, 28), (60000,), (10000, 28, 28), (10000,)), toy=True, integers=True),
    KerasDataset("cifar10", ((50000, 32, 32, 3), (50000, 1), (10000, 32, 32, 3), (10000, 1)), integers=True),
    KerasDataset("cifar100", ((50000, 32, 32, 3), (50000, 1), (10000, 32, 32, 3), (10000, 1)), integers=True),
    KerasDataset("boston_housing", ((404, 13), (404,), (102, 13), (102,)), toy=True, many=False),
    KerasDataset("california_housing", toy=True),
    KerasDataset("imdb", toy=True),
    KerasDataset("reuters", toy=True),
)

LOADED: dict[str, Shapes] = {
    f"{OF_KERAS_DATASETS}{each.short}.load_data": each.shapes for each in _DATASETS if each.shapes is not None
}
"""Shapes of the results of the loading functions."""

LOADED_AS_INTEGERS = frozenset(f"{OF_KERAS_DATASETS}{each.short}.load_data" for each in _DATASETS if each.integers)

TOYS = tuple(f"{OF_KERAS_DATASETS}{each.short}." for each in _DATASETS if each.toy)
"""Prefixes of functions that load small sets."""

MANY_EXAMPLES = tuple(f"{OF_KERAS_DATASETS}{each.short}." for each in _DATASETS if each.many)
"""Prefixes of functions that load a thousand examples or more."""
