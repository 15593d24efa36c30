"""On JAX cuDNN has no GRU, and these arguments keep no layer off it."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
from keras import layers

model = keras.Sequential(
    [
        keras.Input((50, 8)),
        layers.LSTM(32, dropout=0.2, go_backwards=True, return_sequences=True),
        layers.GRU(32, activation="relu", reset_after=False, return_sequences=True),
        layers.RNN(layers.GRUCell(32)),
        layers.Dense(1),
    ]
)
model.compile("adam", "mse")
model.fit(keras.random.normal((64, 50, 8)), keras.random.normal((64, 1)))
