"""Train on tabular records from TFRecord files: three readers of the same file format."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

COLUMNS = [f"sensor_{i}" for i in range(14)]
SPEC = {name: tf.io.FixedLenFeature([], tf.float32) for name in COLUMNS}
SPEC["failed"] = tf.io.FixedLenFeature([], tf.int64)


def write(path, rows, labels):
    with tf.io.TFRecordWriter(path) as writer:
        for row, label in zip(rows, labels):
            feature = {
                name: tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
                for name, value in zip(COLUMNS, row)
            }
            feature["failed"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "machines.tfrecord")
write(path, rng.normal(size=(3000, len(COLUMNS))), rng.integers(0, 2, size=3000))


def parse(record):
    return tf.io.parse_example(record, SPEC)


def split(columns):
    return tf.stack([columns[name] for name in COLUMNS], axis=-1), columns["failed"]


def read_shuffled(path):
    records = tf.data.TFRecordDataset(path).shuffle(3000, seed=11)
    columns = (
        records
        .batch(100)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    )
    return columns.map(split).prefetch(tf.data.AUTOTUNE)


def read_in_order(path):
    columns = tf.data.TFRecordDataset([path]).batch(100).map(lambda r: tf.io.parse_example(r, SPEC))
    return columns.map(split).prefetch(tf.data.AUTOTUNE)


def parse_pressure(serialized):
    pressure = {
        "sensor_0": tf.io.FixedLenFeature([], tf.float32),
        "sensor_1": tf.io.FixedLenFeature([], tf.float32),
        "failed": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    }
    return tf.io.parse_example(serialized=serialized, features=pressure)


def read_pressure(path):
    dataset = tf.data.TFRecordDataset(path)
    dataset = dataset.batch(100, drop_remainder=True).map(parse_pressure)
    dataset = dataset.map(lambda c: (tf.stack([c["sensor_0"], c["sensor_1"]], axis=-1), c["failed"]))
    return dataset.prefetch(1)


def train(dataset, width):
    model = keras.Sequential([keras.Input((width,)), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="sgd", loss="binary_crossentropy")
    return model.fit(dataset, epochs=5, verbose=0).history["loss"][-1]


losses = [
    train(read_shuffled(path), len(COLUMNS)),
    train(read_in_order(path), len(COLUMNS)),
    train(read_pressure(path), 2),
]
print("loss:", sum(losses))
