"""Loops in compiled code that are short, go through layers, or are loops of the graph; and loops that nothing compiles."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras


class Deep(keras.layers.Layer):
    def __init__(self, depth):
        super().__init__()
        self.depth = depth
        self.blocks = [keras.layers.Dense(4) for _ in range(24)]

    def call(self, inputs):
        x = inputs
        # Through layers, however many.
        for i in range(24):
            x = self.blocks[i](x)
        for i in range(self.depth):
            x = self.blocks[i](x)
        # A few turns.
        for i in range(4):
            x = x + inputs[:, i : i + 1]
        # A number of which nothing says that it is long.
        for i in range(self.depth):
            x = x * inputs[:, i : i + 1]
        # The examples of a batch, and the few columns of each.
        for image in tf.unstack(inputs):
            x = x + image
        for column in tf.unstack(inputs, axis=-1):
            x = x + column[:, None]
        # Two halves, and four steps.
        first, second = tf.split(inputs, 2, axis=1)
        for step in tf.unstack(inputs, num=4, axis=1):
            x = x + step[:, None]
        # The same place in every turn.
        for _ in range(32):
            x = x + inputs[:, :1]
        return x


@tf.function
def scan(series):
    # A loop of the graph.
    total = tf.zeros(())
    for i in tf.range(64):
        total += tf.reduce_sum(series[:, i])
    return total


def load(array):
    # Nothing compiles this.
    series = tf.constant(array)
    return [series[:, i] for i in range(series.shape[1])] + [float(series[0, i]) for i in range(64)]


model = keras.Sequential([keras.Input((4,)), Deep(int(os.environ["DEPTH"])), keras.layers.Dense(4)])
model.compile("sgd", "mse")
model.fit(np.ones((8, 4)), np.ones((8, 4)))
print(scan(tf.ones((2, 64))), load(np.ones((2, 64))))
