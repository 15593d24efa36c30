"""Functions compiled in loops where the trace is used often, or may be."""

import functools
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)


def folds(paths):
    # An inner loop calls the function: one trace for each fold.
    for path in paths:
        model = keras.models.load_model(path)
        optimizer = keras.optimizers.Adam()

        @tf.function
        def step(a, b):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(a) - b))
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

        for a, b in dataset:
            step(a, b)


def benchmark(functions):
    # The same: what is measured is called many times.
    for function in functions:
        compiled = tf.function(function)
        start = time.perf_counter()
        for _ in range(100):
            compiled(x)
        print(time.perf_counter() - start)


def sizes(model):
    # Four turns.
    for size in (32, 64, 128, 256):
        compiled = tf.function(model.call)
        print(compiled(x[:size]))


def eager_or_not(rows):
    # Under a condition: made once.
    step = None
    for row in rows:
        if step is None:
            step = tf.function(lambda a: a * 2)
        step(row)


class Predictor:
    def __init__(self, models):
        self.models = models
        self.steps = {}

    def __call__(self, name, row):
        # Kept for later turns in a dictionary.
        if name in self.steps:
            return self.steps[name](row)
        self.steps[name] = tf.function(self.models[name].__call__)
        return self.steps[name](row)


class Late:
    def __call__(self, row):
        # Kept in an attribute, behind an early return.
        if hasattr(self, "step"):
            return self.step(row)
        self.step = tf.function(lambda a: a + 1)
        return self.step(row)


@functools.lru_cache(maxsize=None)
def compiled_for(name):
    # Behind a cache.
    made = tf.function(lambda a: tf.reduce_sum(a))
    made(tf.zeros((1,)))
    return made


def every_name(names):
    predictor, late = Predictor({}), Late()
    for name in names:
        compiled_for(name)
        predictor(name, x)
        late(x)


def exported(models):
    # Only saved, never called here.
    for name, model in models.items():
        serve = tf.function(lambda a: model(a), input_signature=[tf.TensorSpec([None, 8])])
        tf.saved_model.save(model, name, signatures=serve)


def handed_on(rows, runner):
    # Somebody else calls it, who knows how often.
    for row in rows:
        runner.register(tf.function(lambda a: a - 1), row)


@tf.function
def traced(rows):
    # This loop is itself traced once.
    for row in rows:
        inner = tf.function(lambda a: a * 3)
        inner(row)


def test_every_row():
    for row in x:
        compiled = tf.function(lambda a: a)
        assert compiled(row) is not None


def before(rows):
    # What the rule asks for.
    compiled = tf.function(lambda a: a / 2)
    for row in rows:
        compiled(row)
