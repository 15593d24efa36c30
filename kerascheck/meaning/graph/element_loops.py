"""Functions in compiled code that process a batch element by element."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExternalInstance, Function, Tensor
from kerascheck.knowledge.callables import (
    BACKEND_MAP_FN,
    IO_DECODE,
    MAP_FN,
    NON_MAX_SUPPRESSION,
    OPS_MAP,
    RAGGED_TENSOR_SPEC,
    RANGE,
    READ_FILE,
    SCAN,
    STRINGS,
    WHERE,
    having,
)
from kerascheck.knowledge.symbols import Trait
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.graph.traced_code import traced_calls

_ONE_BY_ONE = frozenset({MAP_FN, BACKEND_MAP_FN, OPS_MAP, SCAN})
_NO_BATCH = (IO_DECODE, STRINGS, NON_MAX_SUPPRESSION, *sorted(having(Trait.NO_BATCH)), READ_FILE)


def element_loops(module: Module) -> Iterator[Call]:
    """The calls of ``map_fn`` and similar functions in compiled code that a computation on the whole batch could
    replace.

    Excludes metrics, and loops over numbers that are not a batch. Also excludes functions that call operations without
    a batch form or need the previous result.
    """
    for call, how in traced_calls(module):
        if call.name in _ONE_BY_ONE and how != "metric" and not _needs_elements(module, call):
            yield call


def _needs_elements(module: Module, call: Call) -> bool:
    function = call.given("f" if call.name == OPS_MAP else "fn")
    if _counts(call) or call.name == SCAN and _needs_turn_before(call, function):
        return True
    returned = call.keyword("fn_output_signature")
    if isinstance(returned, ExternalInstance) and returned.name == RAGGED_TENSOR_SPEC:
        return True
    if not isinstance(function, Function):
        return False
    return _cuts_with_parameter(function) or any(
        _takes_no_batch(inner) for inner in module.once(CallIndex).within(function)
    )


def _counts(call: Call) -> bool:
    """Whether the elements are numbers stored in an object, as in ``self.classes = tf.range(10)``."""
    elements = "xs" if call.name == OPS_MAP else "elems"
    over, written = call.given(elements), call.written(elements)
    is_range = isinstance(over, Tensor) and over.origin == RANGE
    return is_range and written is not None and isinstance(written.value, cst.Attribute)


def _needs_turn_before(scan: Call, function: object) -> bool:
    """Whether a scan may use its previous result; without an initializer it returns the first element unchanged."""
    return scan.given("initializer") is None or not isinstance(function, Function) or not _ignores_first(function)


def _ignores_first(function: Function) -> bool:
    """Whether a function never reads its first parameter."""
    parameters = function.node.params.params
    nodes = function.module.tree.descendants(function.node.body)
    read = {node.value for node in nodes if isinstance(node, cst.Name)}
    return bool(parameters) and parameters[0].name.value not in read


def _cuts_with_parameter(function: Function) -> bool:
    """Whether each element sets the length of a slice, so shapes differ as in ``x[lag:]``."""
    tree = function.module.tree
    parameters = {parameter.name.value for parameter in function.node.params.params}
    cuts = (node for node in tree.descendants(function.node.body) if isinstance(node, cst.Slice))
    bounds = (bound for cut in cuts for bound in (cut.lower, cut.upper) if bound is not None)
    return any(
        isinstance(node, cst.Name) and node.value in parameters for bound in bounds for node in tree.descendants(bound)
    )


def _takes_no_batch(call: Call) -> bool:
    name = call.name or ""
    # An iteration reads the values stored by the previous one.
    if call.attribute in ("assign", "assign_add", "assign_sub") or name.endswith(".__setattr__"):
        return True
    # Given only a condition, where returns as many indices as elements satisfy it.
    return name.startswith(_NO_BATCH) or name == WHERE and call.given("x") is None
