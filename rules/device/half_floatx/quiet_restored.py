"""Set back before anything is trained."""

import keras
import numpy as np

keras.config.set_floatx("float16")
small = keras.layers.Dense(1)
keras.config.set_floatx("float32")
x = np.load("x.npy")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, x[:, :1])
