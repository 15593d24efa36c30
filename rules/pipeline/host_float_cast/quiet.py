"""Casts of images that something needs, or that copy little."""

import keras
import tensorflow as tf

SIDE = 96
names = tf.io.gfile.glob("images/*")
model = keras.Sequential([keras.Input((SIDE, SIDE, 3)), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")


def resized_later(name):
    image = tf.cast(tf.io.decode_png(tf.io.read_file(name)), tf.float32)
    return tf.image.resize(image, [SIDE, SIDE]), 0.0


def resized_before(name):
    image = tf.image.resize(tf.io.decode_png(tf.io.read_file(name)), [SIDE, SIDE])
    return tf.cast(image, tf.float32) / 255.0, 0.0


def changed_in_colour(name):
    image = tf.image.convert_image_dtype(tf.io.decode_png(tf.io.read_file(name)), tf.float32)
    return tf.image.random_brightness(image, 0.1), 0.0


def small(name):
    image = tf.reshape(tf.io.decode_png(tf.io.read_file(name)), [28, 28, 1])
    return tf.cast(image, tf.float32), 0.0


def deep(name):
    image = tf.io.decode_png(tf.io.read_file(name), dtype=tf.uint16)
    return tf.cast(image, tf.float32), 0.0


def floats(record):
    return tf.cast(tf.io.decode_raw(record, tf.float64), tf.float32), 0.0


def decoded(name):
    return tf.cast(tf.io.decode_png(tf.io.read_file(name)), tf.float32), 0.0


def brighter(image, label):
    return tf.image.random_contrast(image, 0.5, 1.5), label


def foreign(name):
    from somewhere import enhance

    return enhance(tf.cast(tf.io.decode_png(tf.io.read_file(name)), tf.float32)), 0.0


model.fit(tf.data.Dataset.from_tensor_slices(names).map(resized_later).batch(8).prefetch(1))
model.fit(tf.data.Dataset.from_tensor_slices(names).map(resized_before).batch(8).prefetch(1))
model.fit(tf.data.Dataset.from_tensor_slices(names).map(changed_in_colour).batch(8).prefetch(1))
model.fit(tf.data.Dataset.from_tensor_slices(names).map(small).batch(8).prefetch(1))
model.fit(tf.data.Dataset.from_tensor_slices(names).map(deep).batch(8).prefetch(1))
model.fit(tf.data.Dataset.from_tensor_slices(names).map(floats).batch(8).prefetch(1))
model.fit(tf.data.Dataset.from_tensor_slices(names).map(foreign).batch(8).prefetch(1))

# Needed by the next map, not known to be training, evaluation.
model.fit(tf.data.Dataset.from_tensor_slices(names).map(decoded).map(brighter).batch(8).prefetch(1))
model.evaluate(tf.data.Dataset.from_tensor_slices(names).map(decoded).batch(8).prefetch(1))
