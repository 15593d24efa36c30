"""Only what is fed is made smaller, after the last layer."""

import keras
import numpy as np

x = np.load("x.npy")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
keras.config.set_floatx("float16")
model.compile("adam", "mse")
model.fit(x, x[:, :1])
