"""Interleaves that are parallel already, that read nothing, or that nobody waits for."""

import keras
import numpy as np
import tensorflow as tf

from project import grid

rng = np.random.default_rng(0)
model = keras.Sequential([keras.layers.Dense(2)])
model.compile("adam", "sparse_categorical_crossentropy")


def parse(records):
    columns = tf.io.parse_example(
        records, {"x": tf.io.FixedLenFeature([4], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
    )
    return columns["x"], columns["y"]


def finish(records):
    return records.batch(64).map(parse).prefetch(tf.data.AUTOTUNE)


def files():
    return tf.data.Dataset.list_files("data/*.tfrecord", seed=0)


# --- Parallel already --------------------------------------------------------------------------


def parallel_in_every_spelling(options):
    # By keyword, with a number, by position (the fourth), with the older name.
    model.fit(finish(files().interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)))
    model.fit(finish(files().interleave(tf.data.TFRecordDataset, cycle_length=8, num_parallel_calls=8)))
    model.fit(finish(files().interleave(tf.data.TFRecordDataset, 8, 1, tf.data.AUTOTUNE)))
    model.fit(
        finish(files().interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.experimental.AUTOTUNE))
    )
    # The options may hold num_parallel_calls: unknown is not absent.
    model.fit(finish(files().interleave(tf.data.TFRecordDataset, **options)))


def parallel_reader(paths):
    # The reader opens several files by itself.
    model.fit(finish(tf.data.TFRecordDataset(paths, num_parallel_reads=tf.data.AUTOTUNE)))


def older_form():
    # parallel_interleave is parallel, however old.
    records = files().apply(tf.data.experimental.parallel_interleave(tf.data.TFRecordDataset, cycle_length=4))
    model.fit(finish(records))


# --- Serial on purpose -------------------------------------------------------------------------


def one_after_the_other():
    # With a cycle of one there is one file at a time: parallel calls have nothing to do.
    model.fit(finish(files().interleave(tf.data.TFRecordDataset, cycle_length=1)))


def mixing_memory(rows, labels):
    # Nothing is read here: the interleave only mixes two sources in memory.
    parts = tf.data.Dataset.range(2).interleave(
        lambda part: tf.data.Dataset.from_tensor_slices((rows, labels)).shard(2, part), cycle_length=2
    )
    model.fit(parts.batch(64).prefetch(1))


def windows(rows):
    # Windows of a series, flattened again.
    series = tf.data.Dataset.from_tensor_slices(rows).window(8, shift=1, drop_remainder=True)
    series = series.interleave(lambda window: window.batch(8), cycle_length=2)
    model.fit(series.map(lambda window: (window[:-1], window[-1])).batch(64).prefetch(1))


def flattened(rows):
    # Nothing is read here either.
    nested = tf.data.Dataset.from_tensor_slices(rows).flat_map(tf.data.Dataset.from_tensor_slices)
    model.fit(nested.batch(64).prefetch(1))


# --- Not on the way to training ----------------------------------------------------------------


def held_out(train):
    # One pass over little data.
    validation = finish(files().interleave(tf.data.TFRecordDataset, cycle_length=4))
    model.fit(train, validation_data=validation)
    model.evaluate(finish(files().interleave(tf.data.TFRecordDataset, cycle_length=4)))


def statistics():
    # adapt() reads once, before training.
    normalization = keras.layers.Normalization()
    rows = files().interleave(tf.data.TFRecordDataset, cycle_length=4).batch(64)
    normalization.adapt(rows.map(lambda records: parse(records)[0]))


def inspection():
    # A look at the first records.
    for record in files().interleave(tf.data.TFRecordDataset, cycle_length=4).take(3):
        print(record)


def few():
    # A few files of many, to overfit on.
    model.fit(finish(files().take(4).interleave(tf.data.TFRecordDataset, cycle_length=4)))


# --- Not tf.data -------------------------------------------------------------------------------


def others(unknown):
    # Another library's interleave, and a receiver that may be anything.
    table = grid.interleave(rng.normal(size=(2, 4)))
    model.fit(unknown.interleave(tf.data.TFRecordDataset, cycle_length=4))
    return table
