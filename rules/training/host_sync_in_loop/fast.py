"""Fits a sine, and looks at the losses once per epoch."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

x = np.random.default_rng(0).normal(size=(2048, 6)).astype("float32")
y = np.sin(x[:, :1])
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a, training=True) - b))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def eager_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a) - b))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


def note(history, loss):
    history.append(loss)


history = []
for epoch in range(2):
    for a, b in dataset:
        note(history, train_step(a, b))

for a, b in dataset:
    loss = train_step(a, b)
    history.append(loss)

bar = keras.utils.Progbar(128)
for i, (a, b) in enumerate(dataset):
    loss = train_step(a, b)
    if i % 64 == 0:
        bar.update(i)

for i, (a, b) in enumerate(dataset, 1):
    train_step(a, b)
    if i % 64 == 0:
        print("still learning")

running = keras.metrics.Mean()
for a, b in dataset:
    running.update_state(train_step(a, b))
shown = f"{running.result():.3f}"
for a, b in dataset:
    running.update_state(train_step(a, b))
shown = "{:.3f}, {:.1f} %".format(a[0, 0], 100 * running.result())
for a, b in dataset:
    loss = train_step(a, b)
shown = "%.3f" % loss
for a, b in dataset:
    history.append(eager_step(a, b))

error = vars(keras.losses)["MeanSquaredError"]()
for a, b in dataset:
    with tf.GradientTape() as tape:
        loss = error(b, model(a))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    history.append(loss)

print("last:", float(loss))
print("loss:", float(tf.reduce_mean(tf.stack(history))))
