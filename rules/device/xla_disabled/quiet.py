"""XLA that somebody decides about, or that is asked for."""

import sys

import keras
import numpy as np
import tensorflow as tf

x, y = np.load("x.npy"), np.load("y.npy")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])

model.compile("adam", "mse", jit_compile="--xla" in sys.argv)
model.fit(x, y)
model.compile("adam", "mse", jit_compile="auto")
model.fit(x, y)
if "--no-xla" in sys.argv:
    model.compile("adam", "mse", jit_compile=False)
    model.fit(x, y)

# What TensorFlow does anyway.
tf.config.optimizer.set_jit(False)
