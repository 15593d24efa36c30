"""Train on a table that is sorted by class, with a shuffle that only mixes its batches."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
BATCH, BUFFER = 20, 50

labels = np.sort(rng.integers(0, 4, size=800))
rows = (rng.normal(size=(800, 12)) + labels[:, None]).astype("float32")


def standardize(row, label):
    return (row - 1.5) / 2.0, label


def classifier():
    model = keras.Sequential([keras.Input((12,)), layers.Dense(16, activation="relu"), layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


table = tf.data.Dataset.from_tensor_slices((rows, labels)).shuffle(800).batch(20).prefetch(1)
history = classifier().fit(table, epochs=3, verbose=0)

# --- One call per line, and sizes with names ---------------------------------------------------


def batches(dataset):
    return (
        dataset.map(standardize, num_parallel_calls=tf.data.AUTOTUNE)
        .shuffle(BUFFER * BATCH, seed=1)
        # The last batch may be smaller.
        .batch(BATCH)
        .prefetch(tf.data.AUTOTUNE)
    )


named = classifier().fit(batches(tf.data.Dataset.from_tensor_slices((rows, labels))), epochs=3, verbose=0)

# --- A loop written by hand --------------------------------------------------------------------

stream = tf.data.Dataset.from_tensor_slices((rows, labels))
stream = stream.shuffle(buffer_size=40 * BATCH)
stream = stream.batch(BATCH)
model = classifier()
for _ in range(2):
    for row, label in stream.prefetch(1):
        loss = model.train_on_batch(row, label)

# --- In a class, and behind maps of batches ----------------------------------------------------


class Trainer:
    def __init__(self, x, y):
        self.train_ds = tf.data.Dataset.from_tensor_slices((x, y))

    def train(self):
        dataset = self.train_ds.shuffle(len(labels)).batch(16)
        return classifier().fit(dataset, epochs=2, verbose=0)


def train_on_cached_batches():
    cached = tf.data.Dataset.from_tensor_slices((rows, labels)).map(standardize).cache()
    for _ in range(5):
        for x, y in cached.shuffle(800).repeat(2).batch(32):
            model.train_on_batch(x, y)


print("loss:", history.history["loss"][-1] + named.history["loss"][-1] + float(loss))
