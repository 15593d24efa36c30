"""Reports of two other checkers: kerascheck finds them too, or ``--explain-silence`` gives a reason.

DeepPerf (FSE 2022) checks operations that a loop adds to a graph, maps that could follow batch, and maps without
parallel calls. SonarPython checks recursion, outer variables, new variables and side effects in a tf.function.
"""

import json

import pytest
from command import kerascheck

DATA = """\
import tensorflow as tf
from tensorflow import keras

SPEC = {"x": tf.io.FixedLenFeature([4], tf.float32), "y": tf.io.FixedLenFeature([], tf.float32)}


def parse(records):
    columns = tf.io.parse_example(records, SPEC)
    return columns["x"], columns["y"]


def scale(x, y):
    return x / 255.0, y


files = tf.data.Dataset.list_files("*.tfrecord")
shards = files.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)
chain = shards.map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(64).prefetch(1)
ds = tf.data.TFRecordDataset(names())
ds = ds.map(lambda record: tf.io.parse_single_example(record, SPEC))
ds = ds.map(scale)
ds = ds.batch(32)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(chain, epochs=3)
model.fit(ds, epochs=3)
"""
GRAPH = """\
import tensorflow as tf

x = tf.placeholder(tf.float32)
with tf.Session() as session:
    for i in range(10):
        print(session.run(tf.constant(1.0) + x, {x: 1.0}))
"""
HEAD = "import tensorflow as tf\n@tf.function\n"


def findings(path, *options):
    result = kerascheck("--isolated", "--pedantic", "--output-format", "json", "--exit-zero", *options, path)
    return {(finding["code"], finding["line"]) for finding in json.loads(result.out)["findings"]}


@pytest.mark.parametrize(
    ("line", "code", "reason"),
    [
        # A chain over several statements sets the number of parallel calls.
        (18, "KC101", "the call says how many run in parallel"),
        # It already parses whole batches; no proof shows that the rest works element by element.
        (18, "KC103", "its function is not seen to give the same on a batch as on each example"),
        (18, "KC104", "other rules found nothing to report"),
        # Pedantic: the runtime makes the map parallel.
        (20, "KC101", None),
        (20, "KC104", None),
        (20, "KC103", "its function is not seen to give the same on a batch as on each example"),
        (21, "KC103", None),
    ],
)
def test_maps_reported_by_deepperf_are_found_or_explained(tmp_path, line, code, reason):
    path = tmp_path / "data.py"
    path.write_text(DATA)
    assert ((code, line) in findings(path, "--select", code)) is (reason is None)
    if reason is not None:
        assert reason in " ".join(
            kerascheck("--isolated", "--select", code, "--explain-silence", str(line), path).out.split()
        )


def test_graph_operations_added_in_a_loop_are_explained_as_tensorflow_1(tmp_path):
    path = tmp_path / "graph.py"
    path.write_text(GRAPH)
    assert not findings(path, "--select", "KC1,KC2,KC4")
    assert "written for the graphs of TensorFlow 1" in kerascheck("--isolated", "--explain-silence", "6", path).out


@pytest.mark.parametrize(
    ("code", "text", "line"),
    [
        ("KC214", HEAD + "def f(n):\n    if n > 1: return n * f(n - 1)\n    return n\n", 3),
        (
            "KC215",
            "rate = 0.1\n"
            + HEAD
            + "def f(x): return x * rate\nfor step in range(9):\n    rate = rate / 2\n    f(tf.ones(3))\n",
            4,
        ),
        # A constant of a module never changes.
        ("KC215", "RATE = 0.1\n" + HEAD + "def f(x): return x * RATE\nf(tf.ones(3))\n", None),
        ("KC204", HEAD + "def f(x):\n    v = tf.Variable(1.0)\n    return x * v\nf(tf.ones(3))\n", 4),
        ("KC207", HEAD + "def f(x):\n    print(x)\n    return x\nf(tf.ones(3))\n", 4),
        # Printing only a text shows when the function is traced.
        ("KC207", HEAD + "def f(x):\n    print('hello')\n    return x\nf(tf.ones(3))\n", None),
        ("KC207", HEAD + "def f():\n    with open('a.txt') as file: return file.read()\nf()\n", 4),
        ("KC207", "kept = []\n" + HEAD + "def f(x):\n    kept.append(x)\n    return x\nf(tf.ones(3))\n", 5),
        # A local list does not outlive the call.
        (
            "KC207",
            HEAD + "def f(x):\n    parts = []\n    parts.append(x)\n    return tf.stack(parts)\nf(tf.ones(3))\n",
            None,
        ),
    ],
)
def test_sonarpython_findings_in_compiled_functions_are_found(tmp_path, code, text, line):
    path = tmp_path / "steps.py"
    path.write_text(text)
    assert findings(path, "--select", code) == (set() if line is None else {(code, line)})
