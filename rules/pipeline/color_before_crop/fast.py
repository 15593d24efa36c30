"""Train on crops of pictures whose colors vary."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
pictures = rng.integers(0, 256, size=(48, 32, 32, 3), dtype=np.uint8)
encoded = [tf.io.encode_jpeg(np.kron(picture, np.ones((12, 12, 1), np.uint8))).numpy() for picture in pictures]
labels = rng.integers(0, 3, size=len(encoded))


def classifier():
    model = keras.Sequential([keras.Input((128, 128, 3)), layers.AveragePooling2D(32), layers.Flatten(), layers.Dense(3)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def load(jpeg, label):
    image = tf.image.resize(tf.io.decode_jpeg(jpeg, channels=3), (384, 384)) / 255.0
    image = tf.image.random_crop(image, (128, 128, 3))
    image = tf.image.random_hue(image, 0.2)
    image = tf.image.random_saturation(image, 0.5, 1.5)
    return tf.image.random_contrast(image, 0.5, 1.5), label


# --- In helpers, with arithmetic and a choice in between --------------------------------------------


def distort(image):
    return tf.image.random_saturation(tf.image.random_brightness(image, 0.2), 0.5, 1.5)


def read(jpeg, label):
    image = tf.image.resize(tf.io.decode_jpeg(jpeg, channels=3), (384, 384)) / 255.0
    turned = tf.cond(tf.random.uniform(()) < 0.5, lambda: tf.image.flip_left_right(image), lambda: image)
    return distort(tf.image.resize(turned, (128, 128)))[:, :, ::-1] - 0.5, label


# --- Brightness alone ------------------------------------------------------------------------------


def brighten(jpeg, label):
    image = tf.image.resize(tf.io.decode_jpeg(jpeg, channels=3), (384, 384))
    image = tf.image.crop_to_bounding_box(image, 0, 0, 128, 128)
    return tf.image.random_brightness(image, 20.0) / 255.0, label


losses = []
for function in (load, read, brighten):
    examples = tf.data.Dataset.from_tensor_slices((encoded, labels)).map(function, num_parallel_calls=tf.data.AUTOTUNE)
    history = classifier().fit(examples.batch(8).prefetch(1), epochs=4, verbose=0)
    losses.append(history.history["loss"][-1])

print("loss:", sum(losses))
