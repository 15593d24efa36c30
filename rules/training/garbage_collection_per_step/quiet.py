"""Garbage collections that are seldom, or outside of training steps."""

import gc

import numpy as np
import tensorflow as tf
from tensorflow import keras

x = np.random.default_rng(0).normal(size=(1024, 6)).astype("float32")
y = np.sin(x[:, :1])
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a, training=True) - b))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(100):
    for step, (a, b) in enumerate(dataset):
        train_step(a, b)
        # Once in many steps.
        if step % 1000 == 0:
            gc.collect()
        # Without a collection.
        keras.backend.clear_session(free_memory=False)
    # Once per epoch.
    gc.collect()

# A few steps.
for a, b in dataset.take(20):
    train_step(a, b)
    gc.collect()

# Whole trainings, each with a new model.
for units in settings():
    keras.backend.clear_session()
    tried = keras.Sequential([keras.layers.Dense(units), keras.layers.Dense(1)])
    tried.compile("sgd", "mse")
    tried.fit(dataset)
    gc.collect()

# No training.
for a, b in dataset:
    model(a)
    gc.collect()
