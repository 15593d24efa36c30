"""Kinds of values: number, string, array, clock reading, symbolic tensor."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.value_kinds import is_array, is_number, is_symbolic, is_text, reading_of

HEAD = IMPORTS + "import time\nimport numpy as np\nimport cv2\nfrom z import flag, load, show\ni = keras.Input((3,))\n"


def value_of(folder, text):
    (value,) = shown(load(folder, f"show({text})\n", HEAD))
    return value


@pytest.mark.parametrize(
    ("text", "kind"),
    [("3", True), ("3.5", True), ("int(load())", True), ("float(load())", True), ("load()", False), ("[3]", False)],
)
def test_numbers(tmp_path, text, kind):
    assert is_number(value_of(tmp_path, text)) is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("'a'", True),
        ("str(load())", True),
        ("f'{load()}'", True),
        ("'a' if flag else str(load())", True),
        ("'a' if flag else 3", False),
        ("3", False),
        ("b'a'", False),
        ("['a']", False),
        ("load()", False),
    ],
)
def test_a_text_is_a_text_in_every_branch(tmp_path, text, kind):
    assert is_text(value_of(tmp_path, text)) is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("np.zeros(3)", True),
        ("cv2.imread('a')", True),
        ("keras.utils.to_categorical(load())", True),
        ("np.zeros(3) if flag else None", True),
        ("load()", False),
        ("[1, 2]", False),
        ("tf.zeros(3)", False),
    ],
)
def test_a_value_is_an_array_if_one_branch_may_return_one(tmp_path, text, kind):
    assert is_array(value_of(tmp_path, text)) is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("time.time()", True),
        ("time.perf_counter()", True),
        ("[time.time(), time.time()]", True),
        ("np.array([time.time()])", True),
        ("[time.time(), 3]", False),
        ("[]", False),
        ("time.sleep(1)", False),
        ("load()", False),
    ],
)
def test_readings_of_a_clock(tmp_path, text, kind):
    assert (reading_of(value_of(tmp_path, text)) is not None) is kind


def test_the_reading_of_a_list_is_its_last_one(tmp_path):
    value = value_of(tmp_path, "[time.time(), time.perf_counter()]")
    assert reading_of(value) is value.items[1]
    assert reading_of(None) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("i", True),
        ("keras.layers.Dense(3)(i)", True),
        ("i + 1", True),
        ("tf.nn.relu(i)", True),
        ("[i, 3]", True),
        ("{'a': i}", True),
        ("[[i]]", True),
        ("[[[i]]]", False),
        ("{'a': {'b': i}}", True),
        ("{'a': {'b': {'c': i}}}", False),
        ("i if flag else None", True),
        ("keras.applications.VGG16().output", True),
        ("keras.applications.VGG16().layers", False),
        ("keras.layers.Dense(3)", False),
        ("tf.zeros(3)", False),
        ("load()", False),
    ],
)
def test_symbols_of_functional_models(tmp_path, text, kind):
    assert is_symbolic(value_of(tmp_path, text)) is kind
