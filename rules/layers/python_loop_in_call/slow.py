"""A recurrent average and a step that both go through time in Python."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


class Decayed(keras.layers.Layer):
    """The last state of an exponential moving average."""

    def call(self, inputs):
        state = inputs[:, 0]
        for step in range(inputs.shape[1]):  # KC205
            state = 0.9 * state + 0.1 * inputs[:, step]
        return state


@tf.function
def roughness(series):
    total = tf.zeros(())
    for i in range(1, 64):  # KC205
        total += tf.reduce_mean(tf.square(series[:, i] - series[:, i - 1]))
    return total


@tf.function
def drift(series):
    state = tf.zeros((256, 4))
    for value in tf.unstack(series, axis=1):  # KC205
        state = 0.9 * state + 0.1 * value
    return tf.reduce_mean(state)


rng = np.random.default_rng(0)
x = rng.normal(size=(256, 64, 4)).astype("float32")
y = x.mean(axis=1)
print("roughness:", float(roughness(tf.constant(x))))
print("drift:", float(drift(tf.constant(x))))
model = keras.Sequential([keras.Input((64, 4)), Decayed(), keras.layers.Dense(4)])
model.compile(keras.optimizers.SGD(0.1), "mse")
history = model.fit(x, y, batch_size=32, epochs=2, verbose=0)
print("loss:", history.history["loss"][-1])
