"""State that is made once, or no state at all."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


class Lazy(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = None
        self.first = keras.layers.Dense(4)

    def build(self, input_shape):
        # Keras calls build() once.
        self.second = keras.layers.Dense(4)
        self.offset = tf.Variable(tf.zeros(4))

    def call(self, inputs):
        # Made the first time only.
        if self.dense is None:
            self.dense = keras.layers.Dense(4)
        last = self.dense if self.dense is not None else keras.layers.Dense(4)
        return last(self.second(self.first(inputs))) + self.offset


class Functions(keras.layers.Layer):
    # Layers without weights are only functions.
    def call(self, inputs):
        pooled = keras.layers.Flatten()(keras.layers.Add()([inputs, inputs]))
        return keras.layers.Activation("relu")(keras.layers.LeakyReLU()(pooled))


class Lifted(tf.Module):
    @tf.function
    def __call__(self, x):
        # init_scope makes it outside of the graph.
        with tf.init_scope():
            offset = tf.Variable(1.0)
        return x + offset


def block(tensor):
    # A function that builds a functional model is not compiled.
    return keras.layers.Dense(4)(keras.layers.Dropout(0.1)(tensor))


inputs = keras.Input((4,))
model = keras.Model(inputs, block(Functions()(Lazy()(inputs))))
model.compile(keras.optimizers.SGD(0.1), "mse")
model.fit(np.ones((8, 4)), np.ones((8, 4)))
