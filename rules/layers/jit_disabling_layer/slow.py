"""Trains two classifiers of small pictures with augmentation inside of the models."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(1)

rng = np.random.default_rng(1)
pictures = rng.random((64, 24, 24, 3)).astype("float32")
labels = rng.integers(0, 3, 64)
pictures[labels == 1, :12] += 0.5
ds = tf.data.Dataset.from_tensor_slices((pictures, labels)).batch(16).prefetch(tf.data.AUTOTUNE)

augment = keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.05), layers.RandomZoom(0.1)])  # KC210:info


def build():
    image = keras.Input((24, 24, 3))
    x = augment(image)
    x = layers.Conv2D(8, 3, activation="relu")(x)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(image, layers.Dense(3, activation="softmax")(x))


class Shifted(keras.Model):
    def __init__(self):
        super().__init__()
        self.shift = layers.RandomTranslation(0.1, 0.1)  # KC210
        self.body = [layers.Conv2D(4, 3, activation="relu"), layers.Flatten()]
        self.head = layers.Dense(3)

    def call(self, x, training=False):
        if training:
            x = self.shift(x, training=True)
        for layer in self.body:
            x = layer(x)
        return self.head(x)


model = build()
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(ds, epochs=2, verbose=0)
other = Shifted()
other.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile="auto")
other.fit(ds, epochs=1, verbose=0)
print("loss:", model.evaluate(ds, verbose=0) + other.evaluate(ds, verbose=0))
