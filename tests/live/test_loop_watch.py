"""Hand-written loops in a process that goes on: what the watch finds, and that it leaves nothing behind."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.alone]

START = "from watched import *\n"
TENSORFLOW = """\
import tensorflow as tf
import keras

ROWS = np.random.default_rng(0).random((1600, 32), dtype="float32")


def made(*layers):
    keras.utils.set_random_seed(3)
    hidden = [keras.layers.Dense(64, activation="relu"), keras.layers.Dropout(0.5)]
    model = keras.Sequential([keras.Input((32,)), *hidden, *layers, keras.layers.Dense(1)])
    return model, keras.optimizers.Adam()


def step_of(model, optimizer):
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # updates
        return loss

    return step


def end(model, optimizer):
    variables = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
    return [*digest([*model.get_weights(), *(v.numpy() for v in variables)]), float(tf.random.uniform(()))]


def compiled_loop(steps=1200, after=lambda k: None):
    model, optimizer = made()
    step = tf.function(step_of(model, optimizer))
    k = 0
    while k < steps:
        for x in tf.data.Dataset.from_tensor_slices(ROWS).shuffle(100).batch(16).take(steps):
            step(x)  # compiled step
            after(k)
            k += 1
    return end(model, optimizer)


def eager_loop(steps=150):
    model, optimizer = made()
    step = step_of(model, optimizer)
    for x in tf.data.Dataset.from_tensor_slices(ROWS).batch(16).repeat().take(steps):
        step(x)
    return end(model, optimizer)


def train_on_batch_loop():
    model, optimizer = made()
    model.compile(optimizer, "mse")
    for k in range(400):
        model.train_on_batch(ROWS[:16], ROWS[:16, :1])  # on batch
    return end(model, optimizer)
"""
FORMS = """
def raises(k, error):
    if k == 150:
        raise error


FOUND["equal"] = [compiled_loop() == watched("compiled", compiled_loop), eager_loop() == watched("eager", eager_loop)]
FOUND["equal"].append(train_on_batch_loop() == watched("on batch", train_on_batch_loop))
watched("error", compiled_loop, 1000, lambda k: raises(k, ZeroDivisionError))
watched("interrupt", compiled_loop, 1000, lambda k: raises(k, KeyboardInterrupt))
watched("two loops", lambda: (compiled_loop(), eager_loop()))
watched("short and long", lambda: (compiled_loop(30), eager_loop()))
watched("few", compiled_loop, 2)
watched("no loop", lambda: [None for x in tf.data.Dataset.range(50)])


def fits():
    model, optimizer = made()
    model.compile(optimizer, "mse")
    model.fit(ROWS, ROWS[:, :1], epochs=3, verbose=0, validation_split=0.1)
    model.evaluate(ROWS, ROWS[:, :1], verbose=0)
    model.predict(ROWS, verbose=0)


watched("fit", fits)


def binds():
    global train
    model, optimizer = made()
    model.compile(optimizer, "mse")
    train = model.train_on_batch
    train(ROWS[:16], ROWS[:16, :1])


watched("binds", binds)


def raises_inside():
    global kept_error
    model, optimizer = made()
    step = step_of(model, optimizer)
    try:
        for x in tf.data.Dataset.from_tensor_slices([ROWS[:16]] * 3 + [ROWS[:16] / 0]).map(
            lambda x: tf.debugging.check_numerics(x, "bad")
        ):
            step(x)
    except Exception as error:
        kept_error = error  # with the frames of the probes


watched("kept error", raises_inside)
FOUND["bound"] = train.__func__.__code__.co_filename


def nested():
    with loop_watch.LoopWatch() as inner:
        compiled_loop(20)
    FOUND["inner"] = inner.failure, inner.account({}, on_disk)
    compiled_loop()


watched("nested", nested)
"""
PARTS = """
def rows_slowly():
    for row in range(400):
        time.sleep(0.01)  # slow row
        yield ROWS[row : row + 16]


def slow_data():
    model, optimizer = made()
    step = tf.function(step_of(model, optimizer))
    for x in tf.data.Dataset.from_generator(rows_slowly, output_signature=tf.TensorSpec((16, 32))):
        step(x)


def slow_python(k):
    time.sleep(0.02)  # slow line


def heavy():
    model, optimizer = made(keras.layers.Dense(2000), keras.layers.Dense(2000))
    step = tf.function(step_of(model, optimizer))
    x = tf.constant(ROWS[:256])
    for k in range(40):
        step(x)


