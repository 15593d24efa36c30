"""Trains on a stream of batches, on slices, on few steps at a time, and epoch by epoch, each with a fit of its own."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

rng = np.random.default_rng(5)
x = rng.normal(size=(256, 6)).astype("float32")
y = (x[:, :1] * x[:, 1:2]).astype("float32")
stream = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)


def build():
    network = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
    network.compile("adam", "mse")
    return network


class Learner:
    def __init__(self):
        self.model = build()
        self.seen = []

    def learn(self):
        rows, targets = zip(*self.seen)
        self.model.fit(np.stack(rows), np.stack(targets), batch_size=len(rows), epochs=1, verbose=0)  # KC415:warning
        self.seen.clear()


model = build()
for features, target in stream:
    model.fit(features, target, verbose=0)  # KC415:warning

learner = Learner()
for row, value in zip(x, y):
    learner.seen.append((row, value))
    if len(learner.seen) == 32:
        learner.learn()

other = build()
for start in range(0, len(x), 16):
    other.fit(x[start : start + 16], y[start : start + 16], verbose=0)  # KC415:warning
for _ in range(12):
    other.fit(x, y, steps_per_epoch=2, verbose=0)  # KC415:warning

losses = []
for epoch in range(12):
    history = model.fit(x, y, batch_size=64, verbose=0)  # KC415:info
    losses.append(history.history["loss"][0])
print("best:", min(losses))
print("loss:", losses[-1])
