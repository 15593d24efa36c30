"""On request only."""

import sys

import keras
import numpy as np

if "--half" in sys.argv:
    keras.config.set_floatx("float16")
x = np.load("x.npy")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, x[:, :1])
