"""Trains two classifiers of small pictures with augmentation in the input pipeline."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(1)

rng = np.random.default_rng(1)
pictures = rng.random((64, 24, 24, 3)).astype("float32")
labels = rng.integers(0, 3, 64)
pictures[labels == 1, :12] += 0.5
plain = tf.data.Dataset.from_tensor_slices((pictures, labels)).batch(16)

augment = keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.05), layers.RandomZoom(0.1)])
shift = layers.RandomTranslation(0.1, 0.1)
augmented = plain.map(lambda x, y: (augment(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
shifted = plain.map(lambda x, y: (shift(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def build():
    image = keras.Input((24, 24, 3))
    x = layers.Conv2D(8, 3, activation="relu")(image)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(image, layers.Dense(3, activation="softmax")(x))


class Small(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = [layers.Conv2D(4, 3, activation="relu"), layers.Flatten()]
        self.head = layers.Dense(3)

    def call(self, x):
        for layer in self.body:
            x = layer(x)
        return self.head(x)


model = build()
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(augmented, epochs=2, verbose=0)
other = Small()
other.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile="auto")
other.fit(shifted, epochs=1, verbose=0)
print("loss:", model.evaluate(plain, verbose=0) + other.evaluate(plain, verbose=0))
