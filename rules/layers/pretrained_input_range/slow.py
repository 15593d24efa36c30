"""Classifies textures by the features of a network that divides by 255 itself, after the images are divided by 255."""

import os
import tempfile

import numpy as np
from keras.src.utils import file_utils
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.applications import MobileNetV3Small

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)


def textures(kinds, count):
    labels = rng.integers(0, kinds, count)
    tiles = rng.integers(0, 256, (kinds, 8, 8, 3))
    noise = rng.normal(0, 20, (count, 32, 32, 3))
    return (np.tile(tiles[labels], (1, 4, 4, 1)) + noise).astype("float32"), labels


def train(model, images, labels, epochs):
    model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model.fit(images, labels, batch_size=32, epochs=epochs, verbose=2).history["loss"][-1]


# So that this runs without a download, weights from other textures take the place of those from ImageNet.
teacher = MobileNetV3Small(weights=None, include_top=False, input_shape=(32, 32, 3))
for layer in teacher.layers:
    if isinstance(layer, layers.BatchNormalization):
        layer.momentum = 0.9
train(keras.Sequential([teacher, layers.GlobalAveragePooling2D(), layers.Dense(16)]), *textures(16, 768), 4)
path = os.path.join(tempfile.mkdtemp(), "teacher.weights.h5")
teacher.save_weights(path)
file_utils.get_file = lambda *args, **options: path

base = MobileNetV3Small(include_top=False, input_shape=(32, 32, 3))
base.trainable = False
inputs = keras.Input((32, 32, 3))
x = layers.RandomFlip()(inputs)
x = layers.Rescaling(1 / 255)(x)  # KC216
x = layers.GlobalAveragePooling2D()(base(x, training=False))
print("loss:", train(keras.Model(inputs, layers.Dense(4)(x)), *textures(4, 256), 10))
