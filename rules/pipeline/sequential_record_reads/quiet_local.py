"""Nothing in this program speaks of network storage, so names that are not literals are those of local files."""

import os

import keras
import tensorflow as tf
from keras import layers

model = keras.Sequential([layers.Dense(1)])
model.compile("sgd", "mse")


def parse(records):
    values = tf.io.parse_example(records, {"values": tf.io.FixedLenFeature([8], tf.float32)})["values"]
    return values, tf.reduce_sum(values, axis=1)


def train(folder):
    files = tf.io.gfile.glob(os.path.join(folder, "*.tfrecord"))
    model.fit(tf.data.TFRecordDataset(files).batch(20).map(parse), epochs=2)
    names = tf.data.Dataset.list_files(os.path.join(folder, "*.tfrecord"))
    model.fit(tf.data.TFRecordDataset(names).batch(20).map(parse), epochs=2)
