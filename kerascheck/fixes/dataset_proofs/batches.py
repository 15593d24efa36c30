"""Proofs about batches: a function gives the same result for a batch as for its elements."""

from __future__ import annotations

import libcst as cst

from kerascheck.fixes import proofs
from kerascheck.fixes.dataset_proofs.consumers import unknown_options
from kerascheck.fixes.dataset_proofs.objections import Objection, first_objection
from kerascheck.fixes.lines import line
from kerascheck.fixes.proofs import Proof
from kerascheck.interpreter.array_shapes import shape_of
from kerascheck.interpreter.value_kinds import is_array
from kerascheck.interpreter.values import (
    Call,
    Constant,
    DatasetOp,
    DictValue,
    External,
    ExternalInstance,
    Function,
    Instance,
    Tensor,
    Value,
    flat,
    holds_tensor,
    options_of,
)
from kerascheck.knowledge.callables import DENSE_MAKERS, IO_FIXED_LEN_FEATURE, having
from kerascheck.knowledge.datasets import (
    DATASET_RANGE,
    FROM_TENSOR_SLICES,
    IN_MEMORY_SOURCES,
    TFRECORD_DATASET,
)
from kerascheck.knowledge.layers import LOOKUP_LAYERS
from kerascheck.knowledge.stateless import (
    IMAGE_RANKS,
    RAISES_FOR_SOME,
    ROUNDS_BY_POSITION,
)
from kerascheck.knowledge.symbols import Trait
from kerascheck.meaning.data.captures import (
    captured_arrays,
    functions_run,
)
from kerascheck.meaning.data.mapped_functions import display_name, facts_of
from kerascheck.meaning.data.pipelines import Operation
from kerascheck.meaning.module import Module

_SHAPE_DEPENDENT = having(Trait.SHAPE_MATTERS) | {f"{name}.__call__" for name in LOOKUP_LAYERS}


def batch_like_elements(op: Operation) -> Proof:
    """BATCH_LIKE_ELEMENTS: the function of a map treats each number independently of its neighbours."""
    return proofs.BATCH_LIKE_ELEMENTS.unless(first_objection(map(_difference, op.stages)))


def _difference(stage: DatasetOp) -> Objection:
    facts = facts_of(stage)
    if facts is None or not facts.elementwise:
        return "not every operation of its function acts on each number alone"
    if stage.facts is not None:
        for _, node, module in stage.facts.uses:
            operator = getattr(node, "operator", None)
            if isinstance(operator, (cst.Power, cst.PowerAssign)):
                return f"a power of a batch may round otherwise ({line(module, node)})"
            if isinstance(operator, _MAY_RAISE) and not isinstance(getattr(node, "right", None), _NUMBERS):
                return f"a division by zero would take all of its batch with it ({line(module, node)})"
    for call in facts.calls:
        if call.name in _SHAPE_DEPENDENT:
            return f"the shape of `{display_name(call.name or '')}` may depend on the batch ({line(call.module, call.node)})"
        if call.name in ROUNDS_BY_POSITION:
            return f"`{display_name(call.name or '')}` of a batch may round otherwise ({line(call.module, call.node)})"
        if call.name in RAISES_FOR_SOME:
            return f"an error of `{display_name(call.name or '')}` would take all of its batch with it ({line(call.module, call.node)})"
    array = next(captured_arrays(stage), None)
    if array is not None:
        return f"`{array.text}` may be an array, which a batch does not line up with ({line(array.module, array.node)})"
    return _compiled_for_elements(stage)


_MAY_RAISE = (cst.FloorDivide, cst.FloorDivideAssign, cst.Modulo, cst.ModuloAssign)
_NUMBERS = (cst.Integer, cst.Float)


def _compiled_for_elements(stage: DatasetOp) -> Objection:
    if not all(
        isinstance(each, (Function, External, ExternalInstance, Instance)) for each in options_of(stage.function)
    ):
        return "its function is not visible"
    for option in functions_run(stage):
        if not isinstance(option.node, cst.FunctionDef):
            continue
        plain = len(option.node.decorators) == (option.traced == "tf.function")
        if (
            not plain
            or option.options is not None
            and (option.options.arguments.keywords or option.options.arguments.unknown_keywords)
        ):
            return f"the decorators of `{option.name}` may ask for the shape of an element ({line(option.module, option.node)})"
    return None


