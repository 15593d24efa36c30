"""``%%why`` in a real kernel."""

import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from kernel import Kernel  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.alone]

SETUP = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random, sys, threading, time
import numpy as np
import keras
"""
MODEL = """\
keras.utils.set_random_seed(0)
def make():
    made = keras.Sequential([keras.layers.Input((32,)), keras.layers.Dropout(0.3), keras.layers.Dense(10)])
    made.compile("adam", "mse")
    return made
"""
BATCHES = """\
def batches(count=120):
    for number in range(count):
        time.sleep(0.015)
        yield np.full((8, 32), number % 7, "float32"), np.zeros((8, 10), "float32")
"""
STATE = """\
import hashlib
def state(model):
    arrays = [np.asarray(v) for v in [*model.variables, *model.optimizer.variables]]
    parts = [*(a.tobytes() for a in arrays), repr(random.getstate()).encode(), repr(np.random.get_state()).encode()]
    return hashlib.md5(b"".join(parts)).hexdigest()
"""
LEFT = """\
print([t.name for t in threading.enumerate() if "kerascheck" in t.name],
      [type(f).__module__ for f in sys.meta_path if "kerascheck" in type(f).__module__],
      keras.Model.fit.__module__.startswith("keras."), keras.callbacks.CallbackList.on_epoch_end.__module__)
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    kernel = Kernel(tmp_path_factory.mktemp("kernel"))
    for cell in (SETUP, MODEL, BATCHES, STATE, "%load_ext kerascheck"):
        assert not kernel.run(cell).error
    yield kernel
    assert kernel.run(LEFT).text == "[] [] True keras.src.callbacks.callback_list\n"
    kernel.close()


def test_a_fit_is_explained_with_the_cell_of_its_cause(kernel):
    ran = kernel.run("%%why\nhistory = make().fit(batches(), verbose=0)\nhistory.epoch")
    assert not ran.error
    assert "waiting for data" in ran.text and "cell 3:3  time.sleep(0.015)" in ran.text
    assert "per step of 8 rows (fit, tensorflow)" in ran.text
    assert ran.text.rstrip().endswith("[0]"), "the cell shows its value"
    assert ran.html.startswith("<iframe srcdoc=")


def test_the_training_ends_as_without_the_magic(kernel):
    train = "keras.utils.set_random_seed(1); trained = make(); trained.fit(batches(), verbose=0)\n"
    show = "print(state(trained))"
    kernel.run(train)
    plain = kernel.run(show).text
    assert not kernel.run(f"%%why\n{train}").error
    assert kernel.run(show).text == plain


def test_layers_are_shown_on_request(kernel):
    ran = kernel.run("%%why --layers\n_ = make().fit(batches(1200), verbose=0)")
    assert "Dense" in ran.text.partition("Operations: ")[2] and "cell 2:3)" in ran.text, ran.text
    assert "class=&quot;flame&quot;" in ran.html
    folders = "import glob, tempfile\nprint(glob.glob(f'{tempfile.gettempdir()}/kerascheck-profile-{os.getpid()}-*'))"
    assert kernel.run(folders).text == "[]\n"


def test_a_cell_that_runs_again_is_named_anew(kernel):
    before = kernel.run("print(get_ipython().execution_count)")
    assert before.text
    kernel.run(BATCHES.replace("0.015", "0.016"), "data")
    kernel.run(BATCHES.replace("0.015", "0.017"), "data")
    ran = kernel.run("%%why\n_ = make().fit(batches(), verbose=0)")
    assert "time.sleep(0.017)" in ran.text


def test_errors_of_the_cell_pass_through(kernel):
    ran = kernel.run("%%why\nvalue = 1\n1 / 0")
    assert ran.error == "ZeroDivisionError"
    assert kernel.run("print(value)").text == "1\n"


def test_an_interrupt_ends_the_cell_and_leaves_nothing(kernel):
    identity = kernel.send("%%why\n_ = make().fit(batches(2000), verbose=0)")
    # Python drops an interrupt that arrives in a destructor, so press again, as a person does.
    ended = threading.Event()
    presses = threading.Thread(target=lambda: [ended.wait(4) or kernel.manager.interrupt_kernel() for _ in range(4)])
    presses.start()
    error = kernel.wait(identity).error
    ended.set()
    presses.join()
    assert error == "KeyboardInterrupt"
    assert kernel.run(LEFT).text.startswith("[] [] True")
    ran = kernel.run("%%why\n_ = make().fit(batches(), verbose=0)")
    assert "waiting for data" in ran.text


def test_a_semicolon_hides_the_value(kernel):
    assert "41" in kernel.run("%%why\n41").text
    assert "41" not in kernel.run("%%why\n41;  # comment").text


def test_a_dataset_of_an_earlier_cell_is_named(kernel):
    code = """\
rows = tf.data.Dataset.range(4000)
slow = rows.map(lambda i: (tf.sort(tf.random.stateless_uniform((60000,), [i, 1]))[:32], tf.zeros(10))).batch(8)"""
    kernel.run("import tensorflow as tf")
    kernel.run(code)
    ran = kernel.run("%%why\n_ = make().fit(slow.take(250), verbose=0)")
    assert "waiting for data" in ran.text
    assert ":2  map()" in ran.text or ":2  map() and batch()" in ran.text, ran.text


def test_two_models_in_a_cell_are_compared(kernel):
    ran = kernel.run("%%why\nfor _ in range(2):\n    make().fit(batches(), verbose=0)")
    assert "training 2: " in ran.text


LOOP = """\
import tensorflow as tf
dataset = tf.data.Dataset.from_generator(
    batches, output_signature=(tf.TensorSpec((8, 32)), tf.TensorSpec((8, 10))))
looped, optimizer = make(), keras.optimizers.SGD()
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((looped(x, training=True) - y) ** 2)
    optimizer.apply(tape.gradient(loss, looped.trainable_variables), looped.trainable_variables)
    return loss
def train(data):
    for x, y in data:
        step(x, y)
"""


def test_a_hand_written_loop_is_watched(kernel):
    assert not kernel.run(LOOP).error
    ran = kernel.run("%%why\ntrain(dataset.repeat(4))")
    assert "waiting for data" in ran.text and "(function loop, tensorflow)" in ran.text
    assert "time.sleep(0.0" in ran.text
    assert kernel.run(LEFT).text.startswith("[] [] True")


def test_a_wrong_option_is_said_in_a_line(kernel):
    ran = kernel.run("%%why --jsn x\nprint('ran')")
    assert "UsageError: %%why: unrecognized arguments: --jsn" in ran.text
    assert "ran\n" not in ran.text


def test_a_cell_without_a_training_says_so(kernel):
    assert "no account of this training" in kernel.run("%%why\nx = 1").text


def test_the_callback_alone_names_cells_too(kernel):
    code = "import kerascheck.callbacks\n_ = make().fit(batches(), verbose=0, callbacks=[kerascheck.callbacks.Why()])"
    ran = kernel.run(code)
    assert "time.sleep(" in ran.text and " cell " in ran.text
