"""Proofs about datasets: that a pipeline may run ahead of the training, in parallel, or on whole batches, and gives the same.

Each function returns the proof of one obligation; its objection names what stands against it, and the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import libcst as cst

from kerascheck.fixes import proofs
from kerascheck.fixes.lines import line
from kerascheck.fixes.proofs import Proof
from kerascheck.fixes.temporaries import other_reader
from kerascheck.interpreter.array_shapes import shape_of
from kerascheck.interpreter.module import Module as InterpretedModule
from kerascheck.interpreter.value_kinds import is_array
from kerascheck.interpreter.values import (
    Call,
    Constant,
    Dataset,
    DatasetOp,
    DictValue,
    External,
    ExternalInstance,
    Function,
    Instance,
    ModuleLike,
    Tensor,
    Value,
    constant,
    datasets_in,
    flat,
    holds_tensor,
    options_of,
)
from kerascheck.knowledge.callables import DENSE_MAKERS, IO_FIXED_LEN_FEATURE, READ_FILE, VARIABLE_GET, having
from kerascheck.knowledge.datasets import (
    DATASET_RANGE,
    FROM_TENSOR_SLICES,
    IN_MEMORY_SOURCES,
    OPTIONS,
    TFRECORD_DATASET,
)
from kerascheck.knowledge.layers import LAYERS, LOOKUP_LAYERS, Holds, holds
from kerascheck.knowledge.namespaces import OF_DATA
from kerascheck.knowledge.stateless import (
    IMAGE_RANKS,
    IMMUTABLE_TABLES,
    RAISES_FOR_SOME,
    ROUNDS_BY_POSITION,
    is_stateless,
)
from kerascheck.knowledge.symbols import State, Trait
from kerascheck.meaning.data.captures import (
    Capture,
    captured_arrays,
    doubtful_captures,
    functions_run,
    has_plain_settings,
)
from kerascheck.meaning.data.epochs import is_reshuffled
from kerascheck.meaning.data.mapped_functions import display_name, facts_of, state_of
from kerascheck.meaning.data.pipelines import Operation
from kerascheck.meaning.data.stages import COMBINING
from kerascheck.meaning.module import Module
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.written import last_name

Objection = str | None
"""What stands against an obligation, as a clause without a full stop; None where nothing does."""

_NO_MATTER = frozenset(
    "shuffle batch padded_batch repeat take skip cache prefetch with_options shard zip concatenate enumerate unbatch window".split()
)
"""Operations without a function that read nothing but the datasets before them."""
_SHOWS = frozenset(f"builtins.{name}" for name in "print format str repr type isinstance id hash".split())
_SHAPE_DEPENDENT = having(Trait.SHAPE_MATTERS) | {f"{name}.__call__" for name in LOOKUP_LAYERS}
_STATES = {
    State.DRAWS: "draws random numbers",
    State.LOOKS_UP: "looks up a table that may change",
    State.READS: "reads variables, which the training may change",
    State.PRINTS: "prints",
    State.ASSIGNS: "changes what outlives the call",
    State.RUNS_PYTHON: "runs Python",
}


def _first(objections: Iterable[Objection]) -> Objection:
    return next((each for each in objections if each is not None), None)


# --- what the function of an operation does --------------------------------------------------------


def pure_function(stages: Sequence[DatasetOp], *, may_read: bool = False) -> Proof:
    """PURE_FUNCTION: the functions that some operations run touch nothing that others can change.

    Args:
        may_read: files that they read do not count, since tf.data reads them at the same time by itself.
    """
    return proofs.PURE_FUNCTION.unless(_first(_impurity(stage, may_read) for stage in stages))


def _impurity(stage: DatasetOp, may_read: bool = False) -> Objection:
    """What the function of a stage shares with the rest of the program; ``may_read`` where files that it reads do not count."""
    facts = facts_of(stage)
    if facts is None:
        return None if stage.call is None or not _has_function(stage) else "its function is not visible"
    if (written := facts.written) is not None:
        return f"its function changes what outlives the call ({line(written.module, written.node)})"
    found = _first(_state(call) for call in facts.calls if not (may_read and call.name == READ_FILE))
    if found is None and not facts.known:
        found = "not all that its function does is visible"
    return found or _first(map(_captured, doubtful_captures(stage)))


def _captured(capture: Capture) -> Objection:
    where = line(capture.module, capture.node)
    if isinstance(capture.value, Dataset):
        return _first(map(_reads, _lineage(capture.value.stage)))
    if isinstance(capture.value, External):
        return f"`{capture.text}` may keep state ({where})"
    text = f"`{capture.text}`" if capture.text else "its function"
    return f"{text} may be a variable, or hold one ({where})"


def _has_function(stage: DatasetOp) -> bool:
    return stage.name not in _NO_MATTER and not stage.is_source


def _state(call: Call) -> Objection:
    """What a call in the function of a dataset shares with the rest of the program; None for nothing."""
    name = call.name or ""
    where = line(call.module, call.node)
    if name == VARIABLE_GET:
        return f"`{call.module.tree.code_of(call.node)}` is a variable, which the training may change ({where})"
    found = state_of(call)
    if found is not None and not (found.state is State.LOOKS_UP and _is_immutable(call)):
        return f"`{display_name(found.name)}` {_STATES[found.state]} ({where})"
    if not name:
        # What an object of the tree does when it is called is among the calls, too.
        followed = (
            isinstance(call.receiver, Instance) or call.attribute == "__call__" and isinstance(call.receiver, Function)
        )
        return None if followed or isinstance(call.receiver, Tensor) else f"what is called in {where} is not known"
    if name.endswith(".__call__") and isinstance(call.receiver, ExternalInstance):
        return (
            None
            if _layer_is_pure(name.removesuffix(".__call__")) and has_plain_settings(call.receiver)
            else f"`{display_name(name[:-9])}` may keep state ({where})"
        )
    if name == READ_FILE:
        return f"`{display_name(name)}` reads a file, which the program may change meanwhile ({where})"
    if name.endswith((".__setattr__", ".__set__", ".__iadd__")) or is_stateless(name) or found is not None:
        return None
    return (
        None
        if _makes_dataset(call) or _layer_is_pure(name)
        else f"`{display_name(name)}` is not known to be free of state ({where})"
    )


def _makes_dataset(call: Call) -> bool:
    return any(datasets_in(call.result))


def _is_immutable(call: Call) -> bool:
    receiver = call.receiver
    if not isinstance(receiver, ExternalInstance):
        return False
    return receiver.name in IMMUTABLE_TABLES or holds(receiver.name) is Holds.TABLE


def _layer_is_pure(name: str) -> bool:
    return name.startswith(LAYERS) and holds(name) in (Holds.NOTHING, Holds.TABLE)


# --- what a pipeline reads, and who sees it --------------------------------------------------------


def unchanged_sources(module: Module, stages: Iterable[DatasetOp]) -> Proof:
    """UNCHANGED_SOURCES: the datasets that lead to some operations read nothing that the program may change meanwhile."""
    objections = (objection for stage in stages for each in _lineage(stage) for objection in [_reads(each)])
    return proofs.UNCHANGED_SOURCES.unless(_first(objections))


def _lineage(stage: DatasetOp) -> Iterator[DatasetOp]:
    """A stage and every one that leads to it, on all ways."""
    pending, seen = [stage], set()
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            yield current
            pending += current.inputs


def _reads(stage: DatasetOp) -> Objection:
    where = line(stage.module, stage.node)
    if stage.is_source:
        if stage.name in IN_MEMORY_SOURCES:
            return None
        if stage.name.endswith("from_generator"):
            return f"the generator of {where} would run further ahead of the training"
        if stage.name == "parameter":
            return f"which dataset comes in {where} is not visible"
        return f"`{display_name(stage.name)}` reads files, which the program may change meanwhile ({where})"
    if stage.name == "cache" and stage.given("filename") is not None:
        return f"the cache of {where} is a file"
    if stage.facts is None and stage.name not in _NO_MATTER | COMBINING:
        return f"what `{stage.name}` reads in {where} is not visible"
    facts = facts_of(stage)
    # The function of an interleave makes datasets, which read, too.
    made = (
        dataset.stage for call in (facts.calls if facts is not None else ()) for dataset in datasets_in(call.result)
    )
    sources = (each for inner in made for each in _lineage(inner) if each.is_source)
    found = _first(_reads(each) for each in sources)
    if found is not None:
        return found
    return _impurity(stage)


def runs_ahead_anyway(module: Module, stage: DatasetOp) -> Objection:
    """Why tf.data does not by itself prepare what a stage gives ahead of the training; None where it does."""
    pipelines = module.pipelines
    if not module.runtime.injects_prefetch:
        return f"TensorFlow {module.runtime.tensorflow_version} runs nothing ahead by itself"
    if pipelines.rewrites(stage).no_prefetch:
        return "the options of the dataset switch prefetching off"
    # A loop in a tf.function iterates the dataset as it is.
    return _compiled_consumer(module, stage) or _options_unknown(module, stage)


def made_parallel_anyway(module: Module, op: Operation) -> Objection:
    """Why tf.data does not make a map without state parallel by itself; None where it does, so that to write it changes nothing.

    Source: ``map_parallelization``, see :mod:`kerascheck.knowledge.runtime`.
    """
    if op.name != "map" or op.inside is not None or op.parallelism is not None:
        return "tf.data leaves this operation as it is"
    if op.facts.state is not None or not op.facts.known:
        return "tf.data leaves a function with state serial"
    if not module.runtime.parallelizes_stateless_maps:
        return f"TensorFlow {module.runtime.tensorflow_version} makes no map parallel by itself"
    if any(module.pipelines.rewrites(stage).maps_stay_serial for stage in op.stages):
        return "the options of the dataset keep the map serial"
    return _first(_compiled_consumer(module, stage) or _options_unknown(module, stage) for stage in op.stages)


def _compiled_consumer(module: Module, stage: DatasetOp) -> Objection:
    inside = next((sink for sink, _ in _consumers(module, stage) if sink.path.traced_by() is not None), None)
    if inside is None:
        return None
    return f"the loop of {line(inside.module, inside.node)} is compiled, where tf.data adds nothing by itself"


def _reached(module: Module, stage: DatasetOp) -> list[DatasetOp]:
    """A stage and every one that it leads to, also out of the function of an ``interleave`` or ``flat_map``."""
    found: dict[DatasetOp, DatasetOp] = {}
    pending = [stage]
    while pending:
        current = pending.pop()
        if current.identity in found:
            continue
        found[current.identity] = current
        pending += module.pipelines.children(current)
        nested = (sink for sink in module.run.sinks if sink.role == "nested")
        pending += [sink.outer for sink in nested if sink.outer and sink.stage.identity is current.identity]
    return list(found.values())


def _around(module: Module, stage: DatasetOp) -> Iterator[DatasetOp]:
    yield from _lineage(stage)
    yield from _reached(module, stage)


def _options_unknown(module: Module, stage: DatasetOp) -> Objection:
    for each in _around(module, stage):
        if each.name != "with_options":
            continue
        options = options_of(each.given("options"))
        if not options or not all(map(_is_known_option, options)):
            return f"the options of {line(each.module, each.node)} are not known"
    return None


def _is_known_option(value: Value) -> bool:
    if isinstance(value, ExternalInstance):
        plain = value.name == OPTIONS or value.name.startswith(OF_DATA)
        return plain and all(map(_is_known_option, value.attributes.values()))
    return isinstance(value, (Constant, External))


def _consumers(module: Module, stage: DatasetOp) -> Iterator[tuple[Any, str]]:
    reached = {each.identity for each in _reached(module, stage)}
    return ((sink, role) for sink, role in module.pipelines.sinks if sink.stage.identity in reached)


def known_consumers(module: Module, stages: Iterable[DatasetOp]) -> Proof:
    """KNOWN_CONSUMERS: every consumer of some datasets is visible, and none shows of which class they are, which the fix changes."""
    return proofs.KNOWN_CONSUMERS.unless(_first(_use_of(module, stage) for stage in stages))


def _use_of(module: Module, stage: DatasetOp) -> Objection:
    pipelines = module.pipelines
    for sink, role in _consumers(module, stage):
        if role == "unknown" or sink.role == "escape":
            return f"what uses the dataset after {line(sink.module, sink.node)} is not visible"
    if "unknown" in pipelines.roles(stage):
        return "what uses the dataset is not visible"
    call = module.once(_shown).get(stage.identity)
    if call is not None:
        return f"`{(call.name or '').removeprefix('builtins.')}` looks at the dataset in {line(call.module, call.node)}"
    reader = stage.module.once(_class_reader)
    if reader is not None:
        return f"{line(stage.module, reader)} asks an object for its class"
    shown = next((node for node in _cell_outputs(module) if _may_show(module, node, stage)), None)
    return None if shown is None else f"the notebook shows it ({line(module, shown)})"


def _shown(module: InterpretedModule) -> dict[DatasetOp, Call]:
    """The datasets of which a function of Python shows the class, each with the first call that does."""
    found: dict[DatasetOp, Call] = {}
    for call in module.run.calls:
        if call.name in _SHOWS:
            for value in call.arguments.values():
                for dataset in datasets_in(value):
                    found.setdefault(dataset.stage.identity, call)
    return found


def _cell_outputs(module: Module) -> Iterator[cst.BaseExpression]:
    if module.source.cells is not None:
        found = (node.value for node in module.tree.parents if isinstance(node, cst.Expr))
        yield from (value for value in found if module.is_cell_output(value))


def _may_show(module: Module, output: cst.BaseExpression, stage: DatasetOp) -> bool:
    """Whether an expression that a notebook shows may be the dataset of a stage, or hold it."""
    if isinstance(output, cst.Call):
        results = [call.result for call in module.run.calls if call.node is output]
        called = module.run.globals_of(module).get(output.func.value) if isinstance(output.func, cst.Name) else None
        returned = (module.run.returned.get(each.node) for each in options_of(called) if isinstance(each, Function))
        return output is stage.node or any(
            each.stage.node is stage.node for result in (*results, *returned) for each in datasets_in(result)
        )
    statement = module.tree.statement(stage.node) if stage.module is module else output
    targets = (each.target for each in module.tree.descendants(statement) if isinstance(each, cst.AssignTarget))
    assigned = {target.value for target in targets if isinstance(target, cst.Name)}
    named = {each.value for each in module.tree.descendants(output) if isinstance(each, cst.Name)}
    left = (module.run.globals_of(module).get(name) for name in named)
    return bool(named & assigned) or any(
        each.stage.identity is stage.identity for value in left for each in datasets_in(value)
    )


def _class_reader(module: ModuleLike) -> cst.CSTNode | None:
    """The first place of a module that asks an object for its class, or for what made it."""
    attributes = (node for node in module.tree.parents if isinstance(node, cst.Attribute))
    return next((node for node in attributes if node.attr.value in _OF_CLASS), None)


_OF_CLASS = frozenset("__class__ __repr__ __str__ __dict__ _input_dataset _inputs _variant_tensor _type_spec".split())
"""Attributes that tell the operation that made a dataset."""


# --- order, and ahead ------------------------------------------------------------------------------


def same_order(module: Module, stages: Iterable[DatasetOp]) -> Proof:
    """SAME_ORDER: parallel calls hand their results on in the order of the elements.

    Source: ``deterministic`` in the API documentation of ``tf.data.Dataset.map`` and ``interleave``; tried with 300 interleaves of
    uneven datasets (TensorFlow 2.21), of which all gave the serial order.
    """
    return proofs.SAME_ORDER.unless(_first(_disorder(module, stage) for stage in stages))


def _disorder(module: Module, stage: DatasetOp) -> Objection:
    where = line(stage.module, stage.node)
    if constant(stage.keyword("deterministic"), stage.keyword("deterministic") is None) not in (True, None):
        return f"`deterministic` gives the order up ({where})"
    if stage.name == "interleave":
        cycle = stage.given("cycle_length")
        if not isinstance(constant(cycle), int) or constant(cycle) < 1:
            return f"without a literal `cycle_length` the order depends on the number of processors ({where})"
    for each in _around(module, stage):
        if each.name != "with_options":
            continue
        for options in options_of(each.given("options")):
            asked = (
                [options.attributes.get(name) for name in _ORDERS]
                if isinstance(options, ExternalInstance)
                else [options]
            )
            if any(value is not None and constant(value) is not True for value in asked):
                return f"the options of {line(each.module, each.node)} may give the order up"
    return None


_ORDERS = ("deterministic", "experimental_deterministic")


def ends_of(module: Module, stage: DatasetOp) -> list[DatasetOp]:
    """The ends of the datasets that an operation leads to: those that something consumes."""
    consumed = {sink.stage.identity for sink, _ in module.pipelines.sinks}
    return [each for each in _reached(module, stage) if each.identity in consumed]


def ahead(module: Module, ends: Sequence[DatasetOp], stages: Sequence[DatasetOp]) -> list[Proof]:
    """That some datasets may be read further ahead: because tf.data does so by itself, or because nothing that they read can change.

    Args:
        ends: the stages that run ahead then.
        stages: those whose lineage is read earlier.
    """
    held_back = (_held_back(module, stage) for stage in stages)
    against = _first([*held_back, *(runs_ahead_anyway(module, stage) for stage in ends)])
    runtime = proofs.RUNTIME_DOES_IT.unless(against if ends else "where the dataset goes is not visible")
    if runtime.objection is None:
        return [runtime]
    sources = unchanged_sources(module, stages)
    # One of both is enough.
    return [sources] if sources.objection is None else [runtime, sources]


_READS_ON = frozenset(
    "map batch padded_batch ragged_batch shuffle repeat cache prefetch with_options filter enumerate skip shard window".split()
)
"""Operations that ask for about as many elements ahead as they are asked for."""


def _held_back(module: Module, stage: DatasetOp) -> Objection:
    """The operation behind a stage that ends its elements, or asks for few of them, so that no prefetch reads further."""
    reached = [each for each in _reached(module, stage) if each.identity is not stage.identity]
    nested = {sink.outer.identity for sink in module.run.sinks if sink.role == "nested" and sink.outer is not None}
    last = next((each for each in reached if each.name not in _READS_ON and each.identity not in nested), None)
    return None if last is None else f"`{last.name}` asks for no more than it gives ({line(last.module, last.node)})"


# --- batches instead of elements -------------------------------------------------------------------


def batch_like_elements(op: Operation) -> Proof:
    """BATCH_LIKE_ELEMENTS: what the function of a map does to each number does not depend on the numbers beside it."""
    return proofs.BATCH_LIKE_ELEMENTS.unless(_first(map(_difference, op.stages)))


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
    """BATCH_LIKE_ELEMENTS: a map does nothing with a record but parse it."""
    return proofs.BATCH_LIKE_ELEMENTS.unless(_first(_beside_parsing(module, stage, parse) for stage in op.stages))


def _beside_parsing(module: Module, stage: DatasetOp, parse: Call) -> Objection:
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
    # Where map and batch are not fused, an error in a record leaves out that record alone.
    if module.pipelines.rewrites(stage).defaults_off or _options_unknown(module, stage) is not None:
        return "a record that cannot be parsed would take all of its batch with it"
    return _compiled_for_elements(stage)


def only_caller(module: Module, function: Function) -> Proof:
    """ONLY_CALLER: a function that changes has no callers but those that are visible."""
    shared = isinstance(function.node, cst.FunctionDef) and function.module is not module
    return proofs.ONLY_CALLER.unless(f"other modules may call `{function.name}`" if shared else None)


def static_shape(op: Operation) -> Proof:
    """STATIC_SHAPE: the elements that a map gets are slices of arrays, so that they make batches as they are."""
    return proofs.STATIC_SHAPE.unless(_first(map(_shape_unknown, op.stages)))


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
    """STATIC_SHAPE: a map parses single records of features of fixed length, as a reader of records gives them."""
    spec = parse.given("features")
    fixed = isinstance(spec, DictValue) and all(
        isinstance(kind, ExternalInstance) and kind.name == IO_FIXED_LEN_FEATURE for kind in spec.items.values()
    )
    if not isinstance(spec, DictValue) or spec.open or not fixed:
        return proofs.STATIC_SHAPE.unless("the features may hold more than is visible")
    return proofs.STATIC_SHAPE.unless(_first(map(_no_single_records, op.stages)))


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
    """Whether a value is certainly an array or a tensor of one shape, or a literal: a list of uneven lists makes no tensor."""
    if isinstance(value, Constant):
        return isinstance(value.value, (int, float, str, bytes))
    if isinstance(value, (ExternalInstance, Tensor)):
        return is_array(value) or (value.name if isinstance(value, ExternalInstance) else value.origin) in DENSE_MAKERS
    return False


def plain_calls(op: Operation, batch: DatasetOp) -> Proof:
    """PLAIN_CALL: the map and the batch have no arguments that mean something else in the other order."""
    extra = _extra_argument(op.call, {"map_func", "num_parallel_calls", "deterministic"}, 2) or _extra_argument(
        batch.call, {"batch_size", "drop_remainder", "num_parallel_calls", "deterministic"}, 2
    )
    return proofs.PLAIN_CALL.unless(extra)


def _extra_argument(call: Call | None, known: set[str], most: int) -> Objection:
    if call is None:
        return "a call is not visible"
    given = call.arguments
    if given.unknown_keywords or given.unknown_positional or len(given.positional) > most:
        return f"not all arguments of the call in {line(call.module, call.node)} are known"
    other = next((name for name in given.keywords if name not in known), None)
    if other is not None:
        return f"the call in {line(call.module, call.node)} has the argument `{other}`"
    tree = call.module.tree
    written = (node for arg in given.nodes.values() for node in _evaluated(tree, arg.value))
    acting = next((node for node in written if isinstance(node, _ACTS) and not _binds_arguments(node)), None)
    return (
        None if acting is None else f"the arguments in {line(call.module, acting)} would be evaluated in another order"
    )


_ACTS = (cst.Call, cst.Await, cst.Yield, cst.NamedExpr)


def _binds_arguments(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and last_name(node.func) == "partial"


def _evaluated(tree: Tree, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """An expression and what of it runs when it is evaluated: the bodies of its lambdas do not."""
    yield node
    for child in tree.children(node):
        if not isinstance(node, cst.Lambda):
            yield from _evaluated(tree, child)


def only_consumer(op: Operation, batch: DatasetOp) -> Proof:
    """ONLY_CONSUMER: nothing but a batch gets what a map gives."""
    return passed_on(*((stage, batch) for stage in op.stages))


def passed_on(*pairs: tuple[DatasetOp, DatasetOp]) -> Proof:
    """ONLY_CONSUMER: of each pair of operations, nothing but the second gets what the first gives."""
    return proofs.ONLY_CONSUMER.unless(_first(_also_used(*pair) for pair in pairs))


def _also_used(stage: DatasetOp, following: DatasetOp) -> Objection:
    """What may see the dataset of a stage beside the operation that follows it; None where nothing can."""
    call = following.node
    if stage.maybe or following.maybe or not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return "the operations are applied under conditions"
    made, receiver = stage.node, call.func.value
    if receiver is made:
        return None
    if (
        not isinstance(made, cst.BaseExpression)
        or not isinstance(receiver, cst.Name)
        or stage.module is not following.module
    ):
        return "the dataset between both operations may be used elsewhere"
    if any(isinstance(each, (cst.Try, cst.TryStar)) for each in stage.module.tree.ancestors(made)):
        return "an exception between both operations would leave another dataset"
    reader = other_reader(stage.module, made, receiver)
    if reader is None:
        return None
    return f"`{receiver.value}` is also used in {line(stage.module, reader)}"


# --- the same in every epoch, and in no more memory ------------------------------------------------


def same_every_epoch(module: Module, stage: DatasetOp) -> Proof:
    """SAME_EVERY_EPOCH: what leads to a stage gives the same elements in the same order each time it is iterated."""
    return proofs.SAME_EVERY_EPOCH.unless(_first(map(_varies, _lineage(stage))))


def _varies(stage: DatasetOp) -> Objection:
    if is_reshuffled(stage) or stage.name == "shuffle" and stage.given("seed") is None:
        return f"`{display_name(stage.name)}` gives another order in each epoch ({line(stage.module, stage.node)})"
    if stage.name in COMBINING - {"zip", "concatenate"}:
        return f"`{stage.name}` draws in each epoch ({line(stage.module, stage.node)})"
    if stage.name.endswith("from_generator"):
        return f"the generator of {line(stage.module, stage.node)} may give others in each epoch"
    return _reads(stage)


def same_memory(prefetch: DatasetOp, last: DatasetOp) -> Proof:
    """SAME_MEMORY: a prefetch holds no more behind the operations up to ``last`` than where it is."""
    size = prefetch.given("buffer_size")
    if isinstance(size, External) and size.name.endswith("AUTOTUNE") or constant(size) == -1:
        return proofs.SAME_MEMORY.unless(None)
    passed = [each for each in last.upstream() if prefetch in each.upstream() and each is not prefetch]
    larger = next((each for each in passed if each.name not in _KEEPS_SIZE), None)
    return proofs.SAME_MEMORY.unless(
        None
        if larger is None
        else f"the buffer then holds what `{larger.name}` makes ({line(larger.module, larger.node)})"
    )


_KEEPS_SIZE = frozenset("shuffle repeat take skip cache prefetch shard with_options".split())
