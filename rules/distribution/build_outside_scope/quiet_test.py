"""A test trains on one device what another trains on two."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")


def build():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def test_alone():
    strategy = tf.distribute.MirroredStrategy()
    model = build()
    model.fit(x, y)
    assert strategy.num_replicas_in_sync
