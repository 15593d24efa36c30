"""Results that each step reads back."""

import pytest
from snippets import STEP, load

from kerascheck.meaning.training.read_results import results_read_back

HEAD = (
    "import numpy as np\n"
    + STEP.replace("def step", "@tf.function\ndef step")
    + "    return loss\nmetric = keras.metrics.Mean()\nshown = load()\n"
)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("print(step(x))", 1),
        ("print(step(x).numpy())", 1),
        ("step(x); print(metric.result())", 1),
        ("step(x); shown.set_postfix(loss=metric.result())", 1),
        ("step(x); print(opt.iterations)", 1),
        ("np.shape(step(x))", 0),
        ("np.mean(step(x))", 1),
        ("step(x); print(x)", 0),
        ("step(x); print('a')", 0),
        ("a = step(x); b = shown.go(a.numpy())", 0),
        ("a = float(step(x)); print(tf.constant(1.0) + a)", 2),
    ],
)
def test_results_read_in_each_step(tmp_path, line, count):
    module = load(tmp_path, HEAD + f"for x in tf.data.Dataset.range(900):\n    {line}")
    assert sum(len(each.calls) for each in results_read_back(module, 50)) == count


def test_reads_in_the_file_of_the_loop_come_first(tmp_path):
    files = {
        "train.py": HEAD
        + "import helper\nfor x in tf.data.Dataset.range(900):\n    a = step(x)\n    helper.show(a)\n    print(a)\n",
        "helper.py": "def show(a):\n    print(a)\n",
    }
    (found,) = results_read_back(load(tmp_path, files), 50)
    assert [call.module.path.name for call in found.calls] == ["train.py", "helper.py"]


@pytest.mark.parametrize(("device", "count"), [("cpu:0", 0), ("gpu:0", 1)])
def test_steps_on_the_cpu_wait_for_nothing(tmp_path, device, count):
    text = f"with tf.device('{device}'):\n    for x in tf.data.Dataset.range(900): print(step(x))"
    assert len(list(results_read_back(load(tmp_path, HEAD + text), 50))) == count
