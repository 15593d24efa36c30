"""Outputs in float32, logits, and policies that are not known or not for these layers."""

import argparse

import keras
import numpy as np
from keras import layers
from tuners import Tuner

parser = argparse.ArgumentParser()
parser.add_argument("--half", action="store_true")
parser.add_argument("--width", default="float32")
args = parser.parse_args()
x, y = np.load("x.npy"), np.load("y.npy")


# A library calls this, perhaps before the policy is set.
class Search(Tuner):
    def build(self, options):
        model = keras.Sequential([layers.Dense(options.units), layers.Dense(3, activation="softmax")])
        model.compile("adam", "mse")
        return model


# Made before there is a policy.
early = layers.Dense(3, activation="softmax")
if args.half:
    keras.mixed_precision.set_global_policy("mixed_float16")
# A policy under a condition.
perhaps = keras.Sequential([layers.Dense(8), layers.Dense(3, activation="softmax")])
perhaps.compile("adam", "mse")
perhaps.fit(x, y)

keras.mixed_precision.set_global_policy("mixed_float16")
late = keras.Sequential([layers.Dense(8), early])
late.compile("adam", "mse")
late.fit(x, y)


def trained(*parts):
    model = keras.Sequential([layers.Dense(8), *parts])
    model.compile("adam", "mse")
    model.fit(x, y)


# The last layer has a type of its own, or one that is not known.
trained(layers.Dense(3, activation="softmax", dtype="float32"))
trained(layers.Dense(3), layers.Activation("softmax", dtype="float32"))
trained(layers.Dense(3, activation="softmax", dtype=args.width))
trained(layers.Dense(3, activation="softmax"), layers.Activation("linear", dtype="float32"))
# Logits, numbers, and functions that stay away from 1.
trained(layers.Dense(3))
trained(layers.Dense(3, activation="relu"))
# Which one is the last is not known.
ends = keras.Sequential([layers.Dense(8)])
if args.half:
    ends.add(layers.Dense(1, activation="sigmoid"))
else:
    ends.add(layers.Dense(3, activation="softmax", dtype="float32"))
ends.compile("adam", "mse")
ends.fit(x, y)

# For prediction only.
shown = keras.Sequential([layers.Dense(8), layers.Dense(3, activation="softmax")])
shown.predict(x)

# Taken back, and dropped.
keras.mixed_precision.set_global_policy("float32")
trained(layers.Dense(3, activation="sigmoid"))
keras.mixed_precision.set_global_policy("mixed_float16")
keras.backend.clear_session()
trained(layers.Dense(4, activation="sigmoid"))
# bfloat16 has the range of float32.
keras.mixed_precision.set_global_policy("mixed_bfloat16")
trained(layers.Dense(3, activation="softmax"))
