"""What calls do and return."""

from __future__ import annotations

from itertools import zip_longest

import libcst as cst

from kerascheck.interpreter.array_shapes import reshaped, shaped
from kerascheck.knowledge.callables import (
    ARRAY_MAKERS,
    COMPILERS,
    FUNCTION_COMPILED,
    IO_PARSE_SINGLE_EXAMPLE,
    LISTS_OF_TENSORS,
    LOOKING_AT_DATASETS,
    NEST_MAP_STRUCTURE,
    PY_FUNCTIONS,
    STATIC_RESULTS,
    TENSOR,
    TENSOR_LIBRARIES,
    TRACING_WRAPPERS,
    TREE_MAP_STRUCTURE,
    makes_tensor,
)
from kerascheck.knowledge.classes import (
    CONSUMING_METHODS,
    INPUT,
    KERAS_TENSOR,
    KERAS_TUNER_HYPER_PARAMETERS,
    LAMBDA_CALLBACK,
    LAYER,
    LOSS,
    MODEL,
    SEQUENTIAL,
    class_of,
    class_of_bases,
    is_tuner,
)
from kerascheck.knowledge.datasets import TFDS_AS_DATASET, source_kind
from kerascheck.knowledge.devices import STRATEGY, STRATEGY_SCOPE
from kerascheck.knowledge.layers import LAMBDA, LAYERS
from kerascheck.knowledge.namespaces import (
    KERAS,
    OF_DATA,
    OF_DATA_DATASET,
    OF_KERAS_APPLICATIONS,
    OF_PYTHON_FRAMEWORK_COMMON_SHAPES,
    OF_PYTHON_FRAMEWORK_TENSOR_SHAPE,
    TENSORFLOW_DATASETS,
)
from kerascheck.knowledge.python import LISTING_METHODS, MUTATING_METHODS, SPLITTERS
from kerascheck.meaning.data.image_flows import is_keras_data, is_py_dataset
from kerascheck.interpreter.libraries.registry import Invocation, function_handlers, method_handlers, taker
from kerascheck.interpreter.machine import Machine
from kerascheck.interpreter.support import (
    SuperValue,
    any_of,
    as_texts,
    bound_arguments,
    derived,
    fields_of,
    is_symbolic,
    is_text,
    join,
    reading_of,
    spread,
    traced_arguments,
)
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Class,
    Const,
    Dataset,
    External,
    Function,
    Group,
    Instance,
    Made,
    Mapping,
    Method,
    Partial,
    Scope,
    Tensor,
    Union,
    Value,
    constant,
    datasets_in,
    holds_tensor,
    options_of,
)

_MANY_FOLDS = 1000
# What fit does with datasets that are not given first.
_OTHER_ROLES = {"validation_data": "validation", "callbacks": "escape"}
_MANY_PARTS = 1000


