"""Spectra stored as .npy files, and a table: prepared by TensorFlow operations."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

LENGTH = 256

folder = tempfile.TemporaryDirectory()
paths = []
for number in range(500):
    paths.append(os.path.join(folder.name, f"{number:04}.npy"))
    np.save(paths[-1], rng.gamma(2.0, 1.0, size=LENGTH).astype("float32"))
peaks = rng.integers(0, 3, size=500)


# --- Reading: the header of these files has 128 bytes ------------------------------------------


def read(path, label):
    values = tf.strings.substr(tf.io.read_file(path), 128, 4 * LENGTH)
    return tf.io.decode_raw(values, tf.float32, fixed_length=4 * LENGTH), label


# --- Preparing: TensorFlow operations, called as they are --------------------------------------


def standardize(spectrum):
    spectrum = tf.math.log1p(spectrum)
    return (spectrum - tf.reduce_mean(spectrum)) / tf.math.reduce_std(spectrum)


def prepare(spectrum, label):
    return standardize(spectrum), label


def classifier(width, classes):
    model = keras.Sequential([keras.Input((width,)), keras.layers.Dense(classes, activation="softmax")])
    model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy")
    return model


spectra = tf.data.Dataset.from_tensor_slices((paths, peaks))
spectra = spectra.map(read, num_parallel_calls=tf.data.AUTOTUNE)
spectra = spectra.map(prepare, num_parallel_calls=tf.data.AUTOTUNE)
spectra = spectra.batch(50).prefetch(tf.data.AUTOTUNE)
spectra_history = classifier(LENGTH, 3).fit(spectra, epochs=5, verbose=0)

# --- A table: one lambda, TensorFlow on whole batches ------------------------------------------

table = rng.normal(5.0, 2.0, size=(3000, 8)).astype("float32")
grades = rng.integers(0, 2, size=3000)

rows = tf.data.Dataset.from_tensor_slices((table, grades)).batch(100).map(
    lambda row, grade: (tf.clip_by_value(row, 0.0, 8.0) / 8.0, grade)
)
rows_history = classifier(8, 2).fit(rows.prefetch(1), epochs=5, verbose=0)

print("loss:", spectra_history.history["loss"][-1] + rows_history.history["loss"][-1])
