"""The sets of examples that come with Keras. Source: keras/src/datasets (3.15)."""

from __future__ import annotations

from dataclasses import dataclass

from kerascheck.knowledge.namespaces import OF_KERAS_DATASETS

Shapes = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class KerasDataset:
    """A set of examples.

    Attributes:
        short: the module that loads it.
        shapes: those of the four arrays that ``load_data()`` gives; None where they differ with its arguments.
        toy: it is small, and so is what is trained on it, as a rule.
        many: it has a thousand examples or more.
        integers: its arrays hold whole numbers.
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
"""The shapes of what the functions that load these sets give."""

LOADED_AS_INTEGERS = frozenset(f"{OF_KERAS_DATASETS}{each.short}.load_data" for each in _DATASETS if each.integers)

TOYS = tuple(f"{OF_KERAS_DATASETS}{each.short}." for each in _DATASETS if each.toy)
"""How the names of what loads small sets start."""

MANY_EXAMPLES = tuple(f"{OF_KERAS_DATASETS}{each.short}." for each in _DATASETS if each.many)
"""How the names of what loads a thousand examples or more start."""
