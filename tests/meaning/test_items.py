"""The number of items in an expression."""

import libcst as cst
import pytest
from snippets import MODEL, load

from kerascheck.meaning.program.items import is_one_item, is_slice_by_iteration
from kerascheck.meaning.training.repeated_training import repeated_calls


@pytest.mark.parametrize(
    ("body", "slice_of_turn"),
    [
        ("model.fit(x[i : i + 32])", True),
        ("a = x[i : i + 32]\n    model.fit(a)", True),
        ("a, b = x[i : i + 32], y[i : i + 32]\n    model.fit(a)", True),
        ("model.fit(x[:i])", False),
        ("model.fit(x[i:])", False),
        ("model.fit(x[i - 99 : i])", False),
        ("a = x[:i]\n    model.fit(a)", False),
        ("model.fit(np.delete(x, i))", False),
        ("model.fit(x)", False),
    ],
)
def test_slices_that_start_at_the_iteration(tmp_path, body, slice_of_turn):
    (each,) = repeated_calls(load(tmp_path, f"for i in range(0, n, 32):\n    {body}", MODEL), "fit")
    assert is_slice_by_iteration(each.call.arguments.node(0, "x").value, each.loop) is slice_of_turn


@pytest.mark.parametrize(
    ("written", "single"),
    [
        ("x[None]", True),
        ("x[np.newaxis, :, :]", True),
        ("x[..., np.newaxis]", False),
        ("x[:, None]", False),
        ("np.expand_dims(x, 0)", True),
        ("tf.expand_dims(x, axis=0)", True),
        ("np.expand_dims(x, axis=-1)", False),
        ("np.expand_dims(x, 3)", False),
        ("x.reshape(1, -1)", True),
        ("x.reshape((1, 4))", True),
        ("x.reshape(-1, 1)", False),
        ("np.array([x])", True),
        ("np.array([[a, b]])", False),
        ("np.array(x)", False),
        ("np.vstack([x[None]])", True),
        ("np.vstack([x])", False),
        ("np.vstack([x[None], y[None]])", False),
        ("x", False),
    ],
)
def test_a_batch_of_one(tmp_path, written, single):
    module = load(tmp_path, f"import numpy as np\nimport tensorflow as tf\nbatch = {written}\n")
    assign = next(node for node in module.tree.descendants(module.tree.root) if isinstance(node, cst.Assign))
    assert is_one_item(module.tree, assign.value) is single
