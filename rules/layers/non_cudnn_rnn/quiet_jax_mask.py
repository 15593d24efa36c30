"""On JAX no layer that gets a mask uses cuDNN, whatever its arguments are."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np
from keras import layers

model = keras.Sequential([layers.Embedding(1000, 16, mask_zero=True), layers.LSTM(32, recurrent_dropout=0.2), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.ones((64, 50)), np.ones((64, 1)))
