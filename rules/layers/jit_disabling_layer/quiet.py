"""Augmentation that keeps nobody from XLA, and models for which XLA is off anyway."""

import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--turn", action="store_true")
parser.add_argument("--xla", action="store_true")
args = parser.parse_args()
x, y = np.load("x.npy"), np.load("y.npy")


def head():
    return [layers.Flatten(), layers.Dense(3)]


# In the input pipeline.
turn = keras.Sequential([layers.RandomRotation(0.1), layers.RandomZoom(0.2)])
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).map(lambda a, b: (turn(a, training=True), b))
model = keras.Sequential([layers.Input((8, 8, 3)), *head()])
model.compile("adam", "mse")
model.fit(ds)

# Layers that XLA can compile.
colours = keras.Sequential([layers.RandomFlip(), layers.RandomContrast(0.1), layers.RandomBrightness(0.1), *head()])
colours.compile("adam", "mse")
colours.fit(x, y)

# XLA is off, and that is meant.
off = keras.Sequential([layers.RandomRotation(0.1), *head()])
off.compile("adam", "mse", jit_compile=False)
off.fit(x, y)
debugged = keras.Sequential([layers.RandomRotation(0.1), *head()])
debugged.compile("adam", "mse", run_eagerly=True)
debugged.fit(x, y)

# A setting that is not known, and one among many.
asked = keras.Sequential([layers.RandomZoom(0.1), *head()])
asked.compile("adam", "mse", jit_compile=args.xla)
asked.fit(x, y)
options = dict(vars(args))
given = keras.Sequential([layers.RandomZoom(0.1), *head()])
given.compile("adam", "mse", **options)
given.fit(x, y)

# cuDNN takes the place of XLA.
video = keras.Input((12, 16, 16, 3))
frames = layers.TimeDistributed(keras.Sequential([layers.RandomZoom(0.1), layers.Conv2D(4, 3), layers.Flatten()]))(video)
clips = keras.Model(video, layers.Dense(1)(layers.GRU(8)(frames)))
clips.compile("adam", "mse")
clips.fit(x, y)
both_ways = keras.Model(video, layers.Dense(1)(layers.Bidirectional(layers.LSTM(8))(frames)))
both_ways.compile("adam", "mse")
both_ways.fit(x, y)

# Only sometimes in the model.
maybe = keras.Sequential()
if args.turn:
    maybe.add(layers.RandomTranslation(0.1, 0.1))
maybe.add(layers.Dense(3))
maybe.compile("adam", "mse")
maybe.fit(x, y)

# Never trained: a model that shows what augmentation does, and one that is trained elsewhere.
preview = keras.Sequential([layers.RandomCrop(6, 6), layers.RandAugment()])
preview.compile("adam", "mse")
preview.predict(x)
