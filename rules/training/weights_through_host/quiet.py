"""Weights that NumPy gets seldom, or that stay on the device."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

x = np.random.default_rng(0).normal(size=(2048, 256)).astype("float32")
y = np.sin(x[:, :1])
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(256), keras.layers.Dense(1)])
target = keras.models.clone_model(model)
optimizer = keras.optimizers.SGD(0.01)


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a, training=True) - b))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


# Before the loop.
target.set_weights(model.get_weights())
for epoch in range(100):
    for step, (a, b) in enumerate(dataset):
        train_step(a, b)
        # Once in many steps.
        if step % 100 == 0:
            target.set_weights(model.get_weights())
    # Once per epoch.
    target.set_weights(model.get_weights())

# A few steps.
for a, b in dataset.take(20):
    train_step(a, b)
    target.set_weights(model.get_weights())

# No steps, but whole trainings.
first = model.get_weights()
for rate in (0.1, 0.2, 0.3):
    model.set_weights(first)
    model.fit(dataset)

# Something else than a model.
for a, b in dataset:
    train_step(a, b)
    store.set_weights(a)
