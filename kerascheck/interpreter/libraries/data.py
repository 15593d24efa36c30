"""Sources and operations of datasets: ``tf.data``, and libraries that return its datasets."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState, Start
from kerascheck.interpreter.arguments import bound_arguments, spread, without_first
from kerascheck.interpreter.callables import run_arguments, run_callables
from kerascheck.interpreter.joins import join
from kerascheck.interpreter.libraries.registry import Invocation, functions, method, methods_on
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Dataset,
    DatasetConsumer,
    DatasetOp,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    FunctionFacts,
    Instance,
    IteratorValue,
    Method,
    Partial,
    SequenceValue,
    Tensor,
    Value,
    constant,
    datasets_in,
    options_of,
)
from kerascheck.knowledge.datasets import (
    DATASET_CHOOSE_FROM_DATASETS,
    DATASET_METHODS,
    DATASET_SAMPLE_FROM_DATASETS,
    DATASET_ZIP,
    FROM_GENERATOR,
    SPLIT_DATASET,
    TFDS_AS_DATASET,
    source_kind,
)
from kerascheck.knowledge.namespaces import OF_DATA_DATASET, TENSORFLOW_DATASETS


@functions(lambda name: source_kind(name) is not None)
def _source(state: AbstractState, call: Invocation) -> Value:
    if call.name in _COMBINING:
        inputs = tuple(dataset.stage for value in call.arguments.values() for dataset in datasets_in(value))
        recorded = call.record(state)
        name = call.name.rpartition(".")[2] if inputs else call.name
        return Dataset(state.new_stage(name, call.node, recorded, inputs))
    if source_kind(call.name) == "tfds":
        return _loaded(state, call, call.name)
    dataset = _recorded_dataset(state, call, call.name)
    if call.name == FROM_GENERATOR:
        # Inside the function of an interleave, the generator runs in Python still, for every element.
        traced = "py_function" if state.path.traced_by() else None
        run_callables(state, dataset.stage.given("generator"), traced, call.node, tensors=False)
    if call.name == SPLIT_DATASET:
        for inner in datasets_in(dataset.stage.given("dataset")):
            state.sink("escape", inner, call.node)
    elif constant(dataset.stage.keyword("subset")) != "both":
        return dataset
    other = Dataset(state.new_stage(call.name, call.node, dataset.stage.call, ()))
    return SequenceValue("tuple", [dataset, other])


_COMBINING = frozenset({DATASET_ZIP, DATASET_SAMPLE_FROM_DATASETS, DATASET_CHOOSE_FROM_DATASETS})


def _recorded_dataset(state: AbstractState, call: Invocation, name: str) -> Dataset:
    """A dataset created by a call that is recorded under this name."""
    recorded = state.record(call.node, name, None, UNKNOWN, call.arguments)
    recorded.result = Dataset(state.new_stage(name, call.node, recorded, ()))
    return recorded.result


def _loaded(state: AbstractState, call: Invocation, name: str) -> Value:
    """The result of loading from TensorFlow Datasets: one dataset per split, optionally with the info object."""
    recorded = state.record(call.node, name, None, UNKNOWN, call.arguments)
    split = recorded.given("split")
    count = len(split.items) if isinstance(split, SequenceValue) else 1
    parts: list[Value] = [Dataset(state.new_stage(name, call.node, recorded, ())) for _ in range(count)]
    loaded = SequenceValue("list", parts) if isinstance(split, SequenceValue) else parts[0]
    return SequenceValue("tuple", [loaded, UNKNOWN]) if constant(recorded.keyword("with_info")) is True else loaded


@functions(lambda name: name.startswith(OF_DATA_DATASET))
def _unbound(state: AbstractState, call: Invocation) -> Value | None:
    """An unbound method, such as ``tf.data.Dataset.map(ds, f)``."""
    if not isinstance(call.first, Dataset):
        return None
    rest = without_first(call.arguments)
    method = Invocation(call.name, rest, call.node, call.first, call.name.rpartition(".")[2])
    return _method(state, method, call.first)


@method("as_dataset")
def _built(state: AbstractState, call: Invocation) -> Value | None:
    """The method call ``tfds.builder(...).as_dataset(...)``."""
    known = (call.owner or "").startswith(TENSORFLOW_DATASETS)
    if known:
        call.record(state)
    return _loaded(state, call, TFDS_AS_DATASET) if known else None


@method("to_tf_dataset", "prepare_tf_dataset")
def _transformed(state: AbstractState, call: Invocation) -> Value:
    """A conversion method of Hugging Face datasets."""
    call.record(state)
    return _recorded_dataset(state, call, f"transformers.{call.attribute}")


@method("write")
def _written(state: AbstractState, call: Invocation) -> Value | None:
    if not call.name.endswith("TFRecordWriter.write"):
        return None
    for dataset in datasets_in(call.record(state).first):
        state.sink("inspect", dataset, call.node)
    return UNKNOWN


@methods_on(Dataset)
def _method(state: AbstractState, call: Invocation, dataset: Dataset) -> Value:
    attribute = call.attribute
    call.name = f"{OF_DATA_DATASET}{attribute}"
    if attribute == "apply":
        return _applied(state, call, dataset)
    if attribute == "as_numpy_iterator":
        return IteratorValue(attribute, [dataset], state.path)
    recorded = call.record(state)
    if attribute in ("make_one_shot_iterator", "make_initializable_iterator", "__iter__"):
        return IteratorValue("iter", [dataset], state.path)
    if attribute not in DATASET_METHODS:
        return _other_method(state, call, dataset)
    inputs: tuple[DatasetOp, ...] = (dataset.stage,)
    if attribute in ("concatenate", "zip"):
        inputs += tuple(other.stage for value in call.arguments.values() for other in datasets_in(value))
    stage = state.new_stage(attribute, call.node, recorded, inputs)
    _follow(state, stage, call.node)
    recorded.result = Dataset(stage)
    return recorded.result


def _other_method(state: AbstractState, call: Invocation, dataset: Dataset) -> Value:
    """A method that does not return a dataset."""
    attribute = call.attribute
    if attribute in ("items", "values", "keys", "get") and dataset.stage.is_source:
        # A dictionary of datasets, as tfds.load returns for several splits.
        pairs = IteratorValue("wrapper", [SequenceValue("list", [SequenceValue("tuple", [UNKNOWN, dataset])])])
        return pairs if attribute == "items" else dataset
    run_arguments(state, call.arguments, call.node, tensors=True)
    if attribute in ("get_single_element", "save"):
        state.sink("inspect", dataset, call.node)
    elif attribute not in ("cardinality", "element_spec", "options"):
        state.sink("escape", dataset, call.node)
    return UNKNOWN


def _applied(state: AbstractState, call: Invocation, dataset: Dataset) -> Value:
    """The method calls ``ds.apply(f)`` and ``ds.apply(tf.data.experimental.ignore_errors())``."""
    stage = dataset.stage
    for option in options_of(call.given(state, "transformation_func")):
        if isinstance(option, (Function, Partial)):
            return state.call(option, Arguments([dataset]), call.node)
        if isinstance(option, ExternalInstance):
            applied = state.new_stage(option.name.rpartition(".")[2], call.node, option.call, (stage,))
            if option.call is not None:
                _follow(state, applied, call.node)
            return Dataset(applied)
    return Dataset(state.new_stage("apply", call.node, None, (stage,)))


def _follow(state: AbstractState, stage: DatasetOp, node: cst.CSTNode) -> None:
    """Run the function passed to map, filter, interleave, ... and store its facts."""
    parameter = DATASET_METHODS.get(stage.name)
    function = stage.given(parameter) if parameter is not None else None
    if function is None:
        return
    stage.function = function
    calls, uses, known = len(state.calls), len(state.uses), True
    around, state.mapped = state.mapped, state.mapped or Start(len(state.frames), state.order)
    result: Value | None = None
    for option in options_of(function):
        one, is_known = _mapped(state, stage, option, node)
        known = known and is_known
        result = one if result is None else join(result, one)
    state.mapped = around
    new_uses = state.uses[uses:]
    known = known and not any(kind == "unknown-call" for kind, _, _ in new_uses)
    stage.facts = FunctionFacts(state.calls[calls:], new_uses, known, result or UNKNOWN)


def _mapped(state: AbstractState, stage: DatasetOp, function: Value, node: cst.CSTNode) -> tuple[Value, bool]:
    """The result of a dataset function, and whether its calls are known."""
    bound = function.arguments if isinstance(function, Partial) else None
    target = function.target if isinstance(function, Partial) else function
    if isinstance(target, Function):
        passed = _elements(state, stage, target)
        passed = passed if bound is None else bound_arguments(bound, passed)
        result = state.inline(target, passed, node, traced="map", stage=stage)
        for inner in datasets_in(result) if stage.name in _NESTING else ():
            state.sinks.append(DatasetConsumer("nested", inner.stage, state.module, node, state.path, outer=stage))
        return result, True
    if not isinstance(target, (Instance, ExternalInstance, External, Method)):
        return UNKNOWN, False
    passed = Arguments([Tensor("element")])
    passed = passed if bound is None else bound_arguments(bound, passed)
    path = ExecutionPath("call", state.path, state.module, node, traced="map", stage=stage)
    result = state.inside(path, lambda given: state.call(target, given, node), passed)
    return result, not isinstance(target, Method) or state.class_name(target.receiver) is not None


_NESTING = frozenset({"flat_map", "interleave"})


def _elements(state: AbstractState, stage: DatasetOp, function: Function) -> Arguments:
    """The arguments of a dataset function."""
    if stage.name in ("group_by_window", "scan"):
        return Arguments(unknown_positional=True)
    passed = spread(function, True)
    windows = (each for each in stage.upstream() if each.name == "window") if stage.name in _NESTING else iter(())
    window = next(windows, None)
    if window is not None:
        # Elements of a windowed dataset are themselves datasets.
        element = ("window-element", None, (), state.path)
        passed.positional = [Dataset(DatasetOp(state.module, window.node, *element)) for _ in passed.positional]
    return passed
