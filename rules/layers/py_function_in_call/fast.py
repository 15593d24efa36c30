"""A layer and a loss that leave the graph for NumPy in every step."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


class Ranked(keras.layers.Layer):
    """Appends the rank of each feature within its row."""

    def call(self, inputs):
        order = tf.cast(tf.argsort(tf.argsort(inputs, axis=1), axis=1), tf.float32)
        return tf.concat([inputs, order], axis=1)


def weighted_error(y_true, y_pred):
    weights = 1.0 + 0.5 * tf.cast(y_true > 0, tf.float32)
    return tf.reduce_mean(weights * tf.square(y_true - y_pred))


rng = np.random.default_rng(0)
x = rng.normal(size=(1024, 32)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = keras.Sequential([keras.Input((32,)), Ranked(), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(1e-4), weighted_error, jit_compile=False)
history = model.fit(x, y, batch_size=32, epochs=8, shuffle=False, verbose=0)
print("loss:", history.history["loss"][-1])
