# /// script
# dependencies = ["tensorflow==2.9.3"]
# ///
"""In 2.9 this layer still takes the batch as a whole."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

x, y = np.load("x.npy"), np.load("y.npy")
model = keras.Sequential([layers.RandomRotation(0.1), layers.Flatten(), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
