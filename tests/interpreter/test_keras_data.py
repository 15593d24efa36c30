"""Data that only Keras models accept."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.keras_data import flow_call, is_keras_data, is_py_dataset

HEAD = IMPORTS + (
    "from z import flag, load, show\ngen = keras.preprocessing.image.ImageDataGenerator()\n"
    "class Data(keras.utils.PyDataset): pass\nclass Old(keras.utils.Sequence): pass\nclass Derived(Data): pass\n"
    "class Plain: pass\n"
)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("gen.flow(x, y)", "flow"),
        ("gen.flow_from_directory('a')", "flow"),
        ("gen.flow_from_dataframe(d)", "flow"),
        ("gen.standardize(x)", None),
        ("gen", None),
        ("Data()", "dataset"),
        ("Old()", "dataset"),
        ("Derived()", "dataset"),
        ("Plain()", None),
        ("Data", None),
        ("load()", None),
        ("[Data()]", None),
        ("tf.data.Dataset.range(3)", None),
    ],
)
def test_image_iterators_and_py_datasets_are_keras_data(tmp_path, value, kind):
    (found,) = shown(load(tmp_path, f"show({value})\n", HEAD))
    assert (flow_call(found) is not None, is_py_dataset(found)) == (kind == "flow", kind == "dataset")
    assert is_keras_data(found) is (kind is not None)


def test_one_of_several_values_suffices(tmp_path):
    (value,) = shown(load(tmp_path, "show(Data() if flag else load())\n", HEAD))
    assert is_keras_data(value)


def test_flow_call_is_the_call_that_creates_the_iterator(tmp_path):
    (value,) = shown(load(tmp_path, "show(gen.flow(x, batch_size=8))\n", HEAD))
    assert flow_call(value).attribute == "flow"


def test_none_is_no_keras_data():
    assert not is_keras_data(None)
