"""What calls do and return."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

import libcst as cst

from kerascheck.knowledge import library
from kerascheck.interpreter.array_shapes import reshaped, shape_of, shaped
from kerascheck.meaning.data.image_flows import is_keras_data, is_py_dataset
from kerascheck.interpreter.machine import Machine
from kerascheck.interpreter.support import (
    MAX_CALLS,
    MAX_DEPTH,
    MAX_OPTIONS,
    MAX_VISITS,
    SuperValue,
    any_of,
    bound_arguments,
    computed,
    derived,
    dotted_name,
    fields_of,
    is_number,
    is_symbolic,
    is_text,
    join,
    reading_of,
    spread,
    text_of,
    traced_arguments,
)
from kerascheck.syntax.names import canonical
from kerascheck.interpreter.place import Place
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Class,
    Const,
    Counter,
    Dataset,
    Env,
    External,
    Function,
    Group,
    Instance,
    Iteration,
    Made,
    Mapping,
    Method,
    Partial,
    Scope,
    Sink,
    Stage,
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

    def inline(self, function: Function, arguments: Arguments, node: cst.CSTNode, *, traced: str | None = None, stage: Stage | None = None) -> Value:
        """The result of a function of the tree, by running its body."""
        body = function.node
        self._visits[body] = self._visits.get(body, 0) + 1
        if body in self._active or len(self._active) >= MAX_DEPTH or self._visits[body] > MAX_VISITS or self._inlined > MAX_CALLS:
            self.reached.add(body)
            self.truncated = self.truncated or self._inlined > MAX_CALLS
            self.escape(arguments, node)
            self.use("unknown-call", node)
            return UNKNOWN
        saved = self.module, self.env, self.scope
        self._inlined += 1
        scope = Scope("call", self.scope, self.module, node, function=function, traced=traced or function.traced, stage=stage)
        self.module = function.module
        self.scope = scope
        try:
            return self._enter(function, function.receiver, arguments)
        finally:
            self.module, self.env, self.scope = saved

    def _enter(self, function: Function, receiver: Value | None, arguments: Arguments | None, tensors: bool = False) -> Value:
        """Bind parameters and run the body; ``arguments`` is None for a run with unknown ones."""
        node = function.node
        self.reached.add(node)
        self._active.append(node)
        saved_env, saved_module, around, uses = self.env, self.module, self.mapped, len(self.uses)
        is_item = function.name == "__getitem__" and receiver is not None and is_py_dataset(receiver)
        if is_item:
            self.mapped = around or (len(self.frames), self.order)
        self.module = function.module
        self.env = Env(function.env)
        self.frames.append(self.env)
        try:
            self._bind_parameters(function, receiver, arguments, tensors)
            if isinstance(node, cst.Lambda):
                return self._returned(node, self.eval(node.body))
            loops = len(self.loops)
            self._returns.append([])
            self._suite(node.body)
            returned = self._returns.pop()
            if node in function.module.generators:
                # What comes out of a generator comes from what it loops over.
                sources = [loop.value for loop in self.loops[loops:] if loop.frame.function is function]
                return self._returned(node, Iteration("generator", [*returned, *sources] or [UNKNOWN]))
            if not returned:
                return Const(None)
            merged = returned[0]
            for other in returned[1:]:
                merged = join(merged, other)
            return self._returned(node, merged)
        finally:
            self._active.pop()
            self.frames.pop()
            self.env, self.module, self.mapped = saved_env, saved_module, around
            if is_item:
                self.item_writes.setdefault(node, []).extend(Place(module, at) for kind, at, module in self.uses[uses:] if kind == "write")

    def _returned(self, node: cst.CSTNode, value: Value) -> Value:
        self.returned.setdefault(node, value)
        return value

    def _bind_parameters(self, function: Function, receiver: Value | None, arguments: Arguments | None, tensors: bool) -> None:
        parameters = function.node.params
        positional = [*parameters.posonly_params, *parameters.params]
        env = self.env
        if receiver is not None and positional:
            env.variables[positional.pop(0).name.value] = receiver
        for index, parameter in enumerate([*positional, *parameters.kwonly_params]):
            name = parameter.name.value
            if arguments is None:
                plain = tensors and parameter.default is None and name not in ("training", "mask")
                value: Value = self._annotated(parameter, function)
                if value is UNKNOWN and plain and (index == 0 or self.scope.traced != "call" or self._says_tensor(function, name)):
                    value = Tensor("parameter")
            else:
                given = arguments.get(index if index < len(positional) else None, name)
                if given is not None:
                    value = given
                    if value is UNKNOWN:
                        value = self._annotated(parameter, function)
                else:
                    value = function.defaults.get(name, UNKNOWN)
            env.variables[name] = value
        # Keras calls its hooks with arguments of its own, whatever they are given here.
        if arguments is not None and not (function.owner is not None and library.traced_hook(function.owner.external_bases(), function.name)):
            env.parameters = frozenset(parameter.name.value for parameter in [*positional, *parameters.kwonly_params])
        if isinstance(parameters.star_arg, cst.Param):
            rest: Value = UNKNOWN
            if arguments is not None and not arguments.unknown_positional:
                rest = Group("tuple", arguments.positional[len(positional) :])
            elif arguments is None and tensors:
                rest = Tensor("parameter")
            env.variables[parameters.star_arg.name.value] = rest
        if parameters.star_kwarg is not None:
            extra: Value = UNKNOWN
            if arguments is not None and not arguments.unknown_keywords:
                named = {parameter.name.value for parameter in [*positional, *parameters.kwonly_params]}
                extra = Mapping({key: value for key, value in arguments.keywords.items() if key not in named})
            env.variables[parameters.star_kwarg.name.value] = extra

    def _says_tensor(self, function: Function, parameter: str) -> bool:
        """Whether the name of a parameter of ``call``, or what is done with it there, says that it is a tensor: what follows
        the inputs may as well be a size or a switch."""
        if library.names_tensor(parameter):
            return True
        tree = function.module.tree
        for node in tree.descendants(function.node.body):
            if not isinstance(node, cst.Name) or node.value != parameter:
                continue
            parent = tree.parents.get(node)
            if isinstance(parent, cst.Attribute) and parent.value is node and parent.attr.value in library.TENSOR_ATTRIBUTES:
                return True
            if isinstance(parent, cst.Subscript) and parent.value is node and len(parent.slice) > 1:
                return True
            if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.MatrixMultiply):
                return True
            if isinstance(parent, cst.Element):
                # One of the tensors in a list that is given first.
                parent = tree.parents.get(tree.parents.get(parent))
            call = tree.parents.get(parent)
            if isinstance(parent, cst.Arg) and parent.keyword is None and isinstance(call, cst.Call) and self._takes_tensor(function, call, call.args.index(parent)):
                return True
        return False

    def _takes_tensor(self, function: Function, call: cst.Call, position: int) -> bool:
        """Whether a call in a method gives a tensor at a position: to a function of tensors, or to a layer that the object holds."""
        owner, _, name = dotted_name(call.func).rpartition(".")
        if owner == "self":
            return position == 0 and function.owner is not None and function.owner.member(name) is None
        root, _, rest = dotted_name(call.func).partition(".")
        found = function.env.lookup(root)
        return isinstance(found, External) and library.takes_tensor(canonical(f"{found.name}.{rest}" if rest else found.name), position)

    def _annotated(self, parameter: cst.Param, function: Function) -> Value:
        """What the annotation of a parameter says it is."""
        if parameter.annotation is None:
            return UNKNOWN
        annotation = parameter.annotation.annotation
        if isinstance(annotation, cst.SimpleString):
            try:
                annotation = cst.parse_expression(text_of(annotation) or "")
            except cst.ParserSyntaxError:
                return UNKNOWN
        if isinstance(annotation, cst.BinaryOperation):
            annotation = annotation.left
        if isinstance(annotation, cst.Subscript):
            name = annotation.value.attr if isinstance(annotation.value, cst.Attribute) else annotation.value
            inner = annotation.slice[0].slice
            if not isinstance(name, cst.Name) or name.value != "Optional" or not isinstance(inner, cst.Index):
                return UNKNOWN
            annotation = inner.value
        saved, self.env = self.env, function.env
        value = self.eval(annotation) if isinstance(annotation, (cst.Name, cst.Attribute)) else UNKNOWN
        self.env = saved
        if isinstance(value, External):
            if value.name in ("tensorflow.data.Dataset", "tensorflow.data.DatasetV2"):
                stage = Stage(self.module, parameter, "parameter", None, (), self.scope)
                self.stages.append(stage)
                return Dataset(stage)
            if value.name in ("tensorflow.Tensor", "keras.KerasTensor"):
                return Tensor("parameter")
            if library.class_of(value.name) in ("keras.Model", "keras.Optimizer"):
                return Made(value.name)
        if isinstance(value, Class):
            return self._instance_of(value) if value.external_bases() else UNKNOWN
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
        name = next((library.class_of(base) for base in sorted(bases) if library.class_of(base).startswith("keras.")), None)
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
        keras = owner in ("keras.Model", "keras.Layer")
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
        call.result = Made("keras.KerasTensor", call) if symbolic else Tensor("result", call)
        return call.result

    def _call_made(self, made: Made, arguments: Arguments, node: cst.CSTNode) -> Value:
        if made.name in library.COMPILERS and arguments.positional:
            return self.compile(arguments.positional[0], library.COMPILERS[made.name], made.call, node)
        if made.name == "tensorflow.function.compiled":
            self.enter_compiled(made, arguments, node)
            target = made.attributes["target"]
            scope = Scope("call", self.scope, self.module, node, traced="tf.function")
            outside = self.scope.traced_by() is None
            result = self.inside(scope, lambda a: self.call(target, a, node), arguments)
            return _as_tensors(result) if outside else result
        owner = self.class_name(made) or made.name
        call = self.record(node, f"{owner}.__call__", "__call__", made, arguments)
        if owner == "keras.Model" or made.name.startswith(("keras.layers.", "keras.Sequential", "keras.applications.")):
            # A model given datasets is a mistake that raises; nothing to follow.
            return self.layer_result(call)
        self.escape(arguments, node)
        if any(holds_tensor(value) for value in arguments.values()):
            if not made.name.startswith(library.TENSOR_LIBRARIES):
                self.use("unknown-call", node)
            return Tensor("result") if made.name.startswith(library.TENSOR_LIBRARIES) else UNKNOWN
        return Tensor("result") if owner == "keras.Loss" else Made(f"{owner}.__call__")

    def _call_method(self, method: Method, arguments: Arguments, node: cst.CSTNode) -> Value:
        receiver, attribute = method.receiver, method.name
        if isinstance(receiver, Dataset):
            return self._call_dataset(receiver, attribute, arguments, node)
        if isinstance(receiver, SuperValue):
            owner = library.class_of_bases(receiver.cls.external_bases())
            call = self.record(node, f"{owner}.{attribute}" if owner else None, attribute, receiver.instance, arguments)
            if owner == "keras.Model" and attribute in library.CONSUMING_METHODS:
                return self._consume(call, attribute, arguments, node)
            return Tensor("result") if attribute == "call" else UNKNOWN
        if attribute in library.MUTATING_METHODS and not isinstance(receiver, Tensor):
            self.note_mutation(node, receiver)
        if isinstance(receiver, Group):
            return self._call_group(receiver, attribute, arguments, node)
        if isinstance(receiver, Mapping):
            return self._call_mapping(receiver, attribute, arguments, node)
        if isinstance(receiver, Iteration):
            if attribute in ("__next__", "get_next", "next"):
                return self.advance(receiver, node)
            if attribute == "initializer":
                return UNKNOWN
        if attribute == "split" and isinstance(receiver, Made) and receiver.name in library.SPLITTERS and receiver.call is not None:
            self.record(node, f"{receiver.name}.split", attribute, receiver, arguments)
            folds = constant(receiver.call.argument(0, "n_splits") or Const(library.SPLITTERS[receiver.name]))
            pair = Group("tuple", [UNKNOWN, UNKNOWN])
            return Group("list", [pair] * folds) if type(folds) is int and 0 < folds <= _MANY_FOLDS else UNKNOWN
        if attribute == "build" and isinstance(receiver, Method) and receiver.name == "hypermodel" and isinstance(receiver.receiver, Made) and library.is_tuner(receiver.receiver.name):
            return receiver.receiver.attributes["model"]
        if isinstance(receiver, Method) and receiver.name == "__dict__" and attribute == "update":
            self.forget(receiver.receiver)
        if attribute == "total_seconds" and isinstance(receiver, Made) and receiver.name == "time.elapsed":
            return receiver
        if attribute == "format" and is_text(receiver):
            self.record(node, "builtins.format", attribute, receiver, arguments)
            return computed("builtins.str", receiver, *arguments.values())
        owner = "builtins.str" if is_text(receiver) else self.class_name(receiver)
        name = f"{owner}.{attribute}" if owner else None
        call = self.record(node, name, attribute, receiver, arguments)
        if owner == "tensorflow.Tensor":
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
        if attribute in library.CONSUMING_METHODS and (owner in ("keras.Model", None, "keras.Layer") or any(any(datasets_in(value)) or is_keras_data(value) for value in arguments.values())):
            return self._consume(call, attribute, arguments, node)
        if owner == "tensorflow.distribute.Strategy":
            return self._call_strategy(call, attribute, arguments, node)
        if library.is_tuner(owner) and isinstance(receiver, Made):
            if attribute == "search":
                return self._search(receiver, arguments, node)
            if attribute == "get_best_models":
                return Group("list", [receiver.attributes["model"]], True)
        if owner is not None and owner.startswith("tensorflow_datasets.") and attribute == "as_dataset":
            return self._tfds(arguments, node, "tensorflow_datasets.as_dataset")
        if attribute in ("to_tf_dataset", "prepare_tf_dataset"):
            return self._source(f"transformers.{attribute}", arguments, node)
        if attribute == "add" and isinstance(receiver, Made) and owner == "keras.Model":
            added = receiver.attributes.setdefault("layers added", Group("list", []))
            added.items.extend(arguments.positional)
        if attribute == "compile" and (owner == "keras.Model" or owner is None):
            for key in ("loss", "metrics", "weighted_metrics"):
                self.run_callables(call.given(key), "loss" if key == "loss" else "metric", node)
            return UNKNOWN
        if name is not None and name.endswith("TFRecordWriter.write"):
            for dataset in datasets_in(arguments.get(0, "dataset")):
                self.sink("inspect", dataset, node)
            return UNKNOWN
        if name is not None and name.startswith("multiprocessing."):
            self._run_in_process(arguments, node)
        else:
            self.run_arguments(arguments, node, tensors=False)
        self.escape(arguments, node)
        if attribute in library.LISTING_METHODS and owner is None:
            return Made(f"builtins.object.{attribute}", call)
        if owner is None:
            if holds_tensor(receiver) or any(holds_tensor(value) for value in arguments.values()):
                self.use("unknown-call", node)
            elif attribute == "reshape" and (shape := reshaped(arguments.positional)) is not None:
                # Whatever it was, it is an array of that shape now.
                return shaped(receiver, shape)
            return UNKNOWN
        if owner.startswith(library.TENSOR_LIBRARIES) and any(holds_tensor(value) for value in arguments.values()):
            return Tensor("result")
        return _as_texts(name, [receiver, *arguments.values()]) or Made(name, call)

    def _consume(self, call: Call, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        """fit, evaluate, predict, adapt and their kin."""
        role = library.CONSUMING_METHODS.get(attribute)
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
        place = self.scope if constant(strategy, 0) is None or strategy is None else Scope("with", self.scope, self.module, node, value=Made("tensorflow.distribute.Strategy.scope"))
        made: list[Value] = []
        for option in options_of(arguments.get(0, "hypermodel")):
            build = option.cls.member("build") if isinstance(option, Instance) else option
            build = self.bound(build, option) if isinstance(option, Instance) and isinstance(build, Function) else build
            if isinstance(build, (Function, Partial)):
                given = Arguments([Made("keras_tuner.HyperParameters", call)])
                made.append(self.inside(place, lambda given, build=build: self.call(build, given, node), given))
        model = any_of(made)
        call.result = Made(name, call, {"model": Made("keras.Model") if model is UNKNOWN else model})
        return call.result

    def _search(self, tuner: Made, arguments: Arguments, node: cst.CSTNode) -> Value:
        """What ``tuner.search`` does: it fits models with its own arguments, through the ``fit`` of a HyperModel that has one."""
        model = tuner.attributes["model"]
        for option in options_of(tuner.call.argument(0, "hypermodel")):
            fit = option.cls.member("fit") if isinstance(option, Instance) else None
            if isinstance(fit, Function):
                given = [Made("keras_tuner.HyperParameters", tuner.call), model, *arguments.positional]
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
            return Made("tensorflow.distribute.Strategy.scope", call)
        self.run_arguments(arguments, node, tensors=True)
        if attribute in ("reduce", "gather", "experimental_local_results"):
            return Tensor("result") if any(holds_tensor(value) for value in arguments.values()) else UNKNOWN
        return UNKNOWN

    def _call_group(self, group: Group, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if attribute in ("append", "add") and arguments.positional:
            # Inside a loop the length is no longer known, but the kinds of items are.
            self.extend(group, arguments.positional[:1])
            self.record(node, "builtins.list.append", attribute, group, arguments)
            return Const(None)
        if attribute == "extend":
            self.record(node, "builtins.list.extend", attribute, group, arguments)
            given = arguments.get(0, None)
            self.extend(group, given.items if isinstance(given, Group) else [UNKNOWN], certain=isinstance(given, Group) and not given.open)
        elif attribute == "insert":
            self.record(node, "builtins.list.insert", attribute, group, arguments)
            self.extend(group, arguments.positional[1:2], certain=False)
        elif attribute in ("pop", "popleft", "remove", "clear", "sort", "reverse"):
            group.open = True
        if attribute in ("pop", "popleft"):
            return any_of(group.items)
        return Group(group.kind, list(group.items), group.open) if attribute == "copy" else UNKNOWN

    def _call_mapping(self, mapping: Mapping, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if attribute in ("items", "values", "keys"):
            if attribute == "values" and not mapping.open:
                return Group("list", list(mapping.items.values()))
            return Iteration(attribute, [mapping])
        if attribute in ("get", "pop", "setdefault"):
            key = arguments.get(0, "key")
            if isinstance(key, Const) and key.value in mapping.items:
                return mapping.items[key.value]
            if attribute == "setdefault" and isinstance(key, Const):
                value = arguments.get(1, "default") or Const(None)
                self.store(mapping.items, key.value, value)
                return value
        if attribute == "update":
            given = arguments.get(0, None)
            self.update(mapping, Mapping(dict(arguments.keywords), arguments.unknown_keywords) if given is None else given)
            if given is not None:
                self.update(mapping, Mapping(dict(arguments.keywords)))
        if attribute == "copy":
            return Mapping(dict(mapping.items), mapping.open)
        return UNKNOWN

    def _call_external(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if name.startswith("builtins."):
            return self._call_builtin(name[9:], arguments, node)
        if name == "functools.partial" and arguments.positional:
            target = arguments.positional[0]
            rest = Arguments(arguments.positional[1:], dict(arguments.keywords), {}, arguments.unknown_positional, arguments.unknown_keywords)
            if isinstance(target, External) and target.name in library.COMPILERS:
                return Made(target.name, self.record(node, target.name, None, UNKNOWN, rest))
            return Partial(target, rest)
        if name.startswith("keras.layers.") and name.endswith(".from_config"):
            return self._call_external(name.removesuffix(".from_config"), Arguments(unknown_positional=True, unknown_keywords=True), node)
        if name in library.COMPILERS:
            call = self.record(node, name, None, UNKNOWN, arguments)
            function = arguments.get(0, "func")
            if function is not None and constant(function, 0) is not None:
                return self.compile(function, library.COMPILERS[name], call, node)
            return Made(name, call)
        if name == "functools.wraps":
            return Made(name, self.record(node, name, None, UNKNOWN, arguments))
        if name in library.TRANSPARENT_DECORATORS and arguments.positional and isinstance(arguments.positional[0], (Function, Partial)):
            return arguments.positional[0]
        if name in library.PASS_THROUGH_ITERATORS and (arguments.positional or arguments.keywords):
            return Iteration("wrapper", [arguments.get(0, "iterable") or UNKNOWN])
        if library.is_tuner(name):
            return self._tuner(name, arguments, node)
        if name in ("tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange"):
            return Iteration("range", arguments.positional)
        source = library.source_kind(name)
        if source is not None:
            return self._make_source(name, arguments, node)
        if name.startswith("tensorflow.data.Dataset.") and arguments.positional:
            # tf.data.Dataset.map(ds, f)
            first = arguments.positional[0]
            if isinstance(first, Dataset):
                rest = Arguments(arguments.positional[1:], arguments.keywords, {}, arguments.unknown_positional, arguments.unknown_keywords)
                return self._call_dataset(first, name.rpartition(".")[2], rest, node)
        if name in library.PY_FUNCTIONS:
            call = self.record(node, name, None, UNKNOWN, arguments)
            function = arguments.get(0, "func")
            for option in options_of(function):
                if isinstance(option, (Function, Partial)):
                    self.run_callables(option, "py_function", node)
            if any(holds_tensor(v) for v in arguments.values()):
                self.use("py_function", node)
            call.result = Tensor("py_function")
            return call.result
        if name in ("tensorflow.nest.map_structure", "keras.tree.map_structure", "jax.tree_util.tree_map", "tree.map_structure") and len(arguments.positional) > 1:
            return self.call(arguments.positional[0], Arguments(arguments.positional[1:]), node)
        if name.count(".") > 1 and name.rpartition(".")[2] in library.MUTATING_METHODS and not name.startswith((*library.TENSOR_LIBRARIES, "numpy.")):
            self.note_mutation(node, UNKNOWN)
        if name == "numpy.diff" and (reading := reading_of(arguments.get(0, "a"))) is not None:
            return self.elapsed(node, reading, reading, each=True)
        call = self.record(node, name, None, UNKNOWN, arguments)
        if name == "keras.Input":
            call.result = Made("keras.KerasTensor", call)
            return call.result
        if name.startswith("multiprocessing."):
            self._run_in_process(arguments, node)
        elif name == "keras.layers.Lambda":
            more = arguments.get(3, "arguments")
            named = Arguments(keywords=dict(more.items)) if isinstance(more, Mapping) else None
            for option in options_of(arguments.get(0, "function")):
                self.run_callables(option if named is None else Partial(option, named), "Lambda", node)
        elif name == "keras.callbacks.LambdaCallback":
            self._run_hooks(arguments, node)
        elif name in library.TRACING_WRAPPERS or not name.startswith(("keras.", "tensorflow.data.")):
            self.run_arguments(arguments, node, tensors=name.startswith(library.TENSOR_LIBRARIES))
        if name not in library.TRANSPARENT_TO_DATASETS:
            self.escape(arguments, node)
        # What TensorFlow knows of the shapes in its graphs are Python objects.
        if name.startswith(("tensorflow.python.framework.common_shapes.", "tensorflow.python.framework.tensor_shape.")):
            return UNKNOWN
        if name.startswith(library.TENSOR_LIBRARIES) and name.rpartition(".")[2].islower() and name not in library.STATIC_RESULTS:
            if any(map(is_symbolic, arguments.values())):
                call.result = Made("keras.KerasTensor", call)
                return call.result
        if name.startswith(library.TENSOR_LIBRARIES) and not name.startswith(("keras.layers.", "keras.Model", "keras.Sequential")):
            if name in library.STATIC_RESULTS or name in library.ARRAY_MAKERS or name.rpartition(".")[2][:1].isupper():
                call.result = Made(name, call)
                return call.result if name not in library.STATIC_RESULTS else UNKNOWN
            if name in library.LISTS_OF_TENSORS:
                number = constant(arguments.get(*library.LISTS_OF_TENSORS[name][0]))
                known = type(number) is int and 0 < number <= _MANY_PARTS
                call.result = Group("list", [Tensor(name)] * (number if known else 1), open=not known)
                return call.result
            if any(holds_tensor(value) for value in arguments.values()) or library.makes_tensor(name):
                call.result = self.computed_tensor(name, Made(name, call))
                return call.result
        if name.startswith("numpy.") and any(holds_tensor(value) for value in arguments.values()):
            self.use("numpy", node)
            # In compiled code NumPy never really returns: it raises, or hands the tensor on.
            call.result = Tensor(name) if self.scope.traced_by() else Made(name, call)
            return call.result
        if name.rpartition(".")[2].islower() and any(holds_tensor(value) for value in arguments.values()):
            self.use("unknown-call", node)
        call.result = _as_texts(name, arguments.values()) or Made(name, call)
        if name == "tensorflow.io.parse_single_example":
            call.result = Tensor("features")
        return call.result

    def _call_builtin(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        first = arguments.positional[0] if arguments.positional else UNKNOWN
        if name == "super":
            function = self.scope.frame.function
            if function is not None and function.owner is not None:
                receiver = function.receiver
                if receiver is None:
                    parameters = function.node.params.params
                    receiver = self.env.lookup(parameters[0].name.value) if parameters else None
                return SuperValue(receiver or UNKNOWN, function.owner)
            return UNKNOWN
        if name in ("enumerate", "zip", "reversed", "sorted", "filter"):
            return Iteration(name, list(arguments.positional[:1] if name == "enumerate" else arguments.positional))
        if name == "range":
            return Iteration("range", list(arguments.positional))
        if name == "iter":
            return Iteration("iter", [first], self.scope)
        if name == "next":
            return self.advance(first, node)
        if name in ("list", "tuple", "set"):
            if isinstance(first, Group):
                return Group(name, list(first.items), first.open)
            if isinstance(first, Iteration) and first.kind == "values" and isinstance(first.over[0], Mapping):
                return Group(name, list(first.over[0].items.values()), open=True, most=first.over[0].most)
            read = list(self.iterated(first))
            for dataset in read:
                self.sink("inspect", dataset, node)
            if not arguments.positional:
                return Group(name, [])
            call = self.record(node, f"builtins.{name}", None, UNKNOWN, arguments)
            return Made(f"builtins.{name}", call) if read else UNKNOWN
        if name == "dict":
            return Mapping(dict(arguments.keywords), open=bool(arguments.positional) or arguments.unknown_keywords)
        if name == "map" and len(arguments.positional) > 1:
            over = arguments.positional[1]
            if len(arguments.positional) == 2 and isinstance(over, Group) and not over.open and len(over.items) <= MAX_OPTIONS:
                return Group("list", [self.call(first, Arguments([item]), node) for item in over.items])
            self.run_callables(arguments.positional[0], None, node, tensors=False)
            return UNKNOWN
        if name == "getattr" and len(arguments.positional) > 1 and isinstance(constant(arguments.positional[1]), str):
            return self.get_attribute(first, arguments.positional[1].value, node)
        if name == "setattr" and len(arguments.positional) == 3:
            self.note_write(node.args[0].value if isinstance(node, cst.Call) else None, first, node)
            key = constant(arguments.positional[1])
            if isinstance(key, str):
                self.set_attribute(node, first, key, arguments.positional[2])
            else:
                self.forget(first)
            return Const(None)
        call = self.record(node, f"builtins.{name}", None, UNKNOWN, arguments)
        if name == "len" and (shape := shape_of(first)) and shape[0] is not None:
            return Const(shape[0])
        if any(holds_tensor(value) for value in arguments.values()):
            self.use(f"builtins.{name}", node)
        if name in ("max", "min", "abs", "round", "sum") and any(holds_tensor(value) for value in arguments.values()):
            call.result = Tensor("result")
            return call.result
        counter = next((value for value in arguments.positional if isinstance(value, Counter)), None)
        if name in ("int", "float", "min", "max", "abs", "round") and counter is not None and all(map(is_number, arguments.positional)):
            return computed(counter.name, *arguments.positional)
        if name in ("int", "float") and isinstance(first, Counter) and is_text(first):
            return computed(call.name, first)
        if name in ("int", "float") and not holds_tensor(first):
            if isinstance(first, Const) and isinstance(first.value, (int, float)):
                return Const(int(first.value) if name == "int" else float(first.value))
            return Made(f"builtins.{name}", call)
        if call.name in library.ENDS_THE_PROGRAM:
            return Made(call.name, call)
        for dataset in datasets_in(first):
            self.sink("inspect", dataset, node)
        self.run_arguments(arguments, node, tensors=False)
        if name == "open" and "b" in str(constant(arguments.get(1, "mode") or Const("r"), "b")):
            return UNKNOWN
        return _as_texts(call.name, arguments.values()) or (Made(call.name, call) if name in ("len", "open") else UNKNOWN)

    def advance(self, iterator: Value, node: cst.CSTNode) -> Value:
        self.record(node, "builtins.next", "__next__", iterator, Arguments())
        element: Value = UNKNOWN
        for option in options_of(iterator):
            if not isinstance(option, Iteration):
                continue
            for dataset in self.iterated(option):
                loop = self.scope.innermost_loop(within=option.scope or "program")
                if loop is not None:
                    self.sinks.append(Sink("loop", dataset.stage, self.module, node, self.scope, loop=loop))
                else:
                    self.sink("inspect", dataset, node)
                element = Tensor("element")
        return element

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

    def _run_in_process(self, arguments: Arguments, node: cst.CSTNode) -> None:
        """Functions that start a program of their own: what ran before does not count there."""
        scope = Scope("root", None, self.module, node, label="process")
        self.inside(scope, lambda a: self.run_arguments(a, node, tensors=False), arguments)

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


def _as_texts(name: str, given: Iterable[Value]) -> Value | None:
    """The text, or the list of texts, that Python makes of what a function of this name is given; None where it makes something else."""
    if name in library.TEXTS:
        return computed("builtins.str", *given)
    # The methods, which take a text apart; what a file or folder holds does not depend on what is given.
    return Group("list", [computed("builtins.str", *given)], open=True) if name in library.LISTS_OF_TEXTS and name.startswith("builtins.str.") else None


def _as_tensors(value: Value) -> Value:
    """What Python gets from a compiled function for what its body returns: all that is no structure and not None comes out as a tensor."""
    if isinstance(value, Union):
        return any_of(map(_as_tensors, value.options))
    if isinstance(value, Group):
        return Group(value.kind, [_as_tensors(item) for item in value.items], value.open)
    if isinstance(value, Mapping):
        return Mapping({key: _as_tensors(item) for key, item in value.items.items()}, value.open)
    return value if isinstance(value, Tensor) or value == Const(None) else Tensor("result")
