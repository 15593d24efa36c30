"""Fixed notebooks in a real Jupyter: they run, with the same result."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from command import kerascheck

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        None in map(find_spec, ("nbconvert", "ipykernel", "tensorflow")),
        reason="needs Jupyter and TensorFlow: pip install kerascheck[test]",
    ),
]
CELLS = [
    ("markdown", "# Clicks\n\n`ds.map(f)` is no code here."),
    ("code", "%env TF_CPP_MIN_LOG_LEVEL=3\nimport numpy as np\nimport tensorflow as tf\nimport keras\n\nkeras.utils.set_random_seed(1)\ntf.config.run_functions_eagerly(True)"),
    ("code", "!echo rows of clicks\nrows = np.random.default_rng(0).random((512, 4, 6)).astype('float32')\nclicks = rows.mean(axis=(1, 2))"),
    ("code", "def scale(row, label):\n    return row * 2.0 - 1.0, label\n\n\n%time train = tf.data.Dataset.from_tensor_slices((rows, clicks))\ntrain = train.map(scale).batch(64)"),
    ("code", "model = keras.Sequential([\n    keras.layers.TimeDistributed(keras.layers.Dense(8, activation='relu')),\n    keras.layers.Flatten(),\n    keras.layers.Dense(1),\n])\nmodel.compile('adam', 'mse')"),
    ("code", "history = model.fit(train, epochs=3, verbose=0)\nprint(f\"loss: {history.history['loss'][-1]:.6f}\")"),
]  # fmt: skip


def notebook():
    cells = [
        {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
        | ({"execution_count": None, "outputs": []} if kind == "code" else {})
        for kind, text in CELLS
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


def executed(path):
    """The output of a notebook's cells when Jupyter runs it."""
    after = path.with_suffix(".executed.ipynb")
    command = ["-m", "nbconvert", "--to", "notebook", "--execute", "--output", after.name, path.name]
    environment = {**os.environ, "JUPYTER_PLATFORM_DIRS": "1", "CUDA_VISIBLE_DEVICES": ""}
    ran = subprocess.run(
        [sys.executable, *command], cwd=path.parent, env=environment, capture_output=True, text=True, timeout=400
    )
    assert ran.returncode == 0, ran.stderr
    outputs = [output for cell in json.loads(after.read_text())["cells"] for output in cell.get("outputs", ())]
    return "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")


def loss(said):
    (number,) = re.findall(r"^loss: (\S+)", said, re.MULTILINE)
    return float(number)


@pytest.mark.parametrize("rules, extra", [({"KC103"}, []), ({"KC103", "KC209", "KC309"}, ["--unsafe-fixes"])])
def test_a_fixed_notebook_runs_and_ends_with_the_same_loss(tmp_path, rules, extra):
    path = tmp_path / "clicks.ipynb"
    path.write_text(json.dumps(notebook(), indent=1))
    before = executed(path)
    ran = kerascheck("--isolated", "--select", "KC103,KC209,KC309", "--fix", *extra, "--output-format", "json", path)
    assert set(re.findall(r"KC\d+", ran.err)) == rules, ran
    codes = ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"]]
    assert "train.batch(64).map(scale)" in codes[3] and "%time train =" in codes[3]
    assert ("TimeDistributed" in codes[4]) == ("KC209" not in rules)
    assert ("run_functions_eagerly" in codes[1]) == ("KC309" not in rules)
    assert codes[1].startswith("%env ") and codes[2] == CELLS[2][1]
    after = executed(path)
    assert "rows of clicks" in before and "rows of clicks" in after
    assert loss(after) == pytest.approx(loss(before), rel=1e-3)
