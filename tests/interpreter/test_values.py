"""Abstract values: unions, structures, scopes and arguments."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Constant,
    Dataset,
    DictValue,
    Scope,
    SequenceValue,
    Tensor,
    UnionValue,
    constant,
    datasets_in,
    external,
    flat,
    holds_container,
    holds_tensor,
    is_beyond,
    largest,
    options_of,
    shows_tensor,
)

HEAD = IMPORTS + "import keras_tuner\nfrom z import flag, load, show\nds = tf.data.Dataset.range(3)\n"
ONE, TWO = Constant(1), Constant(2)


def value_of(folder, text):
    (value,) = shown(load(folder, f"show({text})\n", HEAD))
    return value


def test_a_value_without_alternatives_is_its_only_option():
    assert options_of(ONE) == (ONE,)
    assert options_of(UnionValue((ONE, TWO))) == (ONE, TWO)
    assert options_of(None) == ()


def test_constant_returns_the_value_or_the_default():
    assert (constant(ONE), constant(UNKNOWN), constant(None), constant(UNKNOWN, 7)) == (1, None, None, 7)
    assert constant(Constant(None), 7) is None


def test_a_symbol_of_a_library_has_its_canonical_name():
    assert external("tensorflow.keras.layers.Dense") == external("keras.layers.Dense")


@pytest.mark.parametrize(
    ("text", "depth"), [("ds", 0), ("[ds]", 1), ("{'a': [ds]}", 2), ("[[[ds]]]", 3), ("[[[[ds]]]]", None)]
)
def test_datasets_are_found_in_structures_of_three_levels(tmp_path, text, depth):
    value = value_of(tmp_path, text)
    assert [type(each) for each in datasets_in(value)] == [Dataset] * (depth is not None)
    assert depth is None or len([*datasets_in(value, depth)]) == 1
    assert not depth or not [*datasets_in(value, depth - 1)]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("tf.zeros(3)", True),
        ("[1, tf.zeros(3)]", True),
        ("{'a': (tf.zeros(3),)}", True),
        ("tf.zeros(3) if flag else None", True),
        ("[[[tf.zeros(3)]]]", True),
        ("[[[[tf.zeros(3)]]]]", False),
        ("load()", False),
        ("[1]", False),
    ],
)
def test_tensors_are_found_in_structures_of_three_levels(tmp_path, text, holds):
    assert holds_tensor(value_of(tmp_path, text)) is holds


@pytest.mark.parametrize(
    ("text", "shows"),
    [
        ("tf.zeros(3)", True),
        ("str(tf.zeros(3))", True),
        ("f'{1}: {tf.zeros(3)}'", True),
        ("'%s' % tf.zeros(3)", True),
        ("f'{1}'", False),
        ("'a'", False),
    ],
)
def test_a_text_shows_its_tensor_operands(tmp_path, text, shows):
    assert shows_tensor(value_of(tmp_path, text)) is shows


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("3 if flag else 5", 5),
        ("3 if flag else load()", None),
        ("3 if flag else 5.5", None),
        ("True", None),
        ("keras_tuner.HyperParameters().Int('n', 4, 64)", 64),
        ("keras_tuner.HyperParameters().Int('n', 4, load())", None),
        ("keras_tuner.HyperParameters().Choice('n', [4, 8])", 8),
        ("keras_tuner.HyperParameters().Choice('n', load())", None),
        ("load()", None),
    ],
)
def test_largest_possible_number(tmp_path, text, number):
    assert largest(value_of(tmp_path, text)) == number


def test_single_values_come_in_order_and_each_container_once():
    inner = SequenceValue("list", [ONE, TWO])
    value = SequenceValue("tuple", [inner, DictValue({"a": inner, "b": UnionValue((TWO, UNKNOWN))})])
    assert list(flat(value)) == [ONE, TWO, TWO, UNKNOWN]
    assert list(flat(None)) == []


def test_a_container_is_found_at_any_depth():
    inner = SequenceValue("list", [ONE])
    around = DictValue({"a": UnionValue((TWO, SequenceValue("tuple", [inner])))})
    assert holds_container(around, inner.items) and holds_container(around, around.items)
    assert not holds_container(around, [ONE])
    assert not holds_container(inner, around.items)


def test_a_size_at_the_limit_is_not_beyond_it():
    pair = SequenceValue("list", [ONE, TWO])
    assert (is_beyond(pair, 1), is_beyond(pair, 2)) == (True, False)
    # The two inner lists, their items, and the outer one.
    nested = SequenceValue("list", [pair, pair])
    assert (is_beyond(nested, 6), is_beyond(nested, 7)) == (True, False)


def test_unknown_arguments_may_provide_every_parameter():
    given = Arguments([ONE], {"a": TWO})
    assert (given.get(0, "x"), given.get(1, "a"), given.get(1, "x")) == (ONE, TWO, None)
    assert given.first("a") == TWO and given.first(None) == ONE
    assert list(given.values()) == [ONE, TWO]
    starred, keywords = Arguments(unknown_positional=True), Arguments(unknown_keywords=True)
    assert (starred.get(3, None), starred.get(None, "a")) == (UNKNOWN, None)
    assert (keywords.get(None, "a"), keywords.get(3, None)) == (UNKNOWN, None)


def test_a_name_is_looked_up_in_enclosing_scopes():
    module = Scope(None, {"a": ONE, "b": ONE})
    function = Scope(module, {"a": TWO})
    inner = Scope(function, {"b": TWO}, redirected={"a": module})
    assert (inner.lookup("b"), function.lookup("b"), inner.lookup("c")) == (TWO, ONE, None)
    assert inner.lookup("a") == ONE and inner.owner("a") is module


def test_a_path_knows_its_frame_loop_and_condition(tmp_path):
    text = (
        "def f():\n    for i in range(3):\n        if flag:\n            with load(): show(1)\nfor j in load(): f()\n"
    )
    module = load(tmp_path, text, HEAD)
    (path,) = (call.path for call in module.run.calls if call.name == "z.show")
    assert [path.kind, path.frame.kind, path.loop.turns, path.condition.label] == ["with", "call", 3, "if"]
    assert path.root.kind == "root" and path.root.depth == 0
    assert path.depth == 1 + path.parent.depth
    assert [function.name for function in path.functions()] == ["f"]
    assert path.runs_in(next(path.functions()))


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("show(1)", None),
        ("@tf.function\ndef f(): show(1)\nf()", "tf.function"),
        ("def g(): show(1)\n@tf.function\ndef f(): g()\nf()", "tf.function"),
        ("ds.map(lambda x: show(x))", "map"),
        ("ds.map(lambda x: tf.py_function(show, [x], tf.int64))\nshow(1)", None),
        ("def g(x): show(x)\nds.map(lambda x: tf.py_function(g, [x], tf.int64))", None),
    ],
)
def test_the_compiler_of_running_code(tmp_path, text, how):
    call = next(call for call in load(tmp_path, text, HEAD).run.calls if call.name == "z.show")
    assert call.path.traced_by() == how


def test_a_dataset_counts_the_routes_to_its_sources(tmp_path):
    text = "show(ds.batch(2))\nshow(ds.concatenate(ds).batch(2))\nshow(tf.data.Dataset.zip((ds, ds, ds)))\n"
    stages = [value.stage for value in shown(load(tmp_path, text, HEAD))]
    assert [stage.routes for stage in stages] == [1, 2, 3]
    assert [stage.is_source for stage in stages[0].upstream()] == [False, True]


def test_a_class_has_the_members_of_its_nearest_base(tmp_path):
    text = "class A(keras.Model): n = 1\nclass B(A): m = 2\nclass C(B, A): n = 3\nshow(C)\nshow(B)\n"
    c, b = shown(load(tmp_path, text, HEAD))
    assert (c.member("n"), b.member("n"), c.member("m"), c.member("k")) == (Constant(3), Constant(1), Constant(2), None)
    assert c.external_bases() == {"keras.Model"}
    assert [getattr(base, "name", None) for base in c.ancestry()] == ["C", "B", "A", "keras.Model"]


def test_an_eager_tensor_keeps_its_operands(tmp_path):
    text = "x = tf.zeros(3)\nshow(x + 1)\n@tf.function\ndef f(a): show(a + 1)\nf(x)\n"
    eager, traced = shown(load(tmp_path, text, HEAD))
    assert isinstance(eager, Tensor) and isinstance(traced, Tensor)
    assert (len(eager.operands), traced.operands) == (2, ())
