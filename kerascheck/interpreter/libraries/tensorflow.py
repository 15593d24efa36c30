"""TensorFlow, and tensor functions of Keras: compilers and functions that return tensors."""

from __future__ import annotations

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.callables import run_callables
from kerascheck.interpreter.compilation import compile_value
from kerascheck.interpreter.libraries.registry import Invocation, function, methods_of, outcome
from kerascheck.interpreter.purity import derived
from kerascheck.interpreter.value_kinds import is_symbolic
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    ExternalInstance,
    Function,
    Partial,
    SequenceValue,
    Tensor,
    Value,
    constant,
    flat,
    holds_tensor,
    options_of,
)
from kerascheck.knowledge.callables import (
    ARRAY_MAKERS,
    CASE,
    COMPILERS,
    COND,
    IO_PARSE_SINGLE_EXAMPLE,
    LISTS_OF_TENSORS,
    NEST_MAP_STRUCTURE,
    PY_FUNCTIONS,
    STATIC_RESULTS,
    TENSOR,
    TENSOR_LIBRARIES,
    TREE_MAP_STRUCTURE,
    makes_tensor,
)
from kerascheck.knowledge.classes import KERAS_TENSOR, MODEL, SEQUENTIAL
from kerascheck.knowledge.layers import LAYERS
from kerascheck.knowledge.namespaces import OF_PYTHON_FRAMEWORK_COMMON_SHAPES, OF_PYTHON_FRAMEWORK_TENSOR_SHAPE

_MANY_PARTS = 1000


@function(*COMPILERS)
def _compiler(state: AbstractState, call: Invocation) -> Value:
    recorded = call.record(state)
    function = call.arguments.first("func")
    if function is None or constant(function, 0) is None:
        # Options for the function that follows, as in @tf.function(jit_compile=True).
        return ExternalInstance(call.name, recorded)
    return compile_value(state, function, COMPILERS[call.name], recorded, call.node)


@function(*PY_FUNCTIONS)
def _py_function(state: AbstractState, call: Invocation) -> Value:
    recorded = call.record(state)
    for option in options_of(recorded.given("func")):
        if isinstance(option, (Function, Partial)):
            run_callables(state, option, "py_function", call.node)
    if any(map(holds_tensor, call.arguments.values())):
        state.use("py_function", call.node)
    recorded.result = Tensor("py_function")
    return recorded.result


@function(COND, CASE)
def _branches(state: AbstractState, call: Invocation) -> Value | None:
    """A choice between functions for tensors: its result depends on the results of all."""
    given = [*call.arguments.values()]
    if any(map(is_symbolic, given)) or not any(map(holds_tensor, given)):
        return None
    recorded = call.record(state)
    functions = [each for value in given for each in flat(value) if isinstance(each, (Function, Partial))]
    results = [run_callables(state, each, None, call.node) for each in functions]
    recorded.result = state.computed_tensor(call.name, ExternalInstance(call.name, recorded), *results)
    return recorded.result


@function(NEST_MAP_STRUCTURE, TREE_MAP_STRUCTURE, "jax.tree_util.tree_map", "tree.map_structure")
def _map_structure(state: AbstractState, call: Invocation) -> Value | None:
    given = call.arguments.positional
    return state.call(given[0], Arguments(given[1:]), call.node) if len(given) > 1 else None


@methods_of(TENSOR)
def _of_tensor(state: AbstractState, call: Invocation) -> Value:
    call.record(state)
    if call.attribute in ("items", "keys"):
        # An apparent tensor with these methods is a dictionary of tensors; its keys are not tensors.
        return UNKNOWN
    if call.attribute in ("set_shape", "get_shape"):
        state.use("shape", call.node)
        return UNKNOWN
    state.use("method", call.node)
    if call.attribute == "numpy" and state.path.traced_by() is None:
        return derived(call.receiver)
    if call.attribute in ("numpy", "eval", "item", "tolist"):
        return UNKNOWN
    return state.computed_tensor("result", call.receiver)


@outcome(lambda name: name.startswith((OF_PYTHON_FRAMEWORK_COMMON_SHAPES, OF_PYTHON_FRAMEWORK_TENSOR_SHAPE)))
def _shape(state: AbstractState, call: Call, name: str) -> Value:
    """A static shape, which is a Python object in TensorFlow's graphs."""
    return UNKNOWN


def _is_computed(name: str) -> bool:
    return name.startswith(TENSOR_LIBRARIES) and name not in STATIC_RESULTS


@outcome(lambda name: _is_computed(name) and name.rpartition(".")[2].islower())
def _symbolic(state: AbstractState, call: Call, name: str) -> Value | None:
    """A function of symbolic tensors returns a symbolic tensor."""
    if not any(map(is_symbolic, call.arguments.values())):
        return None
    call.result = ExternalInstance(KERAS_TENSOR, call)
    return call.result


@outcome(STATIC_RESULTS.__contains__)
def _static(state: AbstractState, call: Call, name: str) -> Value:
    call.result = ExternalInstance(name, call)
    return UNKNOWN


def _is_function(name: str) -> bool:
    return _is_computed(name) and not name.startswith((LAYERS, MODEL, SEQUENTIAL))


@outcome(lambda name: _is_function(name) and (name in ARRAY_MAKERS or name.rpartition(".")[2][:1].isupper()))
def _object(state: AbstractState, call: Call, name: str) -> Value:
    """An object of a class, or an array."""
    call.result = ExternalInstance(name, call)
    return call.result


@outcome(LISTS_OF_TENSORS.__contains__)
def _parts(state: AbstractState, call: Call, name: str) -> Value:
    number = constant(call.given(LISTS_OF_TENSORS[name]))
    known = type(number) is int and 0 < number <= _MANY_PARTS
    call.result = SequenceValue("list", [Tensor(name)] * (number if known else 1), open=not known)
    return call.result


@outcome(_is_function)
def _tensor(state: AbstractState, call: Call, name: str) -> Value | None:
    if not makes_tensor(name) and not any(map(holds_tensor, call.arguments.values())):
        return None
    call.result = state.computed_tensor(name, ExternalInstance(name, call))
    return call.result


@outcome(IO_PARSE_SINGLE_EXAMPLE.__eq__)
def _features(state: AbstractState, call: Call, name: str) -> Value:
    call.result = Tensor("features")
    return call.result
