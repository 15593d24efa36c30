"""Computed numbers, strings and arrays, and their operands."""

import pytest
from snippets import load, shown

from kerascheck.interpreter.purity import as_texts, computed, derived, item_of_turn
from kerascheck.interpreter.value_kinds import is_array, is_text
from kerascheck.interpreter.values import (
    UNKNOWN,
    Constant,
    ExecutionPath,
    ExternalInstance,
    LoopVariable,
    SequenceValue,
    flat,
)

HEAD = "from z import items, load, show\n"


def of_loop(folder, text):
    """Whether the shown value varies with a loop, and the target of that loop."""
    (value,) = shown(load(folder, text, HEAD))
    return value.loop.node.target.value if isinstance(value, LoopVariable) else None


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("show(i + 1)", "i"),
        ("show(i * 2 - 1)", "i"),
        ("show(f'part {i}')", "i"),
        ("show('part %d' % i)", "i"),
        ("for j in range(9): show(i + j)", "j"),
        ("for j in range(9): show(i + 1)", "i"),
        ("for j in range(9): show(f'{j}')", "j"),
        ("show(3 + 4)", None),
        ("show(i % 2)", None),
        ("show(i // 100)", None),
        ("show(load(i))", None),
    ],
)
def test_a_number_or_text_varies_with_its_innermost_loop(tmp_path, line, target):
    assert of_loop(tmp_path, f"for i in range(9):\n    {line}\n") == target


def test_a_computed_value_keeps_its_operands():
    value = computed("builtins.str", Constant("a"), UNKNOWN)
    assert type(value) is ExternalInstance and is_text(value)
    assert value.attributes["operands"].items == [Constant("a"), UNKNOWN]
    array = derived(value, Constant(3))
    assert is_array(array) and list(flat(array.attributes["operands"])) == [value, Constant(3)]


@pytest.mark.parametrize(
    ("items", "kind"),
    [
        (["a.png", "b.png"], None),
        ([1, 2, 3], None),
        (list(range(20)), "builtins.float"),
        ([f"{n}.png" for n in range(20)], "builtins.str"),
        ([*range(20), "a.png"], None),
        ([*range(20), None], None),
        ([True, *range(20)], None),
    ],
)
def test_a_loop_over_many_numbers_or_texts_has_a_loop_variable(tmp_path, items, kind):
    module = load(tmp_path, "x = 1\n")
    loop = ExecutionPath("loop", None, module, module.tree.root)
    found = item_of_turn([Constant(item) for item in items], loop)
    assert (found.name if isinstance(found, LoopVariable) else None) == kind
    assert kind is None or found.loop is loop


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("os.path.join", "text"),
        ("builtins.str.upper", "text"),
        ("builtins.str.split", "texts"),
        ("os.listdir", None),
        ("numpy.zeros", None),
    ],
)
def test_functions_of_texts_return_texts(name, kind):
    value = as_texts(name, [Constant("a"), UNKNOWN])
    if kind == "text":
        assert is_text(value)
    elif kind == "texts":
        assert isinstance(value, SequenceValue) and value.open and is_text(value.items[0])
    else:
        assert value is None
