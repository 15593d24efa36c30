"""Calls into functions of the tree: parameters, limits, and calls that are not followed."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.limits import MAX_CALLS, MAX_DEPTH, MAX_VISITS
from kerascheck.interpreter.values import (
    UNKNOWN,
    Constant,
    Dataset,
    ExternalInstance,
    Instance,
    Tensor,
    constant,
    options_of,
)

HEAD = IMPORTS + "from z import flag, items, load, show\n"


@pytest.mark.parametrize(
    ("parameters", "arguments", "expected"),
    [
        ("a, b", "1, 2", [1, 2]),
        ("a, b", "b=1, a=2", [2, 1]),
        ("a, b=3", "1", [1, 3]),
        ("a, /, b", "1, b=2", [1, 2]),
        ("b, *, a", "1, a=2", [2, 1]),
        ("a, b=3", "*items", [None, None]),
        ("a, b=3", "1, **items", [1, None]),
        ("a, b", "1", [1, None]),
        ("a, b", "*(1, 2)", [1, 2]),
        ("a, b", "**{'a': 1, 'b': 2}", [1, 2]),
    ],
)
def test_parameters_get_their_arguments(tmp_path, parameters, arguments, expected):
    text = f"def f({parameters}): show([a, b])\nf({arguments})\n"
    (value,) = shown(load(tmp_path, text, HEAD))
    assert [constant(item) for item in value.items] == expected


@pytest.mark.parametrize(
    ("arguments", "rest", "extra"),
    [
        ("1, 2, 3", [2, 3], {}),
        ("1", [], {}),
        ("1, k=2", [], {"k": 2}),
        ("1, 2, k=3", [2], {"k": 3}),
        ("1, *items", None, {}),
        ("1, **items", [], None),
    ],
)
def test_star_parameters_collect_the_remaining_arguments(tmp_path, arguments, rest, extra):
    text = f"def f(a, *rest, **extra):\n    show(rest)\n    show(extra)\nf({arguments})\n"
    first, second = shown(load(tmp_path, text, HEAD))
    assert (None if first is UNKNOWN else [constant(item) for item in first.items]) == rest
    # Code that receives the dictionary may change it, so its values are unions now.
    given = None if second is UNKNOWN else {key: options_of(item)[0].value for key, item in second.items.items()}
    assert given == extra


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return 1", {1}),
        ("pass", {None}),
        ("if flag: return 1\n    return 2", {1, 2}),
        ("if flag: return 1\n    return", {1, None}),
        ("return 1\n    return 2", {1}),
        ("raise ValueError", {None}),
    ],
)
def test_a_call_returns_the_join_of_all_returns(tmp_path, body, expected):
    (value,) = shown(load(tmp_path, f"def f():\n    {body}\nshow(f())\n", HEAD))
    assert {option.value for option in options_of(value)} == expected


def nested(depth):
    functions = "".join(f"def f{n}(): return f{n + 1}()\n" for n in range(1, depth))
    return f"{functions}def f{depth}(): return 7\nshow(f1())\n"


@pytest.mark.parametrize(("depth", "value"), [(MAX_DEPTH, Constant(7)), (MAX_DEPTH + 1, UNKNOWN)])
def test_the_depth_of_nested_calls_is_limited(tmp_path, depth, value):
    assert shown(load(tmp_path, nested(depth))) == [value]


@pytest.mark.parametrize(("calls", "last"), [(MAX_VISITS, Constant(MAX_VISITS - 1)), (MAX_VISITS + 1, UNKNOWN)])
def test_the_visits_of_a_function_are_limited(tmp_path, calls, last):
    lines = "".join(f"show(f({n}))\n" for n in range(calls))
    values = shown(load(tmp_path, f"def f(n): return n\n{lines}", HEAD))
    assert [values[0], values[-1]] == [Constant(0), last]


def test_a_program_of_too_many_calls_is_truncated(tmp_path):
    per_function = MAX_VISITS - 1
    functions = MAX_CALLS // per_function + 2
    text = "".join(f"def f{n}(a): return a\n" + f"f{n}({n})\n" * per_function for n in range(functions))
    module = load(tmp_path, f"{text}def last(): return 7\nshow(last())\n", HEAD)
    assert (shown(module), module.run.truncated) == ([UNKNOWN], True)
    assert not load(tmp_path, "def f(): return 7\nshow(f())\n", HEAD).run.truncated


@pytest.mark.parametrize("text", ["def f(ds): return f(ds)\nf(ds)", "def f(d):\n    g(d)\ndef g(d): f(d)\nf(ds)"])
def test_a_recursive_call_reads_datasets_among_its_arguments(tmp_path, text):
    module = load(tmp_path, f"ds = tf.data.Dataset.range(3)\n{text}\n", HEAD)
    assert "escape" in [sink.role for sink in module.run.sinks]


def test_an_unfollowed_call_is_recorded_as_unknown(tmp_path):
    module = load(tmp_path, "def f(n): return f(n)\nf(3)\n", HEAD)
    assert [kind for kind, _, _ in module.run.uses] == ["unknown-call"]


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("tf.data.Dataset", Dataset),
        ("'tf.data.Dataset'", Dataset),
        ("tf.data.Dataset | None", Dataset),
        ("Optional[tf.data.Dataset]", Dataset),
        ("typing.Optional[tf.data.Dataset]", Dataset),
        ("tf.Tensor", Tensor),
        ("keras.Model", ExternalInstance),
        ("keras.optimizers.Optimizer", ExternalInstance),
        ("Own", Instance),
        ("Plain", None),
        ("int", None),
        ("list[tf.data.Dataset]", None),
        ("'not a type('", None),
        ("load()", None),
    ],
)
@pytest.mark.parametrize("call", ["", "f(undefined)\n"])
def test_an_annotation_types_an_unknown_parameter(tmp_path, annotation, kind, call):
    head = "import typing\nfrom typing import Optional\nclass Own(keras.Model): pass\nclass Plain: pass\n"
    (value,) = shown(load(tmp_path, f"{head}def f(a: {annotation}): show(a)\n{call}", HEAD))
    assert value is UNKNOWN if kind is None else isinstance(value, kind)


def test_an_annotation_does_not_replace_a_known_argument(tmp_path):
    assert shown(load(tmp_path, "def f(a: tf.Tensor): show(a)\nf(3)\n", HEAD)) == [Constant(3)]


@pytest.mark.parametrize(
    ("signature", "body", "is_tensor"),
    [
        ("self, x", "pass", True),
        ("self, x, training", "pass", False),
        ("self, x, training=None", "pass", False),
        ("self, x, a", "pass", False),
        ("self, x, a", "print(a.shape)", True),
        ("self, x, a", "x @ a", True),
        ("self, x, a", "a[:, 0]", True),
        ("self, x, a", "a[0]", False),
        ("self, x, a", "tf.nn.relu(a)", True),
        ("self, x, a", "tf.concat([x, a], 0)", True),
        ("self, x, a", "self.dense(a)", True),
        ("self, x, a", "self.helper(a)", False),
        ("self, x, a", "load(a)", False),
        ("self, x, inputs", "pass", True),
    ],
)
def test_the_last_parameter_of_call_is_a_tensor_if_its_name_or_use_implies_one(tmp_path, signature, body, is_tensor):
    last = signature.rpartition(", ")[2].partition("=")[0]
    text = f"class L(keras.layers.Layer):\n    def call({signature}):\n        show({last})\n        {body}\n"
    module = load(tmp_path, f"{text}    def helper(self, a): return 1\n", HEAD)
    assert isinstance(shown(module)[0], Tensor) is is_tensor


def test_a_generator_iterates_over_its_returns_and_its_loops(tmp_path):
    text = "def f():\n    for x in tf.data.Dataset.range(3): yield x\nfor y in f(): show(y)\n"
    module = load(tmp_path, text, HEAD)
    assert isinstance(shown(module)[0], Tensor)
    assert [sink.role for sink in module.run.sinks].count("loop") == 2


def test_the_first_result_of_a_function_is_kept(tmp_path):
    module = load(tmp_path, "def f(n): return n\nf(1)\nf(2)\n", HEAD)
    assert list(module.run.returned.values()) == [Constant(1)]
