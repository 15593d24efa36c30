"""NumPy, and libraries around it, on arrays."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.values import ExternalInstance, SequenceValue, Tensor

HEAD = (
    IMPORTS
    + "import time\nimport numpy as np\nfrom sklearn.model_selection import KFold\nfrom z import load, n, show\n"
)


@pytest.mark.parametrize(
    ("traced", "call", "kind"),
    [
        (False, "np.log(x)", ExternalInstance),
        (True, "np.log(x)", Tensor),
        (False, "np.log(3)", ExternalInstance),
        (True, "np.log(3)", ExternalInstance),
        (True, "np.stack([x])", Tensor),
    ],
)
def test_numpy_functions_of_tensors(tmp_path, traced, call, kind):
    decorator = "@tf.function\n" if traced else ""
    module = load(tmp_path, f"{decorator}def f(x):\n    a = {call}\n    show(a)\nf(tf.zeros(3))\n", HEAD)
    assert isinstance(shown(module)[0], kind)
    assert ("numpy" in [use for use, _, _ in module.run.uses]) is ("x" in call)


@pytest.mark.parametrize(
    ("splitter", "folds"),
    [
        ("KFold()", 5),
        ("KFold(3)", 3),
        ("KFold(n_splits=4)", 4),
        ("KFold(n)", None),
        ("KFold(0)", None),
        ("KFold(1000)", 1000),
        ("KFold(1001)", None),
        ("load()", None),
    ],
)
def test_a_splitter_yields_one_pair_per_fold(tmp_path, splitter, folds):
    (value,) = shown(load(tmp_path, f"show({splitter}.split(load()))\n", HEAD))
    known = isinstance(value, SequenceValue) and not value.open
    assert (len(value.items) if known else None) == folds
    assert not known or [len(pair.items) for pair in value.items[:1]] == [2]


@pytest.mark.parametrize(
    ("times", "elapsed"),
    [("[time.time(), time.time()]", True), ("np.array([time.time()])", True), ("[1, 2]", False), ("load()", False)],
)
def test_the_differences_of_readings_are_times(tmp_path, times, elapsed):
    module = load(tmp_path, f"show(np.diff({times}))\n", HEAD)
    assert (shown(module)[0].name == "time.elapsed") is elapsed
    assert ("time.collected" in [call.name for call in module.run.calls]) is elapsed
