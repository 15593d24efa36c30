"""XLA is off, or not a matter of this rule, in all of this script."""

import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()

import keras
import numpy as np

x, y = np.load("x.npy"), np.load("y.npy")
model = keras.Sequential([keras.layers.RandomRotation(0.1), keras.layers.Flatten(), keras.layers.Dense(3)])
model.compile("adam", "mse")
model.fit(x, y)
