"""On the PyTorch backend nothing is traced: a tensor can be asked for its value, at the price of waiting for it."""

import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
from keras import ops


class Peeking(keras.layers.Layer):
    def call(self, inputs):
        return inputs / float(ops.max(inputs))