watched("slow python", compiled_loop, 150, slow_python)
watched("slow data", slow_data)
watched("heavy", heavy)
model, optimizer = made()
before = tf.function(step_of(model, optimizer))
forward = tf.function(lambda x: model(x))
before(ROWS[:16]), forward(ROWS[:16])
watched("traced earlier", lambda: [before(ROWS[:16]) for _ in range(1500)])
watched("forward", lambda: [forward(ROWS[:16]) for _ in range(500)])
iterator = iter(tf.data.Dataset.from_tensor_slices(ROWS).repeat().batch(16))
watched("iterator of earlier", lambda: [before(next(iterator)) for _ in range(1500)])


def graph_loop():
    model, optimizer = made()
    step = step_of(model, optimizer)

    @tf.function
    def epoch(data):
        for x in data:
            step(x)

    for _ in range(2):
        epoch(tf.data.Dataset.from_tensor_slices(ROWS).repeat(60).batch(16))


watched("graph loop", graph_loop)


def quiet():
    model, optimizer = made()
    step = tf.function(step_of(model, optimizer))
    x = tf.constant(ROWS[:16])
    while not loop_watch._active._recorder.disabled:
        step(x)
    FOUND["quiet"] = changed(), around()[:2]


watched("quiet cell", quiet)
"""
FAULT = """
from kerascheck.runtime.verify.child import probes
probes.keras._patch_apply = lambda *arguments: 1 / 0
FOUND["equal"] = compiled_loop(50) == watched("fault", compiled_loop, 50)
"""
IN_THE_CELL = """
def cell():
    import tensorflow as tf
    import keras
    w = tf.Variable(tf.ones((32, 1)))
    optimizer = keras.optimizers.SGD(0.01)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(x @ w)
        optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))

    for _ in range(1500):
        step(tf.ones((8, 32)))


watched("imported", cell)
FOUND["loaders"] = [type(sys.modules[name].__spec__.loader).__name__ for name in ("tensorflow", "keras")]
"""
JAX = """\
os.environ["KERAS_BACKEND"] = "jax"
import jax
import jax.numpy as jnp
from jax import jit


def loss_of(w, x, key):
    hidden = jnp.tanh(x @ w[0])
    return ((hidden * jax.random.bernoulli(key, 0.5, hidden.shape) @ w[1]) ** 2).mean()


class Trainer:
    pass


def cell(steps, seconds=0.0):
    global step, gradient
    random.seed(0), np.random.seed(0)
    gradient = jax.value_and_grad(loss_of)

    @jit
    def step(w, x, key):
        loss, gradients = gradient(w, x, key)
        return loss, [a - 0.1 * b for a, b in zip(w, gradients)]

    Trainer.step, Trainer.steps = step, [step]
    key = jax.random.PRNGKey(0)
    rows = np.random.default_rng(1)
    w = [jnp.asarray(rows.random(shape, "f")) for shape in ((32, 8), (8, 1))]
    for _ in range(steps):
        key, part = jax.random.split(key)
        if seconds:
            time.sleep(seconds)  # slow line
        loss, w = step(w, rows.random((16, 32), "f"), part)  # jitted step
    return digest([*w, key])


jit_before = jit
FOUND["equal"] = cell(3000) == watched("jitted", cell, 3000)
FOUND["kinds"] = [type(each).__name__ for each in (step, Trainer.step, Trainer.steps[0], gradient)]
FOUND["names"] = [jit is jit_before, jax.jit is jit_before]
FOUND["module"] = gradient.__code__.co_filename
watched("slow python", cell, 300, 0.01)
w = [jnp.ones((32, 8)), jnp.ones((8, 1))]
key = jax.random.PRNGKey(0)
forward = jit(loss_of)
forward(w, np.ones((16, 32), "f"), key)
traces = step._cache_size()
earlier = step
watched("jitted earlier", lambda: [step(w, np.ones((16, 32), "f"), key) for _ in range(9000)])
FOUND["same"] = [step is earlier, step._cache_size() - traces]
watched("forward", lambda: [forward(w, np.ones((16, 32), "f"), key) for _ in range(500)])
del step, earlier, Trainer.step


def hidden():
    for _ in range(500):
        Trainer.steps[0](w, np.ones((16, 32), "f"), key)


watched("hidden", hidden)
del Trainer.steps


def kept():
    global pair
    pair = (jax.jit(lambda x: x + 1), 1)


watched("kept", kept)
FOUND["still works"] = float(pair[0](1.0))
"""
TORCH = """\
import torch

torch.manual_seed(0)


def cell():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Dropout(0.5), torch.nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.utils.data.DataLoader(torch.ones((16000, 32)), batch_size=16)
    for x in data:
        optimizer.zero_grad()
        (model(x) ** 2).mean().backward()
        optimizer.step()  # torch step
    return digest([p.detach().numpy() for p in model.parameters()])


FOUND["equal"] = cell() == watched("torch", cell)
"""

FAKE_TORCH = {
    "__init__": """\
__version__ = "2.0"
class Tensor:
    def backward(self):
        pass
class cuda:
    is_available = staticmethod(lambda: False)