def parses_batches(module: Module, op: Operation, parse: Call) -> Proof:
    """BATCH_LIKE_ELEMENTS: a map only parses its record."""
    return proofs.BATCH_LIKE_ELEMENTS.unless(
        first_objection(_other_use_of_record(module, stage, parse) for stage in op.stages)
    )


def _other_use_of_record(module: Module, stage: DatasetOp, parse: Call) -> Objection:
    facts = facts_of(stage)
    record = parse.given("serialized")
    if facts is None or not isinstance(record, Tensor):
        return "what is parsed is not visible"
    for call in facts.calls:
        if call.node is not parse.node and any(map(holds_tensor, call.arguments.values())):
            return f"`{display_name(call.name or '')}` gets a single record ({line(call.module, call.node)})"
    if stage.facts is not None and stage.facts.uses:
        _, node, owner = stage.facts.uses[0]
        return f"the function does more than to parse ({line(owner, node)})"
    # Unless map and batch are fused, a faulty record drops only itself.
    if module.pipelines.rewrites(stage).defaults_off or unknown_options(module, stage) is not None:
        return "a record that cannot be parsed would take all of its batch with it"
    return _compiled_for_elements(stage)


def only_caller(module: Module, function: Function) -> Proof:
    """ONLY_CALLER: all callers of a changed function are visible."""
    shared = isinstance(function.node, cst.FunctionDef) and function.module is not module
    return proofs.ONLY_CALLER.unless(f"other modules may call `{function.name}`" if shared else None)


def static_shape(op: Operation) -> Proof:
    """STATIC_SHAPE: the elements of a map are slices of arrays, so they can be batched as they are."""
    return proofs.STATIC_SHAPE.unless(first_objection(map(_shape_unknown, op.stages)))


def _shape_unknown(stage: DatasetOp) -> Objection:
    source = stage.input
    while source is not None and not source.is_source and source.name in _KEEPS_SHAPE:
        source = source.input
    if source is None or source.name not in IN_MEMORY_SOURCES:
        return "the shapes of the elements are not known"
    where = line(source.module, source.node)
    if source.name == DATASET_RANGE:
        rank: int | None = 0
    else:
        arrays = list(flat(source.given("tensors")))
        if not arrays or not all(map(_is_dense, arrays)):
            return f"the elements of {where} are not known to be dense"
        ranks = {
            len(shape) - (source.name == FROM_TENSOR_SLICES) if shape is not None else None
            for shape in map(shape_of, arrays)
        }
        rank = ranks.pop() if len(ranks) == 1 else None
    facts = facts_of(stage)
    for call in facts.calls if facts is not None else ():
        if (needed := IMAGE_RANKS.get(call.name or "")) is not None and rank != needed:
            return f"`{display_name(call.name or '')}` takes batches of images only, and the elements of {where} are not known to be images"
    return None


def records_of_one_shape(op: Operation, parse: Call) -> Proof:
    """STATIC_SHAPE: a map parses single records of fixed-length features, from a reader of records."""
    spec = parse.given("features")
    fixed = isinstance(spec, DictValue) and all(
        isinstance(kind, ExternalInstance) and kind.name == IO_FIXED_LEN_FEATURE for kind in spec.items.values()
    )
    if not isinstance(spec, DictValue) or spec.open or not fixed:
        return proofs.STATIC_SHAPE.unless("the features may hold more than is visible")
    return proofs.STATIC_SHAPE.unless(first_objection(map(_no_single_records, op.stages)))


def _no_single_records(stage: DatasetOp) -> Objection:
    source = stage.input
    while source is not None and not source.is_source and source.name in _KEEPS_SHAPE:
        source = source.input
    reads_records = source is not None and source.name == TFRECORD_DATASET
    return (
        None
        if reads_records
        else f"the elements before {line(stage.module, stage.node)} are not known to be single records"
    )


_KEEPS_SHAPE = frozenset("shuffle repeat take skip cache prefetch shard with_options".split())


def _is_dense(value: Value) -> bool:
    """Whether a value is certainly an array or tensor of one shape, or a literal; uneven nested lists make no tensor."""
    if isinstance(value, Constant):
        return isinstance(value.value, (int, float, str, bytes))
    if isinstance(value, (ExternalInstance, Tensor)):
        return is_array(value) or (value.name if isinstance(value, ExternalInstance) else value.origin) in DENSE_MAKERS
    return False
