"""compile() in loops that have a reason for it, or that are not about one model."""

import re

import keras
import numpy as np
from helpers import unfreeze

x, y = np.load("x.npy"), np.load("y.npy")


def build():
    return keras.Sequential([keras.Input((16,)), keras.layers.Dense(32), keras.layers.Dense(1)])


def folds():
    # A new model in each turn.
    for _ in range(10):
        model = build()
        model.compile("adam", "mse")
        model.fit(x, y)


def several(models: list):
    # Another model in each turn.
    for model in models:
        model.compile(optimizer="adam", loss="mse")
        model.fit(x, y, epochs=3)


def losses(model: keras.Model):
    # Another loss in each turn.
    for loss in ["mse", "mae", "huber", "log_cosh", "poisson"]:
        model.compile("adam", loss)
        model.fit(x, y)


def thaw(model: keras.Model):
    # One layer after the other becomes trainable.
    for layer in reversed(model.layers):
        layer.trainable = True
        model.compile("adam", "mse")
        model.fit(x, y)


def adversaries(generator: keras.Model, critic: keras.Model):
    # The critic is frozen while the generator learns.
    for _ in range(1000):
        critic.trainable = False
        generator.compile("adam", "mse")
        generator.train_on_batch(x, y)


def start_anew(model: keras.Model):
    # One model for all folds: its weights and its optimizer start anew.
    first = model.get_weights()
    for _ in range(10):
        model.set_weights(first)
        model.compile("adam", "mse")
        model.fit(x, y)


def hidden(model: keras.Model):
    # The function may well set trainable.
    for depth in range(20):
        unfreeze(model, depth)
        model.compile("adam", "mse")
        model.fit(x, y)


def after_a_while(model: keras.Model):
    # Once, when the turn comes.
    for turn in range(100):
        if turn == 50:
            model.compile("sgd", "mse")
        model.fit(x, y)


def twice(model: keras.Model):
    # Two turns.
    for _ in range(2):
        model.compile("adam", "mse")
        model.fit(x, y)


def sizes(model: keras.Model):
    # Nothing is trained here.
    for _ in range(100):
        model.compile("adam", "mse")
        print(model.count_params())


def words(lines):
    # Not a model.
    for pattern in lines:
        re.compile("adam", re.I)
        build().fit(x, y)


def test_compile_resets_the_optimizer():
    # A test.
    model = build()
    for _ in range(10):
        model.compile("adam", "mse")
        model.fit(x, y)


if __name__ == "__main__":
    folds(), losses(build()), several([build(), build()])
