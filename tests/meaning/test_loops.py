"""Iterations of a call site, and expressions that change with them."""

import libcst as cst
import pytest
from snippets import IMPORTS, MODEL, load

from kerascheck.meaning.program.loops import loop_that_changes, most_iterations
from kerascheck.syntax.written import rows_of_slice


@pytest.mark.parametrize(
    ("loops", "number"),
    [
        ("for i in range(3):", 3),
        ("for i in range(2, 10, 2):", 4),
        ("N = 5\nfor i in range(N):", 5),
        ("for i in range(n):", None),
        ("for i in range(3):\n for j in range(4):", 12),
        ("for i in range(3):\n for j in load():", None),
        ("for i in [1, 2]:", 2),
        ("for i in (1, 2, *load()):", None),
        ("for i in {'a': 1}:", 1),
        ("for k, v in {'a': 1, 'b': 2}.items():", 2),
        ("for i in enumerate(range(3)):", 3),
        ("for i in zip(range(3), load()):", 3),
        ("from tqdm import trange\nfor i in trange(7):", 7),
        ("import tqdm\nfor i in tqdm.tqdm(range(7)):", 7),
        ("for x in tf.data.Dataset.range(9).take(4):", 4),
        ("for x in tf.data.Dataset.range(9).take(4).repeat():", None),
        ("for x in tf.data.Dataset.range(9):", None),
        ("for x in load()[:4]:", 4),
        ("for x in load()[2:4]:", 2),
        ("for x in load()[2:]:", None),
        ("a = []\nfor x in load(): a.append(x)\nfor x in a:", None),
        # Upper bounds, in lists and dictionaries that such loops fill.
        ("a = [0]\nfor x in range(4):\n if x in b: a.append(x)\nfor x in a:", 5),
        ("a = []\nfor x in range(2):\n for y in (1, 2, 3): a.append(y)\nfor x in a:", 6),
        ("a = []\nfor x in range(2): a.append(x)\nfor x in load(): a.append(x)\nfor x in a:", None),
        ("a = {f'{x}': x for x in range(3) if b}\nfor k, v in a.items():", 3),
        ("a = {f'{x}': x for x in range(3)}\na[b] = 1\nfor k, v in a.items():", None),
        ("a = [(x, 1) for x in range(300)]\nfor x in a:", 300),
        ("for x, y in ((x, 1) for x in load()):", None),
        ("for x, y in ((x, 1) for x in range(7)):", 7),
        ("a = [[y for y in load()] for x in range(3)]\nfor x in a:", 3),
        ("while True:", None),
        ("def f(n):\n for i in range(n):", None),
    ],
)
def test_iterations_of_loops(tmp_path, loops, number):
    module = load(tmp_path, f"{IMPORTS}{loops}\n     tf.print(1)\n")
    (call,) = module.program.calls("tensorflow.print")
    assert most_iterations(call.path) == (float("inf") if number is None else number)


@pytest.mark.parametrize(
    ("text", "depends"),
    [
        ("for x in load(): tf.print(x)", True),
        ("for x in load(): tf.print(y)", False),
        ("for x in load():\n    y = x + 1\n    tf.print(y)", True),
        ("for i in range(9): tf.print(data[i])", True),
        ("def f(v): tf.print(v)\nfor x in load(): f(x)", True),
        ("def f(v): tf.print(w)\nfor x in load(): f(x)", False),
        ("def f(v): tf.print(v)\nfor x in load(): f(y)", False),
        ("[tf.print(x) for x in load()]", True),
        ("[tf.print(y) for x in load()]", False),
        ("tf.print(x)", False),
        ("n = 0\nwhile n < 9:\n    n += 1\n    tf.print(n)", True),
    ],
)
def test_expressions_that_depend_on_the_iteration(tmp_path, text, depends):
    module = load(tmp_path, f"{IMPORTS}{text}\n")
    (call,) = module.program.calls("tensorflow.print")
    assert (loop_that_changes(call.arguments.nodes[0].value, call.path) is not None) is depends


@pytest.mark.parametrize(
    ("called", "given"),
    [
        ("f(model, x)", "model"),
        ("f(x=x, model=model)", "model"),
        ("f(*parts)", None),
    ],
)
def test_a_parameter_varies_with_its_own_argument_only(tmp_path, called, given):
    text = f"def f(model, x):\n    return model.predict(x)\nfor x in load():\n    parts = model, x\n    {called}\n"
    module = load(tmp_path, MODEL + text)
    (call,) = (call for call in module.run.calls if call.attribute == "predict")
    assert loop_that_changes(call.arguments.node(0, "x").value, call.path) is not None
    assert (loop_that_changes(call.node.func, call.path) is None) is (given == "model")


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        ("x[:5]", 5),
        ("x[:5, 1]", 5),
        ("x[2:6]", 4),
        ("x[6:2]", 0),
        ("x[i : i + 4]", 4),
        ("x[: min(5, n)]", 5),
        ("x[i : j + 4]", None),
        ("x[i:6]", None),
        ("x[2:]", None),
        ("x[:9:2]", None),
        ("x[5]", None),
        ("x", None),
    ],
)
def test_most_rows_of_a_slice(written, rows):
    assert rows_of_slice(cst.parse_expression(written)) == rows
