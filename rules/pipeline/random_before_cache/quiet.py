"""Caches that keep nothing random, or are meant to."""

import functools

import keras
import numpy as np
import pandas as pd
import tensorflow as tf
from keras import layers

from project import transform

rng = np.random.default_rng(0)
images = rng.integers(0, 256, size=(64, 32, 32, 3), dtype=np.uint8)
labels = rng.integers(0, 2, size=64)

model = keras.Sequential([layers.Flatten(), layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


source = tf.data.Dataset.from_tensor_slices((images, labels))


def scale(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


def augment(image, label):
    return tf.image.random_flip_left_right(image), label


def train(dataset):
    model.fit(dataset.batch(8).prefetch(1), epochs=5)


# --- The right order ---------------------------------------------------------------------------


def cache_first():
    # Everything before the cache always gives the same result.
    train(source.map(scale).cache().shuffle(64).map(augment, num_parallel_calls=4))


def cache_to_a_file(path):
    train(source.map(scale).cache(path).shuffle(64))


def shuffled_again():
    # The first shuffle only mixes what is stored; the second gives each epoch its own order.
    train(source.shuffle(64).map(scale).cache().shuffle(64))


def shuffled_again_under_the_same_switch(training):
    kept = source
    if training:
        kept = kept.shuffle(64)
    kept = kept.map(scale).cache()
    if training:
        kept = kept.shuffle(64)
    train(kept)


# --- Fixed on purpose --------------------------------------------------------------------------


def fixed_draws():
    # The seed of a stateless operation fixes the draw; that is what it is for.
    def shift(image, label):
        return tf.image.stateless_random_brightness(image, 0.1, seed=(1, 2)), label

    train(source.map(shift).cache())


def fixed_order():
    # One order for good is asked for, for instance before a split.
    shuffled = source.shuffle(64, seed=1, reshuffle_each_iteration=False).cache()
    train(shuffled.skip(16))


# --- Not on the way to training ----------------------------------------------------------------


def held_out(data):
    # Validation should see the same images every time.
    model.fit(data, validation_data=source.shuffle(64).map(augment).cache().batch(8))
    model.evaluate(source.map(augment).cache().batch(8))


def statistics():
    # adapt() reads once.
    normalization = layers.Normalization()
    normalization.adapt(source.shuffle(64).cache().map(lambda image, label: scale(image, label)[0]).batch(8))


def one_epoch():
    # Nothing is read back from the cache.
    model.fit(source.map(augment).cache().batch(8), epochs=1)


def inspection():
    # The same few images for two pictures.
    sample = source.shuffle(64).take(3).cache()
    for image, label in sample:
        print(image.shape, label)


def benchmark():
    # A few finished batches, kept on purpose to time the model without its pipeline.
    train(source.map(augment).take(32).cache().repeat(10))


# --- Unknown, or not tf.data -------------------------------------------------------------------


def unknown_function(dataset):
    # What transform does, and where the dataset comes from, cannot be seen from here.
    train(source.map(transform).cache())
    train(dataset.shuffle(64).cache())


@functools.cache
def shuffled_rows(path):
    # functools.cache and a shuffle of NumPy.
    rows = pd.read_csv(path).to_numpy()
    rng.shuffle(rows)
    return rows


class Store:
    def cache(self):
        return self


def other_caches():
    # A method of that name on something else.
    return Store().cache()
