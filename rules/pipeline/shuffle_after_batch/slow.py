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


table = tf.data.Dataset.from_tensor_slices((rows, labels)).batch(20).shuffle(40).prefetch(1)  # KC115
history = classifier().fit(table, epochs=3, verbose=0)

# --- One call per line, and sizes with names ---------------------------------------------------


def batches(dataset):
    return (
        dataset.map(standardize, num_parallel_calls=tf.data.AUTOTUNE)
        # The last batch may be smaller.
        .batch(BATCH)
        .shuffle(BUFFER, seed=1)  # KC115
        .prefetch(tf.data.AUTOTUNE)
    )


named = classifier().fit(batches(tf.data.Dataset.from_tensor_slices((rows, labels))), epochs=3, verbose=0)

# --- A loop written by hand --------------------------------------------------------------------

stream = tf.data.Dataset.from_tensor_slices((rows, labels))
stream = stream.batch(BATCH)
stream = stream.shuffle(buffer_size=40)  # KC115
model = classifier()
for _ in range(2):
    for row, label in stream.prefetch(1):
        loss = model.train_on_batch(row, label)

# --- In a class, and behind maps of batches ----------------------------------------------------


class Trainer:
    def __init__(self, x, y):
        self.train_ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

    def train(self):
        dataset = self.train_ds.shuffle(len(labels))  # KC115
        return classifier().fit(dataset, epochs=2, verbose=0)


def train_on_cached_batches():
    cached = tf.data.Dataset.from_tensor_slices((rows, labels)).batch(32).map(standardize).cache()
    for _ in range(5):
        for x, y in cached.repeat(2).shuffle(100):  # KC115
            model.train_on_batch(x, y)


print("loss:", history.history["loss"][-1] + named.history["loss"][-1] + float(loss))
