"""Queries on syntax nodes."""

import libcst as cst
import pytest
from snippets import IMPORTS, load

from kerascheck.interpreter.nodes import (
    differentiated,
    dotted_name,
    fields_of,
    literal_of,
    number,
    parameters_of,
    remembered,
    text_of,
)
from kerascheck.interpreter.values import Constant


@pytest.mark.parametrize(
    ("text", "name"), [("a", "a"), ("a.b.c", "a.b.c"), ("f().b", "b"), ("a[0].b", "b"), ("3", ""), ("f()", "")]
)
def test_dotted_names(text, name):
    assert dotted_name(cst.parse_expression(text)) == name


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("True", Constant(True)),
        ("None", Constant(None)),
        ("7", Constant(7)),
        ("0x10", Constant(16)),
        ("'a'", Constant("a")),
        ("b'a'", Constant(b"a")),
        ("x", None),
        ("-7", None),
        ("7.5", None),
        ("'a' 'b'", None),
        ("f'a'", None),
    ],
)
def test_literals(text, value):
    assert literal_of(cst.parse_expression(text)) == value


@pytest.mark.parametrize(
    ("text", "value"), [("1_000", 1000), ("0b11", 3), ("1e3", 1000.0), ("1e400", float("inf")), ("9" * 5000, None)]
)
def test_a_number_with_more_digits_than_python_reads_is_unknown(text, value):
    found = number(cst.parse_expression(text))
    assert found == (None if value is None else Constant(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a'", "a"),
        ('"a"', "a"),
        ("'''a\n'b' '''", "a\n'b' "),
        ("''", ""),
        ("''''''", ""),
        ("'a\\n'", "a\n"),
        ("r'\\d'", "\\d"),
        ("u'a'", "a"),
        ("b'a'", b"a"),
        ("'a' 'b'", "ab"),
        ("'a' f'{b}'", None),
        ("'\\U'", None),
        ("'\\d'", "\\d"),
    ],
)
def test_texts_of_literals_equal_those_of_python(text, value):
    assert text_of(cst.parse_expression(text)) == value


def test_fields_of_bases_come_first(tmp_path):
    base = "class A:\n    a: int\n    b: int = 1\n    c = 2\n"
    text = f"{base}class B(A):\n    d: int\n    a: str\n    def f(self): e: int = 3\n"
    module = load(tmp_path, text)
    assert fields_of(module.run.globals_of(module)["B"]) == ["a", "b", "d"]


def test_parameters_without_stars():
    function = cst.parse_statement("def f(a, /, b, *c, d=1, **e): pass\n")
    assert [parameter.name.value for parameter in parameters_of(function.params)] == ["a", "b", "d"]


TAPE = IMPORTS + "with tf.GradientTape() as t, tf.GradientTape() as s:\n    a = b = c = f(x)\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("t.gradient(a, v)", {"a"}),
        ("s.jacobian(a, v)", {"a"}),
        ("t.gradient([a, b], v)", {"a", "b"}),
        ("t.gradient(sources=v, target=a)", {"a"}),
        ("scaled = o.get_scaled_loss(b)\nt.gradient(scaled, v)", {"scaled", "b"}),
        ("scaled = o.scale_loss(b)\nt.gradient(a, v)", {"a"}),
        ("other.gradient(a, v)", set()),
        ("t.watch(a)", set()),
        ("t.gradient()", set()),
    ],
)
def test_a_tape_differentiates_the_targets_of_its_gradients(tmp_path, text, names):
    module = load(tmp_path, TAPE + text)
    assert differentiated(module, module.tree.root) == names


def test_an_answer_about_a_node_is_memoised(tmp_path):
    module, asked = load(tmp_path, "x = 1\n"), []

    def find(module, node):
        asked.append(node)
        return len(asked)

    root = module.tree.root
    assert [remembered(module, root, find), remembered(module, root, find)] == [1, 1]
    assert remembered(module, root.body[0], find) == 2
    assert asked == [root, root.body[0]]
