"""Trainings with the callback ``Why``, run in a process of their own: ``python trainings.py FOLDER NAME...``.

The last line printed is a JSON object by name: reports, a digest of the weights, and what the callback left behind.
"""

import contextlib
import copy
import glob
import hashlib
import io
import json
import os
import random
import sys
import tempfile
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np

if os.environ.get("TF_USE_LEGACY_KERAS"):
    import tf_keras as keras
else:
    import keras

from kerascheck.callbacks import ShareExceeded, Why

ROWS, WIDTH, BATCH = 1600, 32, 8


def model(width=64, **options):
    keras.utils.set_random_seed(1)
    made = keras.Sequential(
        [
            keras.layers.InputLayer((WIDTH,)),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(10),
        ]
    )
    made.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], **options)
    return made


def arrays(rows=ROWS):
    numbers = np.random.default_rng(0)
    return numbers.random((rows, WIDTH), "float32"), numbers.integers(0, 10, rows)


def batches(rows=ROWS, seconds=0.015):
    x, y = arrays(rows)
    for start in range(0, rows, BATCH):
        time.sleep(seconds)
        yield x[start : start + BATCH], y[start : start + BATCH]


class Counting(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.01)


def digest(trained):
    weights = [*trained.get_weights(), *(np.asarray(v) for v in _variables(trained.optimizer))]
    return hashlib.md5(b"".join(np.ascontiguousarray(w).tobytes() for w in weights)).hexdigest()


def _variables(optimizer):
    found = optimizer.variables
    return found() if callable(found) else found


def state():
    """The random state of all generators in use, and the running threads."""
    return {
        "random": hashlib.md5(repr(random.getstate()).encode()).hexdigest(),
        "numpy": hashlib.md5(repr(np.random.get_state()).encode()).hexdigest(),
        "threads": sorted(t.name for t in threading.enumerate() if "kerascheck" in t.name),
    }


def report(why):
    found = why.report
    if found is None:
        return None
    step = found.diagnosis.step if found.diagnosis else None
    return {
        "failure": found.failure,
        "shares": found.shares,
        "rows": step and step.batch_size,
        "unknown": list(step.unknown) if step else None,
        "place": step and step.place and list(step.place),
        "causes": {part.value: [c.path, c.line] for part, c in found.diagnosis.causes.items()} if step else {},
        "text": found.text,
    }


def train(why, data, trained=None, **options):
    trained = trained or model()
    given = options.pop("callbacks", [])
    started = trained.fit(*data, verbose=0, callbacks=[*given, *([why] if why else [])], **options)
    assert started.epoch
    untouched = not any("kerascheck" in str(getattr(v, "__module__", "")) for v in vars(trained).values())
    return {"digest": digest(trained), "untouched": untouched, **state()}


def both(data, **options):
    """Train with and without the callback."""
    why = Why(verbose=0)
    make = options.pop("model", model)
    return {
        "with": train(why, data(), make(), **options),
        "without": train(None, data(), make(), **options),
        "report": report(why),
    }


def generator():
    return both(lambda: [batches()], epochs=1)


def in_arrays():
    return both(arrays, batch_size=BATCH, epochs=2, validation_split=0.25, callbacks=[Counting()])


def several_steps_per_call():
    return both(arrays, batch_size=BATCH, epochs=2, model=lambda: model(steps_per_execution=4))


def eager():
    return both(arrays, batch_size=BATCH, epochs=1, model=lambda: model(run_eagerly=True))


def heavy():
    return both(lambda: arrays(800), batch_size=BATCH * 4, epochs=8, model=lambda: model(6000))


