"""Debugging switches that somebody has to ask for, or that are off."""

import argparse
import os
import unittest

import keras
import numpy as np
import tensorflow as tf

DEBUG = False
VERBOSE_DEVICES = bool(os.environ.get("VERBOSE_DEVICES"))

parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
parser.add_argument("--eager", action="store_true")
args = parser.parse_args()

# Under a flag of the module.
if DEBUG:
    tf.config.run_functions_eagerly(True)
    tf.data.experimental.enable_debug_mode()

# Under a flag of the command line.
if args.debug:
    tf.debugging.enable_check_numerics()
    tf.debugging.experimental.enable_dump_debug_info("debug", tensor_debug_mode="FULL_HEALTH")

# Under the environment.
if os.environ.get("CHECK_NUMERICS") == "1":
    tf.debugging.enable_check_numerics()

# The flag is the argument.
tf.config.run_functions_eagerly(args.eager)
tf.debugging.set_log_device_placement(VERBOSE_DEVICES)

# Switched off.
tf.config.run_functions_eagerly(False)
tf.debugging.set_log_device_placement(False)
tf.debugging.disable_check_numerics()


def build(debug=False):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    # A parameter that the caller decides on.
    model.compile("adam", "mse", run_eagerly=debug)
    return model


def compile_for(model, mode):
    if mode == "debug":
        model.compile("adam", "mse", run_eagerly=True)
    else:
        model.compile("adam", "mse", run_eagerly=False)
    model.run_eagerly = mode == "debug"


# A model that cannot be compiled says so in its arguments; the value comes from elsewhere.
options = {"optimizer": "adam", "loss": "mse", "run_eagerly": args.eager}
build().compile(**options)


# Tests step through the code.
def test_gradients_are_finite():
    tf.config.run_functions_eagerly(True)
    tf.debugging.enable_check_numerics()
    model = build()
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(tf.ones((4, 4)), tf.ones((4, 1)))


class LossTest(unittest.TestCase):
    def setUp(self):
        tf.config.run_functions_eagerly(True)

    def test_loss(self):
        model = build()
        model.run_eagerly = True
        self.assertGreaterEqual(model.evaluate(tf.ones((4, 4)), tf.ones((4, 1))), 0.0)


# Methods and attributes of the same name on things that are not Keras.
class Interpreter:
    def __init__(self):
        self.run_eagerly = True

    def compile(self, source, run_eagerly=False):
        return source, run_eagerly


Interpreter().compile("1 + 1", run_eagerly=True)

model = build(args.debug)
model.fit(tf.ones((64, 4)), tf.ones((64, 1)), epochs=3)


class Replaying(keras.Model):
    """Its step draws from Python in every turn: a graph would draw once."""

    def train_step(self, data):
        old = self.memory[np.random.randint(len(self.memory))]
        return {"loss": tf.reduce_mean(self(old) - data)}


replaying = Replaying()
replaying.compile("adam", "mse", run_eagerly=True)
replaying.fit(np.zeros((8, 2)), np.zeros((8, 1)))

# A switch that somebody turns.
STEP_BY_STEP = True
switched = keras.Sequential([keras.layers.Dense(1)])
switched.compile("adam", "mse", run_eagerly=STEP_BY_STEP)
switched.fit(np.zeros((8, 2)), np.zeros((8, 1)))


class Observed(keras.layers.Layer):
    """Keeps the largest value that it has seen."""

    def build(self, shape):
        self.largest = self.add_weight(shape=(), initializer="zeros")

    def call(self, inputs):
        self.largest.assign(tf.maximum(self.largest, tf.reduce_max(inputs)))
        return inputs


# Run for what its layers see, not to train.
calibrated = keras.Sequential([keras.Input((4,)), Observed()])
calibrated.compile(run_eagerly=True)
seen = []
for batch in np.ones((3, 2, 4)):
    calibrated.predict_on_batch(batch)
    seen.append(calibrated.layers[0].largest.numpy())
