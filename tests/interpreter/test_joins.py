"""Joins of variables after two branches."""

import pytest
from snippets import MODEL, load, shown

from kerascheck.interpreter.joins import any_of, join
from kerascheck.interpreter.limits import MAX_OPTIONS
from kerascheck.interpreter.values import UNKNOWN, Constant, UnionValue, constant, options_of

BASE = MODEL + "base = tf.data.Dataset.range(9)\n"


def test_equal_values_join_to_one():
    assert join(Constant(3), Constant(3)) == Constant(3)
    assert join(UnionValue((Constant(1), Constant(2))), Constant(2)).options == (Constant(1), Constant(2))


def test_a_union_has_each_option_once_in_program_order():
    joined = join(join(Constant(2), Constant(1)), UnionValue((Constant(1), Constant(3))))
    assert joined.options == (Constant(2), Constant(1), Constant(3))


def test_unknown_and_a_constant_join_to_a_union():
    assert set(options_of(join(Constant(1), UNKNOWN))) == {Constant(1), UNKNOWN}


def test_the_options_of_a_join_are_limited():
    kept = any_of(map(Constant, range(MAX_OPTIONS)))
    assert [constant(option) for option in options_of(kept)] == list(range(MAX_OPTIONS))
    assert join(kept, Constant(0)).options == kept.options
    assert join(kept, Constant(MAX_OPTIONS)) is UNKNOWN


def test_any_of_nothing_is_unknown():
    assert any_of([]) is UNKNOWN


@pytest.mark.parametrize(
    ("branch", "stages"),
    [
        ("ds = base.batch(2)", [["batch?", "range"]]),
        ("ds = base.shuffle(9).batch(2)", [["batch?", "shuffle?", "range"]]),
        ("ds = tf.data.Dataset.range(3)", [["range"], ["range"]]),
        ("base = ds.batch(2)\n    ds = base.take(1)", [["take?", "batch?", "range"]]),
    ],
)
@pytest.mark.parametrize("test", ["if flag:\n    {}", "if flag:\n    pass\nelse:\n    {}"])
def test_an_extended_dataset_joins_to_optional_operations(tmp_path, branch, stages, test):
    (value,) = shown(load(tmp_path, f"ds = base\n{test.format(branch)}\nshow(ds)\n", BASE))
    found = [
        [stage.name.rpartition(".")[2] + "?" * stage.maybe for stage in option.stage.upstream()]
        for option in options_of(value)
    ]
    assert found == stages


def test_an_operation_and_its_copy_join_to_the_copy(tmp_path):
    text = "once, ds = base.batch(2), base\nif flag: ds = once\nif flag: ds = once\nshow(ds)\n"
    (value,) = shown(load(tmp_path, text, BASE))
    assert [(stage.name.rpartition(".")[2], stage.maybe) for stage in value.stage.upstream()] == [
        ("batch", True),
        ("range", False),
    ]


def test_two_extensions_of_one_dataset_stay_two_options(tmp_path):
    text = "ds = base.batch(2) if flag else base.shuffle(9)\nshow(ds)\n"
    (value,) = shown(load(tmp_path, text, BASE))
    assert [[stage.name for stage in option.stage.upstream()][0] for option in options_of(value)] == [
        "batch",
        "shuffle",
    ]
