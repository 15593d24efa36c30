"""Calls into the functions of the linted tree: their parameters are bound, and their bodies run."""

from __future__ import annotations

from collections.abc import Hashable

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState, Start
from kerascheck.interpreter.call_summaries import CallSummary, fresh_copy, is_pure, summary_key
from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.internal_values import LATER
from kerascheck.interpreter.joins import join
from kerascheck.interpreter.keras_data import is_py_dataset
from kerascheck.interpreter.limits import MAX_CALLS, MAX_DEPTH, MAX_VISITS
from kerascheck.interpreter.nodes import dotted_name, text_of
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Class,
    Constant,
    Dataset,
    DatasetOp,
    DictValue,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    IteratorValue,
    Scope,
    SequenceValue,
    Tensor,
    Value,
    now,
)
from kerascheck.knowledge.callables import TENSOR, TENSOR_ATTRIBUTES, names_tensor, takes_tensor
from kerascheck.knowledge.classes import KERAS_TENSOR, MODEL, OPTIMIZER, class_of, traced_hook
from kerascheck.knowledge.datasets import DATASET, DATASET_V2
from kerascheck.syntax.names import canonical


class Inlining(AbstractState):
    """Follows calls into the linted tree."""

    def inline(
        self,
        function: Function,
        arguments: Arguments,
        node: cst.CSTNode,
        *,
        traced: str | None = None,
        stage: DatasetOp | None = None,
    ) -> Value:
        """The result of a function of the tree, by running its body.

        Args:
            function: the function; its receiver is bound.
            arguments: what the call gives.
            node: the call.
            traced: what compiles the body, where that is not the function itself.
            stage: the dataset operation that runs it.
        """
        body = function.node
        how = traced or function.traced
        kind = summary_key(function, arguments, self.path, how) if stage is None else None
        habit = self._habits.get(kind)
        if habit is not None:
            self.record(node, None, None, function, arguments)
            self.uses += habit.uses
            return fresh_copy(habit.result)
        self._visits[body] = self._visits.get(body, 0) + 1
        too_often = self._visits[body] > MAX_VISITS or self._inlined > MAX_CALLS
        if body in self._active or len(self._active) >= MAX_DEPTH or too_often:
            self.reached.add(body)
            self._touched = 0
            self.truncated = self.truncated or self._inlined > MAX_CALLS
            self.escape(arguments, node)
            self.use("unknown-call", node)
            return UNKNOWN
        saved = self.module, self.scope, self.path
        self._inlined += 1
        path = ExecutionPath("call", self.path, self.module, node, function=function, traced=how, stage=stage)
        self.module = function.module
        self.path = path
        try:
            if kind is None or kind in self._habits:
                return self._enter(function, function.receiver, arguments)
            return self._learned(kind, function, arguments)
        finally:
            self.module, self.scope, self.path = saved

    def _learned(self, kind: Hashable, function: Function, arguments: Arguments) -> Value:
        """The result of a function, by running its body; what calls of its kind come to is learned."""
        kept, calls, uses = self._number_of_records(), len(self.calls), len(self.uses)
        touched, self._touched, start = self._touched, LATER, now()
        result = self._enter(function, function.receiver, arguments)
        left_all = self._touched > start and kept == self._number_of_records()
        is_habit = left_all and is_pure(result, self.calls[calls:])
        self._habits[kind] = CallSummary(result, self.uses[uses:]) if is_habit else None
        self._touched = min(touched, self._touched)
        return result

    def _number_of_records(self) -> int:
        """How much was seen that no call alike can stand for."""
        return len(self.stages) + len(self.sinks) + len(self.compilations) + len(self.entries)

    def _enter(
        self, function: Function, receiver: Value | None, arguments: Arguments | None, tensors: bool = False
    ) -> Value:
        """Bind parameters and run the body; ``arguments`` is None for a run with unknown ones."""
        node = function.node
        self.reached.add(node)
        self._active.append(node)
        saved_env, saved_module, around, uses = self.scope, self.module, self.mapped, len(self.uses)
        is_item = function.name == "__getitem__" and receiver is not None and is_py_dataset(receiver)
        if is_item:
            self.mapped = around or Start(len(self.frames), self.order)
        self.module = function.module
        self.scope = Scope(function.scope)
        self.frames.append(self.scope)
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
                return self._returned(node, IteratorValue("generator", [*returned, *sources] or [UNKNOWN]))
            if not returned:
                return Constant(None)
            merged = returned[0]
            for other in returned[1:]:
                merged = join(merged, other)
            return self._returned(node, merged)
        finally:
            self._active.pop()
            self.frames.pop()
            self.scope, self.module, self.mapped = saved_env, saved_module, around
            if is_item:
                writes = [CodeLocation(module, at) for kind, at, module in self.uses[uses:] if kind == "write"]
                self.item_writes.setdefault(node, []).extend(writes)

    def _returned(self, node: cst.CSTNode, value: Value) -> Value:
        self.returned.setdefault(node, value)
        return value

    def _bind_parameters(
        self, function: Function, receiver: Value | None, arguments: Arguments | None, tensors: bool
    ) -> None:
        parameters = function.node.params
        positional = [*parameters.posonly_params, *parameters.params]
        variables = self.scope.variables
        if receiver is not None and positional:
            variables[positional.pop(0).name.value] = receiver
        named = [*positional, *parameters.kwonly_params]
        for index, parameter in enumerate(named):
            name = parameter.name.value
            if arguments is None:
                variables[name] = self._guessed(function, parameter, index, tensors)
                continue
            given = arguments.get(index if index < len(positional) else None, name)
            if given is UNKNOWN:
                given = self._annotated(parameter, function)
            variables[name] = function.defaults.get(name, UNKNOWN) if given is None else given
        names = frozenset(parameter.name.value for parameter in named)
        # Keras calls its hooks with arguments of its own, whatever they are given here.
        if arguments is not None and not _is_hook(function):
            self.scope.parameters = names
        if isinstance(parameters.star_arg, cst.Param):
            rest: Value = Tensor("parameter") if arguments is None and tensors else UNKNOWN
            if arguments is not None and not arguments.unknown_positional:
                rest = SequenceValue("tuple", arguments.positional[len(positional) :])
            variables[parameters.star_arg.name.value] = rest
        if parameters.star_kwarg is not None:
            extra: Value = UNKNOWN
            if arguments is not None and not arguments.unknown_keywords:
                extra = DictValue({key: value for key, value in arguments.keywords.items() if key not in names})
            variables[parameters.star_kwarg.name.value] = extra

    def _guessed(self, function: Function, parameter: cst.Param, index: int, tensors: bool) -> Value:
        """What a parameter is where no call is seen, which in compiled code gives ``tensors``."""
        value = self._annotated(parameter, function)
        name = parameter.name.value
        if value is not UNKNOWN or not tensors or parameter.default is not None or name in ("training", "mask"):
            return value
        is_tensor = index == 0 or self.path.traced != "call" or self._says_tensor(function, name)
        return Tensor("parameter") if is_tensor else UNKNOWN

    def _says_tensor(self, function: Function, parameter: str) -> bool:
        """Whether the name of a parameter of ``call``, or what is done with it there, says that it is a tensor: what
        follows the inputs may as well be a size or a switch."""
        if names_tensor(parameter):
            return True
        nodes = function.module.tree.descendants(function.node.body)
        names = (node for node in nodes if isinstance(node, cst.Name) and node.value == parameter)
        return any(self._is_used_as_tensor(function, name) for name in names)

    def _is_used_as_tensor(self, function: Function, node: cst.Name) -> bool:
        """Whether only a tensor, or an array, can stand where a name stands in a method."""
        tree = function.module.tree
        parent = tree.parents.get(node)
        if isinstance(parent, cst.Attribute) and parent.value is node:
            return parent.attr.value in TENSOR_ATTRIBUTES
        if isinstance(parent, cst.Subscript) and parent.value is node and len(parent.slice) > 1:
            return True
        if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.MatrixMultiply):
            return True
        if isinstance(parent, cst.Element):
            # One of the tensors in a list that is given first.
            parent = tree.parents.get(tree.parents[parent])
        if not isinstance(parent, cst.Arg) or parent.keyword is not None:
            return False
        call = tree.parents.get(parent)
        if not isinstance(call, cst.Call):
            return False
        return self._takes_tensor(function, call, call.args.index(parent))

    def _takes_tensor(self, function: Function, call: cst.Call, position: int) -> bool:
        """Whether a call in a method gives a tensor at a position: to a function of tensors, or to a layer of the object."""
        owner, _, name = dotted_name(call.func).rpartition(".")
        if owner == "self":
            return position == 0 and function.owner is not None and function.owner.member(name) is None
        root, _, rest = dotted_name(call.func).partition(".")
        found = function.scope.lookup(root)
        if not isinstance(found, External):
            return False
        return takes_tensor(canonical(f"{found.name}.{rest}" if rest else found.name), position)

    def _annotated(self, parameter: cst.Param, function: Function) -> Value:
        """What the annotation of a parameter says it is."""
        annotation = _named_type(parameter.annotation.annotation) if parameter.annotation is not None else None
        if annotation is None:
            return UNKNOWN
        saved, self.scope = self.scope, function.scope
        value = self.eval(annotation)
        self.scope = saved
        if isinstance(value, Class):
            return self._instance_of(value) if value.external_bases() else UNKNOWN
        name = value.name if isinstance(value, External) else ""
        if name in (DATASET, DATASET_V2):
            return Dataset(self.new_stage("parameter", parameter, None, ()))
        if name in (TENSOR, KERAS_TENSOR):
            return Tensor("parameter")
        return ExternalInstance(name) if class_of(name) in (MODEL, OPTIMIZER) else UNKNOWN


def _is_hook(function: Function) -> bool:
    """Whether Keras itself calls a method, in compiled code."""
    return function.owner is not None and traced_hook(function.owner.external_bases(), function.name) is not None


def _named_type(annotation: cst.BaseExpression) -> cst.Name | cst.Attribute | None:
    """The type that ``T``, ``"T"``, ``T | None`` and ``Optional[T]`` name; None for all else."""
    if isinstance(annotation, cst.SimpleString):
        text = text_of(annotation)
        try:
            annotation = cst.parse_expression(text if isinstance(text, str) else "")
        except cst.ParserSyntaxError:
            return None
    if isinstance(annotation, cst.BinaryOperation):
        annotation = annotation.left
    if isinstance(annotation, cst.Subscript):
        name = annotation.value.attr if isinstance(annotation.value, cst.Attribute) else annotation.value
        inner = annotation.slice[0].slice
        if not isinstance(name, cst.Name) or name.value != "Optional" or not isinstance(inner, cst.Index):
            return None
        annotation = inner.value
    return annotation if isinstance(annotation, (cst.Name, cst.Attribute)) else None
