"""Train on a folder of photographs, and on arrays, through tf.data and preprocessing layers."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

SIZE = (64, 64)


def write_photos(folder, per_class):
    for number, name in enumerate(["cats", "dogs"]):
        os.makedirs(os.path.join(folder, name))
        for index in range(per_class):
            pixels = rng.integers(0, 128, size=(256, 256, 3)) + 100 * number
            path = os.path.join(folder, name, f"{index:03}.jpg")
            tf.io.write_file(path, tf.io.encode_jpeg(pixels.astype("uint8")))


def classifier(loss):
    model = keras.Sequential(
        [
            keras.Input((*SIZE, 3)),
            keras.layers.Rescaling(1.0 / 255),
            keras.layers.Conv2D(4, 3, strides=4, activation="relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss)
    return model


with tempfile.TemporaryDirectory() as folder:
    write_photos(folder, per_class=100)
    train = keras.utils.image_dataset_from_directory(
        folder, image_size=SIZE, batch_size=30, label_mode="categorical", seed=0
    )
    photos = classifier("categorical_crossentropy").fit(train, epochs=5, verbose=0)

images = rng.integers(0, 256, size=(300, *SIZE, 3)).astype("float32")
labels = rng.integers(0, 2, size=300)
arrays = classifier("sparse_categorical_crossentropy").fit(
    images,
    labels,
    batch_size=30,
    epochs=2,
    verbose=0,
)

print("loss:", photos.history["loss"][-1] + arrays.history["loss"][-1])
