"""Train with dataset options that someone set to save memory."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
images = np.random.default_rng(0).integers(0, 256, size=(600, 48, 48, 3), dtype=np.uint8)
labels = np.arange(600) % 5


def prepare(image, label):
    image = tf.image.resize(tf.cast(image, tf.float32), (64, 64), method="bicubic")
    return tf.image.per_image_standardization(image), label


def build():
    model = keras.Sequential([keras.Input((64, 64, 3)), layers.Conv2D(8, 3, strides=4, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(5)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


# --- A map that would be parallel ---------------------------------------------------------------

options = tf.data.Options()
options.deterministic = True
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).map(prepare).batch(30).prefetch(1).with_options(options)
history = build().fit(dataset, epochs=2, verbose=0)

# --- A prefetch that would be added -------------------------------------------------------------

no_prefetch = tf.data.Options()
batches = tf.data.Dataset.from_tensor_slices((images.astype("float32") / 255, labels)).batch(30)
batches = batches.with_options(no_prefetch).cache()
small = keras.Sequential([keras.Input((48, 48, 3)), layers.AveragePooling2D(4), layers.Flatten(), layers.Dense(5)])
small.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
second = small.fit(batches, epochs=2, verbose=0)

# --- One thread ----------------------------------------------------------------------------------

one = tf.data.Options()
prepared = tf.data.Dataset.from_tensor_slices((images, labels)).map(prepare, num_parallel_calls=tf.data.AUTOTUNE)
prepared = prepared.batch(30).prefetch(tf.data.AUTOTUNE).with_options(one)
third = build().fit(prepared, epochs=1, verbose=0)

print("loss:", sum(run.history["loss"][-1] for run in (history, second, third)))
