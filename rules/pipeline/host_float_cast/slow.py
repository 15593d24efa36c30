"""Tells vertical from horizontal stripes, in PNG images and in records of raw bytes."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
SIDE = 96

pictures, kinds = [], []
for number in range(200):
    picture = np.repeat(rng.integers(0, 256, (SIDE, 1, 1), dtype=np.uint8), SIDE, axis=1)
    pictures.append(picture.transpose(1, 0, 2) if number % 2 else picture)
    kinds.append(number % 2)
encoded = [tf.io.encode_png(picture).numpy() for picture in pictures]
raw = [picture.tobytes() for picture in pictures]


def read_png(png, kind):
    image = tf.io.decode_png(png, channels=1)
    image = tf.reshape(image, [SIDE, SIDE, 1])
    image = tf.cast(image, tf.float32)  # KC120:info
    return image / 255.0, kind


def read_raw(record, kind):
    image = tf.reshape(tf.io.decode_raw(record, tf.uint8), (SIDE, SIDE, 1))
    image = tf.image.flip_up_down(image)
    return tf.image.convert_image_dtype(image, tf.float32), tf.cast(kind, tf.float32)  # KC120:info


def classifier():
    model = keras.Sequential([keras.Input((SIDE, SIDE, 1)), layers.Conv2D(4, 5, strides=4, activation="relu"), layers.GlobalMaxPooling2D(), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01), keras.losses.BinaryCrossentropy(from_logits=True))
    return model


png = tf.data.Dataset.from_tensor_slices((encoded, kinds)).map(read_png, num_parallel_calls=tf.data.AUTOTUNE).batch(25).prefetch(tf.data.AUTOTUNE)
first = classifier().fit(png, epochs=3, verbose=0)

records = tf.data.Dataset.from_tensor_slices((raw, kinds)).map(read_raw, num_parallel_calls=tf.data.AUTOTUNE).batch(25).prefetch(tf.data.AUTOTUNE)
second = classifier().fit(records, epochs=3, verbose=0)
print("loss:", first.history["loss"][-1] + second.history["loss"][-1])
