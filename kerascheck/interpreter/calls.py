"""What calls do and return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.arguments import bound_arguments, spread, traced_arguments
from kerascheck.interpreter.array_shapes import reshaped, shaped
from kerascheck.interpreter.internal_values import SuperValue
from kerascheck.interpreter.joins import any_of
from kerascheck.interpreter.libraries.registry import Invocation, function_handlers, method_handlers, outcomes, taker
from kerascheck.interpreter.nodes import fields_of
from kerascheck.interpreter.purity import as_texts
from kerascheck.interpreter.value_kinds import is_symbolic, is_text
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Class,
    Constant,
    Dataset,
    DictValue,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    Instance,
    LoopVariable,
    Method,
    Partial,
    SequenceValue,
    Tensor,
    UnionValue,
    Value,
    datasets_in,
    holds_tensor,
    options_of,
)
from kerascheck.knowledge.callables import (
    COMPILERS,
    FUNCTION_COMPILED,
    LOOKING_AT_DATASETS,
    TENSOR_LIBRARIES,
    calls_functions,
)
from kerascheck.knowledge.classes import KERAS_TENSOR, LAYER, LOSS, MODEL, SEQUENTIAL, class_of
from kerascheck.knowledge.layers import LAYERS
from kerascheck.knowledge.namespaces import KERAS, OF_KERAS_APPLICATIONS
from kerascheck.knowledge.python import LISTING_METHODS, MUTATING_METHODS, changes_elsewhere


class Calls(AbstractState):
    """Follows calls into the linted tree, and knows what the libraries outside return."""

    def call(self, function: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
        """The result of calling an abstract value."""
        handler = _CALLS.get(type(function))
        if handler is not None:
            return handler(self, function, arguments, node)
        self.record(node, None, None, function, arguments)
        self.escape(arguments, node)
        if any(map(holds_tensor, arguments.values())):
            self.use("unknown-call", node)
        return UNKNOWN

    def _call_one(self, functions: UnionValue, arguments: Arguments, node: cst.CSTNode) -> Value:
        return any_of(self.call(option, arguments, node) for option in functions.options)

    def _call_function(self, function: Function, arguments: Arguments, node: cst.CSTNode) -> Value:
        if function.traced:
            self.enter_compiled(function, arguments, node)
        outside = self.path.traced_by() is None
        result = self.inline(function, arguments, node)
        return _as_tensors(result) if outside and function.traced == "tf.function" else result

    def _call_partial(self, partial: Partial, arguments: Arguments, node: cst.CSTNode) -> Value:
        if partial.arguments.unknown_positional:
            self.escape(replace(arguments, keywords={}), node)
        return self.call(partial.target, bound_arguments(partial.arguments, arguments), node)

    def _instantiate(self, cls: Class, arguments: Arguments, node: cst.CSTNode) -> Value:
        new = cls.member("__new__")
        if isinstance(new, Function):
            made = self.inline(new, replace(arguments, positional=[cls, *arguments.positional], nodes={}), node)
            # What is no object of the class is not initialised.
            if any(datasets_in(made)):
                return made
        instance = Instance(cls, {})
        self.begin(instance.attributes)
        # Methods that nobody calls still see the object that the program really makes.
        self._instances.setdefault(cls, instance)
        bases = cls.external_bases()
        name = next((name for name in map(class_of, sorted(bases)) if name.startswith(KERAS)), None)
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
                self.invalidate(instance)
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
            how = method.traced or "call" if keras and self.path.traced_by() is None else None
            given = traced_arguments(arguments) if how else arguments
            if keras and not how and given.positional and given.positional[0] is UNKNOWN:
                # Wherever it comes from, in compiled code a layer is called on a tensor.
                given = replace(given, positional=[Tensor("parameter"), *given.positional[1:]])
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
        call.result = ExternalInstance(KERAS_TENSOR, call) if symbolic else Tensor("result", call)
        return call.result

    def _call_made(self, made: ExternalInstance, arguments: Arguments, node: cst.CSTNode) -> Value:
        if made.name in COMPILERS and arguments.positional:
            return self.compile(arguments.positional[0], COMPILERS[made.name], made.call, node)
        if made.name == FUNCTION_COMPILED:
            self.enter_compiled(made, arguments, node)
            target = made.attributes["target"]
            path = ExecutionPath("call", self.path, self.module, node, traced="tf.function")
            outside = self.path.traced_by() is None
            result = self.inside(path, lambda a: self.call(target, a, node), arguments)
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
        return Tensor("result") if owner == LOSS else ExternalInstance(f"{owner}.__call__")

    def _call_method(self, method: Method, arguments: Arguments, node: cst.CSTNode) -> Value:
        receiver, attribute = method.receiver, method.name
        if attribute in MUTATING_METHODS and not isinstance(receiver, (Tensor, Dataset, SuperValue)):
            self.note_mutation(node, receiver)
        owner = "builtins.str" if is_text(receiver) else self.class_name(receiver)
        call = Invocation(f"{owner}.{attribute}" if owner else "", arguments, node, receiver, attribute, owner)
        for handler in method_handlers(call):
            result = handler(self, call)
            if result is not None:
                return result
        made = call.record(self)
        takes = taker(call.name) if call.name else None
        if takes is not None:
            takes(self, call)
        else:
            self.run_arguments(arguments, node, tensors=False)
        self.escape(arguments, node)
        if owner is None:
            return self._unknown_method(made)
        if owner.startswith(TENSOR_LIBRARIES) and any(map(holds_tensor, arguments.values())):
            return Tensor("result")
        return as_texts(call.name, [receiver, *arguments.values()]) or ExternalInstance(call.name, made)

    def _unknown_method(self, call: Call) -> Value:
        """What the method of an object gives of which nothing is known."""
        if call.attribute in LISTING_METHODS:
            return ExternalInstance(f"builtins.object.{call.attribute}", call)
        if holds_tensor(call.receiver) or any(map(holds_tensor, call.arguments.values())):
            self.use("unknown-call", call.node)
        elif call.attribute == "reshape" and (shape := reshaped(call.arguments.positional)) is not None:
            # Whatever it was, it is an array of that shape now.
            return shaped(call.receiver, shape)
        return UNKNOWN

    def _call_external(self, function: External, arguments: Arguments, node: cst.CSTNode) -> Value:
        name = function.name
        call = Invocation(name, arguments, node)
        for handler in function_handlers(name):
            result = handler(self, call)
            if result is not None:
                return result
        if changes_elsewhere(name):
            self.note_mutation(node, UNKNOWN)
        made = call.record(self)
        takes = taker(name)
        if takes is not None:
            takes(self, call)
        elif calls_functions(name):
            self.run_arguments(arguments, node, tensors=name.startswith(TENSOR_LIBRARIES))
        if name not in LOOKING_AT_DATASETS:
            self.escape(arguments, node)
        for decide in outcomes(name):
            result = decide(self, made, name)
            if result is not None:
                return result
        if name.rpartition(".")[2].islower() and any(map(holds_tensor, arguments.values())):
            self.use("unknown-call", node)
        made.result = as_texts(name, arguments.values()) or ExternalInstance(name, made)
        return made.result

    def run_callables(
        self, value: Value | None, traced: str | None, node: cst.CSTNode, *, tensors: bool = True
    ) -> Value:
        """Run functions handed to a library, with tensors (or unknown values) as arguments.

        Args:
            value: a function, or a structure of them.
            traced: what the library compiles them for; None where it calls them from Python.
            node: the call that hands them over.
            tensors: whether the library gives them tensors.
        """
        result: Value = UNKNOWN
        for option in options_of(value):
            if isinstance(option, (SequenceValue, DictValue)):
                for item in option.items if isinstance(option, SequenceValue) else option.items.values():
                    self.run_callables(item, traced, node, tensors=tensors)
                continue
            bound = option.arguments if isinstance(option, Partial) else Arguments()
            target = option.target if isinstance(option, Partial) else option
            if isinstance(target, Function):
                passed = spread(target, tensors and traced != "py_function", bound.keywords)
                passed = bound_arguments(bound, passed)
                # Whether a library calls what it is handed at once is not known.
                place = ExecutionPath("handed", self.path, self.module, node) if traced is None else self.path
                run = partial(self.inline, arguments=passed, node=node, traced=traced)
                result = self.inside(place, run, target)
        return result

    def run_arguments(self, arguments: Arguments, node: cst.CSTNode, *, tensors: bool) -> None:
        for value in arguments.values():
            for option in options_of(value):
                if isinstance(option, (Function, Partial)):
                    for dataset in datasets_in(self.run_callables(option, None, node, tensors=tensors)):
                        self.sink("escape", dataset, node)


def _as_tensors(value: Value) -> Value:
    """What Python gets from a compiled function for what its body returns.

    All that is no structure and not None comes out as a tensor.
    """
    if isinstance(value, UnionValue):
        return any_of(map(_as_tensors, value.options))
    if isinstance(value, SequenceValue):
        return SequenceValue(value.kind, [_as_tensors(item) for item in value.items], value.open)
    if isinstance(value, DictValue):
        return DictValue({key: _as_tensors(item) for key, item in value.items.items()}, value.open)
    return value if isinstance(value, Tensor) or value == Constant(None) else Tensor("result")


# A handler gets values of the types that the table gives it.
_CALLS: dict[type[Value], Callable[[Calls, Any, Arguments, cst.CSTNode], Value]] = {
    UnionValue: Calls._call_one,
    Function: Calls._call_function,
    Partial: Calls._call_partial,
    Class: Calls._instantiate,
    External: Calls._call_external,
    Method: Calls._call_method,
    Instance: Calls._call_instance,
    ExternalInstance: Calls._call_made,
    LoopVariable: Calls._call_made,
}
