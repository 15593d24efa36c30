"""Trains with loops of its own over epochs and batches."""

import keras
import numpy as np

keras.utils.set_random_seed(2)

rng = np.random.default_rng(2)
x = rng.uniform(-1, 1, size=(320, 4)).astype("float32")
y = (x**2).sum(axis=1, keepdims=True)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(20, activation="relu"), keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])


def batches(size):
    for start in range(0, len(x), size):
        yield x[start : start + size], y[start : start + size]


for epoch in range(4):
    for features, targets in batches(40):
        model.train_on_batch(features, targets)  # KC410:info

print("error:", model.evaluate(x, y, verbose=0)[1])
print("loss:", model.evaluate(x, y, verbose=0)[0])
