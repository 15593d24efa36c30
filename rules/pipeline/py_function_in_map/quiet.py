"""Python functions in a graph that cost little, or that nothing can replace."""

import keras
import librosa
import numpy as np
import tensorflow as tf

from project import read_scan

rng = np.random.default_rng(0)
table = rng.normal(size=(64, 8)).astype("float32")
grades = rng.integers(0, 2, size=64)

model = keras.Sequential([keras.layers.Dense(2)])
model.compile("adam", "sparse_categorical_crossentropy")


def source():
    return tf.data.Dataset.from_tensor_slices((table, grades))


def clip(row, grade):
    row = tf.numpy_function(lambda x: np.clip(x, 0.0, 1.0), [row], tf.float32)
    return tf.ensure_shape(row, (8,)), grade


def clip_batch(rows, grades):
    rows = tf.numpy_function(lambda x: np.clip(x, 0.0, 1.0), [rows], tf.float32)
    return tf.ensure_shape(rows, (None, 8)), grades


def scale(row, grade):
    return row / 10.0, grade


# --- Cheap enough ------------------------------------------------------------------------------


def whole_batches():
    # One call per batch; that was even faster than TensorFlow operations per element.
    model.fit(source().batch(32).map(clip_batch).prefetch(1))


def once():
    # The calls are made in the first epoch only.
    model.fit(source().map(clip).cache().batch(32).prefetch(1), epochs=10)


# --- Not replaceable ---------------------------------------------------------------------------


def audio(paths):
    # librosa has no counterpart in TensorFlow.
    def chroma(path):
        def load(name):
            signal, rate = librosa.load(name.decode())
            return librosa.feature.chroma_stft(y=signal, sr=rate).mean(axis=1)

        return tf.ensure_shape(tf.numpy_function(load, [path], tf.float32), (12,)), 0

    model.fit(tf.data.Dataset.from_tensor_slices(paths).map(chroma).cache().batch(32).prefetch(1))


# --- Not on the way to training ----------------------------------------------------------------


def held_out(train):
    # One pass over little data.
    model.fit(train, validation_data=source().map(clip).batch(32))
    model.evaluate(source().map(clip).batch(32))


def statistics():
    # adapt() reads once, before training.
    normalization = keras.layers.Normalization()
    normalization.adapt(source().map(clip).map(lambda row, grade: row).batch(32))


def inspection():
    # A look at a few elements.
    for row, grade in source().map(clip).take(3):
        print(row, grade)


def few():
    # The first elements only, to overfit on.
    model.fit(source().take(32).map(clip).batch(32))


def make_test_dataset():
    # Where it goes cannot be seen, but its name says that it is held-out data.
    return source().map(clip).batch(32)


# Overwritten before anybody has seen it.
cleaned = source().map(clip)
cleaned = source()


def never_mapped():
    # Defined for a notebook cell, called directly, mapped nowhere.
    return clip(table[0], grades[0])


# --- Python functions outside of datasets ------------------------------------------------------


class Agreement(keras.metrics.Mean):
    # A metric is another matter: this rule is about input pipelines.
    def update_state(self, y_true, y_pred, sample_weight=None):
        value = tf.numpy_function(lambda a, b: np.float32(np.mean(a == b)), [y_true, y_pred], tf.float32)
        return super().update_state(value)


@tf.function
def log_norm(weights):
    # Called once per epoch.
    tf.py_function(print, [tf.norm(weights)], [])


# --- Not tf.data, or unknown -------------------------------------------------------------------


def others(rows, unknown):
    # The builtin map, map_fn, and a receiver that may be anything.
    first = list(map(clip, rows, grades))
    second = tf.map_fn(lambda row: tf.numpy_function(np.sort, [row], tf.float32), table)
    model.fit(unknown.map(clip).batch(32))
    return first, second


def imported(paths):
    # What read_scan does cannot be seen from here.
    model.fit(tf.data.Dataset.from_tensor_slices(paths).map(read_scan).batch(32).prefetch(1))


model.fit(source().map(scale, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(1))
