"""Loops over settings that start anew, or that compare nothing."""

import time

import keras
import numpy as np
from sklearn.neural_network import MLPRegressor

x, y = np.load("x.npy"), np.load("y.npy")


def build():
    model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


# A new model for each size.
seconds = {}
for size in (16, 32, 64):
    model = build()
    start = time.time()
    model.fit(x, y, batch_size=size, epochs=3)
    seconds[size] = time.time() - start

# The same weights for each rate.
model = build()
first = model.get_weights()
results = {}
for rate in (1e-4, 1e-3):
    model.set_weights(first)
    model.compile(keras.optimizers.Adam(rate), "mse")
    results[rate] = model.fit(x, y, epochs=3).history

# A schedule: the batches grow, and nothing is compared.
for size in (16, 32, 64):
    model.fit(x, y, batch_size=size, epochs=10)

# Another loss in the second half of the training.
for loss in ("mae", "mse"):
    model.compile("adam", loss)
    model.fit(x, y, epochs=10)

# Rounds with equal settings, of which each is timed.
for turn in range(5):
    start = time.time()
    model.fit(x, y, batch_size=32, epochs=2)
    print(turn, time.time() - start)

# Each part of the data has a result of its own.
parts = {}
for number in range(5):
    parts[number] = model.fit(x[number::5], y[number::5], epochs=2).history

# Another library's estimator starts anew by itself.
network = MLPRegressor()
for size in (16, 32):
    start = time.time()
    network.fit(x, y, batch_size=size)
    print(size, time.time() - start)


def test_batch_sizes():
    # A test.
    model = build()
    for size in (16, 32):
        start = time.time()
        model.fit(x, y, batch_size=size)
        assert time.time() - start < 9
