"""Datasets turned into Python objects: NumPy iterators, and lists of all elements."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation, handles_versions
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    Dataset,
    DatasetOp,
    ExternalInstance,
    IteratorValue,
    Value,
    constant,
    datasets_in,
    options_of,
)
from kerascheck.knowledge.namespaces import OF_KERAS_MODEL
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.array_origins import ingredients
from kerascheck.meaning.data.stages import INSPECTED_ELEMENTS
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.conditions import written_conditions

# These results have the cardinality -2, unknown (tested with TensorFlow 2.21).
_UNCOUNTED = (
    "filter",
    "flat_map",
    "interleave",
    "unbatch",
    "from_generator",
    "TFRecordDataset",
    "TextLineDataset",
    "CsvDataset",
    "make_csv_dataset",
    "take_while",
)


def is_numpy_iterator(value: Value) -> bool:
    """Whether a value is the result of ``as_numpy_iterator``."""
    return isinstance(value, IteratorValue) and value.kind == "as_numpy_iterator"


def counted_lists(module: Module) -> Iterator[tuple[CodeLocation | Call, Value | None]]:
    """Lists of all elements of a dataset that are only counted: the distinct places with their dataset.

    Excludes lists of few elements, and lists that replace a cardinality unknown to the dataset.
    """
    listed: list[tuple[CodeLocation | Call, Value | None]] = [
        (call, call.given("iterable")) for call in module.once(CallIndex).named("builtins.list")
    ]
    listed += [
        (CodeLocation(loop.module, loop.node), loop.value) for loop in module.run.loops if _is_list_of_all(loop.node)
    ]
    seen = set()
    for place, given in listed:
        if (
            place.node not in seen
            and is_only_counted(place)
            and not _stands_in_for_cardinality(place)
            and any(isinstance(each, Dataset) or is_numpy_iterator(each) for each in options_of(given))
            and not any(takes_few(dataset.stage) for dataset in datasets_in(given))
        ):
            seen.add(place.node)
            yield place, given


def iterators_given(module: Module, methods: Collection[str]) -> Iterator[tuple[Call, cst.Arg]]:
    """Calls that pass the result of ``as_numpy_iterator`` to a model for training or validation, with the argument.

    Excludes code for several versions, and receivers that may not be Keras models: ``fit`` of another library may
    accept iterators.
    """
    program = module.once(Program)
    for call in program.calls(*(f"{OF_KERAS_MODEL}{method}" for method in methods)):
        if handles_versions(call.path) or not program.is_model_call(call):
            continue
        for name in ("x", "validation_data"):
            written = call.written(name) if name in call.signature else None
            if written is not None and any(map(is_numpy_iterator, options_of(call.given(name)))):
                yield call, written


def lists_trained_on(module: Module) -> Iterator[tuple[Call, Call]]:
    """Lists of all elements of a dataset whose arrays a ``fit`` trains on: distinct calls, each with its ``fit``."""
    seen = set()
    for fit in module.once(Program).model_calls("fit"):
        for value in ingredients(fit.given("x")):
            made = (
                value.call
                if isinstance(value, ExternalInstance) and value.name in ("builtins.list", "builtins.tuple")
                else None
            )
            if made is None or made.node in seen or is_only_counted(made):
                continue
            if not any(takes_few(dataset.stage) for dataset in datasets_in(made.first)):
                seen.add(made.node)
                yield made, fit


def is_only_counted(place: CodeLocation | Call) -> bool:
    """Whether a list appears only inside ``len``."""
    parents = place.module.tree.parents
    holder = parents.get(place.node)
    outer = parents.get(holder) if holder is not None else None
    return isinstance(outer, cst.Call) and isinstance(outer.func, cst.Name) and outer.func.value == "len"


def takes_few(stage: DatasetOp) -> bool:
    """Whether a ``take`` limits a dataset to few elements."""
    counts = [constant(each.given("count")) for each in stage.upstream() if each.name == "take"]
    return any(isinstance(count, int) and 0 <= count <= INSPECTED_ELEMENTS for count in counts)


def knows_length(dataset: Dataset) -> bool:
    """Whether ``len`` of a dataset works, which requires that no operation before it hides the number of elements."""
    return not any(stage.name.endswith(_UNCOUNTED) for stage in dataset.stage.upstream())


def _is_list_of_all(node: cst.CSTNode) -> bool:
    """Whether a loop is a list comprehension with one item per iteration."""
    return isinstance(node, cst.ListComp) and not node.for_in.ifs and node.for_in.inner_for_in is None


def _stands_in_for_cardinality(place: CodeLocation | Call) -> bool:
    tree = place.module.tree
    return any(
        "cardinality" in tree.code_of(asked.test).lower()
        for asked in written_conditions(tree, place.node, within=tree.root)
    )
