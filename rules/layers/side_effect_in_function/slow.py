"""Trains with noise, a counter, a log and a clock that all belong to Python, inside compiled code."""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
np.random.seed(0)


class Noisy(keras.layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.calls = 0
        self.seen = []

    def call(self, inputs):
        self.calls += 1  # KC207
        self.seen.append(inputs)  # KC207
        return inputs + np.random.normal(scale=1e-3)  # KC207


model = keras.Sequential([keras.Input((8,)), Noisy(), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.05)
steps, last = 0, {}


@tf.function
def train_step(x, y):
    global steps
    steps += 1  # KC207
    started = time.time()  # KC207
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    last["loss"] = loss  # KC207
    print("loss is", loss, "after", started)  # KC207:warning
    print(f"that is, {loss} on average")  # KC207:warning
    print("one more step")  # KC207:info
    return loss


rng = np.random.default_rng(0)
x = rng.normal(size=(256, 8)).astype("float32")
y = x.sum(axis=1, keepdims=True)
for epoch in range(3):
    for i in range(0, 256, 32):
        loss = train_step(tf.constant(x[i : i + 32]), tf.constant(y[i : i + 32]))
print("loss:", float(loss))
