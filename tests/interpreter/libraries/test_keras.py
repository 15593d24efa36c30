"""Models, layers and callbacks of Keras."""

import pytest
from snippets import MODEL, load, shown

from kerascheck.interpreter.values import UNKNOWN, Constant, Tensor

HEAD = MODEL + "from z import items, load, show\nds, other = tf.data.Dataset.range(3), tf.data.Dataset.range(5)\n"


def roles(folder, text):
    return [sink.role for sink in load(folder, f"{text}\n", HEAD).run.sinks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model.fit(ds)", ["train"]),
        ("model.fit(x=ds, validation_data=other)", ["train", "validation"]),
        ("model.fit(ds, None, 32, 1, 'auto', None, 0.0, other)", ["train", "validation"]),
        ("model.fit([ds, other])", ["train", "train"]),
        ("model.fit(ds, callbacks=[load(other)])", ["escape", "train"]),
        ("model.fit(ds, callbacks=[other])", ["train", "escape"]),
        ("model.evaluate(ds)", ["evaluate"]),
        ("model.predict(ds)", ["predict"]),
        ("keras.layers.Normalization().adapt(ds)", ["adapt"]),
        ("undefined.fit(ds)", ["train"]),
        ("load().fit(ds)", ["train"]),
        ("load().fit(items)", []),
        ("class M(keras.Model): pass\nM().fit(ds)", ["train"]),
        ("class M(keras.Model):\n    def fit(self, d): super().fit(d)\nM().fit(ds)", ["train"]),
        ("class M(keras.Model):\n    def save(self, d): super().save(d)\nM().save(ds)", []),
    ],
)
def test_methods_of_a_model_consume_datasets(tmp_path, text, expected):
    assert roles(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("model.compile(loss=lambda a, b: show(a))", "loss"),
        ("model.compile('adam', lambda a, b: show(a))", "loss"),
        ("model.compile(metrics=[lambda a, b: show(a)])", "metric"),
        ("model.compile(weighted_metrics=[lambda a, b: show(a)])", "metric"),
        ("undefined.compile(loss=lambda a, b: show(a))", "loss"),
        ("keras.layers.Lambda(lambda a: show(a))", "Lambda"),
        ("keras.layers.Lambda(lambda a, n: show(a), arguments={'n': 3})", "Lambda"),
    ],
)
def test_keras_compiles_losses_and_metrics(tmp_path, text, how):
    module = load(tmp_path, f"{text}\n", HEAD)
    assert isinstance(shown(module)[0], Tensor)
    assert {call.path.traced_by() for call in module.run.calls if call.name == "z.show"} == {how}


def test_the_arguments_of_a_lambda_layer_reach_its_function(tmp_path):
    text = "keras.layers.Lambda(lambda a, n: show(n), arguments={'n': 3})\n"
    assert shown(load(tmp_path, text, HEAD)) == [Constant(3)]


def test_a_callback_hook_has_a_labelled_root_path(tmp_path):
    text = "with load():\n    keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: show(epoch))\n"
    (call,) = (call for call in load(tmp_path, text, HEAD).run.calls if call.name == "z.show")
    assert (call.path.root.label, call.path.traced_by()) == ("on_epoch_end", None)
    assert list(call.path.managers(within="program")) == []


def test_a_model_keeps_its_added_layers(tmp_path):
    text = "m = keras.Sequential()\nm.add(keras.layers.Dense(1))\nm.add(keras.layers.ReLU())\nshow(m)\n"
    (value,) = shown(load(tmp_path, text, HEAD))
    names = [layer.name for layer in value.attributes["layers added"].items]
    assert names == ["keras.layers.Dense", "keras.layers.ReLU"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("class L(keras.layers.Layer):\n    def call(self, x): show(super().call(x))\nL()(tf.zeros(3))", Tensor),
        ("class L(keras.layers.Layer):\n    def build(self, s): show(super().build(s))", None),
    ],
)
def test_results_of_methods_of_a_keras_base_class(tmp_path, text, kind):
    (value,) = shown(load(tmp_path, f"{text}\n", HEAD))
    assert value is UNKNOWN if kind is None else isinstance(value, kind)


def test_a_layer_from_a_config_has_unknown_arguments(tmp_path):
    (value,) = shown(load(tmp_path, "show(keras.layers.Dense.from_config(items))\n", HEAD))
    assert (value.name, value.call.given("units")) == ("keras.layers.Dense", UNKNOWN)


def test_keras_calls_getitem_of_a_dataset_of_another_module(tmp_path):
    data = "from tensorflow import keras\nfrom z import show\nclass D(keras.utils.Sequence):\n"
    files = {
        "train.py": f"{HEAD}from data import D\nmodel.fit(D())\n",
        "data.py": f"{data}    def __getitem__(self, index): show(index)\n",
    }
    (call,) = (call for call in load(tmp_path, files).run.calls if call.name == "z.show")
    assert call.first is UNKNOWN and "handed" in [path.kind for path in call.path.way(within="program")]
