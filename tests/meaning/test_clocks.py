"""Measured intervals, and the calls between two readings of a clock."""

import pytest
from snippets import MODEL, load

from kerascheck.meaning.program.clocks import (
    calls_between,
    compiled_runs,
    is_warm,
    measured_intervals,
    measures_speed,
    unread_work,
)

HEAD = "import time\nimport numpy as np\n" + MODEL + "@tf.function\ndef f(x): return tf.reduce_sum(x)\n"


def only(module):
    (found,) = measured_intervals(module)
    return found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("t = time.time()\nf(x)\nprint(time.time() - t)", 1),
        ("t = time.perf_counter()\nf(x)\nu = time.perf_counter()\nd = u - t", 1),
        ("from timeit import default_timer as timer\nt = timer()\nf(x)\nprint(timer() - t)", 1),
        ("import datetime\nt = datetime.datetime.now()\nf(x)\nprint(datetime.datetime.now() - t)", 1),
        ("def run():\n    t = time.time()\n    f(x)\n    return time.time() - t\nrun()", 1),
        ("import datetime\nt = datetime.datetime.now()\nf(x)\nprint((datetime.datetime.now() - t).total_seconds())", 1),
        (
            "s, e = [], []\nfor x in load():\n    s.append(time.time())\n    f(x)\n    e.append(time.time())\nd = [b - a for a, b in zip(s, e)]",
            1,
        ),
        (
            "s, e = [], []\nfor x in load():\n    s.append(time.time())\n    f(x)\n    e.append(time.time())\nd = np.array(e) - np.array(s)",
            1,
        ),
        ("s = []\nfor x in load():\n    f(x)\n    s.append(time.time())\nd = np.diff(s)", 1),
        # Only one reading, or other numbers.
        ("s = [time.time()]\nf(x)\nd = np.diff(s)", 0),
        ("s = []\nfor x in load():\n    s.append(x)\nd = np.diff(s)", 0),
        (
            "class T:\n    def start(self): self.t = time.time()\n    def stop(self): return time.time() - self.t\nt = T()\nt.start()\nf(x)\nt.stop()",
            1,
        ),
        # No caller; no second reading; another subtraction.
        ("def run():\n    t = time.time()\n    f(x)\n    return time.time() - t", 0),
        ("t = time.time()\nf(x)\nprint(t)", 0),
        ("t = time.time()\nprint(t - 5)", 0),
    ],
)
def test_intervals(tmp_path, text, count):
    assert len(list(measured_intervals(load(tmp_path, text, HEAD)))) == count


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("print(100 / (time.time() - t))", True),
        ("d = time.time() - t\nfps = n / d", True),
        ("print('inference', time.time() - t)", True),
        ("times.append(time.time() - t)", True),
        ("times = []\ntimes.append(time.time() - t)", True),
        ("times[name].append((time.time() - t) * 1000)", True),
        ("times = load()\ntimes += [time.time() - t]", True),
        ("times = np.zeros(9)\ntimes[3] = time.time() - t", True),
        ("log['took'] = time.time() - t", False),
        ("seconds = [time.time() - t for _ in range(3)]", True),
        ("total = 0\ntotal += time.time() - t\nprint(total)", False),
        ("total = 0\ntotal += time.time() - t\nprint(total / 60)", False),
        ("total = 0\ntotal += time.time() - t\nprint(total / 500)", True),
        ("print(30 + (time.time() - t))", False),
        ("print('took', time.time() - t)", False),
        ("print('minutes', (time.time() - t) / 60)", False),
        ("print('ms', (time.time() - t) * 1000)", False),
        ("print('first call, per batch', (time.time() - t) / n)", False),
    ],
)
def test_measurements_of_speed(tmp_path, text, speed):
    module = load(tmp_path, "t = time.time()\nf(x)\n" + text, HEAD)
    assert measures_speed(module, only(module)) is speed


