"""MirroredStrategy where there are several devices, or a condition asks for them."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

devices = tf.config.list_physical_devices("GPU")

if len(devices) > 1:
    # Under a condition.
    strategy = tf.distribute.MirroredStrategy()
else:
    strategy = tf.distribute.get_strategy()

conditional = tf.distribute.MirroredStrategy() if devices[1:] else tf.distribute.get_strategy()

# A list of devices.
listed = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])

# Another strategy.
one = tf.distribute.OneDeviceStrategy("GPU:0")

with strategy.scope():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")

model.fit(np.load("x.npy"), np.load("y.npy"))
