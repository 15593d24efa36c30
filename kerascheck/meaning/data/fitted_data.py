"""Data that a model is fitted on: number of examples and shape."""

from __future__ import annotations

from collections.abc import Callable

from kerascheck.interpreter.array_shapes import parts_of, shape_of
from kerascheck.interpreter.layer_shapes import Shape
from kerascheck.interpreter.values import (
    Call,
    Dataset,
    ExternalInstance,
    SequenceValue,
    Value,
    constant,
    datasets_in,
    options_of,
)
from kerascheck.knowledge.datasets import BATCHING, FROM_TENSOR_SLICES
from kerascheck.meaning.program.items import is_one_item
from kerascheck.syntax.written import rows_of_slice

_SAME_NUMBER = frozenset({"shuffle", "cache", "map", "prefetch", "with_options", "enumerate", *BATCHING})
_SAME_EXAMPLES = frozenset("shuffle batch prefetch cache repeat take skip with_options apply".split())


def least_examples(fit: Call) -> int | None:
    """The minimum number of examples in the arrays that a model is fitted on; None if unknown."""
    given = fit.written("x")
    if given is not None and is_one_item(fit.module.tree, given.value):
        return 1
    cut = rows_of_slice(given.value) if given is not None else None
    written = [
        len(option.items)
        for parameter in ("x", "y")
        for option in options_of(fit.given(parameter))
        if isinstance(option, SequenceValue) and _is_written_out(option)
    ]
    # After a tokenizer, only the labels may still show the number of examples.
    known = [
        shape[0]
        for shape in map(shape_of, (*_fitted_arrays(fit), *options_of(fit.given("y"))))
        if shape and shape[0] is not None
    ]
    return min((*written, *known, *(() if cut is None else (cut,))), default=None)


def most_examples(data: Value | None) -> int | None:
    """The maximum number of examples in the array, the list of arrays or the finite dataset ``data``; None if unknown.

    A slice of an array of unknown length counts as full.
    """
    if isinstance(data, Dataset):
        return _examples_of_dataset(data, most_examples)
    shape = shape_of(_first_input(data))
    return shape[0] if shape else None


def known_examples(data: Value | None) -> int | None:
    """The exact number of examples in the array, the list of arrays or the finite dataset ``data``; None if unknown."""
    if isinstance(data, Dataset):
        return _examples_of_dataset(data, known_examples)
    return most_examples(data) if _is_exact(_first_input(data)) else None


def _first_input(data: Value | None) -> Value | None:
    """The first of several inputs or structured tensors; other data as they are."""
    while isinstance(data, SequenceValue) and data.items and not data.open and not _is_written_out(data):
        data = data.items[0]
    return data


def _is_exact(array: Value | None, depth: int = 12) -> bool:
    """Whether the length of an array follows from known lengths; a slice of an unknown one may be shorter."""
    if not isinstance(array, ExternalInstance) or not depth:
        return False
    if parts_of(array) is not None:
        return True
    if array.call is not None:
        given = (array.call.receiver, array.call.first)
        return shape_of(array) is not None and all(_is_exact(each, depth - 1) for each in given if shape_of(each))
    made = array.attributes.get("operands")
    return isinstance(made, SequenceValue) and bool(made.items) and all(_is_exact(e, depth - 1) for e in made.items)


def _examples_of_dataset(data: Dataset, count: Callable[[Value | None], int | None]) -> int | None:
    """The number of examples in a dataset that slices an array; None if unknown or endless."""
    stages = list(data.stage.upstream())[::-1]
    if stages[0].name != FROM_TENSOR_SLICES or any(stage.maybe for stage in stages):
        return None
    examples = count(stages[0].given("tensors"))
    is_batched = False
    for stage in stages[1:]:
        cut = constant(stage.given("count")) if stage.name in ("take", "skip") else None
        if examples is not None and type(cut) is int and cut >= 0 and not is_batched:
            examples = min(examples, cut) if stage.name == "take" else max(examples - cut, 0)
        elif stage.name not in _SAME_NUMBER:
            return None
        is_batched = is_batched or stage.name in BATCHING
    return examples


def trained_examples(fit: Call) -> int | None:
    """The minimum number of examples that train a model, without the validation split; None if unknown."""
    count, held_out = least_examples(fit), constant(fit.given("validation_split"), 0)
    return count if count is None or type(held_out) not in (int, float) else int(count * (1 - held_out))


def epochs_of(fit: Call) -> int | None:
    """The number of epochs of a ``fit`` call; None if unknown."""
    given = fit.given("epochs")
    epochs = 1 if given is None else constant(given)
    return epochs if type(epochs) is int else None


def steps_of_epoch(fit: Call, batch_size: int) -> int | None:
    """The number of steps per epoch of ``fit`` with this batch size; None if unknown."""
    given, examples = constant(fit.given("steps_per_epoch")), trained_examples(fit)
    if type(given) is int:
        return given
    return None if examples is None or fit.given("steps_per_epoch") is not None else examples // batch_size


def _is_written_out(value: Value) -> bool:
    """Whether a value is a nested list of numbers: the examples themselves."""
    if not isinstance(value, SequenceValue) or value.open or not value.items:
        return False
    return all(isinstance(constant(item), (int, float)) or _is_written_out(item) for item in value.items)


def example_shape(fit: Call) -> Shape:
    """The shape of the batches that a model is fitted on, with None as the first size; None if unknown."""
    stages = [
        stage for dataset in datasets_in(fit.given("x")) for stage in dataset.stage.upstream() if not stage.is_source
    ]
    shapes = {(None, *shape[1:]) if shape else None for shape in map(shape_of, _fitted_arrays(fit))}
    return shapes.pop() if len(shapes) == 1 and all(stage.name in _SAME_EXAMPLES for stage in stages) else None


def _fitted_arrays(fit: Call) -> list[Value]:
    """The arrays of examples for ``fit`` or its datasets; only the first one of several inputs."""
    data = fit.given("x")
    sources = [
        stage.call.first if stage.call is not None else None
        for dataset in datasets_in(data)
        for stage in dataset.stage.upstream()
        if stage.is_source
    ] or [data]
    # A tuple contains inputs and labels; a list of arrays contains several inputs.
    return [
        option.items[0] if isinstance(option, SequenceValue) and option.items else option
        for source in sources
        for option in options_of(source)
    ]