def with_layers():
    """A training whose layers are profiled, and what it leaves behind."""
    epochs = []

    class Reported(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            epochs.append(epoch)
            self.model.stop_training = why.report is not None

    why, given = Why(verbose=0, layers=True), {"batch_size": BATCH * 4}
    found = {"with": train(why, arrays(), model(3000), callbacks=[Reported()], epochs=500, **given)}
    found["without"] = train(None, arrays(), model(3000), epochs=len(epochs), **given)
    trace = why.report.diagnosis.step.facts.step_trace
    return found | {
        "report": report(why),
        "notes": list(why.report.notes),
        "rows": [[row.role, row.kind, row.place, trace.share(row)] for row in trace.rows] if trace else None,
        "layers": [layer.name for layer in trace.layers] if trace else None,
        "flame": 'class="flame"' in why.report.html(),
        "left": glob.glob(f"{tempfile.gettempdir()}/kerascheck-profile-{os.getpid()}-*"),
    }


def watching_only():
    why = Why(verbose=0, replay=False)
    return {"with": train(why, [batches()], epochs=1), "report": report(why)}


def short():
    why = Why(verbose=0)
    return {"with": train(why, arrays(16), batch_size=8), "report": report(why)}


def gate():
    found = {}
    for most in (0.99, 0.05):
        try:
            train(Why(verbose=0, raise_above={"waiting for data": most}), [batches()], epochs=1)
            found[str(most)] = None
        except ShareExceeded as problem:
            found[str(most)] = str(problem).splitlines()[0]
    try:
        train(Why(verbose=0, raise_above={"waiting for data": 0.5}), arrays(16), batch_size=8)
    except ShareExceeded as problem:
        found["short"] = str(problem)
    return found


def folds():
    """Trainings in a loop, with copies of the callback as Keras Tuner makes them."""
    why, printed = Why(), io.StringIO()
    with contextlib.redirect_stdout(printed):
        train(copy.deepcopy(why), [batches()], epochs=1)
        train(copy.deepcopy(why), arrays(), batch_size=BATCH, epochs=2)
    return {"reports": len(why.reports), "printed": printed.getvalue()}


def files():
    """Files of one of two processes."""
    folder = sys.argv[1]
    os.environ.update(RANK="1", WORLD_SIZE="2")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        why = Why(json=f"{folder}/why.json", html=f"{folder}/why.html", log_dir=f"{folder}/logs", after_seconds=0.5)
        train(why, [batches()], epochs=1)
    return {
        "files": sorted(os.listdir(folder)),
        "events": os.listdir(f"{folder}/logs/kerascheck"),
        "printed": printed.getvalue(),
    }


def interrupted():
    """A fit that is interrupted, and the next one of the same model."""

    class Stops(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 30:
                raise KeyboardInterrupt

    why, trained = Why(verbose=0), model()
    try:
        trained.fit(*arrays(), batch_size=BATCH, verbose=0, callbacks=[Stops(), why])
    except KeyboardInterrupt:
        first = report(why)
    return {"first": first, "with": train(why, arrays(), trained, batch_size=BATCH, epochs=2), "report": report(why)}


def python_in_graphs():
    """Python in the step and in the pipeline, which AutoGraph converts."""
    import tensorflow as tf

    class Slow(keras.layers.Layer):
        def call(self, x):
            def root(values):
                time.sleep(0.02)  # in the step
                return np.sqrt(values)

            result = tf.numpy_function(root, [x], tf.float32)
            result.set_shape(x.shape)
            return tf.stop_gradient(result)

    def load(number):
        def read(number):
            time.sleep(0.006)  # in the pipeline
            return np.zeros(WIDTH, "float32")

        row = tf.numpy_function(read, [number], tf.float32)
        row.set_shape((WIDTH,))
        return row, tf.zeros((), tf.int64)

    def make():
        trained = model()
        trained = keras.Sequential([keras.layers.InputLayer((WIDTH,)), Slow(), *trained.layers])
        trained.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return trained

    return both(lambda: [tf.data.Dataset.range(ROWS).map(load, num_parallel_calls=2).batch(BATCH)], model=make)


def broken():
    """Errors of kerascheck itself, after the measurement and in a step."""
    from kerascheck.runtime.live import account, schedule

    found, original = [], account.account_of
    account.account_of = lambda *args, **options: 1 / 0
    found.append(both(lambda: [batches()], epochs=1))
    account.account_of = original
    original = schedule.Schedule.next_mode
    schedule.Schedule.next_mode = lambda self: 1 / 0
    found.append(both(lambda: [batches()], epochs=1))
    schedule.Schedule.next_mode = original
    return found


if __name__ == "__main__":
    print(json.dumps({name: globals()[name]() for name in sys.argv[2:]}))
