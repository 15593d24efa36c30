"""Repeats in their place, and some that are no repeats."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from project import config, transform

rng = np.random.default_rng(0)
source = tf.data.Dataset.from_tensor_slices((rng.normal(size=(400, 8)).astype("float32"), rng.normal(size=400)))

model = keras.Sequential([layers.Dense(1)])
model.compile("adam", "mse")


# --- Last --------------------------------------------------------------------------------------


def repeat_last():
    model.fit(source.cache().shuffle(400).repeat().batch(8), epochs=5, steps_per_epoch=50)
    model.fit(source.shuffle(400).batch(8).repeat(5))


# --- Once, or as often as somebody says --------------------------------------------------------


def once():
    model.fit(source.repeat(1).shuffle(400).batch(8))


def as_often_as_the_configuration_says():
    model.fit(source.repeat(config.repeats).shuffle(400).batch(8))


# --- Something else between --------------------------------------------------------------------


def regrouped():
    windows = source.map(lambda row, price: row).repeat().window(5).flat_map(lambda window: window.batch(5))
    model.fit(windows.map(lambda window: (window[:-1], window[-1])).shuffle(400).batch(8), epochs=5, steps_per_epoch=50)


def files():
    names = tf.data.Dataset.from_tensor_slices([f"{number}.tfrecord" for number in range(8)])
    records = names.repeat().shuffle(8).interleave(tf.data.TFRecordDataset, cycle_length=4)
    model.fit(records.batch(8), epochs=5, steps_per_epoch=50)


def by_a_helper():
    model.fit(source.repeat().apply(transform).shuffle(400).batch(8), epochs=5, steps_per_epoch=50)


# --- Not on the way to training ----------------------------------------------------------------


def held_out(data):
    model.fit(data, validation_data=source.repeat().shuffle(400).batch(8), validation_steps=5)
    model.evaluate(source.repeat(2).cache().batch(8))


def benchmark():
    # The same few elements again and again, kept to time the model without its pipeline.
    model.fit(source.take(8).repeat(1000).cache().batch(8))


def text():
    # repeat of NumPy.
    return np.array([1, 2]).repeat(3)
