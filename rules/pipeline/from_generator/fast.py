"""Two models, fed from arrays and from a generator of whole batches."""

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


def table_batches(batch_size):
    dataset = tf.data.Dataset.from_tensor_slices((inputs, targets))
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
    views = np.lib.stride_tricks.sliding_window_view(series, WINDOW)[:-1]
    for start in range(0, len(views), 100):
        yield views[start : start + 100], series[WINDOW:][start : start + 100]


window_history = regression(WINDOW, "adam").fit(
    Dataset.from_generator(windows, output_types=("float32", "float32"), output_shapes=((None, WINDOW), (None,)))
    .prefetch(2),
    epochs=3,
    verbose=0,
)

print("loss:", table_history.history["loss"][-1] + window_history.history["loss"][-1])
