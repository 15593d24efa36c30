"""Proofs about prefetching and parallel calls: tf.data applies them itself, or they preserve order and sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kerascheck.fixes import proofs
from kerascheck.fixes.dataset_proofs.consumers import connected, consumers, downstream, unknown_options
from kerascheck.fixes.dataset_proofs.objections import Objection, first_objection
from kerascheck.fixes.dataset_proofs.sources import (
    unchanged_sources,
)
from kerascheck.fixes.lines import line
from kerascheck.fixes.proofs import Proof
from kerascheck.interpreter.values import (
    DatasetOp,
    ExternalInstance,
    constant,
    options_of,
)
from kerascheck.meaning.data.pipelines import Operation
from kerascheck.meaning.module import Module


def objection_to_runtime_prefetch(module: Module, stage: DatasetOp) -> Objection:
    """Return why tf.data does not itself run an operation ahead of the training; None if it does."""
    pipelines = module.pipelines
    if not module.runtime.injects_prefetch:
        return f"TensorFlow {module.runtime.tensorflow_version} runs nothing ahead by itself"
    if pipelines.rewrites(stage).no_prefetch:
        return "the options of the dataset switch prefetching off"
    # A loop in a tf.function iterates the dataset without these rewrites.
    return _compiled_consumer(module, stage) or unknown_options(module, stage)


def objection_to_runtime_parallelism(module: Module, op: Operation) -> Objection:
    """Return why tf.data does not itself parallelise a stateless map; None if it does.

    If it does, an explicit ``num_parallel_calls`` changes nothing. Source: ``map_parallelization``, see
    :mod:`kerascheck.knowledge.runtime`.
    """
    if op.name != "map" or op.inside is not None or op.parallelism is not None:
        return "tf.data leaves this operation as it is"
    if op.facts.state is not None or not op.facts.known:
        return "tf.data leaves a function with state serial"
    if not module.runtime.parallelizes_stateless_maps:
        return f"TensorFlow {module.runtime.tensorflow_version} makes no map parallel by itself"
    if any(module.pipelines.rewrites(stage).maps_stay_serial for stage in op.stages):
        return "the options of the dataset keep the map serial"
    return first_objection(_compiled_consumer(module, stage) or unknown_options(module, stage) for stage in op.stages)


def _compiled_consumer(module: Module, stage: DatasetOp) -> Objection:
    inside = next((sink for sink, _ in consumers(module, stage) if sink.path.traced_by() is not None), None)
    if inside is None:
        return None
    return f"the loop of {line(inside.module, inside.node)} is compiled, where tf.data adds nothing by itself"


def same_order(module: Module, stages: Iterable[DatasetOp]) -> Proof:
    """SAME_ORDER: parallel calls return their results in the order of the elements.

    Source: ``deterministic`` in the API documentation of ``tf.data.Dataset.map`` and ``interleave``; tested with 300 interleaves of
    uneven datasets (TensorFlow 2.21), all of which gave the serial order.
    """
    return proofs.SAME_ORDER.unless(first_objection(_disorder(module, stage) for stage in stages))


def _disorder(module: Module, stage: DatasetOp) -> Objection:
    where = line(stage.module, stage.node)
    if constant(stage.keyword("deterministic"), stage.keyword("deterministic") is None) not in (True, None):
        return f"`deterministic` gives the order up ({where})"
    if stage.name == "interleave":
        cycle = stage.given("cycle_length")
        if not isinstance(constant(cycle), int) or constant(cycle) < 1:
            return f"without a literal `cycle_length` the order depends on the number of processors ({where})"
    for each in connected(module, stage):
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
    """Return the downstream operations whose dataset something consumes."""
    consumed = {sink.stage.identity for sink, _ in module.pipelines.sinks}
    return [each for each in downstream(module, stage) if each.identity in consumed]


def ahead(module: Module, ends: Sequence[DatasetOp], stages: Sequence[DatasetOp]) -> list[Proof]:
    """Prove that some datasets may be read further ahead: tf.data does so itself, or their sources never change.

    Args:
        module: the module.
        ends: the operations that then run ahead.
        stages: the operations whose inputs are then read earlier.
    """
    held_back = (_limit_of_prefetch(module, stage) for stage in stages)
    against = first_objection([*held_back, *(objection_to_runtime_prefetch(module, stage) for stage in ends)])
    runtime = proofs.RUNTIME_DOES_IT.unless(against if ends else "where the dataset goes is not visible")
    if runtime.objection is None:
        return [runtime]
    sources = unchanged_sources(module, stages)
    # One of the two proofs suffices.
    return [sources] if sources.objection is None else [runtime, sources]


_READS_ON = frozenset(
    "map batch padded_batch ragged_batch shuffle repeat cache prefetch with_options filter enumerate skip shard window".split()
)
"""Operations that request about as many elements as their consumer requests of them."""


def _limit_of_prefetch(module: Module, stage: DatasetOp) -> Objection:
    """Return a downstream operation that ends the elements, or requests few, and so limits any prefetch."""
    reached = [each for each in downstream(module, stage) if each.identity is not stage.identity]
    nested = {sink.outer.identity for sink in module.run.sinks if sink.role == "nested" and sink.outer is not None}
    last = next((each for each in reached if each.name not in _READS_ON and each.identity not in nested), None)
    return None if last is None else f"`{last.name}` asks for no more than it gives ({line(last.module, last.node)})"
