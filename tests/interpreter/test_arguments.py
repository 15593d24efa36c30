"""Arguments that are forwarded: bound by a partial, invented for a library's call, or traced."""

import libcst as cst
import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.arguments import bound_arguments, spread, traced_arguments, without_first
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Constant,
    DictValue,
    ExternalInstance,
    SequenceValue,
    Tensor,
)
from kerascheck.knowledge.classes import KERAS_TENSOR

ONE, TWO, THREE = Constant(1), Constant(2), Constant(3)
HEAD = IMPORTS + "import functools\nfrom z import load, show\n"


@pytest.mark.parametrize(
    ("parameters", "count"), [("a, b", 2), ("a, b=1", 1), ("a, /, b", 2), ("*a", 0), ("a, *, b", 1), ("", 0)]
)
def test_a_library_passes_one_argument_for_each_parameter_without_a_default(tmp_path, parameters, count):
    (function,) = shown(load(tmp_path, f"def f({parameters}): pass\nshow(f)\n", HEAD))
    tensors, others = spread(function, True), spread(function, False)
    assert [type(value) for value in tensors.positional] == [Tensor] * count
    assert others.positional == [UNKNOWN] * count
    assert (tensors.unknown_positional, others.unknown_positional) == (False, True)


def test_a_library_passes_nothing_for_receivers_and_bound_parameters(tmp_path):
    (method,) = shown(load(tmp_path, "class C:\n    def f(self, a, b): pass\nshow(C().f)\n", HEAD))
    assert len(spread(method, True).positional) == 2
    assert len(spread(method, True, bound={"b"}).positional) == 1


def test_bound_arguments_precede_passed_ones():
    bound = Arguments([ONE], {"a": ONE, "b": ONE})
    passed = Arguments([TWO], {"b": TWO})
    together = bound_arguments(bound, passed)
    assert together.positional == [ONE, TWO]
    assert together.keywords == {"a": ONE, "b": TWO}


def test_source_positions_count_only_without_bound_arguments():
    arg = cst.Arg(cst.Name("x"))
    passed = Arguments([TWO], {"a": TWO}, {0: arg, "a": arg})
    assert bound_arguments(Arguments([], {"k": ONE}), passed).nodes == {0: arg, "a": arg}
    assert bound_arguments(Arguments([ONE]), passed).nodes == {"a": arg}


@pytest.mark.parametrize("kind", ["unknown_positional", "unknown_keywords"])
@pytest.mark.parametrize("side", [0, 1])
def test_unknown_arguments_on_either_side_stay_unknown(kind, side):
    sides = [Arguments(), Arguments()]
    setattr(sides[side], kind, True)
    together = bound_arguments(*sides)
    assert getattr(together, kind)
    assert together.unknown_positional != together.unknown_keywords


def test_after_unknown_bound_arguments_no_position_is_known():
    arg = cst.Arg(cst.Name("x"))
    together = bound_arguments(
        Arguments([ONE], unknown_positional=True), Arguments([TWO], {"b": THREE}, {0: arg, "b": arg})
    )
    assert (together.positional, together.keywords, together.nodes) == ([ONE], {"b": THREE}, {"b": arg})
    assert together.get(1, "a") is UNKNOWN


def test_a_dataset_after_unknown_bound_arguments_is_read(tmp_path):
    text = "def f(*a): return 1\nfunctools.partial(f, *load())(tf.data.Dataset.range(3))\n"
    assert [sink.role for sink in load(tmp_path, text, HEAD).run.sinks] == ["escape"]


def test_a_trace_replaces_symbols_by_tensors_at_any_depth():
    symbol = ExternalInstance(KERAS_TENSOR)
    given = Arguments([SequenceValue("list", [symbol, ONE]), TWO], {"x": DictValue({"a": symbol}), "n": THREE})
    traced = traced_arguments(given)
    assert isinstance(traced.positional[0].items[0], Tensor) and traced.positional[0].items[1] is ONE
    assert isinstance(traced.keywords["x"].items["a"], Tensor)
    assert (traced.positional[1], traced.keywords["n"]) == (TWO, THREE)
    assert given.positional[0].items[0] is symbol, "the arguments of the call itself stay as they are"


def test_without_the_first_argument_the_others_move_up():
    given = Arguments([ONE, TWO], {"a": THREE}, {0: cst.Arg(cst.Name("x"))})
    rest = without_first(given)
    assert (rest.positional, rest.keywords, rest.nodes) == ([TWO], {"a": THREE}, {})
    assert rest.keywords is not given.keywords and given.positional == [ONE, TWO]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("functools.partial(f, 1)(2)", [1, 2, 3]),
        ("functools.partial(f, b=1)(2)", [2, 1, 3]),
        ("functools.partial(f, b=1)(2, b=5)", [2, 5, 3]),
        ("functools.partial(functools.partial(f, 1), 2)()", [1, 2, 3]),
        ("functools.partial(f, *load())(2)", [None, None, None]),
    ],
)
def test_a_partial_call_passes_both_sets_of_arguments(tmp_path, call, expected):
    text = f"def f(a=0, b=0, c=3): show([a, b, c])\n{call}\n"
    (value,) = shown(load(tmp_path, text, HEAD))
    assert [item.value if isinstance(item, Constant) else None for item in value.items] == expected
