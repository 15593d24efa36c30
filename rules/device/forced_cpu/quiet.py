"""The CPU where it belongs, or on certain conditions."""

import sys

import keras
import numpy as np
import tensorflow as tf

x, y = np.load("x.npy"), np.load("y.npy")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
model.compile("adam", "mse")

# Where the user asks for it.
if "--cpu" in sys.argv:
    tf.config.set_visible_devices([], "GPU")
tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[1:], "GPU")

# Data and tables on the CPU, training on the GPU.
with tf.device("/CPU:0"):
    table = tf.Variable(tf.zeros((1000, 64)))
    model.predict(x)
model.fit(x, y)

with tf.device("/GPU:0"):
    model.fit(x, y)
with tf.device(sys.argv[1]):
    model.fit(x, y)

if not tf.config.list_physical_devices("GPU"):
    with tf.device("/CPU:0"):
        model.fit(x, y)
