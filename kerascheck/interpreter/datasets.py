"""Where datasets come from and what is done to them."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.machine import Machine
from kerascheck.interpreter.support import bound_arguments, join, spread
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Dataset,
    External,
    Function,
    FunctionFacts,
    Group,
    Instance,
    Iteration,
    Made,
    Method,
    Partial,
    Scope,
    Sink,
    Stage,
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
    TFDS_LOAD,
    source_kind,
)
from kerascheck.knowledge.namespaces import OF_DATA_DATASET


class Datasets(Machine):
    """Builds dataset pipelines, operation by operation."""

    def _source(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Dataset:
        call = self.record(node, name, None, UNKNOWN, arguments)
        call.result = Dataset(self.new_stage(name, node, call, ()))
        return call.result

    def _make_source(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if name in (DATASET_ZIP, DATASET_SAMPLE_FROM_DATASETS, DATASET_CHOOSE_FROM_DATASETS):
            inputs = tuple(dataset.stage for value in arguments.values() for dataset in datasets_in(value))
            call = self.record(node, name, None, UNKNOWN, arguments)
            stage = self.new_stage(name.rpartition(".")[2] if inputs else name, node, call, inputs)
            return Dataset(stage)
        if source_kind(name) == "tfds":
            return self._tfds(arguments, node, name)
        dataset = self._source(name, arguments, node)
        if name == FROM_GENERATOR:
            self.run_callables(arguments.get(0, "generator"), None, node, tensors=False)
        if name == SPLIT_DATASET:
            for inner in datasets_in(arguments.get(0, "dataset")):
                self.sink("escape", inner, node)
            return Group("tuple", [dataset, Dataset(self.new_stage(name, node, dataset.stage.call, ()))])
        if constant(arguments.get(None, "subset")) == "both":
            return Group("tuple", [dataset, Dataset(self.new_stage(name, node, dataset.stage.call, ()))])
        return dataset

    def _tfds(self, arguments: Arguments, node: cst.CSTNode, name: str) -> Value:
        call = self.record(node, name, None, UNKNOWN, arguments)
        split = arguments.get(1 if name == TFDS_LOAD else 0, "split")

        def one() -> Value:
            return Dataset(self.new_stage(name, node, call, ()))

        loaded: Value = Group("list", [one() for _ in split.items]) if isinstance(split, Group) else one()
        if constant(arguments.get(None, "with_info")) is True:
            return Group("tuple", [loaded, UNKNOWN])
        return loaded

    def _call_dataset(self, dataset: Dataset, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if attribute == "apply":
            return self._apply(dataset, arguments, node)
        if attribute == "as_numpy_iterator":
            return Iteration(attribute, [dataset], self.scope)
        if attribute in ("make_one_shot_iterator", "make_initializable_iterator", "__iter__"):
            self.record(node, f"{OF_DATA_DATASET}{attribute}", attribute, dataset, arguments)
            return Iteration("iter", [dataset], self.scope)
        if attribute not in DATASET_METHODS:
            call = self.record(node, f"{OF_DATA_DATASET}{attribute}", attribute, dataset, arguments)
            if attribute in ("items", "values", "keys", "get") and dataset.stage.is_source:
                return dataset if attribute != "items" else Iteration("wrapper", [Group("list", [Group("tuple", [UNKNOWN, dataset])])])
            self.run_arguments(arguments, node, tensors=True)
            if attribute in ("cardinality", "element_spec", "get_single_element", "options", "save"):
                if attribute in ("get_single_element", "save"):
                    self.sink("inspect", dataset, node)
                return call.result
            self.sink("escape", dataset, node)
            return UNKNOWN
        call = self.record(node, f"{OF_DATA_DATASET}{attribute}", attribute, dataset, arguments)
        inputs = (dataset.stage,)
        if attribute in ("concatenate", "zip"):
            inputs += tuple(other.stage for value in arguments.values() for other in datasets_in(value))
        stage = self.new_stage(attribute, node, call, inputs)
        self._follow_function(stage, arguments, node)
        call.result = Dataset(stage)
        return call.result

    def _follow_function(self, stage: Stage, arguments: Arguments, node: cst.CSTNode) -> None:
        """Run the function given to map, filter, interleave, ... and keep what it did."""
        key = DATASET_METHODS.get(stage.name)
        if key is None:
            return
        function = arguments.get(*key)
        if function is None:
            return
        stage.function = function
        calls, uses, known = len(self.calls), len(self.uses), True
        around = self.mapped
        self.mapped = around or (len(self.frames), self.order)
        result: Value | None = None
        for option in options_of(function):
            target, bound = (option.target, option.arguments) if isinstance(option, Partial) else (option, None)
            if isinstance(target, Function):
                passed = spread(target, True)
                if stage.name in ("group_by_window", "scan"):
                    passed = Arguments(unknown_positional=True)
                if stage.name in ("flat_map", "interleave") and any(s.name == "window" for s in stage.upstream()):
                    # Elements of a windowed dataset are themselves datasets.
                    window = next(s for s in stage.upstream() if s.name == "window")
                    passed.positional = [Dataset(Stage(self.module, window.node, "window-element", None, (), self.scope)) for _ in passed.positional]
                if bound is not None:
                    passed = bound_arguments(bound, passed)
                one = self.inline(target, passed, node, traced="map", stage=stage)
                if stage.name in ("flat_map", "interleave"):
                    for inner in datasets_in(one):
                        self.sinks.append(Sink("nested", inner.stage, self.module, node, self.scope, outer=stage))
            elif isinstance(target, (Instance, Made, External, Method)):
                passed = Arguments([Tensor("element")])
                if bound is not None:
                    passed = bound_arguments(bound, passed)
                scope = Scope("call", self.scope, self.module, node, traced="map", stage=stage)
                one = self.inside(scope, lambda a, t=target: self.call(t, a, node), passed)
                known = known and not (isinstance(target, Method) and self.class_name(target.receiver) is None)
            else:
                one, known = UNKNOWN, False
            result = one if result is None else join(result, one)
        self.mapped = around
        new_uses = self.uses[uses:]
        known = known and not any(kind == "unknown-call" for kind, _, _ in new_uses)
        stage.facts = FunctionFacts(self.calls[calls:], new_uses, known, result or UNKNOWN)

    def _apply(self, dataset: Dataset, arguments: Arguments, node: cst.CSTNode) -> Value:
        transformation = arguments.get(0, "transformation_func")
        for option in options_of(transformation):
            if isinstance(option, (Function, Partial)):
                return self.call(option, Arguments([dataset]), node)
            if isinstance(option, Made):
                name = option.name.rpartition(".")[2]
                stage = self.new_stage(name, node, option.call, (dataset.stage,))
                if option.call is not None:
                    self._follow_function(stage, option.call.arguments, node)
                return Dataset(stage)
        return Dataset(self.new_stage("apply", node, None, (dataset.stage,)))
