"""Keras is imported on another way than the one that sets the variable."""

import os
import sys

if "--benchmark" in sys.argv:
    import tensorflow

    print(tensorflow.__version__)

os.environ["KERAS_BACKEND"] = "torch"

import keras

print(keras.config.backend())
