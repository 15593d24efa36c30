"""Lowers its learning rate in a global that the compiled step has already read."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
learning_rate = 0.05
penalty = 0.0
weights = tf.Variable(tf.zeros((8, 1)))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(tf.square(x @ weights - y))
        loss = error + penalty * tf.reduce_sum(tf.square(weights))  # KC215
    weights.assign_sub(learning_rate * tape.gradient(loss, weights))  # KC215
    return error


def regularize():
    global penalty
    penalty = 0.01


rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(256, 8)).astype("float32"))
y = tf.reduce_sum(x, axis=1, keepdims=True)
for epoch in range(20):
    loss = train_step(x, y)
    learning_rate *= 0.9
    regularize()
print("loss:", float(loss))
