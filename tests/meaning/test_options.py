"""Options of datasets, and their cost."""

import pytest
from snippets import MODEL, load

from kerascheck.meaning.data.options import Lost, lost_optimizations

HEAD = MODEL + "o = tf.data.Options()\nread = tf.io.read_file\n"
MAP = "tf.data.Dataset.list_files('*').map(read)"


@pytest.mark.parametrize(
    ("setting", "chain", "expected"),
    [
        ("o.autotune.enabled = False", MAP, (Lost.PARALLEL_MAP, "map")),
        ("o.autotune.enabled = True", MAP, None),
        ("o.experimental_optimization.inject_prefetch = False", MAP, (Lost.BUFFER, "map")),
        ("o.experimental_optimization.inject_prefetch = False", f"{MAP}.prefetch(1)", None),
        ("o.experimental_optimization.map_parallelization = False", "tf.data.Dataset.list_files('*').map(unknown)", None),
        ("o.threading.private_threadpool_size = 1", MAP, (Lost.THREADS, "map")),
        ("o.threading.private_threadpool_size = 1", "tf.data.Dataset.list_files('*').batch(8, num_parallel_calls=4)", (Lost.THREADS, "batch")),
        ("o.threading.private_threadpool_size = 4", MAP, None),
        ("if debug: o.autotune.enabled = False", MAP, None),
    ],
)  # fmt: skip
def test_cost_of_options(tmp_path, setting, chain, expected):
    module = load(tmp_path, HEAD + f"{setting}\nmodel.fit({chain}.with_options(o))")
    found = [(each.what, each.place.name) for each in lost_optimizations(module)]
    assert found == ([expected] if expected else [])


def test_options_of_other_datasets_cost_nothing(tmp_path):
    module = load(tmp_path, HEAD + f"o.autotune.enabled = False\nmodel.predict({MAP}.with_options(o))")
    assert list(lost_optimizations(module)) == []
