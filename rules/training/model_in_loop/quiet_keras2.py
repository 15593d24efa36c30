"""On Keras 2 the memory comes back if it is asked for."""

import gc

import numpy as np
import tf_keras as keras

x, y = np.load("x.npy"), np.load("y.npy")

for units in range(1, 100):
    keras.backend.clear_session()
    model = keras.Sequential([keras.layers.Dense(units), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, y)
    del model
    gc.collect()
