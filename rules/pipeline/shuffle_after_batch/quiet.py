"""Shuffles that mix what they should."""

import random

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from project import transform

rng = np.random.default_rng(0)
rows = rng.normal(size=(400, 8)).astype("float32")
labels = rng.integers(0, 2, size=400)
source = tf.data.Dataset.from_tensor_slices((rows, labels))

model = keras.Sequential([layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


# --- The examples are mixed --------------------------------------------------------------------


def shuffle_first():
    model.fit(source.shuffle(400).batch(8), epochs=3)


def shuffled_twice():
    # The examples, and then the batches once more.
    model.fit(source.shuffle(400).batch(8).shuffle(10), epochs=3)


def single_examples():
    model.fit(source.batch(1).shuffle(400), epochs=3)


# --- The first batch is not the batch of the training ------------------------------------------


def text_in_chunks(text):
    # batch() cuts the text into sequences.
    sequences = tf.data.Dataset.from_tensor_slices(text).batch(101, drop_remainder=True)
    sequences = sequences.map(lambda chunk: (chunk[:-1], chunk[1:]))
    model.fit(sequences.shuffle(1000).batch(64), epochs=3)


def chunks_and_back():
    # Parsed in big chunks, shuffled coarsely, and taken apart again.
    model.fit(source.batch(100).shuffle(4).unbatch().batch(8), epochs=3)


def regrouped_by_a_helper():
    model.fit(source.batch(100).shuffle(4).apply(transform), epochs=3)


def windows():
    windows = tf.data.Dataset.range(400).window(5, shift=1).flat_map(lambda window: window.batch(5)).shuffle(400)
    model.fit(windows.map(lambda window: (window[:-1], window[-1])).batch(8), epochs=3)


# --- Batches that belong together --------------------------------------------------------------


def neighbours_of_one_length(texts):
    texts = sorted(texts, key=len)
    model.fit(tf.data.Dataset.from_generator(lambda: texts, tf.int32).padded_batch(8).shuffle(10), epochs=3)


def buckets():
    by_length = source.shuffle(400).bucket_by_sequence_length(lambda row, label: label, [10, 20], [8, 8, 8])
    model.fit(by_length.shuffle(10), epochs=3)


def a_utility():
    # It shuffles the files in each epoch.
    images = keras.utils.image_dataset_from_directory("images", batch_size=8)
    model.fit(images.shuffle(100), epochs=3)


# --- Not on the way to training ----------------------------------------------------------------


def held_out(data):
    model.fit(data, validation_data=source.batch(8).shuffle(10))
    model.evaluate(source.batch(8).shuffle(10))


def inspection():
    for row, label in source.batch(8).shuffle(10).take(2):
        print(row, label)


def a_handful():
    model.fit(source.take(16).batch(8).shuffle(2), epochs=3)


# --- Unknown, or not tf.data -------------------------------------------------------------------


def unknown(dataset):
    model.fit(transform(source.batch(8)).shuffle(10), epochs=3)
    model.fit(dataset.shuffle(10), epochs=3)


def transitions():
    # Pairs of steps, for whoever calls this to shuffle and to batch.
    return source.batch(2).shuffle(100)


def lists():
    batches = [rows[start : start + 8] for start in range(0, 400, 8)]
    random.shuffle(batches)
    rng.shuffle(rows)
    return batches
