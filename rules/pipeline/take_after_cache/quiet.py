"""Caches that are read to their end, or not meant to serve several epochs."""

import functools

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from project import config, transform

rng = np.random.default_rng(0)
rows = rng.normal(size=(400, 8)).astype("float32")
labels = rng.integers(0, 2, size=400)


def scale(row, label):
    return row / 2.0, label



scaled = tf.data.Dataset.from_tensor_slices((rows, labels)).map(scale)

model = keras.Sequential([layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


# --- Complete ----------------------------------------------------------------------------------


def take_first():
    model.fit(scaled.take(100).cache().batch(8), epochs=5)


def split():
    # What the validation skips, it reads: the cache is complete after the first validation.
    cached = scaled.cache()
    model.fit(cached.take(300).batch(8), validation_data=cached.skip(300).batch(8), epochs=5)


def used_as_it_is_too():
    cached = scaled.cache()
    model.evaluate(cached)
    model.fit(cached.take(300), epochs=5)


def only_while_debugging(debug):
    dataset = scaled.cache()
    if debug:
        dataset = dataset.take(100)
    model.fit(dataset.batch(8), epochs=5)


def everything():
    model.fit(scaled.cache().take(-1).batch(8), epochs=5)


def a_number_from_elsewhere():
    # It may be all of them.
    model.fit(scaled.cache().take(config.limit).batch(8), epochs=5)


# --- Read ahead, or many times -----------------------------------------------------------------


def repeated():
    model.fit(scaled.cache().repeat().take(2000).batch(8), epochs=5)


def shuffled():
    # The buffer takes in everything before the first element comes out.
    model.fit(scaled.cache().shuffle(400).take(100).batch(8), epochs=5)


def prefetched():
    model.fit(scaled.cache().prefetch(400).take(100).batch(8), epochs=5)


# --- One pass, or not on the way to training ---------------------------------------------------


def one_epoch():
    model.fit(scaled.cache().take(100).batch(8), epochs=1)


def held_out(training):
    model.fit(training, validation_data=scaled.cache().take(100).batch(8), epochs=5)
    model.evaluate(scaled.cache().take(100).batch(8))


def a_look():
    for row, label in scaled.cache().take(100):
        print(row, label)


# --- Unknown, or not tf.data -------------------------------------------------------------------


def through_a_helper():
    model.fit(transform(scaled.cache()).take(100), epochs=5)
    model.fit(scaled.cache().apply(transform).take(100).batch(8), epochs=5)


@functools.cache
def first_rows(count):
    # functools.cache, and take of NumPy.
    return np.take(rows, range(count), axis=0)
