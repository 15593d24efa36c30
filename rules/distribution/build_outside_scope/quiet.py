"""Models in the scope of a strategy, on various ways."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")


def build():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


strategy = tf.distribute.MirroredStrategy()

with strategy.scope():
    # In the scope, here and in a function.
    inline = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    inline.compile("adam", "mse")
    called = build()

inline.fit(x, y)
called.fit(x, y)
