"""Trains on a stream of batches, on slices, on few steps at a time, and epoch by epoch, each with as few fits as it takes."""

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
        self.model.train_on_batch(np.stack(rows), np.stack(targets))
        self.seen.clear()


model = build()
for features, target in stream:
    model.train_on_batch(features, target)

learner = Learner()
for row, value in zip(x, y):
    learner.seen.append((row, value))
    if len(learner.seen) == 32:
        learner.learn()

other = build()
other.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0)

losses = model.fit(x, y, batch_size=64, epochs=12, verbose=0).history["loss"]
print("best:", min(losses))
print("loss:", losses[-1])
