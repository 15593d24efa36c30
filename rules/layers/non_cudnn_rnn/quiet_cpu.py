"""The script hides the GPU from itself, and cuDNN runs on a GPU only."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras
from keras import layers

model = keras.Sequential(
    [
        keras.Input((50, 8)),
        layers.LSTM(32, activation="relu", return_sequences=True),
        layers.GRU(32, recurrent_dropout=0.2, reset_after=False),
        layers.Dense(1),
    ]
)
model.compile("adam", "mse")
model.fit(keras.random.normal((64, 50, 8)), keras.random.normal((64, 1)))
