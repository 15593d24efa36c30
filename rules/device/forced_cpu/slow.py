"""Two networks that are kept from the GPU, by a line at the top and by their device."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # KC308:info

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(256, 6)).astype("float32")
y = x[:, :2].sum(axis=1, keepdims=True)


def network():
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])


with tf.device("/CPU:0"):  # KC308
    model = network()
    model.compile("adam", "mse")
    first = model.fit(x, y, epochs=2, verbose=0).history["loss"][-1]

second = network()
optimizer = keras.optimizers.SGD(0.05)


@tf.function
def step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((second(inputs) - targets) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, second.trainable_variables), second.trainable_variables))
    return loss


for _ in range(20):
    with tf.device("cpu:0"):  # KC308
        loss = step(x, y)
print("loss:", first + float(loss))
