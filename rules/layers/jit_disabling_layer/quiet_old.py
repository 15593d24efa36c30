"""Written for Keras 2, which compiles nothing with XLA by itself."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

model = keras.Sequential([keras.Input((32, 32, 3)), layers.experimental.preprocessing.RandomRotation(0.1), layers.Flatten(), layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.zeros((8, 32, 32, 3)), np.zeros((8, 1)))
