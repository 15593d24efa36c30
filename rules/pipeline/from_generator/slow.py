"""Two models fed from Python generators, one example at a time."""

import keras
import numpy as np
import tensorflow as tf
from tensorflow.data import Dataset

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

# --- Arrays that are in memory anyway ----------------------------------------------------------

FEATURES = 20
inputs = rng.normal(size=(2000, FEATURES)).astype("float32")
targets = inputs.sum(axis=1, keepdims=True) / FEATURES


def examples():
    for row, target in zip(inputs, targets):
        yield row, target


def table_batches(batch_size):
    dataset = tf.data.Dataset.from_generator(  # KC109
        examples,
        output_signature=(
            tf.TensorSpec(shape=(FEATURES,), dtype=tf.float32),
            tf.TensorSpec(shape=(1,), dtype=tf.float32),
        ),
    )
    return dataset.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def regression(width, optimizer):
    model = keras.Sequential([keras.Input((width,)), keras.layers.Dense(1)])
    model.compile(optimizer=optimizer, loss="mse")
    return model


table_history = regression(FEATURES, "sgd").fit(table_batches(100), epochs=3, verbose=0)

# --- Windows that Python cuts out of a series --------------------------------------------------

WINDOW = 48
series = np.cumsum(rng.normal(scale=0.1, size=3000 + WINDOW)).astype("float32")


def windows():
    for start in range(0, len(series) - WINDOW):
        yield series[start : start + WINDOW], series[start + WINDOW]


window_history = regression(WINDOW, "adam").fit(
    Dataset.from_generator(windows, output_types=("float32", "float32"), output_shapes=((WINDOW,), ()))  # KC109
    .batch(100)
    .prefetch(2),
    epochs=3,
    verbose=0,
)

print("loss:", table_history.history["loss"][-1] + window_history.history["loss"][-1])
