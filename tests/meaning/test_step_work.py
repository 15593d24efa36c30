"""Long steps of a model, and savings by larger batches."""

import pytest
from snippets import IMPORTS, load

from kerascheck.meaning.models.batches import batches_of
from kerascheck.meaning.models.step_work import LAYERS_OF_SMALL_MODELS, LIGHT_LAYERS, LongStep, long_step
from kerascheck.meaning.training.batch_sizes import is_free_to_grow, saved_steps

HEAD = IMPORTS + "import numpy as np\nfrom tensorflow.keras import Input, Sequential, layers\n"


@pytest.mark.parametrize(
    ("layers", "light", "small"),
    [
        ("Input((3,)), layers.Dense(3)", None, None),
        ("layers.Dense(units)", LongStep.UNKNOWN_SIZE, LongStep.UNKNOWN_SIZE),
        ("Input((3,)), layers.Dense(3000)", LongStep.MANY_PARAMETERS, LongStep.MANY_PARAMETERS),
        ("Input((8, 8, 3)), layers.Conv2D(3, 3)", LongStep.HEAVY_LAYERS, None),
        ("Input((8, 3)), layers.MultiHeadAttention(2, 3)", LongStep.UNKNOWN_SIZE, LongStep.UNKNOWN_SIZE),
    ],
)
def test_reasons_for_long_steps(tmp_path, layers, light, small):
    model = load(tmp_path, HEAD + f"units = load()\nSequential([{layers}])").models[-1]
    assert [long_step(model, 9000, each) for each in (LIGHT_LAYERS, LAYERS_OF_SMALL_MODELS)] == [light, small]


@pytest.mark.parametrize(
    ("arguments", "free", "saved"),
    [
        ("np.zeros((640, 3)), np.zeros(640), batch_size=16", True, 30),
        ("np.zeros((640, 3)), np.zeros(640)", True, 10),
        ("np.zeros((640, 3)), np.zeros(640), validation_split=0.5", True, 5),
        ("np.zeros((640, 3)), np.zeros(640), steps_per_epoch=9", False, 10),
        ("np.zeros((640, 3)), np.zeros(640), steps_per_epoch=9, batch_size=16", True, 30),
        ("x, y, batch_size=16", True, None),
    ],
)
def test_batches_that_may_grow(tmp_path, arguments, free, saved):
    module = load(tmp_path, HEAD + f"model = Sequential([layers.Dense(1)])\nmodel.fit({arguments})")
    (fit,) = (call for call in module.run.calls if call.attribute == "fit")
    batch = batches_of(fit)
    assert (is_free_to_grow(module, fit, batch), saved_steps(fit, batch, 64)) == (free, saved)
