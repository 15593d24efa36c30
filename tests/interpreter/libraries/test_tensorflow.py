"""TensorFlow, and tensor functions of Keras."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.value_kinds import is_array
from kerascheck.interpreter.values import UNKNOWN, ExternalInstance, Function, SequenceValue, Tensor
from kerascheck.knowledge.classes import KERAS_TENSOR

HEAD = IMPORTS + "import jax\nfrom z import load, n, show\ni, x = keras.Input((3,)), tf.zeros(3)\n"


def value_of(folder, text):
    *before, last = text.split("; ")
    (value,) = shown(load(folder, "\n".join([*before, f"a = {last}\nshow(a)\n"]), HEAD))
    return value


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("@tf.function\ndef f(a): show(a)\nf(x)", "tf.function"),
        ("@tf.function(jit_compile=True)\ndef f(a): show(a)\nf(x)", "tf.function"),
        ("def f(a): show(a)\ntf.function(f)(x)", "tf.function"),
        ("def f(a): show(a)\ntf.function(func=f)(x)", "tf.function"),
        ("def f(a): show(a)\ntf.function(func=None)(f)(x)", "tf.function"),
        ("@jax.jit\ndef f(a): show(a)\nf(x)", "jax.jit"),
        ("def f(a): show(a)\nf(x)", None),
    ],
)
def test_every_way_to_compile_a_function(tmp_path, text, how):
    module = load(tmp_path, f"{text}\n", HEAD)
    assert {call.path.traced_by() for call in module.run.calls if call.name == "z.show"} == {how}
    assert [each.how for each in module.run.compilations] == [how] * (how is not None)


def test_a_compiled_function_keeps_its_options(tmp_path):
    value = value_of(tmp_path, "def f(a): pass; tf.function(f, jit_compile=True)")
    assert isinstance(value, Function) and value.options.name == "tensorflow.function"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tf.nn.relu(x)", "tensor"),
        ("tf.nn.relu(i)", "symbol"),
        ("tf.concat([i, x], 0)", "symbol"),
        ("keras.ops.relu(i)", "symbol"),
        ("tf.keras.losses.MeanSquaredError()", "object"),
        ("tf.Variable(3)", "object"),
        ("keras.utils.to_categorical(load())", "object"),
        ("tf.shape(x)", "tensor"),
        ("tf.executing_eagerly()", None),
        ("tf.io.parse_single_example(x, {})", "tensor"),
    ],
)
def test_functions_of_tensorflow_return_tensors_symbols_and_objects(tmp_path, text, kind):
    value = value_of(tmp_path, text)
    found = (
        "tensor"
        if isinstance(value, Tensor)
        else None
        if not isinstance(value, ExternalInstance)
        else "symbol"
        if value.name == KERAS_TENSOR
        else "object"
    )
    assert found == kind


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("tf.split(x, 3)", 3),
        ("tf.split(x, num_or_size_splits=2)", 2),
        ("tf.unstack(x, 4)", 4),
        ("tf.split(x, n)", None),
        ("tf.split(x, 0)", None),
        ("tf.split(x, 1000)", 1000),
        ("tf.split(x, 1001)", None),
    ],
)
def test_a_split_returns_as_many_tensors_as_its_literal(tmp_path, text, length):
    value = value_of(tmp_path, text)
    assert isinstance(value, SequenceValue) and isinstance(value.items[0], Tensor)
    assert (None if value.open else len(value.items)) == length


@pytest.mark.parametrize(
    ("line", "kind", "use"),
    [
        ("x.numpy()", "array", "method"),
        ("x.item()", None, "method"),
        ("x.tolist()", None, "method"),
        ("x.get_shape()", None, "shape"),
        ("x.set_shape([3])", None, "shape"),
        ("x.keys()", None, None),
        ("x.items()", None, None),
        ("x.sum()", "tensor", "method"),
    ],
)
def test_methods_of_tensors(tmp_path, line, kind, use):
    module = load(tmp_path, f"a = {line}\nshow(a)\n", HEAD)
    (value,) = shown(module)
    found = "tensor" if isinstance(value, Tensor) else "array" if is_array(value) else None
    assert (found, value is UNKNOWN) == (kind, kind is None)
    assert [each for each, _, _ in module.run.uses if each != "unknown-call"] == ([use] if use else [])


def test_compiled_code_has_no_arrays(tmp_path):
    module = load(tmp_path, "@tf.function\ndef f(a):\n    b = a.numpy()\n    show(b)\nf(x)\n", HEAD)
    assert shown(module) == [UNKNOWN]


@pytest.mark.parametrize("call", ["tf.py_function(f, [x], tf.int64)", "tf.numpy_function(f, [x], tf.int64)"])
def test_a_python_function_runs_eagerly_and_returns_a_tensor(tmp_path, call):
    text = f"def f(a): show(a)\n@tf.function\ndef g(x): return {call}\ng(x)\n"
    module = load(tmp_path, text, HEAD)
    (shows,) = (call for call in module.run.calls if call.name == "z.show")
    assert shows.path.traced_by() is None
    assert "py_function" in [use for use, _, _ in module.run.uses]


@pytest.mark.parametrize("name", ["tf.nest.map_structure", "keras.tree.map_structure", "jax.tree_util.tree_map"])
def test_a_function_is_mapped_over_a_structure(tmp_path, name):
    assert isinstance(value_of(tmp_path, f"{name}(lambda a: tf.nn.relu(a), x)"), Tensor)
