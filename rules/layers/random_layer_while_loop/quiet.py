# /// script
# dependencies = ["tensorflow==2.11.1"]
# ///
"""Layers that take a batch as a whole, single images, and data that is not trained on."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--turn", action="store_true")
args = parser.parse_args()
x, y = np.load("x.npy"), np.load("y.npy")
ds = tf.data.Dataset.from_tensor_slices((x, y))
turn = layers.RandomRotation(0.1)

# Nothing slow in it.
model = keras.Sequential([layers.Rescaling(1 / 255), layers.RandomFlip(), layers.Flatten(), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(ds.batch(32))
# Image by image, before they are batched.
model.fit(ds.map(lambda a, b: (turn(a, training=True), b)).batch(32))
# Only looked at.
for pictures, _ in ds.batch(9).map(lambda a, b: (turn(a, training=True), b)).take(1):
    print(pictures.shape)
# Batched or not, nobody knows.
model.fit(make_dataset(x, y).map(lambda a, b: (turn(a, training=True), b)))
# Never trained, and not certainly in the model.
preview = keras.Sequential([layers.RandomZoom(0.1), layers.RandomCrop(8, 8)])
preview.predict(x)
maybe = keras.Sequential()
if args.turn:
    maybe.add(layers.RandomContrast(0.1))
maybe.add(layers.Dense(1))
maybe.compile("adam", "mse")
maybe.fit(x, y)
# Not certainly in the model that is mapped.
prepare = keras.Sequential([layers.Rescaling(1 / 255)])
if args.turn:
    prepare.add(layers.RandomRotation(0.1))
model.fit(ds.batch(32).map(lambda a, b: (prepare(a, training=True), b)))
