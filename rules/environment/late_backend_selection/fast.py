"""The backend comes from the command line, and TensorFlow's data sets are used with every one."""

import os
import sys

import numpy as np

backend = sys.argv[1] if len(sys.argv) > 1 else "tensorflow"
os.environ["KERAS_BACKEND"] = backend

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(256, 8)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(32).prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
print("loss:", model.fit(data, epochs=3, verbose=0).history["loss"][-1])
