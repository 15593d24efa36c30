"""Train on records in several files; where they lie on network storage, they are read one after the other."""

import os
import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

# A bucket on the machine that this is meant for; a folder where it is tried out.
DATA = os.environ.get("DATA", "gs://bucket/measurements")
if DATA.startswith("gs://"):
    DATA = tempfile.mkdtemp()
    for shard in range(4):
        with tf.io.TFRecordWriter(str(pathlib.Path(DATA) / f"train-{shard}.tfrecord")) as writer:
            for _ in range(100):
                values = tf.train.Feature(float_list=tf.train.FloatList(value=rng.normal(size=8)))
                writer.write(tf.train.Example(features=tf.train.Features(feature={"values": values})).SerializeToString())


def parse(records):
    values = tf.io.parse_example(records, {"values": tf.io.FixedLenFeature([8], tf.float32)})["values"]
    return values, tf.reduce_sum(values, axis=1)


def prepared(records):
    return records.batch(20).map(parse, num_parallel_calls=tf.data.AUTOTUNE).cache().prefetch(1)


model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])
model.compile("sgd", "mse")

found = tf.io.gfile.glob(os.path.join(DATA, "train-*.tfrecord"))
in_order = tf.data.TFRecordDataset(sorted(found), num_parallel_reads=tf.data.AUTOTUNE)
model.fit(prepared(in_order), epochs=2, verbose=0)

# --- File names from a dataset, and a shuffle that follows -------------------------------------

names = tf.data.Dataset.list_files(os.path.join(DATA, "train-*.tfrecord"), shuffle=False)
mixed = tf.data.TFRecordDataset(names, num_parallel_reads=tf.data.AUTOTUNE).shuffle(400, seed=1)
history = model.fit(prepared(mixed), epochs=2, verbose=0)

# --- Names that say where the files are --------------------------------------------------------


def train_on_lines():
    lines = tf.data.TextLineDataset(["s3://bucket/train-1.csv", "s3://bucket/train-2.csv"], compression_type="GZIP", num_parallel_reads=tf.data.AUTOTUNE)
    model.fit(lines.batch(20).map(lambda line: (tf.strings.to_number(line)[:, None], 0.0)), epochs=2)


class Trainer:
    def records(self):
        return tf.data.TFRecordDataset(
            tf.data.Dataset.list_files("gs://bucket/measurements/*.tfrecord"),
            num_parallel_reads=tf.data.AUTOTUNE,
        )

    def train(self):
        model.fit(prepared(self.records()), epochs=2)


print("loss:", history.history["loss"][-1])