""",
    "hooks": """\
kept = []
class Handle:
    def __init__(self, hook):
        self.hook = hook
        kept.append(hook)
    def remove(self):
        kept.remove(self.hook)
""",
    "optim/optimizer": """\
from torch.hooks import Handle, kept
register_optimizer_step_post_hook = Handle
class SGD:
    def step(self):
        for hook in [hook for hook in kept if hook.__name__ == "stepped"]:
            hook(self, (), {})
""",
    "nn/modules/module": """\
import time
from torch.hooks import Handle, kept
register_module_forward_pre_hook = Handle
class Module:
    def __call__(self, x):
        for hook in [hook for hook in kept if hook.__name__ == "forward"]:
            hook(self, (x,))
        time.sleep(0.01)
""",
    "utils/data/dataloader": """\
class _BaseDataLoaderIter:
    def __init__(self, batches):
        self.batches = iter(batches)
    def __iter__(self):
        return self
    def __next__(self):
        return next(self.batches)
""",
}
"""Parts of PyTorch that the probes use."""
LOOP_OF_FAKE_TORCH = """\
from torch import hooks
from torch.nn.modules.module import Module
from torch.optim.optimizer import SGD
from torch.utils.data.dataloader import _BaseDataLoaderIter


def cell():
    model, optimizer = Module(), SGD()
    for x in _BaseDataLoaderIter(np.ones((16, 32)) for _ in range(150)):
        model(x)
        optimizer.step()  # torch step


watched("torch", cell)
FOUND["hooks"] = len(hooks.kept)
"""


def run(folder, program, **environment):
    """Run a program that begins like ``watched.py``; returns its ``FOUND`` and the number of each line's text."""
    script = folder / "program.py"
    script.write_text(START + program)
    paths = os.pathsep.join(map(str, [Path(__file__).parent, Path(__file__).parents[2], folder / "site-packages"]))
    result = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": paths, "TF_CPP_MIN_LOG_LEVEL": "2", **environment},
    )
    assert result.returncode == 0, result.stderr[-3000:]
    found = json.loads(result.stdout.rpartition("\nFOUND ")[2])
    lines = {text.partition("  # ")[2]: number for number, text in enumerate(script.read_text().splitlines(), 1)}
    return found, lines


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    return run(tmp_path_factory.mktemp("forms"), TENSORFLOW + FORMS)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return run(tmp_path_factory.mktemp("parts"), TENSORFLOW + PARTS)


@pytest.fixture(scope="module")
def jax(tmp_path_factory):
    return run(tmp_path_factory.mktemp("jax"), JAX)


def assert_nothing_is_left(found):
    cells = {name: cell for name, cell in found.items() if isinstance(cell, dict)}
    assert cells
    for name, cell in cells.items():
        assert (cell["changed"], cell["around"]) == ([], True), name
        assert cell["owners"] > 1, name


def leading(cell):
    return next(iter(cell["step"]["shares"]))


def test_results_are_equal_bit_for_bit(forms, jax):
    assert forms[0]["equal"] == [True, True, True] and jax[0]["equal"]


def test_everything_is_restored(forms, parts, jax):
    for found, _ in (forms, parts, jax):
        assert_nothing_is_left(found)
    assert all(cell["stays"] == [] for cell in (*forms[0].values(), *parts[0].values()) if isinstance(cell, dict))


def test_the_forms_of_loops(forms):
    found, lines = forms
    for name, kind, line in (
        ("compiled", "function loop", "compiled step"),
        ("eager", "optimizer loop", "updates"),
        ("on batch", "train_on_batch loop", "on batch"),
    ):
        step = found[name]["step"]
        assert (step["kind"], step["line"], step["backend"]) == (kind, lines[line], "tensorflow")
    assert found["compiled"]["step"]["rows"] == found["eager"]["step"]["rows"] == 16
    assert found["compiled"]["step"]["stages"] and found["compiled"]["step"]["traces"] == 0
    assert leading(found["eager"]) == "operations run one by one"
    assert leading(found["on batch"]) == "the step itself"


def test_a_bound_method_that_the_cell_keeps_is_the_original(forms):
    assert "kerascheck" not in forms[0]["bound"].replace("\\", "/").rpartition("site-packages")[2]


def test_errors_and_interrupts_pass_through(forms):
    found, lines = forms
    for name, error in (("error", "ZeroDivisionError"), ("interrupt", "KeyboardInterrupt")):
        assert found[name]["raised"] == error and found[name]["failure"] is None
        assert found[name]["step"]["line"] == lines["compiled step"]


def test_the_first_loop_that_is_long_enough_is_measured(forms):
    found, _ = forms
    assert found["two loops"]["step"]["kind"] == "function loop"
    assert found["short and long"]["step"]["kind"] == "optimizer loop"


