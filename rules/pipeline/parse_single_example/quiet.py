"""Single records parsed where that is right, or where nobody waits for it."""

import keras
import tensorflow as tf

from project import parse_record

SPEC = {"x": tf.io.FixedLenFeature([4], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
IMAGE_SPEC = {"jpeg": tf.io.FixedLenFeature([], tf.string), "y": tf.io.FixedLenFeature([], tf.int64)}
WORD_SPEC = {"words": tf.io.VarLenFeature(tf.int64), "y": tf.io.FixedLenFeature([], tf.int64)}

model = keras.Sequential([keras.layers.Dense(2)])
model.compile("adam", "sparse_categorical_crossentropy")


def parse(record):
    return tf.io.parse_single_example(record, SPEC)


def pair(columns):
    return columns["x"], columns["y"]


def parse_batch(records):
    return pair(tf.io.parse_example(records, SPEC))


def parse_image(record):
    columns = tf.io.parse_single_example(record, IMAGE_SPEC)
    image = tf.io.decode_jpeg(columns["jpeg"], channels=3)
    return tf.image.resize(image, (64, 64)) / 255.0, columns["y"]


def parse_words(record):
    columns = tf.io.parse_single_example(record, WORD_SPEC)
    return tf.sparse.to_dense(columns["words"]), columns["y"]


def parsed_in_batches(path):
    # One call per batch already.
    model.fit(tf.data.TFRecordDataset(path).batch(64).map(parse_batch))


def images(path):
    # The decoder takes one image, and decoding costs far more than parsing.
    model.fit(tf.data.TFRecordDataset(path).map(parse_image, num_parallel_calls=4).batch(64))


def words(path):
    # Sentences differ in length: they are padded together only after parsing.
    records = tf.data.TFRecordDataset(path).map(parse_words)
    model.fit(records.padded_batch(64))
    model.fit(tf.data.TFRecordDataset(path).map(parse_words).ragged_batch(64))


def reshaped(path):
    # The shape that is written out is that of one record.
    def parse_square(record):
        columns = tf.io.parse_single_example(record, SPEC)
        return tf.reshape(columns["x"], (2, 2)), columns["y"]

    model.fit(tf.data.TFRecordDataset(path).map(parse_square).batch(64))


def tensors(path):
    # A serialized tensor is parsed one by one.
    def parse_tensor(record):
        columns = tf.io.parse_single_example(record, IMAGE_SPEC)
        return tf.io.parse_tensor(columns["jpeg"], tf.float32), columns["y"]

    model.fit(tf.data.TFRecordDataset(path).map(parse_tensor).batch(64))


def sequences(path):
    # For a batch these features come out padded or sparse.
    def parse_steps(record):
        spec = {"steps": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
        return tf.io.parse_single_example(record, spec)

    model.fit(tf.data.TFRecordDataset(path).map(parse_steps).batch(64))
    model.fit(tf.data.TFRecordDataset(path).map(parse_words).batch(64))


def selected(path):
    # The filter decides about single records.
    records = tf.data.TFRecordDataset(path).map(parse)
    records = records.filter(lambda columns: columns["y"] > 0)
    model.fit(records.batch(64).map(pair))


def one_record_per_step(path):
    # Each record holds a whole batch; there is no batch to move.
    model.fit(tf.data.TFRecordDataset(path).map(parse).map(pair))


def unknown_parser(path):
    # What the imported function does cannot be seen from here.
    model.fit(tf.data.TFRecordDataset(path).map(parse_record).batch(64))


def held_out(train, path):
    # One pass over little data.
    validation = tf.data.TFRecordDataset(path).map(parse).batch(64).map(pair)
    model.fit(train, validation_data=validation)
    model.evaluate(tf.data.TFRecordDataset(path).map(parse).batch(64).map(pair))


def normalized(record):
    # Over a batch, the mean would be that of all its records.
    columns = tf.io.parse_single_example(record, SPEC)
    return columns["x"] - tf.reduce_mean(columns["x"]), columns["y"]


def reduced(path):
    model.fit(tf.data.TFRecordDataset(path).map(normalized).batch(64))


def statistics(path):
    # adapt() reads once, before training.
    normalization = keras.layers.Normalization()
    normalization.adapt(tf.data.TFRecordDataset(path).map(parse).batch(64).map(lambda columns: columns["x"]))


def inspection(path):
    # A look at the first records.
    for columns in tf.data.TFRecordDataset(path).map(parse).batch(2).take(1):
        print(columns)
    first = next(iter(tf.data.TFRecordDataset(path)))
    print(tf.io.parse_single_example(first, SPEC))


def serving(serialized):
    # A single request, outside of any dataset.
    columns = tf.io.parse_single_example(serialized, SPEC)
    return model(columns["x"][tf.newaxis])


def other_maps(records, unknown):
    # The builtin map, and a receiver that may be anything.
    columns = list(map(parse, records))
    model.fit(unknown.map(parse).batch(64).map(pair))
    return columns
