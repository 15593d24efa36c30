"""Old names, compared with the installed TensorFlow and Keras."""

import operator

import pytest

from kerascheck.knowledge.runtime import DEPRECATED, ONE_OBJECT


def test_each_shared_object_has_a_new_name():
    assert ONE_OBJECT and all(DEPRECATED[name] is not None for name in ONE_OBJECT)


@pytest.mark.slow
def test_old_and_new_names_refer_to_one_object_as_listed():
    tf = pytest.importorskip("tensorflow")

    def named(dotted):
        return operator.attrgetter(dotted.removeprefix("tensorflow."))(tf)

    same = {name for name, new in DEPRECATED.items() if new is not None and named(name) is named(new)}
    assert same == ONE_OBJECT


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fit_generator", "evaluate_generator", "predict_generator"])
def test_keras_3_models_lack_the_generator_methods(method):
    keras = pytest.importorskip("keras")
    models = [keras.Sequential([keras.layers.Dense(1)]), keras.Model()]
    assert not any(hasattr(each, method) for each in (*models, keras.Sequential, keras.Model))
