"""Values of expressions, and their uses of tensors."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.limits import MAX_OPTIONS, MAX_TEXT
from kerascheck.interpreter.values import (
    UNKNOWN,
    Constant,
    Dataset,
    DictValue,
    ExternalInstance,
    SequenceValue,
    Tensor,
    constant,
    options_of,
)

HEAD = IMPORTS + "import time\nimport numpy as np\nfrom z import flag, items, load, show\n"


def value_of(folder, text):
    *before, last = text.split("; ")
    (value,) = shown(load(folder, "\n".join([*before, f"show({last})\n"]), HEAD))
    return value


@pytest.mark.parametrize(
    "text",
    [
        "7 - 3",
        "7 * 3",
        "7 / 2",
        "7 // 2",
        "7 % 4",
        "1 + 2 - 3 * 4",
        "-3",
        "-(2.5)",
        "'a' + 'b'",
        "f'a'",
        "1e3",
        "[10, 20, 30][1]",
        "[10, 20, 30][-3]",
        "(10, 20)[0]",
        "{'a': 1, 2: 3}[2]",
        "{**{'a': 1}, 'a': 2}['a']",
        "[*[1, 2], 3][2]",
        "[1, 2, 3][1:][0]",
        "[1, 2, 3][::-1][0]",
        "[1, 2, 3, 4][1::2][1]",
        "([1] + [2, 3])[2]",
        "3 if 1 else 4",
        "3 if not 1 else 4",
        "(lambda a, b=2: a + b)(1)",
        "[n for n in (1, 1)][1]",
        "b'a'",
    ],
)
def test_a_constant_expression_evaluates_as_in_python(tmp_path, text):
    found = constant(value_of(tmp_path, text))
    assert (type(found), found) == (type(eval(text)), eval(text))


@pytest.mark.parametrize(
    "text",
    [
        "7 // 0",
        "7 % 0",
        "7 / 0.0",
        "7 + 'a'",
        "'a' * 3",
        "True + True",
        "2 ** 3",
        "7 @ 3",
        "not 3",
        "~3",
        "-'a'",
        "3 < 4",
        "undefined",
        "7 + load()",
        "f'{load()}'",
    ],
)
def test_other_expressions_are_not_constants(tmp_path, text):
    assert not isinstance(value_of(tmp_path, text), Constant)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 if flag else 4", {3, 4}),
        ("3 or 4", {3, 4}),
        ("flag and 4", {4, None}),
        ("[1, 2][items]", {1, 2}),
        ("{'a': 1, 'b': 2}[items]", {1, 2}),
        ("{'a': 1, **items}[items]", {1, None}),
        ("{'a': 1, items: 2}['b']", {2}),
        ("[1, 2][5]", {1, 2}),
        ("[1, 2][-3]", {1, 2}),
        ("[1, 2][True]", {1, 2}),
        ("k = [1, 2]; k.append(items); k[0]", {1}),
        ("k = [1]; k.extend(items); k[0]", {1, None}),
    ],
)
def test_an_expression_may_evaluate_to_a_union(tmp_path, text, expected):
    assert {constant(option) for option in options_of(value_of(tmp_path, text))} == expected


@pytest.mark.parametrize(("length", "known"), [(MAX_TEXT // 2, True), (MAX_TEXT // 2 + 1, False)])
def test_a_text_beyond_the_limit_is_unknown(tmp_path, length, known):
    value = value_of(tmp_path, f"a = '{'x' * length}'; a + a")
    assert (isinstance(value, Constant), value is UNKNOWN) == (known, not known)


def test_a_number_beyond_the_limit_is_unknown(tmp_path):
    value = value_of(tmp_path, f"a = {hex(1 << MAX_TEXT // 2)}; a * a")
    assert value is UNKNOWN


@pytest.mark.parametrize(
    ("text", "length", "most"),
    [
        (f"[1 for i in range({MAX_OPTIONS})]", MAX_OPTIONS, None),
        (f"[1 for i in range({MAX_OPTIONS + 1})]", None, MAX_OPTIONS + 1),
        ("[1 for i in range(3) if flag]", None, 3),
        ("[1 for i in range(3) for j in range(4)]", None, 12),
        ("[1 for i in items]", None, None),
        ("{i: 1 for i in range(3)}", None, 3),
        ("{1 for i in range(3)}", 3, None),
    ],
)
def test_a_comprehension_has_as_many_items_as_its_loops_have_iterations(tmp_path, text, length, most):
    value = value_of(tmp_path, text)
    assert isinstance(value, (SequenceValue, DictValue))
    assert (None if value.open else len(value.items), value.most) == (length, most)


def test_the_variables_of_a_comprehension_are_its_own(tmp_path):
    assert value_of(tmp_path, "i = 7; k = [i for i in range(3)]; i") == Constant(7)


@pytest.mark.parametrize(
    ("text", "items", "is_open"),
    [
        ("[1, 2, 3][1:]", [2, 3], False),
        ("[1, 2, 3][:-1]", [1, 2], False),
        ("[1, 2, 3][:items]", [1, 2, 3], True),
        ("[1, 2, 3][::0]", [1, 2, 3], True),
        ("[1] + [2]", [1, 2], False),
        ("(1, *(2, 3))", [1, 2, 3], False),
    ],
)
def test_slices_of_a_list(tmp_path, text, items, is_open):
    value = value_of(tmp_path, text)
    assert ([constant(item) for item in value.items], value.open) == (items, is_open)


TRACED = "@tf.function\ndef f(x, y):\n    {}\nf(tf.zeros(3), tf.zeros(3))\n"


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("x + 1", ["arithmetic"]),
        ("x + y", ["tensors"]),
        ("x + load()", ["arithmetic-unknown"]),
        ("1 - x", ["arithmetic"]),
        ("-x", ["arithmetic"]),
        ("x < 3", ["arithmetic"]),
        ("x < y", ["tensors"]),
        ("0 < x < y", ["branch"]),
        ("x is None", []),
        ("x == None", []),
        ("x in items", []),
        ("x or 3", ["branch"]),
        ("3 or x", []),
        ("not x", ["branch"]),
        ("1 if x else 2", ["branch"]),
        ("x[0]", ["index"]),
        ("x['a']", ["key"]),
        ("x.shape", ["shape"]),
        ("x.dtype", []),
        ("f'{x}'", ["format"]),
        ("'%s' % x", ["format"]),
        ("[x for i in range(3)]", ["comprehension"]),
        ("x += 1", ["arithmetic"]),
        ("[x, 1]", []),
    ],
)
def test_uses_of_tensors_in_compiled_code_are_recorded(tmp_path, line, kinds):
    module = load(tmp_path, TRACED.format(line), HEAD)
    assert [kind for kind, _, _ in module.run.uses] == kinds


@pytest.mark.parametrize(
    ("line", "origin"),
    [
        ("show(x + 1)", "parameter"),
        ("show(x + y)", "parameter"),
        ("show(tf.nn.relu(x) + y)", "result"),
        ("show(x < y)", "parameter"),
        ("for e in x: show(e[0])", "element"),
        ("show(x[0])", "item"),
    ],
)
def test_a_tensor_keeps_its_origin(tmp_path, line, origin):
    text = f"ds = tf.data.Dataset.range(3)\ndef f(x, y):\n    {line}\nds.map(f)\n"
    (value,) = shown(load(tmp_path, text, HEAD))
    assert isinstance(value, Tensor) and value.origin == origin


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a = time.time(); time.time() - a", "time.elapsed"),
        ("a = time.time(); (time.time() - a) * 1000", "time.elapsed"),
        ("a = time.time(); (time.time() - a) / 60", "time.elapsed"),
        ("a = time.time(); (time.time() - a) / 7", "time.rate"),
        ("a = time.time(); 7 / (time.time() - a)", "time.rate"),
        ("a = time.time(); (time.time() - a) + 1", "time.elapsed"),
        ("a = time.time(); (time.time() - a) + (time.time() - a)", "time.elapsed"),
        ("a = time.time(); (time.time() - a) - 1", None),
        ("a = time.time(); time.time() + a", None),
        ("a = load(); time.time() - a", None),
    ],
)
def test_a_difference_of_readings_is_a_time_and_a_quotient_by_it_a_rate(tmp_path, text, name):
    value = value_of(tmp_path, text)
    assert (value.name if isinstance(value, ExternalInstance) and value.name.startswith("time.") else None) == name


@pytest.mark.parametrize(
    ("operator", "name"),
    [("+", "add"), ("-", "subtract"), ("*", "multiply"), ("/", "divide"), ("%", None)],
)
def test_arithmetic_on_arrays_is_a_numpy_call(tmp_path, operator, name):
    value = value_of(tmp_path, f"np.zeros(3) {operator} 2")
    operation = value.attributes.get("operation")
    assert (operation.name if operation is not None else None) == (f"numpy.{name}" if name else None)
    assert [type(item) for item in value.attributes["operands"].items] == [ExternalInstance, Constant]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class C: n = 1; C().n", 1),
        ("class C: n = 1; C.n", 1),
        ("class C: pass; c = C(); c.n = 3; c.n", 3),
        ("class C: pass; C().n", None),
        ("class C: pass; C.n = 3; C.n", None),
        ("load.n = 3; load.n", 3),
        ("load.n", None),
        ("tf.zeros(3).dtype", None),
    ],
)
def test_attributes_of_values(tmp_path, text, expected):
    assert constant(value_of(tmp_path, text)) == expected


def test_a_super_call_is_bound_to_the_object(tmp_path):
    text = "class A:\n    n = 1\n    def f(self): return self.n\nclass B(A):\n    n = 2\n"
    call = "    def f(self): return super().f()\nshow(B().f())\n"
    assert shown(load(tmp_path, text + call, HEAD)) == [Constant(2)]


@pytest.mark.parametrize(
    ("arguments", "positional", "keywords", "unknown"),
    [
        ("1, a=2", [1], {"a": 2}, (False, False)),
        ("*(1, 2), 3", [1, 2, 3], {}, (False, False)),
        ("1, *items, 3", [1], {}, (True, False)),
        ("**{'a': 2}", [], {"a": 2}, (False, False)),
        ("**{1: 2}", [], {}, (False, True)),
        ("**items", [], {}, (False, True)),
        ("*items, *(1, 2)", [], {}, (True, False)),
    ],
)
def test_arguments_after_unknown_star_args_have_no_position(tmp_path, arguments, positional, keywords, unknown):
    call = load(tmp_path, f"load({arguments})\n", HEAD).run.calls[-1].arguments
    assert [constant(value) for value in call.positional] == positional
    assert {key: constant(value) for key, value in call.keywords.items()} == keywords
    assert (call.unknown_positional, call.unknown_keywords) == unknown


def test_a_dataset_after_unknown_star_args_is_read_by_the_call(tmp_path):
    module = load(tmp_path, "load(*items, tf.data.Dataset.range(3))\n", HEAD)
    assert [sink.role for sink in module.run.sinks] == ["escape"]


def test_a_yielded_dataset_is_read(tmp_path):
    module = load(tmp_path, "def f():\n    yield tf.data.Dataset.range(3)\nf()\n", HEAD)
    assert "escape" in [sink.role for sink in module.run.sinks]


def test_a_walrus_binds_its_value(tmp_path):
    assert value_of(tmp_path, "k = (n := 3) + 1; [n, k]").items == [Constant(3), Constant(4)]


def test_tfds_may_load_a_structure_of_datasets(tmp_path):
    text = "import tensorflow_datasets as tfds\nparts = tfds.load('mnist')\nshow(parts['train'])\n"
    assert isinstance(shown(load(tmp_path, text, HEAD))[0], Dataset)
