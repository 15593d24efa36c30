"""Keeps a moving average of the weights, which goes through NumPy in every step."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

x = np.random.default_rng(0).normal(size=(2048, 256)).astype("float32")
y = np.sin(x[:, :1])
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)


def network():
    layers = [keras.layers.Dense(256, activation="relu") for _ in range(12)]
    return keras.Sequential([keras.Input((256,)), *layers, keras.layers.Dense(1)])


model, average = network(), network()
average.set_weights(model.get_weights())
optimizer = keras.optimizers.SGD(0.01)


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a, training=True) - b))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(4):
    for a, b in dataset:
        train_step(a, b)
        mixed = [0.99 * old + 0.01 * new for old, new in zip(average.get_weights(), model.get_weights())]
        average.set_weights(mixed)  # KC421

print("loss:", float(tf.reduce_mean(tf.square(average(x) - y))))
