"""Hidden for a reason that is given."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # the driver of this machine is broken

import keras
import numpy as np

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.load("x.npy"), np.load("y.npy"))
