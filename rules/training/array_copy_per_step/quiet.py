"""Arrays that are small, different in each step, copied once, or of unknown size."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(0)
x = rng.normal(size=(20000, 256))
small = rng.normal(size=(200, 256))
loaded = np.load("x.npy")
buffer = np.zeros((20000, 256))
shuffled = rng.normal(size=(20000, 256))

model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)


@tf.function
def train_step(a):
    with tf.GradientTape() as tape:
        # Runs once per trace.
        loss = tf.reduce_mean(tf.square(model(a, training=True) - tf.reduce_mean(tf.constant(x, tf.float32))))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


tensor = tf.constant(x, tf.float32)
for step in range(300):
    rows = rng.integers(0, len(x), 16)
    train_step(tf.gather(tensor, rows))
    # Some rows only.
    train_step(tf.constant(x[rows], tf.float32))
    # Less than a million numbers, or an unknown count.
    train_step(tf.constant(small, tf.float32))
    train_step(tf.constant(loaded, tf.float32))
    # The array changes in each step.
    buffer[step] = load(step)
    train_step(tf.constant(buffer, tf.float32))
    rng.shuffle(shuffled)
    train_step(tf.constant(shuffled, tf.float32))
    # Once in many steps.
    if step % 100 == 0:
        train_step(tf.constant(x, tf.float32))
    made = rng.normal(size=(20000, 256))
    train_step(tf.constant(made, tf.float32))

# No training.
for step in range(300):
    model(tf.constant(x, tf.float32))
