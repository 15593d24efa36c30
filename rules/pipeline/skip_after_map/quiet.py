"""Skips that discard little, or what costs nothing."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from project import config, files, transform

labels = np.arange(len(files)) % 2
source = tf.data.Dataset.from_tensor_slices((files, labels))
model = keras.Sequential([layers.Flatten(), layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def decode(path, label):
    return tf.io.decode_jpeg(tf.io.read_file(path), channels=3), label


def skip_first():
    model.fit(source.skip(500).map(decode).batch(8), epochs=3)


def kept():
    model.fit(source.map(decode).cache().skip(500).batch(8), epochs=3)
    model.fit(source.map(decode).skip(500).cache().batch(8), epochs=3)


def few():
    model.fit(source.map(decode).skip(20).batch(8), epochs=3)
    model.fit(source.map(decode).batch(8).skip(2), epochs=3)


def cheap():
    model.fit(source.map(lambda path, label: (path, label + 1)).skip(500).batch(8), epochs=3)
    model.fit(source.map(transform).skip(500).batch(8), epochs=3)


def taken():
    model.fit(source.map(decode).take(500).batch(8), epochs=3)


def a_number_from_elsewhere():
    # It may be where an earlier run stopped.
    model.fit(source.map(decode).skip(config.start).batch(8), epochs=3)


def one_epoch():
    model.fit(source.map(decode).skip(500).batch(8), epochs=1)


def under_a_condition():
    data = source.map(decode)
    if config.leave_out:
        data = data.skip(500)
    model.fit(data.batch(8), epochs=3)


def skipped_once():
    model.fit(source.map(decode).repeat().skip(500).batch(8), steps_per_epoch=100, epochs=3)


def applied():
    model.fit(source.map(decode).apply(transform).skip(500).batch(8), epochs=3)


def looked_at():
    for image, label in source.map(decode).skip(500).take(3):
        print(image, label)
    model.evaluate(source.map(decode).skip(500).batch(8))
