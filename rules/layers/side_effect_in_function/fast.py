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
        self.calls = tf.Variable(0, trainable=False)

    def call(self, inputs):
        self.calls.assign_add(1)
        return inputs + tf.random.normal((), stddev=1e-3)


model = keras.Sequential([keras.Input((8,)), Noisy(), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.05)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


rng = np.random.default_rng(0)
x = rng.normal(size=(256, 8)).astype("float32")
y = x.sum(axis=1, keepdims=True)
for epoch in range(3):
    started = time.time()
    for i in range(0, 256, 32):
        loss = train_step(tf.constant(x[i : i + 32]), tf.constant(y[i : i + 32]))
    print("loss is", float(loss), "after", time.time() - started, "s")
    print(f"that is, {float(loss)} on average after 8 more steps")
print("loss:", float(loss))