def test_cells_without_a_training_loop(forms, parts):
    found, _ = forms
    for cell in (found["no loop"], found["fit"], parts[0]["forward"]):
        assert (cell["step"], cell["failure"], cell["raised"]) == (None, None, None)
    assert found["few"]["step"] is None and "too few steps to measure: 2" in found["few"]["failure"]


def test_only_one_watch_is_active(forms):
    found, _ = forms
    assert found["inner"] == ["another measurement is active in this process", None]
    assert found["nested"]["step"]["kind"] == "function loop" and found["nested"]["failure"] is None


def test_the_leading_part(parts):
    found, lines = parts
    assert leading(found["slow python"]) == "your Python between steps"
    assert lines["slow line"] in [line for line, share in found["slow python"]["step"]["lines"] if share > 0.3]
    assert leading(found["slow data"]) == "waiting for data"
    assert lines["slow row"] in [line for line, share in found["slow data"]["step"]["input_lines"] if share > 0.5]
    assert leading(found["heavy"]) == "the step itself"


def test_objects_of_earlier_cells(parts):
    found, _ = parts
    assert found["traced earlier"]["step"]["kind"] == "function loop"
    assert "waiting for data" in found["iterator of earlier"]["step"]["shares"]
    assert found["iterator of earlier"]["step"]["rows"] == 16


def test_a_loop_inside_a_compiled_function(parts):
    assert parts[0]["graph loop"]["step"]["kind"] == "graph loop"


def test_after_the_measurement_all_is_quiet(parts):
    assert parts[0]["quiet"] == [[], [["MainThread"], []]]


def test_jitted_steps(jax):
    found, lines = jax
    step = found["jitted"]["step"]
    assert (step["kind"], step["line"], step["backend"]) == ("function loop", lines["jitted step"], "jax")
    assert leading(found["slow python"]) == "your Python between steps"
    assert lines["slow line"] in [line for line, share in found["slow python"]["step"]["lines"] if share > 0.3]


def test_wrappers_of_jax_are_removed(jax):
    found, _ = jax
    assert found["kinds"] == ["PjitFunction"] * 3 + ["function"] and found["names"] == [True, True]
    assert not found["module"].endswith("probes/jax.py")
    assert found["jitted"]["stays"] == []
    assert "<lambda> keeps a wrapper" in found["kept"]["stays"][0] and found["still works"] == 2.0


def test_functions_that_jax_compiled_earlier(jax):
    found, _ = jax
    assert found["jitted earlier"]["step"]["kind"] == "function loop" and found["same"] == [True, 0]
    assert (found["forward"]["step"], found["forward"]["failure"]) == (None, None)
    assert found["hidden"]["step"] is None and "Calls of step cannot be seen" in found["hidden"]["failure"]


def test_a_framework_that_the_cell_imports(tmp_path):
    found, _ = run(tmp_path, IN_THE_CELL)
    assert_nothing_is_left(found)
    assert found["imported"]["step"]["kind"] == "function loop"
    assert found["loaders"] == ["SourceFileLoader"] * 2


def test_a_fault_of_a_probe_does_not_touch_the_training(tmp_path):
    found, _ = run(tmp_path, TENSORFLOW + FAULT)
    assert_nothing_is_left(found)
    assert found["equal"] and "ZeroDivisionError" in found["fault"]["failure"]


def test_keras_2(tmp_path):
    program = TENSORFLOW.replace("import keras\n", "import tf_keras as keras\n") + (
        'FOUND["equal"] = compiled_loop() == watched("compiled", compiled_loop)\nwatched("eager", eager_loop)\n'
    )
    found, lines = run(tmp_path, program, TF_USE_LEGACY_KERAS="1")
    assert_nothing_is_left(found)
    assert found["equal"] and found["compiled"]["step"]["line"] == lines["compiled step"]
    assert found["eager"]["step"]["kind"] == "optimizer loop"
    assert found["eager"]["step"]["backend"] == "tensorflow (tf-keras)"


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_pytorch_loops(tmp_path):
    found, lines = run(tmp_path, TORCH)
    assert_nothing_is_left(found)
    assert found["equal"] and found["torch"]["step"]["line"] == lines["torch step"]


def test_loops_on_the_interface_of_pytorch(tmp_path):
    for name, text in FAKE_TORCH.items():
        path = tmp_path / "site-packages" / "torch" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found, lines = run(tmp_path, LOOP_OF_FAKE_TORCH)
    assert_nothing_is_left(found)
    step = found["torch"]["step"]
    assert (step["kind"], step["line"], step["rows"], step["backend"]) == (
        "optimizer loop", lines["torch step"], 16, "torch",
    )  # fmt: skip
    assert leading(found["torch"]) == "the step itself" and found["hooks"] == 0
    assert found["torch"]["stays"] == []