class Calls(Machine):
    """Follows calls into the linted tree, and knows what the libraries outside return."""

    def call(self, function: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
        """The result of calling an abstract value."""
        if isinstance(function, Union):
            merged: Value | None = None
            for option in function.options:
                result = self.call(option, arguments, node)
                merged = result if merged is None else join(merged, result)
            return merged or UNKNOWN
        if isinstance(function, Function):
            if function.traced:
                self.enter_compiled(function, arguments, node)
            outside = self.scope.traced_by() is None
            result = self.inline(function, arguments, node)
            return _as_tensors(result) if outside and function.traced == "tf.function" else result
        if isinstance(function, Partial):
            return self.call(function.target, bound_arguments(function.arguments, arguments), node)
        if isinstance(function, Class):
            return self._instantiate(function, arguments, node)
        if isinstance(function, External):
            return self._call_external(function.name, arguments, node)
        if isinstance(function, Method):
            return self._call_method(function, arguments, node)
        if isinstance(function, Instance):
            return self._call_instance(function, arguments, node)
        if isinstance(function, Made):
            return self._call_made(function, arguments, node)
        self.record(node, None, None, function, arguments)
        self.escape(arguments, node)
        if any(holds_tensor(value) for value in arguments.values()):
            self.use("unknown-call", node)
            return UNKNOWN
        return UNKNOWN

    def _instantiate(self, cls: Class, arguments: Arguments, node: cst.CSTNode) -> Value:
        new = cls.member("__new__")
        if isinstance(new, Function):
            given = Arguments([cls, *arguments.positional], arguments.keywords, {}, arguments.unknown_positional, arguments.unknown_keywords)
            made = self.inline(new, given, node)
            # What is no object of the class is not initialised.
            if any(datasets_in(made)):
                return made
        instance = Instance(cls, {})
        # Methods that nobody calls still see the object that the program really makes.
        self._instances.setdefault(cls, instance)
        bases = cls.external_bases()
        name = next((class_of(base) for base in sorted(bases) if class_of(base).startswith(KERAS)), None)
        self.record(node, name and f"{name}.__init__", "__init__", instance, arguments, instance)
        init = cls.member("__init__")
        if isinstance(init, Function):
            self.inline(self.bound(init, instance), arguments, node)
        else:
            # A dataclass or NamedTuple takes its fields in order.
            fields = fields_of(cls)
            instance.attributes.update(zip(fields, arguments.positional))
            instance.attributes.update(arguments.keywords)
            if arguments.unknown_positional or arguments.unknown_keywords:
                self.forget(instance)
            if not fields:
                self.escape(arguments, node)
        return instance

    def _call_instance(self, instance: Instance, arguments: Arguments, node: cst.CSTNode) -> Value:
        bases = instance.cls.external_bases()
        owner = self.class_name(instance)
        keras = owner in (MODEL, LAYER)
        call = self.record(node, f"{owner}.__call__" if owner else None, "__call__", instance, arguments)
        method = instance.cls.member("__call__") or (instance.cls.member("call") if keras else None)
        if isinstance(method, Function):
            # Keras traces call() sooner or later, whoever calls the layer here.
            how = method.traced or "call" if keras and self.scope.traced_by() is None else None
            given = traced_arguments(arguments) if how else arguments
            if keras and not how and given.positional and given.positional[0] is UNKNOWN:
                # Wherever it comes from, in compiled code a layer is called on a tensor.
                given = Arguments([Tensor("parameter"), *given.positional[1:]], given.keywords, given.nodes, given.unknown_positional, given.unknown_keywords)
            result = self.inline(self.bound(method, instance), given, node, traced=how)
            if keras and any(map(is_symbolic, arguments.values())):
                return self.layer_result(call)
            return self.layer_result(call) if keras and (result is UNKNOWN or isinstance(result, Tensor)) else result
        if keras and not bases & {"builtins.object"}:
            return self.layer_result(call)
        self.escape(arguments, node)
        return UNKNOWN

    def layer_result(self, call: Call) -> Value:
        """What a layer or model returns: a symbol that remembers the call, or a tensor that does."""
        symbolic = any(map(is_symbolic, call.arguments.values()))
        call.result = Made(KERAS_TENSOR, call) if symbolic else Tensor("result", call)
        return call.result

    def _call_made(self, made: Made, arguments: Arguments, node: cst.CSTNode) -> Value:
        if made.name in COMPILERS and arguments.positional:
            return self.compile(arguments.positional[0], COMPILERS[made.name], made.call, node)
        if made.name == FUNCTION_COMPILED:
            self.enter_compiled(made, arguments, node)
            target = made.attributes["target"]
            scope = Scope("call", self.scope, self.module, node, traced="tf.function")
            outside = self.scope.traced_by() is None
            result = self.inside(scope, lambda a: self.call(target, a, node), arguments)
            return _as_tensors(result) if outside else result
        owner = self.class_name(made) or made.name
        call = self.record(node, f"{owner}.__call__", "__call__", made, arguments)
        if owner == MODEL or made.name.startswith((LAYERS, SEQUENTIAL, OF_KERAS_APPLICATIONS)):
            # A model given datasets is a mistake that raises; nothing to follow.
            return self.layer_result(call)
        self.escape(arguments, node)
        if any(holds_tensor(value) for value in arguments.values()):
            if not made.name.startswith(TENSOR_LIBRARIES):
                self.use("unknown-call", node)
            return Tensor("result") if made.name.startswith(TENSOR_LIBRARIES) else UNKNOWN
        return Tensor("result") if owner == LOSS else Made(f"{owner}.__call__")

    def _call_method(self, method: Method, arguments: Arguments, node: cst.CSTNode) -> Value:
        receiver, attribute = method.receiver, method.name
        if isinstance(receiver, Dataset):
            return self._call_dataset(receiver, attribute, arguments, node)
        if isinstance(receiver, SuperValue):
            owner = class_of_bases(receiver.cls.external_bases())
            call = self.record(node, f"{owner}.{attribute}" if owner else None, attribute, receiver.instance, arguments)
            if owner == MODEL and attribute in CONSUMING_METHODS:
                return self._consume(call, attribute, arguments, node)
            return Tensor("result") if attribute == "call" else UNKNOWN
        if attribute in MUTATING_METHODS and not isinstance(receiver, Tensor):
            self.note_mutation(node, receiver)
        owner = "builtins.str" if is_text(receiver) else self.class_name(receiver)
        name = f"{owner}.{attribute}" if owner else None
        invocation = Invocation(name, arguments, node, receiver, attribute, owner)
        for handler in method_handlers(invocation):
            result = handler(self, invocation)
            if result is not None:
                return result
        if attribute == "split" and isinstance(receiver, Made) and receiver.name in SPLITTERS and receiver.call is not None:
            self.record(node, f"{receiver.name}.split", attribute, receiver, arguments)
            folds = constant(receiver.call.argument(0, "n_splits") or Const(SPLITTERS[receiver.name]))
            pair = Group("tuple", [UNKNOWN, UNKNOWN])
            return Group("list", [pair] * folds) if type(folds) is int and 0 < folds <= _MANY_FOLDS else UNKNOWN
        if attribute == "build" and isinstance(receiver, Method) and receiver.name == "hypermodel" and isinstance(receiver.receiver, Made) and is_tuner(receiver.receiver.name):
            return receiver.receiver.attributes["model"]
        call = self.record(node, name, attribute, receiver, arguments)
        if owner == TENSOR:
            if attribute in ("items", "keys"):
                # What is taken to be a tensor is a dictionary of them, and its keys are none.
                return UNKNOWN
            if attribute in ("set_shape", "get_shape"):
                self.use("shape", node)
                return UNKNOWN
            self.use("method", node)
            if attribute == "numpy" and self.scope.traced_by() is None:
                return derived(receiver)
            return UNKNOWN if attribute in ("numpy", "eval", "item", "tolist") else self.computed_tensor("result", receiver)
        if attribute in CONSUMING_METHODS and (owner in (MODEL, None, LAYER) or any(any(datasets_in(value)) or is_keras_data(value) for value in arguments.values())):
            return self._consume(call, attribute, arguments, node)
        if owner == STRATEGY:
            return self._call_strategy(call, attribute, arguments, node)
        if is_tuner(owner) and isinstance(receiver, Made):
            if attribute == "search":
                return self._search(receiver, arguments, node)
            if attribute == "get_best_models":
                return Group("list", [receiver.attributes["model"]], True)
        if owner is not None and owner.startswith(TENSORFLOW_DATASETS) and attribute == "as_dataset":
            return self._tfds(arguments, node, TFDS_AS_DATASET)
        if attribute in ("to_tf_dataset", "prepare_tf_dataset"):
            return self._source(f"transformers.{attribute}", arguments, node)
        if attribute == "add" and isinstance(receiver, Made) and owner == MODEL:
            added = receiver.attributes.setdefault("layers added", Group("list", []))
            added.items.extend(arguments.positional)
        if attribute == "compile" and (owner == MODEL or owner is None):
            for key in ("loss", "metrics", "weighted_metrics"):
                self.run_callables(call.given(key), "loss" if key == "loss" else "metric", node)
            return UNKNOWN
        if name is not None and name.endswith("TFRecordWriter.write"):
            for dataset in datasets_in(arguments.get(0, "dataset")):
                self.sink("inspect", dataset, node)
            return UNKNOWN
        taking = taker(name) if name is not None else None
        if taking is not None:
            taking(self, invocation)
        else:
            self.run_arguments(arguments, node, tensors=False)
        self.escape(arguments, node)
        if attribute in LISTING_METHODS and owner is None:
            return Made(f"builtins.object.{attribute}", call)
        if owner is None:
            if holds_tensor(receiver) or any(holds_tensor(value) for value in arguments.values()):
                self.use("unknown-call", node)
            elif attribute == "reshape" and (shape := reshaped(arguments.positional)) is not None:
                # Whatever it was, it is an array of that shape now.
                return shaped(receiver, shape)
            return UNKNOWN
        if owner.startswith(TENSOR_LIBRARIES) and any(holds_tensor(value) for value in arguments.values()):
            return Tensor("result")
        return as_texts(name, [receiver, *arguments.values()]) or Made(name, call)

    def _consume(self, call: Call, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        """fit, evaluate, predict, adapt and their kin."""
        role = CONSUMING_METHODS.get(attribute)
        for name, value in [*zip_longest(self.module.runtime.parameters_of(attribute)[: len(arguments.positional)], arguments.positional), *arguments.keywords.items()]:
            for dataset in datasets_in(value):
                self.sink(_OTHER_ROLES.get(name, role) or "escape", dataset, node)
        self.run_arguments(arguments, node, tensors=False)
        for value in arguments.values():
            self._run_items(value, node)
        return UNKNOWN

    def _run_items(self, value: Value, node: cst.CSTNode) -> None:
        """What Keras asks a PyDataset of another module for; the functions of this one are run anyway."""
        for option in options_of(value):
            if is_py_dataset(option):
                method = option.cls.member("__getitem__")
                if isinstance(method, Function) and method.module is not self.entry:
                    place = Scope("handed", self.scope, self.module, node)
                    self.inside(place, lambda function: self.inline(function, Arguments([UNKNOWN]), node), self.bound(method, option))

    def _tuner(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        """A tuner of KerasTuner. It builds a model at once, to learn what there is to choose, and fits others like it
        (``BaseTuner._populate_initial_space`` in keras_tuner/src/engine/base_tuner.py, 1.4.8): one stands for all."""
        call = self.record(node, name, None, UNKNOWN, arguments)
        strategy = arguments.get(None, "distribution_strategy")
        place = self.scope if constant(strategy, 0) is None or strategy is None else Scope("with", self.scope, self.module, node, value=Made(STRATEGY_SCOPE))
        made: list[Value] = []
        for option in options_of(arguments.get(0, "hypermodel")):
            build = option.cls.member("build") if isinstance(option, Instance) else option
            build = self.bound(build, option) if isinstance(option, Instance) and isinstance(build, Function) else build
            if isinstance(build, (Function, Partial)):
                given = Arguments([Made(KERAS_TUNER_HYPER_PARAMETERS, call)])
                made.append(self.inside(place, lambda given, build=build: self.call(build, given, node), given))
        model = any_of(made)
        call.result = Made(name, call, {"model": Made(MODEL) if model is UNKNOWN else model})
        return call.result

    def _search(self, tuner: Made, arguments: Arguments, node: cst.CSTNode) -> Value:
        """What ``tuner.search`` does: it fits models with its own arguments, through the ``fit`` of a HyperModel that has one."""
        model = tuner.attributes["model"]
        for option in options_of(tuner.call.argument(0, "hypermodel")):
            fit = option.cls.member("fit") if isinstance(option, Instance) else None
            if isinstance(fit, Function):
                given = [Made(KERAS_TUNER_HYPER_PARAMETERS, tuner.call), model, *arguments.positional]
                self.call(self.bound(fit, option), Arguments(given, arguments.keywords, {}, arguments.unknown_positional, arguments.unknown_keywords), node)
                return UNKNOWN
        return self.call(self.get_attribute(model, "fit", node), arguments, node)

    def _call_strategy(self, call: Call, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if attribute in ("run", "experimental_run_v2", "call_for_each_replica"):
            function = arguments.get(0, "fn")
            inner = arguments.get(1, "args")
            passed = Arguments(list(inner.items) if isinstance(inner, Group) else [], unknown_positional=not isinstance(inner, Group))
            named = arguments.get(2, "kwargs")
            if isinstance(named, Mapping):
                passed.keywords.update({key: value for key, value in named.items.items() if isinstance(key, str)})
            return self.call(function or UNKNOWN, passed, node)
        if attribute == "experimental_distribute_dataset":
            results = [Dataset(self.new_stage("distribute", node, call, (d.stage,))) for d in datasets_in(arguments.get(0, "dataset"))]
            return results[0] if results else UNKNOWN
        if attribute in ("distribute_datasets_from_function", "experimental_distribute_datasets_from_function"):
            result = self.call(arguments.get(0, "dataset_fn") or UNKNOWN, Arguments([UNKNOWN]), node)
            for dataset in datasets_in(result):
                return Dataset(self.new_stage("distribute", node, call, (dataset.stage,)))
            return UNKNOWN
        if attribute == "scope":
            return Made(STRATEGY_SCOPE, call)
        self.run_arguments(arguments, node, tensors=True)
        if attribute in ("reduce", "gather", "experimental_local_results"):
            return Tensor("result") if any(holds_tensor(value) for value in arguments.values()) else UNKNOWN
        return UNKNOWN

    def _call_external(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        call = Invocation(name, arguments, node)
        for handler in function_handlers(name):
            result = handler(self, call)
            if result is not None:
                return result
        taking = taker(name)
        if name.startswith(LAYERS) and name.endswith(".from_config"):
            return self._call_external(name.removesuffix(".from_config"), Arguments(unknown_positional=True, unknown_keywords=True), node)
        if name in COMPILERS:
            call = self.record(node, name, None, UNKNOWN, arguments)
            function = arguments.get(0, "func")
            if function is not None and constant(function, 0) is not None:
                return self.compile(function, COMPILERS[name], call, node)
            return Made(name, call)
        if is_tuner(name):
            return self._tuner(name, arguments, node)
        source = source_kind(name)
        if source is not None:
            return self._make_source(name, arguments, node)
        if name.startswith(OF_DATA_DATASET) and arguments.positional:
            # tf.data.Dataset.map(ds, f)
            first = arguments.positional[0]
            if isinstance(first, Dataset):
                rest = Arguments(arguments.positional[1:], arguments.keywords, {}, arguments.unknown_positional, arguments.unknown_keywords)
                return self._call_dataset(first, name.rpartition(".")[2], rest, node)
        if name in PY_FUNCTIONS:
            call = self.record(node, name, None, UNKNOWN, arguments)
            function = arguments.get(0, "func")
            for option in options_of(function):
                if isinstance(option, (Function, Partial)):
                    self.run_callables(option, "py_function", node)
            if any(holds_tensor(v) for v in arguments.values()):
                self.use("py_function", node)
            call.result = Tensor("py_function")
            return call.result
        if name in (NEST_MAP_STRUCTURE, TREE_MAP_STRUCTURE, "jax.tree_util.tree_map", "tree.map_structure") and len(arguments.positional) > 1:
            return self.call(arguments.positional[0], Arguments(arguments.positional[1:]), node)
        if name.count(".") > 1 and name.rpartition(".")[2] in MUTATING_METHODS and not name.startswith((*TENSOR_LIBRARIES, "numpy.")):
            self.note_mutation(node, UNKNOWN)
        if name == "numpy.diff" and (reading := reading_of(arguments.get(0, "a"))) is not None:
            return self.elapsed(node, reading, reading, each=True)
        call = self.record(node, name, None, UNKNOWN, arguments)
        if name == INPUT:
            call.result = Made(KERAS_TENSOR, call)
            return call.result
        if taking is not None:
            taking(self, Invocation(name, arguments, node))
        elif name == LAMBDA:
            more = arguments.get(3, "arguments")
            named = Arguments(keywords=dict(more.items)) if isinstance(more, Mapping) else None
            for option in options_of(arguments.get(0, "function")):
                self.run_callables(option if named is None else Partial(option, named), "Lambda", node)
        elif name == LAMBDA_CALLBACK:
            self._run_hooks(arguments, node)
        elif name in TRACING_WRAPPERS or not name.startswith((KERAS, OF_DATA)):
            self.run_arguments(arguments, node, tensors=name.startswith(TENSOR_LIBRARIES))
        if name not in LOOKING_AT_DATASETS:
            self.escape(arguments, node)
        # What TensorFlow knows of the shapes in its graphs are Python objects.
        if name.startswith((OF_PYTHON_FRAMEWORK_COMMON_SHAPES, OF_PYTHON_FRAMEWORK_TENSOR_SHAPE)):
            return UNKNOWN
        if name.startswith(TENSOR_LIBRARIES) and name.rpartition(".")[2].islower() and name not in STATIC_RESULTS:
            if any(map(is_symbolic, arguments.values())):
                call.result = Made(KERAS_TENSOR, call)
                return call.result
        if name.startswith(TENSOR_LIBRARIES) and not name.startswith((LAYERS, MODEL, SEQUENTIAL)):
            if name in STATIC_RESULTS or name in ARRAY_MAKERS or name.rpartition(".")[2][:1].isupper():
                call.result = Made(name, call)
                return call.result if name not in STATIC_RESULTS else UNKNOWN
            if name in LISTS_OF_TENSORS:
                number = constant(arguments.get(*LISTS_OF_TENSORS[name][0]))
                known = type(number) is int and 0 < number <= _MANY_PARTS
                call.result = Group("list", [Tensor(name)] * (number if known else 1), open=not known)
                return call.result
            if any(holds_tensor(value) for value in arguments.values()) or makes_tensor(name):
                call.result = self.computed_tensor(name, Made(name, call))
                return call.result
        if name.startswith("numpy.") and any(holds_tensor(value) for value in arguments.values()):
            self.use("numpy", node)
            # In compiled code NumPy never really returns: it raises, or hands the tensor on.
            call.result = Tensor(name) if self.scope.traced_by() else Made(name, call)
            return call.result
        if name.rpartition(".")[2].islower() and any(holds_tensor(value) for value in arguments.values()):
            self.use("unknown-call", node)
        call.result = as_texts(name, arguments.values()) or Made(name, call)
        if name == IO_PARSE_SINGLE_EXAMPLE:
            call.result = Tensor("features")
        return call.result

    def run_callables(self, value: Value | None, traced: str | None, node: cst.CSTNode, *, tensors: bool = True) -> Value:
        """Run functions handed to a library, with tensors (or unknown values) as arguments."""
        result: Value = UNKNOWN
        for option in options_of(value):
            if isinstance(option, (Group, Mapping)):
                for item in option.items if isinstance(option, Group) else option.items.values():
                    self.run_callables(item, traced, node, tensors=tensors)
                continue
            target, bound = option, None
            if isinstance(option, Partial):
                target, bound = option.target, option.arguments
            if isinstance(target, Function):
                passed = spread(target, tensors and traced != "py_function", bound.keywords if bound is not None else ())
                if bound is not None:
                    passed = bound_arguments(bound, passed)
                # Whether a library calls what it is handed at once is not known.
                place = Scope("handed", self.scope, self.module, node) if traced is None else self.scope
                result = self.inside(place, lambda function, passed=passed: self.inline(function, passed, node, traced=traced), target)
        return result

    def _run_hooks(self, arguments: Arguments, node: cst.CSTNode) -> None:
        """Functions that Keras calls during fit: each starts from a place that is named after its hook."""
        for hook, function in arguments.keywords.items():
            scope = Scope("root", None, self.module, node, label=hook)
            self.inside(scope, lambda value: self.run_callables(value, None, node, tensors=False), function)

    def run_arguments(self, arguments: Arguments, node: cst.CSTNode, *, tensors: bool) -> None:
        for value in arguments.values():
            for option in options_of(value):
                if isinstance(option, (Function, Partial)):
                    for dataset in datasets_in(self.run_callables(option, None, node, tensors=tensors)):
                        self.sink("escape", dataset, node)


def _as_tensors(value: Value) -> Value:
    """What Python gets from a compiled function for what its body returns: all that is no structure and not None comes out as a tensor."""
    if isinstance(value, Union):
        return any_of(map(_as_tensors, value.options))
    if isinstance(value, Group):
        return Group(value.kind, [_as_tensors(item) for item in value.items], value.open)
    if isinstance(value, Mapping):
        return Mapping({key: _as_tensors(item) for key, item in value.items.items()}, value.open)
    return value if isinstance(value, Tensor) or value == Const(None) else Tensor("result")
