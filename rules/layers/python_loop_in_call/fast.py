"""A recurrent average and a step that both go through time in Python."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


class Decayed(keras.layers.Layer):
    """The last state of an exponential moving average."""

    def call(self, inputs):
        steps = inputs.shape[1]
        weights = 0.1 * 0.9 ** tf.range(steps - 1, -1, -1, dtype=tf.float32)
        return 0.9**steps * inputs[:, 0] + tf.einsum("t,btf->bf", weights, inputs)


@tf.function
def roughness(series):
    return tf.reduce_sum(tf.reduce_mean(tf.square(series[:, 1:] - series[:, :-1]), axis=(0, 2)))


@tf.function
def drift(series):
    weights = 0.1 * 0.9 ** tf.range(63, -1, -1, dtype=tf.float32)
    return tf.reduce_mean(tf.einsum("t,btf->bf", weights, series))


rng = np.random.default_rng(0)
x = rng.normal(size=(256, 64, 4)).astype("float32")
y = x.mean(axis=1)
print("roughness:", float(roughness(tf.constant(x))))
print("drift:", float(drift(tf.constant(x))))
model = keras.Sequential([keras.Input((64, 4)), Decayed(), keras.layers.Dense(4)])
model.compile(keras.optimizers.SGD(0.1), "mse")
history = model.fit(x, y, batch_size=32, epochs=2, verbose=0)
print("loss:", history.history["loss"][-1])
