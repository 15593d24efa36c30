"""Numbers of parallel calls that fit, or that the runtime chooses."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from project import config, denoise

rng = np.random.default_rng(0)
source = tf.data.Dataset.from_tensor_slices((rng.normal(size=(400, 8)).astype("float32"), rng.integers(0, 2, size=400)))
files = tf.data.Dataset.list_files("data/*.bin")

model = keras.Sequential([layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def scale(row, label):
    return row / 2.0, label


# --- Chosen ------------------------------------------------------------------------------------


def by_the_runtime():
    model.fit(source.map(scale, num_parallel_calls=tf.data.AUTOTUNE).batch(8, num_parallel_calls=tf.data.experimental.AUTOTUNE))
    model.fit(source.map(scale).batch(8))


def few():
    model.fit(source.map(scale, num_parallel_calls=4).batch(8))
    model.fit(source.map(scale, num_parallel_calls=8).batch(8))


def by_the_configuration(arguments):
    model.fit(source.map(scale, num_parallel_calls=config.workers).batch(8))
    model.fit(source.map(scale, **arguments).batch(8))
    model.fit(source.map(scale, num_parallel_calls=max(1, os.cpu_count() // 2)).batch(8))


class Generator:
    def __init__(self, workers=12):
        self.workers = workers

    def flow(self, num_parallel_calls=1):
        return source.map(scale, num_parallel_calls=num_parallel_calls).map(scale, self.workers).batch(8, num_parallel_calls=max(num_parallel_calls, 16))


# A caller chose.
model.fit(Generator().flow(num_parallel_calls=10))


# --- More than cores, to wait for files and for Python -----------------------------------------


def reading():
    model.fit(files.interleave(tf.data.TFRecordDataset, cycle_length=32, num_parallel_calls=32).batch(8))
    model.fit(files.map(lambda path: tf.io.decode_raw(tf.io.read_file(path), tf.float32), num_parallel_calls=64).batch(8))
    model.fit(source.batch(8).prefetch(64))


def in_python():
    def cleaned(row, label):
        return tf.numpy_function(denoise, [row], tf.float32), label

    model.fit(source.map(cleaned, num_parallel_calls=16).batch(8))


# --- Not on the way to training ----------------------------------------------------------------


def held_out(data):
    model.fit(data, validation_data=source.map(scale, num_parallel_calls=16).batch(8))
    model.evaluate(source.map(scale, num_parallel_calls=16).batch(8))


def inspection():
    for row, label in source.take(3).map(scale, num_parallel_calls=16):
        print(row, label)
