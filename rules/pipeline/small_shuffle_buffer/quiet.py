"""Shuffles with room enough, or that are not there to mix examples."""

import random

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from project import config, transform

rng = np.random.default_rng(0)
source = tf.data.Dataset.from_tensor_slices((rng.normal(size=(400, 8)).astype("float32"), rng.normal(size=400)))

model = keras.Sequential([layers.Dense(1)])
model.compile("adam", "mse")


# --- Room enough, or nobody knows --------------------------------------------------------------


def large():
    model.fit(source.shuffle(400).batch(8))
    model.fit(source.shuffle(8).batch(8))


def as_the_configuration_says():
    model.fit(source.shuffle(config.buffer).batch(8))
    model.fit(source.shuffle(5).batch(config.batch_size))


def by_a_helper():
    model.fit(transform(source.shuffle(5)).batch(8))


# --- Mixed elsewhere ---------------------------------------------------------------------------


def shuffled_twice():
    model.fit(source.shuffle(4).map(lambda row, price: (row, price)).shuffle(400).batch(8))


def files_in_random_order():
    files = tf.data.Dataset.list_files("data/*.bin")
    model.fit(files.map(lambda path: tf.io.decode_raw(tf.io.read_file(path), tf.float32)).shuffle(4).batch(8))


# --- Elements of many examples -----------------------------------------------------------------


def batches():
    model.fit(source.batch(8).shuffle(4).batch(32))


def files():
    names = tf.data.Dataset.from_tensor_slices([f"{number}.tfrecord" for number in range(8)])
    model.fit(names.shuffle(1).interleave(tf.data.TFRecordDataset).batch(32))


# --- Not on the way to training ----------------------------------------------------------------


def held_out(data):
    model.fit(data, validation_data=source.shuffle(1).batch(8))
    model.evaluate(source.shuffle(4).batch(8))


def a_handful():
    model.fit(source.take(16).shuffle(4).batch(8))


def lists():
    names = list("abc")
    random.shuffle(names)
    rng.shuffle(names)
    return names
