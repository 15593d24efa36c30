"""Images that a loop reads before the model is trained."""

from math import inf

import pytest
from snippets import MODEL, load

from kerascheck.meaning.data.read_images import images_read_first

HEAD = "import cv2\nimport numpy as np\n" + MODEL + "x = []\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("for n in range(9): x.append(cv2.imread(n))\nmodel.fit(np.array(x), y, epochs=7)", ("fit", 9, 7, inf, False)),
        ("for n in range(9): x.append(cv2.resize(cv2.imread(n), (64, 32)))\nmodel.fit(np.array(x), y)", ("fit", 9, 1, 64, False)),
        ("for n in range(9): x.append(cv2.resize(cv2.imread(n), (64, n())))\nmodel.fit(np.array(x), y)", ("fit", 9, 1, inf, False)),
        ("for n in range(9): x.append(cv2.imread(n))\nnp.save('x', np.array(x))\nmodel.train_on_batch(np.array(x), y)", ("train_on_batch", 9, None, inf, True)),
        ("for n in range(9): x.append(cv2.imread(n))\nmodel.fit(tf.data.Dataset.from_tensor_slices(np.array(x)))", ("dataset", 9, None, inf, False)),
        ("for n in range(9): model.fit(np.array([cv2.imread(n)]), y)", None),
        ("def read():\n    for n in range(9): yield cv2.imread(n)\nmodel.fit(read(), y)", None),
        ("for n in range(9): x.append(cv2.imread(n))\nmodel.predict(np.array(x))", None),
    ],
)  # fmt: skip
def test_images_read_before_training(tmp_path, lines, expected):
    module = load(tmp_path, HEAD + lines)
    found = [
        (
            getattr(each.consumer, "attribute", "dataset"),
            each.count,
            each.epochs,
            each.side(module),
            each.is_saved(module),
        )
        for each in images_read_first(module)
    ]
    assert found == ([expected] if expected else [])
