"""Fits a product, with the gradients of four small batches added up by the optimizer."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

x = np.random.default_rng(0).normal(size=(2048, 6)).astype("float32")
y = x[:, :1] * x[:, 1:2]
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1, gradient_accumulation_steps=4)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a, training=True) - b))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def fit(epochs):
    for epoch in range(epochs):
        for a, b in dataset:
            loss = train_step(a, b)
    return loss


print("loss:", float(fit(2)) + float(fit(2)))
