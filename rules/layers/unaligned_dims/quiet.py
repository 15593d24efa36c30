"""Widths that fit, that are given by the task, or that are computed in float32."""

import argparse

import keras
import numpy as np
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=100)
args = parser.parse_args()
x, y = np.load("x.npy"), np.load("y.npy")

# Before there is a policy.
first = keras.Sequential([layers.Dense(100), layers.Dense(3)])
first.compile("adam", "mse")
first.fit(x, y)

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential(
    [
        # Convolutions are padded by cuDNN.
        layers.Conv2D(100, 3),
        layers.Flatten(),
        # A multiple of 8, a narrow layer, one of unknown width, and one in float32.
        layers.Dense(96),
        layers.Dense(20),
        layers.Dense(args.width),
        layers.Dense(100, dtype="float32"),
        # The classes.
        layers.Dense(101, activation="softmax"),
    ]
)
model.compile("adam", "mse")
model.fit(x, y)
# Which layer comes last is not known.
body = keras.Sequential([layers.Dense(100)])
body.add(load_part("parts.keras"))
body.compile("adam", "mse")
