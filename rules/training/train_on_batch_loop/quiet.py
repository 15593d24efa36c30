"""train_on_batch() where fit would not do."""

import keras
import numpy as np

x, y = np.load("x.npy"), np.load("y.npy")


def build():
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def in_turns(first: keras.Model, second: keras.Model):
    # Two models that learn in turns.
    for _ in range(10):
        for start in range(0, len(x), 32):
            first.train_on_batch(x[start : start + 32], y[start : start + 32])
            second.train_on_batch(x[start : start + 32], y[start : start + 32])


def hard_ones(model: keras.Model):
    # Only batches that are hard.
    for _ in range(10):
        for start in range(0, len(x), 32):
            if model.test_on_batch(x[start : start + 32], y[start : start + 32]) > 0.1:
                model.train_on_batch(x[start : start + 32], y[start : start + 32])


def stream(model: keras.Model, messages):
    # One loop, without an end.
    for message in messages:
        model.train_on_batch(message.features, message.target)


def the_same(model: keras.Model):
    # The same batch over and over, to see whether the model can learn it.
    for _ in range(10):
        for _ in range(100):
            model.train_on_batch(x[:32], y[:32])


def several(models):
    # Every model once in each round.
    for _ in range(10):
        for model, part in models:
            model.train_on_batch(part, y)


def test_loss_decreases():
    # A test.
    model = build()
    for _ in range(10):
        for start in range(0, len(x), 32):
            model.train_on_batch(x[start : start + 32], y[start : start + 32])
