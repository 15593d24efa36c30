"""Batches whose last one costs nothing, or is full."""

import keras
import tensorflow as tf
from somewhere import features, targets

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
optimizer = keras.optimizers.SGD(0.1)
source = tf.data.Dataset.from_tensor_slices((features, targets))


@tf.function(jit_compile=True)
def compiled(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


@tf.function(jit_compile=False)
def traced(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


@tf.function(jit_compile=True)
def measure(x, y):
    return tf.reduce_mean(tf.square(model(x) - y))


# Dropped, or said not to be.
for x, y in source.batch(32, drop_remainder=True):
    compiled(x, y)
for x, y in source.batch(32, True):
    compiled(x, y)
for x, y in source.batch(32, drop_remainder=False):
    compiled(x, y)

# Endless, and batched anew.
for x, y in source.repeat().batch(32).take(1000):
    compiled(x, y)
for x, y in source.batch(32).unbatch().batch(32, drop_remainder=True):
    compiled(x, y)

# No XLA, and fit.
for x, y in source.batch(32):
    traced(x, y)
model.fit(source.batch(32))

# Held-out data, where every sample counts.
for x, y in source.batch(32):
    measure(x, y)
model.evaluate(source.batch(32))
