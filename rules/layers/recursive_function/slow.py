"""Sums a series by a compiled function that calls itself, once per depth."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


@tf.function
def smooth(series, times):  # KC214
    if times == 0:
        return series
    return smooth(0.5 * (series + tf.roll(series, 1, axis=1)), times - 1)


class Halving(tf.Module):
    @tf.function
    def reduce(self, series, width):  # KC214
        if width <= 1:
            return series
        return self.reduce(0.5 * (series[:, : width // 2] + series[:, width // 2 : width]), width // 2)


rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(256, 32)).astype("float32"))
smoothed = smooth(x, 24)
halving = Halving()
y = halving.reduce(smoothed, 32)
model = keras.Sequential([keras.Input((32,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.1), "mse")
history = model.fit(smoothed, y, batch_size=32, epochs=3, shuffle=False, verbose=0)
print("loss:", history.history["loss"][-1])
