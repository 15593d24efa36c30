"""A script for JAX, which raises here."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np

x, y = np.load("x.npy"), np.load("y.npy")
model = keras.Sequential([keras.layers.StringLookup(vocabulary=["a", "b"]), keras.layers.Embedding(3, 2)])
model.compile("adam", "mse")
model.fit(x, y)
