"""The parameters of the methods of Keras models, against the libraries that are installed, and as calls are read by them."""

import inspect
from importlib.util import find_spec

import pytest
from snippets import IMPORTS, load, written

from kerascheck.knowledge.signatures import PARAMETERS
from kerascheck.knowledge.runtime import Runtime
from kerascheck.interpreter.values import UNKNOWN, constant

HEAD = IMPORTS + "model = keras.Sequential([keras.layers.Dense(1)])\n"


@pytest.mark.slow
@pytest.mark.parametrize(("library", "release"), [("keras", (3, 0)), ("tf_keras", (2, 6))])
def test_the_installed_library_has_these_parameters(library, release):
    if find_spec(library) is None:
        pytest.skip(f"needs {library}")
    model = pytest.importorskip(library).Model
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    for method, parameters in PARAMETERS[release].items():
        there = [name for name, parameter in inspect.signature(getattr(model, method)).parameters.items() if parameter.kind in kinds]
        assert tuple(there[1:]) == parameters, method


def test_versions_stand_newest_first_and_agree_on_what_they_know():
    assert list(PARAMETERS) == sorted(PARAMETERS, reverse=True)
    for methods in PARAMETERS.values():
        for parameters in methods.values():
            known = [name for name in parameters if name is not None]
            assert len(known) == len(set(known))


@pytest.mark.parametrize(
    ("runtime", "method", "position", "name"),
    [
        (Runtime(), "compile", 2, "loss_weights"),
        (Runtime((2, 21), 2), "compile", 2, "metrics"),
        (Runtime((2, 3), 2), "compile", 2, "metrics"),
        (Runtime((2, 3), 2), "compile", 3, None),
        (Runtime((2, 1), 2, multi_backend_keras=True), "fit", 3, "epochs"),
        (Runtime(), "fit_generator", 2, "epochs"),
        (Runtime((1, 15), 2), "fit_generator", 1, None),
    ],
)
def test_each_version_has_its_own(runtime, method, position, name):
    assert runtime.parameters_of(method)[position] == name


def test_other_methods_have_no_positions():
    assert Runtime().parameters_of("summary") == ()


@pytest.mark.parametrize(
    ("call", "parameter", "keras", "given"),
    [
        ("fit(x, y, 16, 3)", "batch_size", "3", 16),
        ("fit(x, y, 16, 3)", "epochs", "3", 3),
        ("fit(x, y, nb_epoch=3)", "epochs", "2", 3),
        ("fit(x, y, epochs=3)", "batch_size", "3", None),
        ("fit_generator(x, 100, 10)", "batch_size", "3", None),
        ("fit_generator(x, 100, 10)", "epochs", "3", 10),
        ("fit_generator(x, 100, 10)", "steps_per_epoch", "2", 100),
        ("predict(x, 16)", "batch_size", "3", 16),
        ("evaluate(x, y, 16)", "batch_size", "2", 16),
        ("compile('adam', 'mse', 1, 2)", "metrics", "3", 2),
        ("compile('adam', 'mse', 1, 2)", "metrics", "2", 1),
        ("compile('adam', 'mse', 1, 2)", "loss_weights", "3", 1),
        ("fit(*load())", "epochs", "3", UNKNOWN),
        ("fit(x, **load())", "epochs", "3", UNKNOWN),
    ],
)
def test_what_a_call_gives(tmp_path, call, parameter, keras, given):
    module = load(tmp_path, f"model.{call}\n", HEAD, keras=keras)
    (found,) = [each for each in module.run.calls if each.attribute == call.partition("(")[0]]
    value = found.given(parameter)
    assert (value if value in (None, UNKNOWN) else constant(value)) == given
    node = found.written(parameter)
    assert node is None if given in (None, UNKNOWN) else written(module, node.value) == str(given)


def test_a_position_whose_parameter_is_not_known_may_give_any(tmp_path):
    module = load(tmp_path, "model.fit_generator(x, 100)\nmodel.compile('adam', 'mse', 1, 2)\n", HEAD, target_tensorflow="2.1")
    fit, compiled = [each for each in module.run.calls if each.attribute in ("fit_generator", "compile")]
    assert fit.given("steps_per_epoch") is UNKNOWN and compiled.given("loss_weights") is UNKNOWN
    assert fit.given("callbacks") is None and constant(compiled.given("metrics")) == 1


@pytest.mark.parametrize(("keras", "given", "found"), [("2", "[M()]", 1), ("2", "None, [M()]", 0), ("3", "[M()]", 0), ("3", "None, [M()]", 1)])
def test_metrics_stand_where_the_version_has_them(tmp_path, keras, given, found):
    cls = "class M(keras.metrics.Metric):\n    def update_state(self, *args):\n        pass\n"
    module = load(tmp_path, f"{cls}model.compile('adam', 'mse', {given})\n", HEAD, keras=keras)
    assert len(module.program.compiled_metrics) == found


def test_validation_data_are_known_by_their_position(tmp_path):
    module = load(tmp_path, "train, held = tf.data.Dataset.range(9), tf.data.Dataset.range(3)\nmodel.fit(train, None, None, 3, 1, None, 0.0, held)\n", HEAD)
    assert [role for _, role in module.pipelines.sinks] == ["train", "validation"]
