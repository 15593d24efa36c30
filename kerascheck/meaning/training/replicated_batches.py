"""Batches of a plain dataset that every replica of a strategy computes with as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    Dataset,
    DatasetOp,
    ExecutionPath,
    ExternalInstance,
    IteratorValue,
    SequenceValue,
    Value,
    options_of,
)
from kerascheck.knowledge.datasets import BATCHING, DATASET_RANGE
from kerascheck.knowledge.devices import (
    EXPERIMENTAL_MIRRORED_STRATEGY,
    EXPERIMENTAL_TPU_STRATEGY,
    MIRRORED_STRATEGY,
    TPU_STRATEGY,
)
from kerascheck.meaning.program.loops import arguments_for, makes_few_steps
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.training.distribution import strategy_runs
from kerascheck.syntax.tree import Tree

_MIRRORED = frozenset({MIRRORED_STRATEGY, EXPERIMENTAL_MIRRORED_STRATEGY})
_TPU = frozenset({TPU_STRATEGY, EXPERIMENTAL_TPU_STRATEGY})
# The program divides the values itself, or chooses them by the replica.
_DIVIDES = re.compile(
    r"distribute_values_from_function|PerReplica|replica_id|get_replica_context|InputContext|\.shard\(|input_pipeline_id"
)
# A machine of Colab has one GPU.
_ONE_GPU = re.compile(r"\bgoogle\.colab\b")


@dataclass(frozen=True, slots=True)
class ReplicatedBatch:
    """A ``strategy.run`` whose replicas all get the same batch.

    Attributes:
        run: the call.
        loop: the loop over the dataset.
        dataset: the last operation of the dataset.
        strategy: the constructor call of the strategy.
        has_several: whether the strategy certainly has several replicas.
    """

    run: Call
    loop: ExecutionPath
    dataset: DatasetOp
    strategy: Call
    has_several: bool


def replicated_batches(module: Module) -> Iterator[ReplicatedBatch]:
    """The distinct loops over plain datasets that pass whole batches to ``strategy.run``.

    ``run`` gives every replica the same argument unless it is a value of a distributed dataset. Source: API of
    ``tf.distribute.Strategy.run``, and tested with MirroredStrategy on TensorFlow 2.21.
    """
    if module.mentions(_DIVIDES):
        return
    found: dict[cst.CSTNode, ReplicatedBatch | None] = {}
    runs = strategy_runs(module)
    for run in runs:
        loop, strategy = _loop_of(run), _strategy_of(module, run, [each for each in runs if each.node is run.node])
        dataset = _plain_dataset(loop.value) if loop is not None else None
        if loop is None or dataset is None or run.module.mentions(_DIVIDES):
            # Another path may pass the values of a distributed dataset to the same call.
            found[run.node] = None
        elif strategy is not None and not makes_few_steps(run):
            found.setdefault(run.node, ReplicatedBatch(run, loop, dataset, strategy, _has_several(strategy)))
    yield from {each.loop.node: each for each in found.values() if each is not None}.values()


def _strategy_of(module: Module, run: Call, alike: list[Call]) -> Call | None:
    """The constructor call of a strategy that may have several replicas; None if the code may use a single one.

    A strategy that depends on the machine counts unless the call depends on a condition, which may be the same.

    Args:
        alike: all runs of this call site, one for each strategy.
    """
    options = [option for each in alike for option in options_of(each.receiver)]
    if any(option is not options[0] for option in options) and any(run.path.conditions(within="program")):
        return None
    made = [option.call for option in options_of(run.receiver) if isinstance(option, ExternalInstance)]
    return next((call for call in made if call is not None and _may_have_several(module, call)), None)


def _may_have_several(module: Module, strategy: Call) -> bool:
    if strategy.name in _MIRRORED and strategy.given("devices") is None:
        return not module.mentions(_ONE_GPU) and not module.once(Program).pins_cpu
    return _has_several(strategy)


def _has_several(strategy: Call) -> bool:
    """Whether a strategy is for a TPU, or lists several devices."""
    devices = strategy.given("devices") if strategy.name in _MIRRORED else None
    return strategy.name in _TPU or isinstance(devices, SequenceValue) and len(devices.items) > 1


def _loop_of(run: Call) -> ExecutionPath | None:
    """The ``for`` loop whose target is an argument of the step, through parameters that nothing binds again."""
    args = run.written("args")
    elements = args.value.elements if args is not None and isinstance(args.value, (cst.Tuple, cst.List)) else ()
    names = {element.value.value for element in elements if isinstance(element.value, cst.Name)}
    for current in run.path.chain():
        tree = current.module.tree
        if current.kind == "loop" and isinstance(current.node, cst.For):
            if names & _targets(tree, current.node):
                bound = _bound(tree, current.node.body)
                return None if names & bound else current
        elif current.kind == "call" and current.function is not None:
            node = current.function.node
            if current.parent is None or not isinstance(current.node, cst.Call) or names & _bound(tree, node.body):
                return None
            parameters = {each.name.value for each in (*node.params.params, *node.params.kwonly_params)}
            given = arguments_for(names & parameters, current.function, current.node)
            names = {value.value for value in given if isinstance(value, cst.Name)}
    return None


def _targets(tree: Tree, loop: cst.For) -> set[str]:
    return {node.value for node in (loop.target, *tree.descendants(loop.target)) if isinstance(node, cst.Name)}


def _bound(tree: Tree, body: cst.CSTNode) -> set[str]:
    """The names that a piece of code binds by an assignment or a loop."""
    targets = (
        node.target
        for node in tree.descendants(body)
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr))
    )
    return {
        node.value for target in targets for node in (target, *tree.descendants(target)) if isinstance(node, cst.Name)
    }


def _plain_dataset(value: Value | None) -> DatasetOp | None:
    """The last operation of the dataset that a loop visits; None if it is unknown or may be distributed."""
    while isinstance(value, IteratorValue) and len(value.over) == 1 and value.kind != "range":
        value = value.over[0]
    stages = [option.stage if isinstance(option, Dataset) else None for option in options_of(value)]
    known = [stage for stage in stages if stage is not None]
    if not known or len(known) < len(stages) or any(map(_is_divided, known)):
        return None
    # A single number counts steps.
    return None if any(map(_counts, known)) else known[0]


def _is_divided(stage: DatasetOp) -> bool:
    return any(each.name in ("distribute", "shard") for each in stage.upstream())


def _counts(stage: DatasetOp) -> bool:
    names = [each.name for each in stage.upstream()]
    return names[-1] == DATASET_RANGE and BATCHING.isdisjoint(names)
