"""Python in compiled code that is meant for the trace, and Python where nothing is compiled."""

import random
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras


class Careful(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        # Plain Python.
        self.offset = np.random.normal()
        self.blocks, self.made, self.total = [], 0, 0
        self.started = time.time()
        print("made", self.offset)

    def build(self, input_shape):
        self.blocks.append(random.random())

    def call(self, inputs):
        # What is known while tracing is what these are about.
        print("Tracing with", inputs)
        print("shape", inputs.shape)
        print(f"traced with {inputs}, of shape {inputs.shape}")
        print("a layer")
        print("offset", self.offset)
        # A list for this trace only.
        parts = []
        for offset in self.blocks:
            parts.append(inputs + offset)
        # A number for the names of what is traced.
        self.made += 1
        named = tf.identity(inputs, name=f"copy_{self.made}")
        # Not a count: arithmetic with a tensor.
        self.total += inputs
        # The graph's own.
        tf.print("value", inputs[0])
        generator = np.random.default_rng(1)
        return tf.add_n(parts) + named + tf.random.normal((4,)) * float(generator is None)


class Debugging(keras.layers.Layer):
    # Only where it is asked for to run eagerly.
    def call(self, inputs):
        if tf.executing_eagerly():
            print(inputs, time.time())
        return inputs


class Running(keras.metrics.Metric):
    # Metrics may be meant for eager evaluation.
    def __init__(self):
        super().__init__()
        self.values = []

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.values.append(y_pred)

    def result(self):
        return 0.0


class Log(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(time.time(), logs, np.random.normal())


model = keras.Sequential([keras.Input((4,)), Careful(), Debugging(), keras.layers.Dense(4)])
model.compile("sgd", "mse")
model.fit(np.ones((8, 4)), np.ones((8, 4)), callbacks=[Log()])

shown = {}


@tf.function
def summarize(inputs):
    # A dictionary, a number and a tensor of this trace; what is put away is no tensor.
    found, count = {}, 0
    found["mean"] = tf.reduce_mean(inputs)
    count += 1
    shown["rank"] = inputs.shape.rank
    latest = found["mean"] * count
    return latest


summarize(tf.ones((2, 3)))


@tf.function
def evaluate(inputs):
    # Words about building and tracing, and about a setting of the trace.
    print("Building the graph of evaluate")
    if len(shown) > 3:
        print("many")
    return tf.reduce_sum(inputs)


@tf.function
def train(inputs):
    # Once, as it is called.
    print("Training begins")
    for row in inputs:
        evaluate(row[None])
    return inputs


for _ in range(100):
    evaluate(tf.ones((2, 3)))
train(tf.ones((2, 3)))
