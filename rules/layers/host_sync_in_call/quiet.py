"""Numbers and NumPy arrays that are no tensors in compiled code, and tensors that are read where nothing is compiled."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.ones((64, 8), "float32"), np.ones((64, 1), "float32")


class Configured(keras.layers.Layer):
    def __init__(self, ratio="0.5"):
        super().__init__()
        # No tensor in sight: __init__ is plain Python.
        self.ratio = float(ratio)

    def build(self, input_shape):
        self.width = int(input_shape[-1])

    def call(self, inputs, scale=1):
        # Shapes and settings are numbers while the layer is traced.
        width = int(inputs.shape[-1])
        return inputs * float(scale) * self.ratio / int(np.prod((self.width, width)))


class Flexible(keras.layers.Layer):
    # What a parameter holds may be a number, a string or a dictionary.
    def call(self, inputs, rate):
        levels = [int(level[1:]) for level in inputs]
        return float(rate) * len(levels)


class Choosing(keras.layers.Layer):
    # Decided by settings and by what was passed, not by numbers in a tensor.
    def call(self, inputs, scale=None, training=False):
        if training and scale is not None and inputs.shape[-1] > 2:
            return inputs * scale
        return inputs if scale is None else inputs + 1


class Converted(keras.layers.Layer):
    # AutoGraph converts a call() that is decorated.
    @tf.function
    def call(self, inputs):
        if tf.reduce_sum(inputs) > 0:
            return inputs
        return -inputs


@tf.function
def clipped(values):
    # And a function of one's own.
    while tf.reduce_max(values) > 1.0:
        values = values / 2.0
    # Casts, for AutoGraph.
    values = values * float(tf.reduce_max(values)) + int(tf.reduce_min(values))
    return values if tf.reduce_min(values) > 0.0 else tf.abs(values)


class Both(keras.layers.Layer):
    # The question is asked how it runs.
    def call(self, inputs):
        total = tf.reduce_sum(inputs)
        if tf.executing_eagerly():
            print(float(total))
        return inputs


class Lifted(keras.layers.Layer):
    # init_scope leaves the graph.
    def call(self, inputs):
        with tf.init_scope():
            offset = float(tf.constant(1.0) + 1.0)
        return inputs + offset


class Host(keras.layers.Layer):
    # A py_function gets real values.
    def call(self, inputs):
        return tf.py_function(lambda value: float(tf.reduce_max(value)), [inputs], tf.float32) * inputs


class Report(keras.callbacks.Callback):
    # Callbacks are not compiled.
    def on_epoch_end(self, epoch, logs=None):
        print(float(tf.reduce_mean(self.model(x))), self.model(x).numpy().std())


def evaluate(model):
    # Nor is plain code.
    return float(tf.reduce_mean(tf.square(model(x) - y)))


inputs = keras.Input((8,))
model = keras.Model(inputs, keras.layers.Dense(1)(Host()(Lifted()(Both()(Configured()(inputs))))))
model.compile("sgd", "mse")
model.fit(x, y, callbacks=[Report()])
print(Converted()(tf.constant(x)), evaluate(model), Flexible()(["p1", "p2"], 0.5))
