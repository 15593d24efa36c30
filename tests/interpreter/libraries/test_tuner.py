"""Tuners of KerasTuner."""

import textwrap

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.values import ExternalInstance, SequenceValue, constant
from kerascheck.knowledge.classes import KERAS_TUNER_HYPER_PARAMETERS
from kerascheck.knowledge.devices import STRATEGY_SCOPE

HEAD = IMPORTS + "import keras_tuner\nfrom z import items, load, mark, show\nds = tf.data.Dataset.range(3)\n"
BUILD = "def build(hp):\n    mark(hp)\n    return keras.Sequential([])\n"
OWN = f"class Own(keras_tuner.HyperModel):\n{textwrap.indent(BUILD.replace('hp', 'self, hp', 1), '    ')}"


def tuned(folder, text, model="build"):
    """A script with a tuner ``t`` of a model."""
    definition = OWN if "Own" in model else BUILD
    return load(folder, f"{definition}{text.replace('TUNER', f'keras_tuner.RandomSearch({model}, 1')}\n", HEAD)


@pytest.mark.parametrize("model", ["build", "Own()", "lambda hp: build(hp)"])
def test_a_tuner_builds_a_model_at_once(tmp_path, model):
    module = tuned(tmp_path, "TUNER)", model)
    given = [call.first for call in module.run.calls if call.name == "z.mark"]
    assert [value.name for value in given] == [KERAS_TUNER_HYPER_PARAMETERS]


@pytest.mark.parametrize(
    ("argument", "entered"),
    [("", False), (", distribution_strategy=load()", True), (", distribution_strategy=None", False)],
)
def test_a_model_is_built_in_the_scope_of_the_strategy(tmp_path, argument, entered):
    module = tuned(tmp_path, f"TUNER{argument})")
    (call,) = (call for call in module.run.calls if call.name == "z.mark")
    managers = [manager.value.name for manager in call.path.managers(within="program")]
    assert managers == [STRATEGY_SCOPE] * entered


@pytest.mark.parametrize("model", ["build", "Own()", "load"])
def test_a_search_trains_the_model(tmp_path, model):
    module = tuned(tmp_path, "t = TUNER)\nt.search(ds, epochs=3)", model)
    (fit,) = (call for call in module.run.calls if call.name == "keras.Model.fit")
    assert constant(fit.given("epochs")) == 3
    assert [sink.role for sink in module.run.sinks] == ["train"]


def test_a_search_trains_through_the_fit_of_the_hypermodel(tmp_path):
    fit = "class Mine(Own):\n    def fit(self, hp, model, x, **rest): show([hp, model, x, rest])\n"
    search = "t = keras_tuner.RandomSearch(Mine(), 1)\nt.search(ds, epochs=3)\n"
    module = load(tmp_path, OWN + fit + search, HEAD)
    hp, model, data, rest = shown(module)[0].items
    assert (hp.name, model.name) == (KERAS_TUNER_HYPER_PARAMETERS, "keras.Sequential")
    assert data.stage.is_source and list(rest.items) == ["epochs"]
    assert not [call for call in module.run.calls if call.name == "keras.Model.fit"]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("t.get_best_models(2)[0]", "keras.Sequential"),
        ("t.get_best_models()[n]", "keras.Sequential"),
        ("t.hypermodel.build(hp)", "keras.Sequential"),
        ("load().get_best_models()[0]", None),
    ],
)
def test_the_best_models_equal_the_built_model(tmp_path, call, name):
    (value,) = shown(tuned(tmp_path, f"t = TUNER)\nshow({call})"))
    assert (value.name if isinstance(value, ExternalInstance) and value.name.startswith("keras.") else None) == name


def test_the_number_of_best_models_is_unknown(tmp_path):
    (value,) = shown(tuned(tmp_path, "t = TUNER)\nshow(t.get_best_models())"))
    assert isinstance(value, SequenceValue) and value.open
