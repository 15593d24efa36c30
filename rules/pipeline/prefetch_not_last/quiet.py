"""Prefetches in the middle of a chain that are right, or that nobody waits for."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

from project import browser, finish

rng = np.random.default_rng(0)
inputs = rng.normal(size=(64, 8)).astype("float32")
targets = rng.integers(0, 2, size=64)

model = keras.Sequential([keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


source = tf.data.Dataset.from_tensor_slices((inputs, targets))


def scale(values, label):
    return values / 10.0, label


# --- The end is buffered -----------------------------------------------------------------------


def last():
    # Where it belongs.
    model.fit(source.batch(8).prefetch(tf.data.AUTOTUNE))


def twice():
    # A buffer between two stages, and one at the end.
    model.fit(source.prefetch(64).batch(8).prefetch(1))
    dataset = source.prefetch(64)
    dataset = dataset.batch(8)
    model.fit(dataset.prefetch(buffer_size=2))


def close(dataset):
    return dataset.batch(8).prefetch(2)


def at_the_end_of_a_helper():
    # The helper prefetches again.
    model.fit(close(source.prefetch(64)))


def runs_ahead():
    # A parallel map has a buffer of its own.
    model.fit(source.batch(8).prefetch(1).map(scale, num_parallel_calls=tf.data.AUTOTUNE))


def pairs():
    # Nothing is computed behind the buffers.
    model.fit(tf.data.Dataset.zip((source.batch(8).map(lambda x, y: x).prefetch(1), source.batch(8).map(lambda x, y: y).prefetch(1))))
    model.fit(source.batch(8).prefetch(1).concatenate(source.batch(8).prefetch(1)))


def in_the_source():
    # Keras' own utility prefetches before it batches; that is not the user's chain.
    model.fit(keras.utils.timeseries_dataset_from_array(inputs, targets, sequence_length=4))


def own_dataset():
    # The prefetch ends a dataset that is trained on; another goes on from there.
    train = source.batch(8).prefetch(1)
    model.fit(train)
    model.fit(train.map(scale))


def fork():
    # One prefetch for two datasets: there is no one place to move it to.
    everything = source.prefetch(64)
    model.fit(everything.take(48).batch(8), validation_data=everything.skip(48).batch(8))


def perhaps_mapped(scaled):
    # Without the condition the prefetch is the last operation.
    dataset = source.batch(8).prefetch(1)
    if scaled:
        dataset = dataset.map(scale)
    model.fit(dataset)


def repeated():
    # Nothing is computed behind it.
    model.fit(source.batch(8).prefetch(1).repeat(), steps_per_epoch=8)


def few():
    # A handful of elements, to overfit on.
    model.fit(source.take(16).prefetch(1).batch(8))


# --- Not on the way to training ----------------------------------------------------------------


def held_out(train):
    # One pass over little data.
    model.fit(train, validation_data=source.prefetch(1).batch(8))
    model.evaluate(source.prefetch(1).batch(8))
    model.predict(source.prefetch(1).batch(8))


def statistics():
    # adapt() reads once, before training.
    normalization = keras.layers.Normalization()
    normalization.adapt(source.prefetch(1).map(lambda values, label: values).batch(8))


def inspection():
    # A look at a few batches of a finished pipeline.
    train = source.batch(8).prefetch(1)
    for values, label in train.take(3):
        print(values.shape, label)
    model.fit(train)


# --- Unknown, or not tf.data -------------------------------------------------------------------


def unknown(dataset):
    # What finish appends, and what the caller passes, cannot be seen from here.
    model.fit(finish(source.prefetch(64)))
    model.fit(dataset.prefetch(64).batch(8))


def other_prefetches(queryset):
    # A link of a web page, and a query of an object-relational mapper.
    browser.prefetch("https://example.org").map(len)
    return queryset.prefetch("author").filter(active=True)
