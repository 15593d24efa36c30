"""A physical model that needs float64 does not want less than float32."""

import keras
import numpy as np

keras.config.set_floatx("float64")

model = keras.Sequential(
    [
        keras.Input((3,)),
        keras.layers.Dense(2048, activation="tanh"),
        keras.layers.Dense(2048, activation="tanh"),
        keras.layers.Dense(1),
    ]
)
model.compile("adam", "mse")
model.fit(np.load("coordinates.npy"), np.load("energy.npy"), epochs=1000)
