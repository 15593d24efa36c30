"""Memory growth is set by the environment variable."""

import os

os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

import keras
import tensorflow as tf

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.random.normal((256, 8)), tf.random.normal((256, 1)), epochs=5)
