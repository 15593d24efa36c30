"""Calls into functions of the linted tree: binding their parameters and running their bodies."""

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
from kerascheck.interpreter.nodes import dotted_name, parameters_of, text_of
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
    Instance,
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


def inline(
    state: AbstractState,
    function: Function,
    arguments: Arguments,
    node: cst.CSTNode,
    *,
    traced: str | None = None,
    stage: DatasetOp | None = None,
) -> Value:
    """The result of calling a function of the linted tree, by running its body.

    Args:
        function: the function; its receiver is bound.
        arguments: the arguments of the call.
        node: the call.
        traced: the compiler of the body, if the function itself is not compiled.
        stage: the dataset operation that runs it.
    """
    body = function.node
    how = traced or function.traced
    key = summary_key(function, arguments, state.path, how) if stage is None else None
    summary = state.summaries.get(key)
    if summary is not None:
        state.record(node, None, None, function, arguments)
        state.uses += summary.uses
        return fresh_copy(summary.result)
    state.visits[body] = state.visits.get(body, 0) + 1
    too_often = state.visits[body] > MAX_VISITS or state.inlined_calls > MAX_CALLS
    if body in state.call_stack or len(state.call_stack) >= MAX_DEPTH or too_often:
        state.reached.add(body)
        state.oldest_write = 0
        state.truncated = state.truncated or state.inlined_calls > MAX_CALLS
        state.escape(arguments, node)
        state.use("unknown-call", node)
        return UNKNOWN
    saved = state.module, state.scope, state.path
    state.inlined_calls += 1
    path = ExecutionPath("call", state.path, state.module, node, function=function, traced=how, stage=stage)
    state.module = function.module
    state.path = path
    try:
        if key is None or key in state.summaries:
            return enter_function(state, function, function.receiver, arguments)
        return _summarise(state, key, function, arguments)
    finally:
        state.module, state.scope, state.path = saved


def _summarise(state: AbstractState, key: Hashable, function: Function, arguments: Arguments) -> Value:
    """The result of a function, by running its body; memoises its summary."""
    records, calls, uses = _number_of_records(state), len(state.calls), len(state.uses)
    touched, state.oldest_write, start = state.oldest_write, LATER, now()
    result = enter_function(state, function, function.receiver, arguments)
    unchanged = state.oldest_write > start and records == _number_of_records(state)
    memoisable = unchanged and is_pure(result, state.calls[calls:])
    state.summaries[key] = CallSummary(result, state.uses[uses:]) if memoisable else None
    state.oldest_write = min(touched, state.oldest_write)
    return result


def _number_of_records(state: AbstractState) -> int:
    """The number of records that no summary can replace."""
    return len(state.stages) + len(state.sinks) + len(state.compilations) + len(state.entries)


def enter_function(
    state: AbstractState, function: Function, receiver: Value | None, arguments: Arguments | None, tensors: bool = False
) -> Value:
    """Bind parameters and run the body; ``arguments`` is None for a run with unknown ones."""
    node = function.node
    state.reached.add(node)
    state.call_stack.append(node)
    saved_env, saved_module, around, uses = state.scope, state.module, state.mapped, len(state.uses)
    is_item = function.name == "__getitem__" and receiver is not None and is_py_dataset(receiver)
    if is_item:
        state.mapped = around or Start(len(state.frames), state.order)
    state.module = function.module
    state.scope = Scope(function.scope)
    state.frames.append(state.scope)
    try:
        _bind_parameters(state, function, receiver, arguments, tensors)
        if isinstance(node, cst.Lambda):
            return _returned(state, node, state.eval(node.body))
        loops = len(state.loops)
        state.return_values.append([])
        state.run_suite(node.body)
        returned = state.return_values.pop()
        if node in function.module.generators:
            # A generator yields elements of the iterables it loops over.
            sources = [loop.value for loop in state.loops[loops:] if loop.frame.function is function]
            return _returned(state, node, IteratorValue("generator", [*returned, *sources] or [UNKNOWN], state.path))
        if not returned:
            return Constant(None)
        merged = returned[0]
        for other in returned[1:]:
            merged = join(merged, other)
        return _returned(state, node, merged)
    finally:
        state.call_stack.pop()
        state.frames.pop()
        state.scope, state.module, state.mapped = saved_env, saved_module, around
        if is_item:
            writes = [CodeLocation(module, at) for kind, at, module in state.uses[uses:] if kind == "write"]
            state.item_writes.setdefault(node, []).extend(writes)


def _returned(state: AbstractState, node: cst.CSTNode, value: Value) -> Value:
    state.returned.setdefault(node, value)
    return value


def instance_of(state: AbstractState, cls: Class) -> Instance:
    instance = state.instances.get(cls)
    if instance is None:
        instance = state.instances[cls] = Instance(cls, {})
        for name in ("__init__", "build"):
            member = cls.members.get(name) if name == "build" else cls.member(name)
            if isinstance(member, Function) and member.node not in state.call_stack:
                path = state.path
                state.path = ExecutionPath("root", None, member.module, member.node, function=member)
                try:
                    enter_function(state, member, instance, None)
                finally:
                    state.path = path
    return instance