def test_timed_phases_are_no_speeds(tmp_path):
    lines = "a = time.time()\nload()\nb = time.time()\nprint('loading', b - a)\nf(x)\nc = time.time()\nprint('inference', c - b)\nprint('total, with inference', c - a)\n"
    module = load(tmp_path, lines, HEAD)
    assert [measures_speed(module, each) for each in measured_intervals(module)] == [False] * 3
    module = load(tmp_path, lines + "print('per image', (c - b) / 100)\n", HEAD)
    assert [measures_speed(module, each) for each in measured_intervals(module)] == [False] * 3 + [True]


@pytest.mark.parametrize(
    ("before", "timed", "warm"),
    [
        ("", "f(x)", False),
        ("f(x)", "f(x)", True),
        ("def run(): f(x)\nrun()", "f(x)", True),
        ("", "model.predict(x)", False),
        ("model.predict(x)", "model.predict(x)", True),
        ("model.predict_on_batch(x)", "model.predict(x)", True),
        ("model.fit(x)", "model.predict(x)", False),
        ("model.fit(x)", "model.evaluate(x)", False),
        ("model.fit(x, validation_data=y)", "model.evaluate(x)", True),
        ("from helpers import prepare\nprepare(model)", "model.predict(x)", True),
        ("model.summary()", "model.predict(x)", False),
        ("from helpers import model", "model.predict(x)", None),
        # A call on one of two models is one run.
        ("if load(): model = keras.Sequential()", "model.predict(x)", False),
        ("if load():\n    model = keras.Sequential()\n    model.predict(x)", "model.predict(x)", True),
    ],
)
def test_warm_functions(tmp_path, before, timed, warm):
    module = load(tmp_path, f"{before}\nt = time.time()\n{timed}\nprint(1 / (time.time() - t))", HEAD)
    runs = list(compiled_runs(calls_between(module, only(module))))
    assert [is_warm(module, run, only(module)) for run in runs] == ([] if warm is None else [warm])


@pytest.mark.parametrize(
    ("timed", "unread"),
    [
        ("f(x)", True),
        ("for i in range(9): y = f(x)", True),
        ("y = f(x).numpy()", False),
        ("y = f(x)\nprint(y)", False),
        ("y = f(x)\ntf.test.experimental.sync_devices()", False),
        ("f(x)\nmodel.predict(x)", False),
        ("model.predict(x)", False),
    ],
)
def test_unread_work(tmp_path, timed, unread):
    module = load(tmp_path, f"t = time.time()\n{timed}\nd = time.time() - t", HEAD)
    assert (unread_work(module, calls_between(module, only(module))) is not None) is unread


@pytest.mark.parametrize(
    ("after", "unread"),
    [
        ("", True),
        ("    losses.append(step(x))\n", True),
        ("    print(float(loss))\n", False),
        ("print(float(loss))\n", False),
    ],
)
def test_unread_eager_steps(tmp_path, after, unread):
    step = "def step(x):\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_sum(model(x))\n    optimizer.apply_gradients(zip(tape.gradient(loss, v), v))\n    return loss\n"
    loop = f"optimizer = keras.optimizers.SGD()\nlosses = []\nt = time.time()\nfor i in range(9):\n    loss = step(x)\n{after}d = time.time() - t"
    module = load(tmp_path, loop, HEAD + step)
    assert (unread_work(module, calls_between(module, only(module))) is not None) is unread


def test_a_run_is_located_at_its_call_site(tmp_path):
    # The clock, the class and the compiled function are in three files.
    files = {
        "train.py": "import time\nfrom loop import Loop\nloop = Loop()\nt = time.time()\nloop.run(1)\nd = time.time() - t\n",
        "loop.py": "from steps import step\nclass Loop:\n    def run(self, x):\n        return step(x)\n",
        "steps.py": "import tensorflow as tf\n@tf.function\ndef step(x):\n    return tf.square(x)\n",
    }
    module = load(tmp_path, files)
    (run,) = compiled_runs(calls_between(module, only(module)))
    assert run.module.path.name == "loop.py"
    assert run.module.text[slice(*run.module.range_of(run.node))] == "step(x)"
