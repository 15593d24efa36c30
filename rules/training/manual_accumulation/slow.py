"""Fits a product, with the gradients of four small batches added up by hand."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

x = np.random.default_rng(0).normal(size=(2048, 6)).astype("float32")
y = x[:, :1] * x[:, 1:2]
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)
sums = [tf.Variable(tf.zeros_like(variable), trainable=False) for variable in model.trainable_variables]


@tf.function
def gradients_of(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a, training=True) - b))
    return loss, tape.gradient(loss, model.trainable_variables)


def fit(epochs, every):
    for epoch in range(epochs):
        for i, (a, b) in enumerate(dataset):
            loss, gradients = gradients_of(a, b)
            for total, gradient in zip(sums, gradients):
                total.assign_add(gradient / every)
            if (i + 1) % every == 0:
                optimizer.apply_gradients(zip(sums, model.trainable_variables))  # KC413
                for total in sums:
                    total.assign(tf.zeros_like(total))
    return loss


def fit_counting(epochs, every):
    count = 0
    for epoch in range(epochs):
        for a, b in dataset:
            loss, gradients = gradients_of(a, b)
            for total, gradient in zip(sums, gradients):
                total.assign_add(gradient / every)
            count += 1
            if count == every:
                optimizer.apply_gradients(zip(sums, model.trainable_variables))  # KC413
                for total in sums:
                    total.assign(tf.zeros_like(total))
                count = 0
    return loss


print("loss:", float(fit(2, every=4)) + float(fit_counting(2, every=4)))
