"""Recurrent layers, and reasons that prevent the use of the cuDNN kernel.

Source: ``cudnn_ok`` and its calls in keras/src/backend/tensorflow/rnn.py (Keras 3.15).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, Constant, External, ExternalInstance, constant
from kerascheck.knowledge.devices import SET_GLOBAL_POLICY
from kerascheck.knowledge.layers import LAYERS, RNN
from kerascheck.knowledge.namespaces import OF_KERAS_ACTIVATIONS, OF_NN
from kerascheck.meaning.models.time_steps import may_mask
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.conditions import written_conditions

# Arguments that the cuDNN kernels need; any other literal rules them out.
_NEEDED = {
    "activation": "tanh",
    "recurrent_activation": "sigmoid",
    "use_bias": True,
    "unroll": False,
    "reset_after": True,
}
_FUSED = re.compile(r"\b(?:LSTM|GRU)\(")


def arguments_against_cudnn(call: Call) -> Iterator[str]:
    """The arguments of a recurrent layer or its cell that rule out the cuDNN kernel, each as ``name=value``."""
    for name, needed in _NEEDED.items():
        value = call.given(name) if name in call.signature else None
        if isinstance(value, Constant) and value.value != needed:
            yield f"{name}={value.value!r}"
        elif isinstance(value, External) and value.name.startswith((OF_KERAS_ACTIVATIONS, OF_NN)):
            given = value.name.rpartition(".")[2]
            if given != needed:
                yield f"{name}={given}"
    dropout = call.given("recurrent_dropout")
    if isinstance(dropout, Constant) and dropout.value:
        yield f"recurrent_dropout={dropout.value!r}"
    if (
        "use_cudnn" in call.signature
        and isinstance(cudnn := call.given("use_cudnn"), Constant)
        and cudnn.value is False
    ):
        yield "use_cudnn=False"


def lacks_cudnn(module: Module) -> bool:
    """Whether the backend may run no recurrent layer with cuDNN, because of a mask, or in half precision on JAX."""
    backend = module.runtime.backend
    policies = module.once(Program).calls(SET_GLOBAL_POLICY)
    halves = (call for call in policies if constant(call.given("policy")) != "float32")
    return backend != "tensorflow" and may_mask(module) or backend == "jax" and next(halves, None) is not None


def cell_layer(rnn: Call) -> str | None:
    """The layer of an RNN's cell, such as "LSTM"; None if the cell is not one of Keras."""
    cell = rnn.given("cell")
    if not isinstance(cell, ExternalInstance) or not cell.name.endswith("Cell"):
        return None
    return cell.name.removeprefix(LAYERS).removesuffix("Cell")


def shares_cell(module: Module, rnn: Call) -> bool:
    """Whether the cell of an RNN is or may be called directly or passed to another RNN, which shares its weights."""
    cell = rnn.given("cell")
    made = (
        set(cell.call.path.loops(within="program"))
        if isinstance(cell, ExternalInstance) and cell.call is not None
        else set()
    )
    return (
        not made.issuperset(rnn.path.loops(within="program"))
        or any(
            other.attribute == "__call__"
            and other.receiver is cell
            or other.name == RNN
            and other.node is not rnn.node
            and other.given("cell") is cell
            for other in module.run.calls
        )
        or _is_called(rnn)
    )


def is_alternative_to_cudnn(call: Call) -> bool:
    """Whether a condition on cuDNN chooses a layer, or the other branch of its condition makes the fused layer.

    A condition on a call of the program counts, too.
    """
    tree = call.module.tree
    return any(
        "cudnn" in tree.code_of(condition.test).lower()
        or condition.orelse is not None
        and _FUSED.search(tree.code_of(condition)) is not None
        for condition in written_conditions(tree, call.node, within=tree.root)
    )


def _is_called(rnn: Call) -> bool:
    """Whether the file also calls an RNN's cell by its name, as in a decoder."""
    given = rnn.written("cell")
    if given is None or not isinstance(given.value, (cst.Name, cst.Attribute)):
        return False
    tree = rnn.module.tree
    name = tree.code_of(given.value)
    return any(
        isinstance(node, cst.Call) and isinstance(node.func, type(given.value)) and tree.code_of(node.func) == name
        for node in tree.parents
    )
