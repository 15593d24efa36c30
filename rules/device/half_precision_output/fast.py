"""Classifiers under mixed precision, with labels of which some are wrong, and a mask."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_float16")

rng = np.random.default_rng(0)
x = 3 * rng.normal(size=(512, 12)).astype("float32")
kind = x[:, :4].argmax(axis=1)
kind[:40] = rng.permutation(kind[:40])
large = (x[:, :1] > 0).astype("float32")


def classifier():
    rows = keras.Input((12,))
    hidden = layers.Dense(16, activation="relu")(rows)
    return keras.Model(rows, layers.Dense(4, activation="softmax", dtype="float32")(hidden))


several = classifier()
several.compile("adam", "sparse_categorical_crossentropy")
first = several.fit(x, kind, epochs=4, verbose=0).history["loss"][-1]

pair = keras.Sequential([layers.Input((12,)), layers.Dense(16, activation="relu")])
for _ in range(2):
    pair.add(layers.Dense(8, activation=tf.nn.relu))
pair.add(layers.Dense(1))
pair.add(layers.Activation("sigmoid", dtype="float32"))
pair.compile(keras.optimizers.Adam(0.01), keras.losses.BinaryCrossentropy())
second = pair.fit(x, large, epochs=4, verbose=0).history["loss"][-1]


class Mask(keras.Model):
    def __init__(self, filters):
        super().__init__()
        self.body = layers.Conv2D(filters, 3, padding="same", activation="relu")
        self.out = layers.Conv2D(1, 1, activation="sigmoid", dtype="float32")

    def call(self, pictures):
        return self.out(self.body(pictures))


pictures = rng.random((32, 8, 8, 1)).astype("float32")
mask = Mask(4)
mask.compile("adam", "binary_crossentropy")
third = mask.fit(pictures, (pictures > 0.5).astype("float32"), verbose=0).history["loss"][-1]
print("loss:", first + second + third)
