"""An import that fails imports nothing, and the machines without TensorFlow have the other backend."""

import os

try:
    import tensorflow as tf
except ImportError:
    tf = None

os.environ["KERAS_BACKEND"] = "jax"

import keras

print(keras.config.backend(), tf)
