"""The index of calls, which gives the same answers as a scan of all calls."""

import pytest
from snippets import load

HEAD = "import tensorflow as tf\nimport z\n"
TEXT = """
def inner(x):
    z.show(x)
    return z.mark(x)

def outer(x):
    z.show(inner(x))

outer(1)
z.mark(2)
inner(3)
ds = tf.data.Dataset.range(9).batch(3).map(z.mark)
"""


@pytest.fixture
def module(tmp_path):
    return load(tmp_path, TEXT, HEAD)


def test_calls_are_found_by_name_in_the_order_of_execution(module):
    scanned = [call for call in module.run.calls if call.name in ("z.show", "z.mark")]
    assert module.calls.named("z.mark", "z.show", "z.mark") == scanned
    assert module.calls.with_prefix("z.") == scanned
    assert module.calls.named("z.undefined") == []


def test_calls_are_found_by_method(module):
    scanned = [call for call in module.run.calls if call.attribute in ("batch", "map")]
    assert len(scanned) == 2
    assert module.calls.of_methods("map", "batch") == scanned


def test_calls_are_found_by_node_once_per_path(module):
    nodes = {call.node for call in module.run.calls if call.name == "z.show"}
    for node in nodes:
        assert module.calls.at(node) == [call for call in module.run.calls if call.node is node]
    assert module.calls.at(module.tree.root) == []


def test_calls_within_a_function_include_those_of_its_callees(module):
    for function in {function for call in module.run.calls for function in call.path.functions()}:
        scanned = [call for call in module.run.calls if call.path.runs_in(function)]
        assert scanned and module.calls.within(function) == scanned


def test_all_names_are_listed(module):
    assert module.calls.names == {call.name for call in module.run.calls} - {None}
