"""The conditions are those of the TensorFlow backend; here JAX runs the model."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
from keras import layers

model = keras.Sequential(
    [
        keras.Input((50, 8)),
        layers.LSTM(32, activation="relu", return_sequences=True),
        layers.RNN(layers.GRUCell(32)),
        layers.Dense(1),
    ]
)
model.compile("adam", "mse")
model.fit(keras.random.normal((64, 50, 8)), keras.random.normal((64, 1)))
