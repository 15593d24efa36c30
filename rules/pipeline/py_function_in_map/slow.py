"""Spectra stored as .npy files, and a table: Python code called for every element of a dataset."""

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


# --- Reading: np.load behind a numpy_function --------------------------------------------------


def load_npy(path):
    return np.load(path.decode())


def read(path, label):
    spectrum = tf.numpy_function(load_npy, [path], tf.float32)
    spectrum.set_shape((LENGTH,))
    return spectrum, label


# --- Preparing: TensorFlow operations behind a py_function -------------------------------------


def standardize(spectrum):
    spectrum = tf.math.log1p(spectrum)
    return (spectrum - tf.reduce_mean(spectrum)) / tf.math.reduce_std(spectrum)


def prepare(spectrum, label):
    spectrum = tf.py_function(func=standardize, inp=[spectrum], Tout=tf.float32)
    return tf.ensure_shape(spectrum, (LENGTH,)), label


def classifier(width, classes):
    model = keras.Sequential([keras.Input((width,)), keras.layers.Dense(classes, activation="softmax")])
    model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy")
    return model


spectra = tf.data.Dataset.from_tensor_slices((paths, peaks))
spectra = spectra.map(read, num_parallel_calls=tf.data.AUTOTUNE)  # KC107
spectra = spectra.map(prepare, num_parallel_calls=tf.data.AUTOTUNE)  # KC107
spectra = spectra.batch(50).prefetch(tf.data.AUTOTUNE)
spectra_history = classifier(LENGTH, 3).fit(spectra, epochs=5, verbose=0)

# --- A table: one lambda, NumPy on single rows -------------------------------------------------

table = rng.normal(5.0, 2.0, size=(3000, 8)).astype("float32")
grades = rng.integers(0, 2, size=3000)

rows = tf.data.Dataset.from_tensor_slices((table, grades)).map(  # KC107
    lambda row, grade: (
        tf.ensure_shape(tf.numpy_function(lambda x: np.clip(x, 0.0, 8.0) / 8.0, [row], tf.float32), (8,)),
        grade,
    )
)
rows_history = classifier(8, 2).fit(rows.batch(100).prefetch(1), epochs=5, verbose=0)

print("loss:", spectra_history.history["loss"][-1] + rows_history.history["loss"][-1])
