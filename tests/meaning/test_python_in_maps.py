"""Python in functions of datasets."""

import pytest
from snippets import MODEL, load

from kerascheck.meaning.graph.python_in_maps import Once, python_in_maps

HEAD = "import random\nimport numpy as np\n" + MODEL + "seen, count = [], 0\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return x + random.random()", [(Once.COMPUTES, False)]),
        ("return x + np.random.rand()", [(Once.COMPUTES, False)]),
        ("np.random.seed(1); return x", []),
        ("print(x); return x", [(Once.PRINTS, True)]),
        ("print('a'); return x", [(Once.PRINTS, False)]),
        ("print('tracing'); return x", []),
        ("print('tracing', x); return x", [(Once.PRINTS, True)]),
        ("seen.append(x); return x", [(Once.COMPUTES, True)]),
        ("own = []; own.append(x); return x", []),
        ("global count; count += 1; return x", [(Once.COUNTS, False)]),
        ("return tf.random.uniform([])", []),
    ],
)
def test_effects_that_happen_once(tmp_path, body, found):
    module = load(tmp_path, HEAD + f"def f(x):\n    {body}\nmodel.fit(tf.data.Dataset.range(99).map(f))")
    assert [(each.once, each.shows_tensor) for each in python_in_maps(module)] == found


def test_a_text_for_an_error_appears_once(tmp_path):
    function = "def f(x):\n    try: return g(x)\n    except ValueError: print(x)\n"
    module = load(tmp_path, HEAD + function + "model.fit(tf.data.Dataset.range(99).map(f))")
    assert list(python_in_maps(module)) == []


def test_a_look_at_a_dataset_is_ignored(tmp_path):
    module = load(tmp_path, HEAD + "for x in tf.data.Dataset.range(9).map(lambda x: x + random.random()): print(x)")
    assert list(python_in_maps(module)) == []
