"""Digits count here, and it says so."""

import keras
import numpy as np

keras.config.set_floatx("float64")  # the last digits of the energies matter
x = np.load("x.npy")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, x[:, :1])
