"""Time steps of layers, and wrappers over them."""

from math import inf

import pytest
from snippets import IMPORTS, load

from kerascheck.meaning.models.time_steps import (
    lacks_time_axis,
    most_time_steps,
    needless_wrappers,
    unrolled_convolutions,
)

HEAD = IMPORTS + "import numpy as np\nfrom tensorflow.keras import Input, Sequential, layers\n"
DENSE = "layers.TimeDistributed(layers.Dense(3))"


@pytest.mark.parametrize(
    ("models", "most", "lacks"),
    [
        ("Sequential([Input((20, 3)), layers.LSTM(3)])", 20, False),
        ("Sequential([Input((None, 3)), layers.LSTM(3)])", inf, False),
        ("Sequential([layers.LSTM(3)])", inf, False),
        ("Sequential([Input((3,)), layers.LSTM(3)])", 3, True),
        ("layers.LSTM(3)", inf, False),
    ],
)
def test_steps_into_a_layer(tmp_path, models, most, lacks):
    module = load(tmp_path, HEAD + models)
    (made,) = (call for call in module.run.calls if call.name == "keras.layers.LSTM")
    assert (most_time_steps(module, made), lacks_time_axis(module, made)) == (most, lacks)


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (f"Sequential([Input((20, 3)), {DENSE}])", (20, True)),
        (f"Sequential([Input((None, 3)), {DENSE}])", (inf, False)),
        (f"model = Sequential([Input((None, 3)), {DENSE}])\nmodel.fit(np.zeros((9, 5, 3)), y)", (inf, True)),
        (f"Sequential([Input((1, 3)), {DENSE}])", None),
        ("Sequential([Input((20, 3)), layers.TimeDistributed(layers.LSTM(3))])", None),
        ("Sequential([Input((20, 3)), layers.TimeDistributed(layers.Softmax(axis=-1))])", None),
    ],
)
def test_needless_wrappers(tmp_path, model, found):
    facts = [(each.most_steps, each.steps_known) for each in needless_wrappers(load(tmp_path, HEAD + model))]
    assert facts == ([found] if found else [])


@pytest.mark.parametrize(
    ("layer", "least", "found"),
    [("layers.Conv2D(3, 3)", 20, [20]), ("layers.Conv2D(3, 3)", 21, []), ("layers.Dense(3)", 20, [])],
)
def test_unrolled_convolutions(tmp_path, layer, least, found):
    model = f"Sequential([Input((20, 8, 8, 3)), layers.TimeDistributed({layer})])"
    module = load(tmp_path, HEAD + model)
    assert [steps for _, steps in unrolled_convolutions(module, least)] == found
