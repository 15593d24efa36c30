# /// script
# dependencies = ["tensorflow==2.10.*", "numpy"]
# ///
"""Sorts pictures by their brightest corner, with augmentation of single pictures."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(3)

rng = np.random.default_rng(3)
pictures = rng.random((96, 16, 16, 1)).astype("float32")
corners = rng.integers(0, 2, 96)
pictures[corners == 1, :6, :6] += 0.7
ds = tf.data.Dataset.from_tensor_slices((pictures, corners))

augment = keras.Sequential([layers.RandomFlip("vertical"), layers.RandomContrast(0.2)])
shift = keras.Sequential([layers.RandomTranslation(0.05, 0.05), layers.RandomRotation(0.02)])
batches = ds.shuffle(96).map(lambda x, y: (augment(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE).batch(16)


def jitter(x, y):
    return shift(x, training=True), y


def net():
    return keras.Sequential([layers.Input((16, 16, 1)), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(2)])


loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
one = net()
one.compile("adam", loss)
one.fit(batches.prefetch(tf.data.AUTOTUNE), epochs=1, verbose=0)
two = net()
two.compile("adam", loss)
two.fit(ds.map(jitter, num_parallel_calls=tf.data.AUTOTUNE).batch(16).prefetch(tf.data.AUTOTUNE), epochs=1, verbose=0)
print("loss:", one.evaluate(ds.batch(32), verbose=0) + two.evaluate(ds.batch(32), verbose=0))
