"""Shuffle buffers that hold little, or what is in memory anyway."""

import keras
import tensorflow as tf
from keras import layers
from project import config, transform

paths = [f"images/{number}.jpg" for number in range(5000)]
labels = [number % 2 for number in range(5000)]
source = tf.data.Dataset.from_tensor_slices((paths, labels))

model = keras.Sequential([layers.Flatten(), layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def decode(path, label):
    return tf.io.decode_jpeg(tf.io.read_file(path), channels=3), label


decoded = source.map(decode)


# --- Little in the buffer ----------------------------------------------------------------------


def shuffle_first():
    model.fit(source.shuffle(5000).map(decode).batch(8), epochs=3)


def few_images():
    model.fit(decoded.shuffle(200).batch(8), epochs=3)


def small_images():
    # 5,000 of them are 15 MB.
    def digit(path, label):
        return tf.image.resize(tf.io.decode_png(tf.io.read_file(path)), (32, 32)), label

    model.fit(source.map(digit).shuffle(5000).batch(8), epochs=3)


def made_small_by_the_next_map():
    model.fit(decoded.map(lambda image, label: (tf.reshape(image, [28, 28, 1]), label)).shuffle(5000).batch(8), epochs=3)


def bytes_of_files():
    model.fit(source.map(lambda path, label: (tf.io.read_file(path), label)).shuffle(5000).batch(8), epochs=3)


def a_number_from_elsewhere():
    model.fit(decoded.shuffle(config.buffer).batch(8), epochs=3)


# --- Something else is shuffled ----------------------------------------------------------------


def in_memory_anyway():
    model.fit(decoded.cache().shuffle(5000).batch(8), epochs=3)


def batches():
    model.fit(decoded.batch(8).shuffle(1000), epochs=3)


def pieces_of_images():
    pieces = decoded.flat_map(lambda image, label: tf.data.Dataset.from_tensor_slices(tf.image.resize(image, (8, 8))))
    model.fit(pieces.shuffle(5000).batch(8), epochs=3)


# --- Not on the way to training ----------------------------------------------------------------


def held_out(data):
    model.fit(data, validation_data=decoded.shuffle(5000).batch(8))
    model.evaluate(decoded.shuffle(5000).batch(8))


def a_handful():
    model.fit(source.take(16).map(decode).shuffle(1000).batch(8), epochs=3)


# --- Unknown -----------------------------------------------------------------------------------


def through_helpers():
    model.fit(transform(decoded).shuffle(5000).batch(8), epochs=3)
    model.fit(source.map(transform).shuffle(5000).batch(8), epochs=3)
