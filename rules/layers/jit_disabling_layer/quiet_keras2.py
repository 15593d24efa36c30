"""XLA is not the default of tf.keras 2."""


import tf_keras as keras
import numpy as np

x, y = np.load("x.npy"), np.load("y.npy")
model = keras.Sequential([keras.layers.RandomRotation(0.1), keras.layers.Flatten(), keras.layers.Dense(3)])
model.compile("adam", "mse")
model.fit(x, y)