def default_values(state: AbstractState, node: cst.FunctionDef | cst.Lambda) -> dict[str, Value]:
    return {p.name.value: state.eval(p.default) for p in parameters_of(node.params) if p.default is not None}


def _bind_parameters(
    state: AbstractState, function: Function, receiver: Value | None, arguments: Arguments | None, tensors: bool
) -> None:
    parameters = function.node.params
    positional = [*parameters.posonly_params, *parameters.params]
    variables = state.scope.variables
    if receiver is not None and positional:
        variables[positional.pop(0).name.value] = receiver
    named = [*positional, *parameters.kwonly_params]
    for index, parameter in enumerate(named):
        name = parameter.name.value
        if arguments is None:
            variables[name] = _guess_parameter(state, function, parameter, index, tensors)
            continue
        given = arguments.get(index if index < len(positional) else None, name)
        if given is UNKNOWN:
            given = _from_annotation(state, parameter, function)
        variables[name] = function.defaults.get(name, UNKNOWN) if given is None else given
    names = frozenset(parameter.name.value for parameter in named)
    # Keras calls its hooks with other arguments than the program passes here.
    if arguments is not None and not _is_hook(function):
        state.scope.parameters = names
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


def _guess_parameter(
    state: AbstractState, function: Function, parameter: cst.Param, index: int, tensors: bool
) -> Value:
    """The value of a parameter without a call site; a tensor if ``tensors`` and nothing contradicts it."""
    value = _from_annotation(state, parameter, function)
    name = parameter.name.value
    if value is not UNKNOWN or not tensors or parameter.default is not None or name in ("training", "mask"):
        return value
    is_tensor = index == 0 or state.path.traced != "call" or _implies_tensor(state, function, name)
    return Tensor("parameter") if is_tensor else UNKNOWN


def _implies_tensor(state: AbstractState, function: Function, parameter: str) -> bool:
    """Whether the name or the use of a parameter of ``call`` implies a tensor.

    Parameters after the inputs may also be sizes or switches.
    """
    if names_tensor(parameter):
        return True
    nodes = function.module.tree.descendants(function.node.body)
    names = (node for node in nodes if isinstance(node, cst.Name) and node.value == parameter)
    return any(_is_used_as_tensor(state, function, name) for name in names)


def _is_used_as_tensor(state: AbstractState, function: Function, node: cst.Name) -> bool:
    """Whether a method uses a name in a way that only tensors and arrays allow."""
    tree = function.module.tree
    parent = tree.parents.get(node)
    if isinstance(parent, cst.Attribute) and parent.value is node:
        return parent.attr.value in TENSOR_ATTRIBUTES
    if isinstance(parent, cst.Subscript) and parent.value is node and len(parent.slice) > 1:
        return True
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.MatrixMultiply):
        return True
    if isinstance(parent, cst.Element):
        # An element of a list in the first argument.
        parent = tree.parents.get(tree.parents[parent])
    if not isinstance(parent, cst.Arg) or parent.keyword is not None:
        return False
    call = tree.parents.get(parent)
    if not isinstance(call, cst.Call):
        return False
    return _takes_tensor(state, function, call, call.args.index(parent))


def _takes_tensor(state: AbstractState, function: Function, call: cst.Call, position: int) -> bool:
    """Whether a call passes a tensor at this position: to a tensor function, or to a layer of the object."""
    owner, _, name = dotted_name(call.func).rpartition(".")
    if owner == "self":
        return position == 0 and function.owner is not None and function.owner.member(name) is None
    root, _, rest = dotted_name(call.func).partition(".")
    found = function.scope.lookup(root)
    if not isinstance(found, External):
        return False
    return takes_tensor(canonical(f"{found.name}.{rest}" if rest else found.name), position)


def _from_annotation(state: AbstractState, parameter: cst.Param, function: Function) -> Value:
    """The value that the annotation of a parameter implies."""
    annotation = _named_type(parameter.annotation.annotation) if parameter.annotation is not None else None
    if annotation is None:
        return UNKNOWN
    saved, state.scope = state.scope, function.scope
    value = state.eval(annotation)
    state.scope = saved
    if isinstance(value, Class):
        return instance_of(state, value) if value.external_bases() else UNKNOWN
    name = value.name if isinstance(value, External) else ""
    if name in (DATASET, DATASET_V2):
        return Dataset(state.new_stage("parameter", parameter, None, ()))
    if name in (TENSOR, KERAS_TENSOR):
        return Tensor("parameter")
    return ExternalInstance(name) if class_of(name) in (MODEL, OPTIMIZER) else UNKNOWN


def _is_hook(function: Function) -> bool:
    """Whether Keras calls a method in compiled code."""
    return function.owner is not None and traced_hook(function.owner.external_bases(), function.name) is not None


def _named_type(annotation: cst.BaseExpression) -> cst.Name | cst.Attribute | None:
    """The type named by ``T``, ``"T"``, ``T | None`` and ``Optional[T]``; None for other annotations."""
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
