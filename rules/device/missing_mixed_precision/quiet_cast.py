"""A layer of the program's own computes with a tensor of float32, which TensorFlow does not multiply by one of half precision."""

import keras
import numpy as np
import tensorflow as tf


def scale(width):
    return tf.math.sqrt(tf.cast(width, tf.float32))


class Scaled(keras.layers.Layer):
    def __init__(self, words, width):
        super().__init__()
        self.embedding = keras.layers.Embedding(words, width)
        self.width = width

    def call(self, tokens):
        return self.embedding(tokens) * scale(self.width)


inputs = keras.Input((200,), dtype="int32")
x = keras.layers.LSTM(1024)(Scaled(40_000, 512)(inputs))
model = keras.Model(inputs, keras.layers.Dense(40_000)(x))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(np.load("tokens.npy"), np.load("next.npy"), epochs=10)
