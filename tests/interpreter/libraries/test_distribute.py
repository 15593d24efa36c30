"""Strategies of tf.distribute."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.values import UNKNOWN, Dataset, ExternalInstance, Tensor, constant
from kerascheck.knowledge.devices import STRATEGY_SCOPE

HEAD = IMPORTS + (
    "from z import items, load, show\ns, x = tf.distribute.MirroredStrategy(), tf.zeros(3)\n"
    "ds = tf.data.Dataset.range(3)\n"
)


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("s.run(f, args=(1, 2))", [1, 2]),
        ("s.run(f, (1, 2))", [1, 2]),
        ("s.run(fn=f, args=[1])", [1, 0]),
        ("s.run(f, kwargs={'b': 2})", [None, 2]),
        ("s.run(f, args=(1,), kwargs={'b': 2})", [1, 2]),
        ("s.run(f, args=items)", [None, None]),
        ("s.experimental_run_v2(f, args=(1, 2))", [1, 2]),
    ],
)
def test_a_strategy_passes_its_arguments_to_the_step(tmp_path, call, given):
    (value,) = shown(load(tmp_path, f"def f(a=0, b=0): show([a, b])\n{call}\n", HEAD))
    assert [constant(item) for item in value.items] == given


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("s.experimental_distribute_dataset(ds.batch(2))", ["distribute", "batch", "range"]),
        ("s.distribute_datasets_from_function(lambda c: ds.batch(2))", ["distribute", "batch", "range"]),
        ("s.experimental_distribute_dataset(items)", None),
        ("s.distribute_datasets_from_function(load)", None),
    ],
)
def test_a_distributed_dataset_is_an_operation_of_the_dataset(tmp_path, call, names):
    (value,) = shown(load(tmp_path, f"show({call})\n", HEAD))
    found = isinstance(value, Dataset) and [stage.name.rpartition(".")[2] for stage in value.stage.upstream()]
    assert (found or None) == names


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("s.reduce('SUM', x, axis=None)", Tensor),
        ("s.gather(x, 0)", Tensor),
        ("s.reduce('SUM', items, axis=None)", None),
        ("s.undefined(x)", None),
    ],
)
def test_a_reduction_across_replicas_is_a_tensor(tmp_path, call, kind):
    (value,) = shown(load(tmp_path, f"a = {call}\nshow(a)\n", HEAD))
    assert value is UNKNOWN if kind is None else isinstance(value, kind)


def test_a_scope_belongs_to_its_strategy(tmp_path):
    module = load(tmp_path, "show(s.scope())\nshow(s)\n", HEAD)
    path, strategy = shown(module)
    assert isinstance(path, ExternalInstance) and path.name == STRATEGY_SCOPE and path.call.receiver is strategy


def test_methods_of_strategies_are_recorded_by_their_common_class(tmp_path):
    module = load(tmp_path, "s.undefined(1)\n", HEAD)
    assert module.run.calls[-1].name == "tensorflow.distribute.Strategy.undefined"


def test_functions_passed_to_other_methods_run_with_tensors(tmp_path):
    (value,) = shown(load(tmp_path, "s.undefined(lambda a: show(a))\n", HEAD))
    assert isinstance(value, Tensor)
