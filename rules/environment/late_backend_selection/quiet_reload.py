"""Keras is imported anew with another backend."""

import importlib
import os

import keras

os.environ["KERAS_BACKEND"] = "jax"
keras = importlib.reload(keras)
print(keras.config.backend())
