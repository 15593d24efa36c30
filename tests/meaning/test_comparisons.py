"""Loops that compare settings of a training."""

import pytest
from snippets import MODEL, load

from kerascheck.meaning.training.comparisons import compared_fits


@pytest.mark.parametrize(
    ("body", "compares"),
    [
        ("model.fit(x, y, batch_size=size); kept[size] = 1", True),
        ("model.fit(x, y, batch_size=size)", False),
        ("t = time.time(); model.fit(x, y, batch_size=size); print(time.time() - t)", True),
        ("model.fit(x, y, batch_size=8); kept[size] = 1", False),
        ("model.fit(x, y, batch_size=len(size)); kept[size] = 1", False),
        ("model.fit(x, y, batch_size=size.shape[0]); kept[size] = 1", False),
        ("model.set_weights(w); model.fit(x, y, batch_size=size); kept[size] = 1", False),
        ("model.compile(size, 'mse'); model.fit(x, y); kept[size] = 1", True),
        ("model.optimizer.learning_rate = size; model.fit(x, y); kept[size] = 1", True),
        ("model = keras.Sequential([]); model.fit(x, y, batch_size=size); kept[size] = 1", False),
    ],
)
def test_compared_settings(tmp_path, body, compares):
    module = load(tmp_path, "import time\n" + MODEL + f"kept = {{}}\nfor size in sizes:\n    {body}")
    assert [each.call.attribute for each in compared_fits(module)] == ["fit"] * compares
