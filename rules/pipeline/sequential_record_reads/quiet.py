"""Record files that are read in parallel, are few, or lie on a local disk."""

import glob
import os

import keras
import tensorflow as tf
from keras import layers
from project import config

model = keras.Sequential([layers.Dense(1)])
model.compile("sgd", "mse")


def parse(records):
    values = tf.io.parse_example(records, {"values": tf.io.FixedLenFeature([8], tf.float32)})["values"]
    return values, tf.reduce_sum(values, axis=1)


def train(records):
    model.fit(records.batch(20).map(parse), epochs=2)


# --- In parallel -------------------------------------------------------------------------------


def said_so():
    train(tf.data.TFRecordDataset(tf.io.gfile.glob("gs://bucket/*.tfrecord"), num_parallel_reads=tf.data.AUTOTUNE))
    train(tf.data.TFRecordDataset(["gs://bucket/1", "gs://bucket/2"], None, None, 4))
    train(tf.data.TFRecordDataset(["gs://bucket/1", "gs://bucket/2"], num_parallel_reads=config.reads))
    train(tf.data.TFRecordDataset(["gs://bucket/1", "gs://bucket/2"], **config.options))


def interleaved():
    files = tf.data.Dataset.list_files("gs://bucket/*.tfrecord")
    train(files.interleave(lambda pattern: tf.data.TFRecordDataset(tf.io.gfile.glob("gs://bucket/*.tfrecord")), num_parallel_calls=4))


# --- One file, or local ones -------------------------------------------------------------------


def one_file():
    train(tf.data.TFRecordDataset("gs://bucket/train.tfrecord"))
    train(tf.data.TFRecordDataset(["gs://bucket/train.tfrecord"]))


def local_files():
    train(tf.data.TFRecordDataset(["data/train-1.tfrecord", "data/train-2.tfrecord"]))
    train(tf.data.TFRecordDataset(tf.io.gfile.glob("data/train-*.tfrecord")))
    train(tf.data.TFRecordDataset(tf.data.Dataset.list_files("data/train-*.tfrecord")))


def seen_by_python(folder):
    train(tf.data.TFRecordDataset(glob.glob(os.path.join(folder, "*.tfrecord"))))
    train(tf.data.TFRecordDataset([os.path.join(folder, name) for name in os.listdir(folder)]))


def from_elsewhere(files):
    train(tf.data.TFRecordDataset(files))


# --- Not on the way to training ----------------------------------------------------------------


def held_out(data):
    validation = tf.data.TFRecordDataset(tf.io.gfile.glob("gs://bucket/*.tfrecord")).batch(20).map(parse)
    model.fit(data, validation_data=validation)
    model.evaluate(tf.data.TFRecordDataset(tf.io.gfile.glob("gs://bucket/*.tfrecord")).batch(20).map(parse))


def calibration_data():
    # Whoever calls this reads it once.
    return tf.data.TFRecordDataset(tf.io.gfile.glob("gs://bucket/*.tfrecord"))
