"""tf.keras 2, of which the gain was not measured."""

import numpy as np
import tf_keras as keras

x, y = np.load("x.npy"), np.load("y.npy")
model = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(16), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=50)
