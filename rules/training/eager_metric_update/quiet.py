"""Metrics that are updated where the compiled step is not beside them, or cannot take them."""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()
mean = keras.metrics.Mean()
seconds = keras.metrics.Mean()
error = keras.metrics.MeanSquaredError()


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        outputs = model(a, training=True)
        loss = tf.reduce_mean(tf.square(outputs - b))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    # Inside the compiled step.
    mean.update_state(loss)
    note(b, outputs)
    return loss, outputs


@tf.function
def validation_step(a, b):
    return model(a, training=False)


def note(b, outputs):
    error.update_state(b, outputs)


for epoch in range(10):
    for i, (a, b) in enumerate(dataset):
        start = time.perf_counter()
        loss, outputs = step(a, b)
        # Measured in Python.
        seconds.update_state(time.perf_counter() - start)
        seconds(float(i))
        # Once in so many steps.
        if i % 100 == 0:
            mean.update_state(loss)
            error.update_state(b, outputs)
        # Compiled on the way through the step: written for both.
        note(b, outputs)
    # Once per epoch.
    mean(loss)
    for a, b in dataset:
        # Nothing is trained in this loop.
        error.update_state(b, validation_step(a, b))

for a, b in dataset.take(50):
    # Fifty turns.
    loss, outputs = step(a, b)
    error.update_state(b, outputs)

plain = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
for a, b in dataset:
    # The step is eager itself: that is another rule's matter.
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(plain(a) - b))
    optimizer.apply_gradients(zip(tape.gradient(loss, plain.trainable_variables), plain.trainable_variables))
    mean.update_state(loss)


def test_mean():
    for a, b in dataset:
        loss, _ = step(a, b)
        mean.update_state(loss)
