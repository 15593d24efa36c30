"""Crops and changes of colors that lose nothing, or that another order would change."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

encoded = [tf.io.encode_jpeg(np.zeros((300, 300, 3), np.uint8)).numpy()] * 16


def resized(jpeg, side=256):
    return tf.image.resize(tf.io.decode_jpeg(jpeg, channels=3), (side, side)) / 255.0


def first_crop(jpeg):
    return tf.image.random_hue(tf.image.random_crop(resized(jpeg), (128, 128, 3)), 0.2)


def most_pixels_stay(jpeg):
    return tf.image.random_crop(tf.image.random_hue(resized(jpeg), 0.2), (224, 224, 3))


def unknown_size(jpeg):
    return tf.image.random_crop(tf.image.random_hue(tf.io.decode_jpeg(jpeg, channels=3), 0.2), (128, 128, 3))


def small(jpeg):
    return tf.image.random_crop(tf.image.random_hue(resized(jpeg, 96), 0.2), (48, 48, 3))


def enlarged(jpeg):
    return tf.image.resize(tf.image.random_hue(resized(jpeg, 128), 0.2), (256, 256))


def several_crops(jpeg):
    image = tf.image.random_hue(resized(jpeg), 0.2)
    return tf.image.random_crop(image, (128, 128, 3)), tf.image.random_crop(image, (64, 64, 3))


def large_image_as_well(jpeg):
    image = tf.image.random_hue(resized(jpeg), 0.2)
    return tf.image.random_crop(image, (128, 128, 3)), image * 2.0


def part_of_the_large_image(jpeg):
    image = tf.image.random_hue(resized(jpeg), 0.2)
    return tf.image.random_crop(image, (128, 128, 3)), image[..., 0] * 2.0


def sometimes(jpeg):
    image = tf.image.random_hue(resized(jpeg), 0.2)
    near = tf.random.uniform(()) < 0.5
    return tf.cond(near, lambda: tf.image.random_crop(image, (128, 128, 3)), lambda: image[::2, ::2])


def standardised(jpeg):
    image = tf.image.per_image_standardization(tf.image.random_hue(resized(jpeg), 0.2))
    return tf.image.random_crop(image, (128, 128, 3))


def slice_of_known_size(jpeg):
    image = tf.image.random_hue(resized(jpeg)[:200, :200], 0.2)
    return tf.image.random_crop(image, (150, 150, 3))


def sheet_of_two(jpeg):
    image = tf.image.random_hue(resized(jpeg), 0.2)
    return tf.image.random_crop(tf.stack([image, image]), (2, 128, 128, 3))


def held_out(jpeg):
    return tf.image.resize(tf.image.adjust_hue(resized(jpeg), 0.2), (64, 64)), 0.0


model = keras.Sequential([keras.Input((None, None, 3)), layers.GlobalAveragePooling2D(), layers.Dense(1)])
model.compile("sgd", "mse")
source = tf.data.Dataset.from_tensor_slices(encoded)
for function in (first_crop, most_pixels_stay, unknown_size, small, enlarged, standardised, slice_of_known_size):
    images = source.map(function, num_parallel_calls=tf.data.AUTOTUNE)
    model.fit(images.map(lambda image: (image, 0.0), num_parallel_calls=tf.data.AUTOTUNE).batch(4).prefetch(1))
for function in (several_crops, large_image_as_well, part_of_the_large_image):
    pairs = source.map(function, num_parallel_calls=tf.data.AUTOTUNE)
    model.fit(pairs.map(lambda image, _: (image, 0.0), num_parallel_calls=tf.data.AUTOTUNE).batch(4).prefetch(1))
choices = source.map(sometimes, num_parallel_calls=tf.data.AUTOTUNE).batch(4).prefetch(1)
model.fit(choices.map(lambda image: (image, 0.0), num_parallel_calls=tf.data.AUTOTUNE))
sheets = source.map(sheet_of_two, num_parallel_calls=tf.data.AUTOTUNE).prefetch(1)
model.fit(sheets.map(lambda pair: (pair, tf.zeros((2, 1))), num_parallel_calls=tf.data.AUTOTUNE))
model.evaluate(source.map(held_out, num_parallel_calls=tf.data.AUTOTUNE).batch(4))
