"""Hidden GPUs, with settings that are right for a CPU or not certain."""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers

tf.config.set_visible_devices([], "GPU")
x, y = np.load("x.npy"), np.load("y.npy")

# Only where there is a GPU.
if tf.config.get_visible_devices("GPU"):
    keras.mixed_precision.set_global_policy("mixed_float16")
keras.mixed_precision.set_global_policy(sys.argv[1])
keras.mixed_precision.set_global_policy("float32")  # not mixed_float16

model = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(1)])
model.compile("adam", "mse", jit_compile="auto")
model.fit(x, y)
model.compile("adam", "mse", jit_compile="--jit" in sys.argv)
model.fit(x, y)
if "--slow" in sys.argv:
    model.compile("adam", "mse", jit_compile=True)
    model.fit(x, y)
