"""The whole command on small trainings with known causes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "verify" / "scripts"

pytestmark = [pytest.mark.slow, pytest.mark.alone]


def why(script, *options, environment=None):
    return subprocess.run(
        [sys.executable, "-m", "kerascheck", "why", str(script), "--python", sys.executable, *options],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )


def answer(script, *options, environment=None):
    result = why(script, "--output-format", "json", *options, environment=environment)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def line_of(script, text):
    return next(number for number, line in enumerate(script.read_text().splitlines(), 1) if text in line)


def test_a_serial_map_is_named():
    script = SCRIPTS / "stateful_serial_map.py"
    report = answer(script)
    assert report["parts"][0]["part"] == "input"
    assert report["parts"][0]["cause"]["line"] == line_of(script, ".map(")
    assert report["advice"][0]["findings"][0]["code"] == "KC101"


def test_an_eager_step_is_named():
    report = answer(SCRIPTS / "eager_loop.py")
    assert report["parts"][0]["part"] == "eager"
    assert report["advice"][0]["findings"][0]["code"] == "KC401"


def test_a_compute_bound_training_gets_no_input_advice():
    report = answer(SCRIPTS / "compute_bound.py")
    assert report["parts"][0]["part"] == "compute"
    # On a busy machine the share of the input grows, but only parts larger than another one can halve a step.
    assert all(advice["part"] == "compute" or (advice["largest_gain"] or 1) <= 2 for advice in report["advice"])
    advised = [finding for advice in report["advice"] for finding in advice["findings"]]
    assert "KC101" in [finding["code"] for finding in (*report["matters_little"], *advised)]


def test_the_line_of_a_generator_that_no_rule_covers_is_named(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import time\n"
        "import numpy as np\n"
        "import keras\n"
        "class Rows(keras.utils.PyDataset):\n"
        "    def __len__(self):\n"
        "        return 100\n"
        "    def __getitem__(self, index):\n"
        "        time.sleep(0.02)\n"
        "        return np.ones((8, 4), 'float32'), np.ones((8, 1), 'float32')\n"
        "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\n"
        "model.compile('sgd', 'mse')\n"
        "model.fit(Rows(), epochs=3, verbose=0)\n"
    )
    report = answer(script)
    assert report["parts"][0]["part"] == "input"
    assert report["parts"][0]["cause"]["line"] == 8


BETWEEN_EPOCHS = """\
import time
import numpy as np
import keras
class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        for row in rows[:40]:
            self.model.predict(row[None], verbose=0)
class Slow(keras.utils.PyDataset):
    def __len__(self):
        return 20
    def __getitem__(self, index):
        time.sleep(WAIT)
        return rows[:8], rows[:8, :1]
