"""Calls of abstract values, and their results."""

import pytest
from snippets import IMPORTS, load, shown

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
from kerascheck.knowledge.classes import KERAS_TENSOR

HEAD = IMPORTS + "import functools\nfrom z import flag, load, show\ni = keras.Input((3,))\n"


def value_of(folder, text):
    *before, last = text.split("; ")
    (value,) = shown(load(folder, "\n".join([*before, f"show({last})\n"]), HEAD))
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(a): return a; f(3)", {3}),
        ("def f(a): return a; (f if flag else load)(3)", {3, None}),
        ("def f(a): return a; def g(a): return 4; (f if flag else g)(3)", {3, 4}),
        ("class C:\n    def __call__(self, a): return a; C()(3)", {3}),
        ("class C:\n    def __init__(self, a): self.a = a; C(3).a", {3}),
        ("class C:\n    a: int\n    b: int; C(1, 3).b", {3}),
        ("class C:\n    a: int\n    b: int; C(b=3, a=1).b", {3}),
        ("class C: pass; C()(3)", {None}),
        ("load(3)", {None}),
        ("undefined(3)", {None}),
        ("(3)(4)", {None}),
    ],
)
def test_a_call_returns_the_result_of_its_function(tmp_path, text, expected):
    assert {constant(option) for option in options_of(value_of(tmp_path, text))} == expected


def test_a_new_returning_a_dataset_creates_no_instance(tmp_path):
    value = value_of(tmp_path, "class C:\n    def __new__(cls): return tf.data.Dataset.range(3); C()")
    assert isinstance(value, Dataset)


def test_a_new_returning_an_instance_runs_init(tmp_path):
    text = "class C:\n    def __new__(cls, n): return object.__new__(cls)\n    def __init__(self, n): self.n = n"
    assert value_of(tmp_path, f"{text}; C(3).n") == Constant(3)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("keras.layers.Dense(3)(i)", ExternalInstance),
        ("keras.layers.Dense(3)(load())", Tensor),
        ("keras.layers.Concatenate()([i, load()])", ExternalInstance),
        ("keras.applications.VGG16()(i)", ExternalInstance),
        ("class L(keras.layers.Layer): pass; L()(i)", ExternalInstance),
        ("class L(keras.layers.Layer):\n    def call(self, x): return x; L()(i)", ExternalInstance),
        ("class L(keras.layers.Layer):\n    def call(self, x): return x; L()(tf.zeros(3))", Tensor),
        ("keras.losses.MeanSquaredError()(load(), load())", Tensor),
    ],
)
def test_a_layer_returns_a_symbol_for_symbols_else_a_tensor(tmp_path, text, kind):
    value = value_of(tmp_path, text)
    assert isinstance(value, kind)
    assert kind is not ExternalInstance or value.name == KERAS_TENSOR and value.call.attribute == "__call__"


def test_the_result_of_a_layer_keeps_its_call(tmp_path):
    module = load(tmp_path, "show(keras.layers.Dense(3)(i))\n", HEAD)
    (value,) = shown(module)
    (call,) = (call for call in module.run.calls if call.attribute == "__call__")
    assert value.call is call and call.result is value


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("return 3", "tensor"),
        ("return None", None),
        ("return [x, 3]", ["tensor", "tensor"]),
        ("return {'a': 3}", {"a": "tensor"}),
        ("return", None),
    ],
)
def test_compiled_code_returns_tensors_and_structures_to_python(tmp_path, body, result):
    value = value_of(tmp_path, f"@tf.function\ndef f(x):\n    {body}; f(tf.zeros(3))")

    def kind(each):
        return "tensor" if isinstance(each, Tensor) else constant(each, "?")

    items = getattr(value, "items", None)
    found = (
        {key: kind(item) for key, item in items.items()}
        if isinstance(items, dict)
        else [kind(item) for item in items]
        if items is not None
        else kind(value)
    )
    assert found == result


def test_compiled_code_returns_python_values_to_compiled_code(tmp_path):
    text = "@tf.function\ndef f(): return 3\n@tf.function\ndef g(): show(f())\ng()\n"
    assert shown(load(tmp_path, text, HEAD)) == [Constant(3)]


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("f()", 1),
        ("f()\nf()", 2),
        ("@tf.function\ndef g(): f()\ng()", 1),
        ("tf.function(keras.Sequential([]))(1)", 1),
        ("tf.data.Dataset.range(3).map(lambda x: f())", 0),
    ],
)
def test_only_calls_from_python_enter_compiled_code(tmp_path, text, entries):
    module = load(tmp_path, f"@tf.function\ndef f(): return 3\n{text}\n", HEAD)
    assert len(module.run.entries) == entries


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("keras.Sequential([]).fit(1)", "keras.Model.fit"),
        ("class M(keras.Model): pass\nM().fit(1)", "keras.Model.fit"),
        ("'a'.join(load())", "builtins.str.join"),
        ("load().fit(1)", "z.load.fit"),
        ("undefined.fit(1)", None),
        ("tf.zeros(3).numpy()", "tensorflow.Tensor.numpy"),
    ],
)
def test_a_method_is_recorded_by_the_class_of_its_receiver(tmp_path, text, name):
    call = load(tmp_path, f"{text}\n", HEAD).run.calls[-1]
    assert (call.name, call.attribute) == (name, text.rpartition(".")[2].partition("(")[0])


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("load(x)", True),
        ("undefined(x)", True),
        ("undefined(3)", False),
        ("tf.nn.relu(x)", False),
        ("keras.layers.Dense(3)(x)", False),
    ],
)
def test_an_unfollowed_call_with_a_tensor_is_recorded(tmp_path, text, unknown):
    module = load(tmp_path, f"@tf.function\ndef f(x): {text}\nf(tf.zeros(3))\n", HEAD)
    assert ("unknown-call" in [kind for kind, _, _ in module.run.uses]) is unknown


def test_methods_without_a_call_site_see_the_created_object(tmp_path):
    text = "class C:\n    def __init__(self, n): self.n = n\n    def go(self): show(self.n)\nload(C(3))\n"
    assert Constant(3) in options_of(shown(load(tmp_path, text, HEAD))[0])


def test_an_instance_is_recorded_by_its_keras_base_class(tmp_path):
    module = load(tmp_path, "class M(keras.Model): pass\nshow(M())\n", HEAD)
    (value,) = shown(module)
    (call,) = (call for call in module.run.calls if call.attribute == "__init__")
    assert isinstance(value, Instance) and call.receiver is value and call.name == "keras.Model.__init__"


@pytest.mark.parametrize("given", ["load()", "tf.data.Dataset.range(3)"])
def test_a_model_called_on_other_values_returns_a_tensor(tmp_path, given):
    assert isinstance(value_of(tmp_path, f"keras.Sequential([])({given})"), Tensor)


def test_an_unknown_method_returns_an_unknown_value(tmp_path):
    assert value_of(tmp_path, "undefined.go(3)") is UNKNOWN
