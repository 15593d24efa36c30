"""Maps before a batch that must stay before it, or that nobody waits for."""

import keras
import numpy as np
import pandas as pd
import tensorflow as tf
from keras import layers

from project import transform

rng = np.random.default_rng(0)
images = rng.integers(0, 256, size=(64, 28, 28), dtype=np.uint8)
labels = rng.integers(0, 10, size=64)

model = keras.Sequential([layers.Flatten(), layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


source = tf.data.Dataset.from_tensor_slices((images, labels))


def scale(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


# --- The right order ---------------------------------------------------------------------------


def batch_first():
    # One call per batch already.
    model.fit(source.batch(8).map(scale))


def never_batched():
    # Every element is a batch of its own; there is nothing to swap with.
    whole = tf.data.Dataset.from_tensors((images, labels)).map(scale)
    model.fit(whole)


# --- Functions that need single examples -------------------------------------------------------


def decoding(paths):
    # decode_jpeg takes one file, and the images may differ in size until they are resized.
    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, (28, 28)) / 255.0, tf.strings.length(path)

    model.fit(tf.data.Dataset.from_tensor_slices(paths).map(load).batch(8))


def random_draws():
    # On a batch, one draw would serve all its images.
    def augment(image, label):
        image = tf.image.random_brightness(tf.cast(image, tf.float32), 0.1)
        return image + tf.random.normal([]), label

    model.fit(source.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(8))


def shapes():
    # Each of these means something else once the first axis is the batch.
    model.fit(source.map(lambda image, label: (tf.reshape(image, (784,)), label)).batch(8))
    model.fit(source.map(lambda image, label: (tf.expand_dims(image, 0), label)).batch(8))
    model.fit(source.map(lambda image, label: (image - tf.reduce_mean(image), label)).batch(8))
    model.fit(source.map(lambda image, label: (image[0], label)).batch(8))
    model.fit(source.map(lambda image, label: (image[..., tf.newaxis], image.shape[0])).batch(8))
    model.fit(source.map(lambda image, label: (tf.transpose(image), label)).batch(8))
    model.fit(source.map(lambda image, label: (tf.stack([image, image]), label)).batch(8))
    model.fit(source.map(lambda image, label: (image @ image, label)).batch(8))


def crop():
    # Cropping a batch needs other offsets.
    model.fit(source.map(lambda image, label: (image[2:26, 2:26], label)).batch(8))


def python_function():
    # Python code sees one example and may rely on it.
    def sharpen(image, label):
        return tf.numpy_function(np.gradient, [image], tf.float32), label

    model.fit(source.map(sharpen).batch(8))


def unknown_function():
    # Nobody can see here what transform does.
    model.fit(source.map(transform).batch(8))


# --- Batches that a swap would change ----------------------------------------------------------


def padding(sentences):
    # The elements have different lengths until they are padded.
    words = tf.data.Dataset.from_generator(sentences, output_signature=tf.RaggedTensorSpec([None], tf.int32))
    model.fit(words.map(lambda ids: (tf.cast(ids, tf.float32), 1)).padded_batch(8))
    model.fit(words.map(lambda ids: (tf.cast(ids, tf.float32), 1)).ragged_batch(8))


def between():
    # The filter reads what the map made of one example.
    bright = source.map(scale).filter(lambda image, label: tf.reduce_mean(image) > 0.5)
    model.fit(bright.batch(8))


# --- Not on the way to training ----------------------------------------------------------------


def held_out(train):
    # Little data, one pass.
    model.fit(train, validation_data=source.map(scale).batch(8))
    model.evaluate(source.map(scale).batch(8))


def statistics():
    # adapt() reads once, before training.
    normalization = layers.Normalization()
    normalization.adapt(source.map(lambda image, label: tf.cast(image, tf.float32)).batch(8))


def inspection():
    # A look at a few elements.
    for image, label in source.map(scale).batch(1).take(3):
        print(image.shape, label)


def few():
    # The first elements only, to overfit on.
    model.fit(source.take(32).map(scale).batch(8))


def other_maps(frame: pd.DataFrame, unknown):
    # The builtin, a series, and a receiver that may be anything.
    lengths = list(map(len, images))
    frame["label"] = frame["label"].map({"a": 0, "b": 1})
    model.fit(unknown.map(scale).batch(8))
    return lengths
