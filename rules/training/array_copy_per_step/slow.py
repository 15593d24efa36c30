"""Fits a sine to random rows of an array, which every step copies."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

rng = np.random.default_rng(0)
x = rng.normal(size=(20000, 256))
y = np.sin(x[:, :1])

model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a, training=True) - tf.cast(b, tf.float32)))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


inputs = tf.constant(x, tf.float32)
targets = tf.constant(y, tf.float32)
for step in range(300):
    rows = rng.integers(0, len(x), 16)
    a = tf.gather(tf.constant(x, tf.float32), rows)  # KC422
    loss = train_step(a, tf.gather(targets, rows))

for step in range(300):
    rows = rng.integers(0, len(x), 16)
    a = tf.gather(x, rows)  # KC422
    loss = train_step(a, tf.gather(targets, rows))

print("loss:", float(loss))
