"""The user says which."""

import sys

import keras
import numpy as np

keras.config.set_floatx(sys.argv[1])
x = np.load("x.npy")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, x[:, :1])