rows = np.ones((256, 4), "float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(rows, rows[:, :1], epochs=300, verbose=0, MORE)
"""


def test_predictions_at_the_end_of_epochs_are_named(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(BETWEEN_EPOCHS.replace("MORE", "callbacks=[Report()]"))
    report = answer(script)
    assert report["parts"][0]["part"] == "between_epochs"
    assert report["parts"][0]["cause"]["line"] == line_of(script, "predict")
    assert report["advice"][0]["findings"][0]["code"] == "KC405"


@pytest.mark.parametrize("wait, backend", [("0.02", "tensorflow"), ("0.5", "tensorflow"), ("0.5", "jax")])
def test_validation_is_a_part_of_a_training(tmp_path, wait, backend):
    pytest.importorskip(backend)
    script = tmp_path / "train.py"
    script.write_text(BETWEEN_EPOCHS.replace("MORE", "validation_data=Slow()").replace("WAIT", wait))
    report = answer(script, environment={**os.environ, "KERAS_BACKEND": backend})
    assert report["parts"][0]["part"] == "validation"
    # If a validation is stopped after some seconds, its remaining batches are counted.
    assert "at least" not in report["headline"]
    # A sleep never takes less than its argument; on a busy machine, batches and predictions take longer.
    assert 18 * float(wait) < report["parts"][0]["seconds"] * 8 < 30 * float(wait) + 3


QUESTIONS = {
    # Part, line of the cause (as text), text in the first recommendation.
    "predict and fit for each row": (
        """\
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
model.compile("adam", "mse")
for row in np.ones((3000, 1, 8), "float32"):
    values = model.predict(row, verbose=0)
    values += model.predict(row + 1, verbose=0)
    model.fit(row, values, verbose=0)
""",
        "predict",
        "model.predict(row",
        "model.predict runs in every iteration",
    ),
    "a loop over time steps that is unrolled": (
        """\
class Memory(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.carry = keras.layers.Dense(16, activation="tanh")
    def call(self, inputs):
        state = keras.ops.zeros((keras.ops.shape(inputs)[0], 16))
        for step in range(inputs.shape[1]):
            state = self.carry(keras.ops.concatenate([state, inputs[:, step]], axis=-1))
        return state
model = keras.Sequential([keras.Input((120, 4)), Memory(), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.ones((256, 120, 4), "float32"), np.ones((256, 1), "float32"), batch_size=64, epochs=2, verbose=0)
""",
        "start",
        "self.carry(",
        "unrolls this Python loop",
    ),
    "steps that count rows": (
        """\
def flow(features, labels):
    while True:
        for at in range(0, 4800, 32):
            yield features[at:at + 32], labels[at:at + 32]
model = keras.Sequential([keras.Input((40,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(flow(np.ones((4800, 40), "float32"), np.ones((4800, 1))), steps_per_epoch=4800, epochs=2, verbose=0)
""",
        None,
        None,
        "steps_per_epoch is 4,800, the number of rows of 'features'",
    ),
    "a card that is not there": (
        """\
import os
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
model = keras.Sequential([keras.Input((40,)), keras.layers.Dense(512), keras.layers.Dense(512)])
model.compile("adam", "mse")
model.fit(np.ones((4800, 40), "float32"), np.ones((4800, 512)), epochs=20, verbose=0)
""",
        None,
        None,
        "the script may only see the GPU with the number 1",
    ),
    "a large table under Adam": (
        """\
model = keras.Sequential([keras.Input((10,)), keras.layers.Embedding(300_000, 64), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.random.randint(0, 300_000, (25_600, 10)), np.ones((25_600, 1)), batch_size=256, epochs=2, verbose=0)
""",
        "tables",
        None,
        "Adam keeps moments of all 300,000 rows",
    ),
    "texts in the model": (
        """\
words = [f"word{number}" for number in range(1000)]
texts = np.array([" ".join(np.random.choice(words, 800)) for _ in range(2000)])
vectorize = keras.layers.TextVectorization(max_tokens=1000, output_sequence_length=50)
vectorize.adapt(texts[:200])
inputs = keras.Input((), dtype="string")
model = keras.Model(inputs, keras.layers.Dense(1)(keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(1000, 8)(vectorize(inputs)))))
model.compile("adam", "mse")
model.fit(tf.data.Dataset.from_tensor_slices((texts, np.ones(2000))).batch(64).prefetch(2), epochs=20, verbose=0)
""",
        "lookup",
        None,
        "TextVectorization: ",
    ),
    "a new length in each batch under XLA": (
        """\
def sentences():
    for length in np.random.default_rng(0).integers(10, 400, 1600):
        yield np.ones(length, "int32"), 1.0
data = tf.data.Dataset.from_generator(sentences, output_signature=(tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.float32)))
data = data.padded_batch(8, drop_remainder=True)
model = keras.Sequential([keras.Input((None,), dtype="int32"), keras.layers.Embedding(50, 8), keras.layers.Conv1D(8, 5), keras.layers.GlobalMaxPooling1D(), keras.layers.Dense(1)])
model.compile("adam", "mse", jit_compile=True)
model.fit(data, epochs=2, verbose=0)
""",
        "compile",
        "padded_batch",
        "batches had to be compiled for first",
    ),
    "a tf.function in each turn": (
        """\
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD()
for _ in range(400):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss
    step(tf.ones((4, 8)))
""",
        "tracing",
        "step(tf.ones",
        "created again in every iteration",
    ),
    "a generator that ends early": (
        """\
import time
def rows():
    for _ in range(40):
        time.sleep(0.02)
        yield np.ones((8, 4), "float32"), np.ones((8, 1), "float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(rows(), steps_per_epoch=100, epochs=2, verbose=0)
""",
        "input",
        "def rows():",
        "every batch waits for the generator rows",
    ),
    "validation steps that count rows": (
        """\
train = tf.data.Dataset.from_tensor_slices((np.ones((960, 64), "float32"), np.ones((960, 1)))).batch(32).repeat()
held_out = tf.data.Dataset.from_tensor_slices((np.ones((1600, 64), "float32"), np.ones((1600, 1)))).batch(32).repeat()
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(train, steps_per_epoch=30, epochs=50, validation_data=held_out, validation_steps=1600, verbose=0)
""",
        "validation",
        None,
        "each validation reads 1,600 batches of a set that has 50",
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_common_questions_are_answered(tmp_path, question):
    text, part, line, said = QUESTIONS[question]
    script = tmp_path / "train.py"
    script.write_text("import numpy as np\nimport tensorflow as tf\nimport keras\n" + text)
    report = answer(script)
    unexplained = report["parts"][0]["part"] == "unexplained"
    if report["warning"] and (unexplained or not report["advice"]):
        pytest.skip("other programs use this machine: why says so, and that it cannot tell")
    assert said in report["advice"][0]["text"], report["advice"]
    # On a busy machine the duration of the same work varies, which shows as unexplained time.
    parts = [each for each in report["parts"] if each["part"] != "unexplained"]
    if part is not None:
        assert parts[0]["part"] == part
    if line is not None:
        assert line in script.read_text().splitlines()[parts[0]["cause"]["line"] - 1]


def test_a_script_without_training_is_one_line(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("print('hello')\n")
    result = why(script)
    assert result.returncode == 2
    assert "ended without a training step" in result.stdout


def test_a_missing_framework_says_what_to_install(tmp_path):
    (tmp_path / "train.py").write_text("import torch_that_is_not_there\n")
    result = why(tmp_path / "train.py")
    assert result.returncode == 2
    assert "has no module 'torch_that_is_not_there'" in result.stdout


def test_a_file_that_does_not_exist_is_one_line(tmp_path):
    result = why(tmp_path / "none.py")
    assert result.returncode == 2
    assert "none.py" in result.stderr
    assert "Traceback" not in result.stderr


def test_lines_rewritten_by_autograph_are_mapped_to_the_notebook(tmp_path):
    cells = [
        "%matplotlib inline\nimport numpy as np\nimport tensorflow as tf\nimport keras\n",
        "def slow(x, y):\n"
        "    for _ in range(20):\n"
        "        x = tf.py_function(lambda t: np.sort(t.numpy().repeat(20, 0), axis=0)[:64], [x], tf.float32)\n"
        "    x.set_shape((64, 8))\n"
        "    return x, y\n",
        "data = tf.data.Dataset.from_tensor_slices((np.ones((640, 64, 8), 'float32'), np.zeros(640))).map(slow).batch(16)\n"
        "model = keras.Sequential([keras.Input((64, 8)), keras.layers.Flatten(), keras.layers.Dense(1)])\n"
        "model.compile('sgd', 'mse')\n"
        "model.fit(data, epochs=2, verbose=0)\n",
    ]
    made = [
        {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None} for text in cells
    ]
    script = tmp_path / "train.ipynb"
    script.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    report = answer(script)
    assert "KC107" in json.dumps(report["advice"])
    assert all(line["path"] in ("", str(script)) for line in report["python"])


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_slow_python_dataset_is_named_on_every_backend(backend):
    pytest.importorskip(backend)
    script = SCRIPTS / "keras3_any_backend.py"
    report = answer(script, environment={**os.environ, "KERAS_BACKEND": backend})
    assert report["backend"] == backend
    waiting = next(part for part in report["parts"] if part["part"] == "input")
    assert waiting["cause"]["line"] == line_of(script, "np.stack")
    start = sum(part["share"] for part in report["parts"] if part["part"] == "start")
    assert waiting["share"] / (1 - start) > 0.2


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_python_between_the_steps_of_a_loop_is_separated_from_computing(backend):
    pytest.importorskip(backend)
    script = SCRIPTS / f"{backend}_loop.py"
    report = answer(script)
    assert (report["backend"], report["parts"][0]["part"]) == (backend, "python")
    assert report["parts"][0]["cause"]["line"] == line_of(script, "np.array([[float")


def test_torch_recompilations_are_reported_with_their_reason(tmp_path):
    pytest.importorskip("torch")
    script = tmp_path / "train.py"
    script.write_text(
        """\
import torch
net = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 2000
@torch.compile(backend="aot_eager", dynamic=False)
def loss_of(x):
    return net(x).pow(2).mean()
for i in range(400):
    optimizer.zero_grad()
    loss_of(torch.ones(8 + i, 16)).backward()
    optimizer.step()
"""
    )
    report = answer(script)
    assert report["parts"][0]["part"] == "compile"
    assert report["parts"][0]["cause"]["line"] == line_of(script, "@torch.compile")
    assert "tensor 'x' size mismatch at index 0" in report["advice"][0]["text"]


def test_jax_recompilations_are_reported_with_their_shapes(tmp_path):
    pytest.importorskip("jax")
    script = tmp_path / "train.py"
    script.write_text(
        """\
import os
os.environ["KERAS_BACKEND"] = "jax"
import numpy as np
import keras
class Sentences(keras.utils.PyDataset):
    def __len__(self):
        return 200
    def __getitem__(self, index):
        return np.ones((8, 20 + index), "int32"), np.ones((8, 1), "float32")
model = keras.Sequential([keras.Input((None,), dtype="int32"), keras.layers.Embedding(9, 4), keras.layers.GlobalMaxPooling1D()])
model.compile("adam", "mse")
model.fit(Sentences(), epochs=2, verbose=0)
"""
    )
    report = answer(script)
    assert report["parts"][0]["part"] == "compile"
    assert report["parts"][0]["cause"]["line"] == line_of(script, "model.fit")
    assert "for int32 arguments of" in report["advice"][0]["text"]
