# The file has what its comments silence, and comments of other tools.
import os  # noqa: F401
import sys  # noqa

import numpy as np  # type: ignore  # noqa: E402, W291
import tensorflow as tf
from tensorflow import keras

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

images = np.zeros((256, 28, 28), "float32")


def flip(image):
    return tf.image.random_flip_left_right(image[..., None])


# A code, a prefix, a name, everything; on the first or last line of the statement.
by_code = tf.data.Dataset.from_tensor_slices(images).map(flip).batch(32).prefetch(2)  # noqa: KC101
by_prefix = tf.data.Dataset.from_tensor_slices(images).map(flip).batch(32).prefetch(2)  # noqa: E501,KC1
by_name = tf.data.Dataset.from_tensor_slices(images).map(flip).batch(32).prefetch(2)  # kerascheck: ignore[serial-map]
by_anything = tf.data.Dataset.from_tensor_slices(images).map(flip).batch(32).prefetch(2)  # kerascheck: ignore
over_lines = (
    tf.data.Dataset.from_tensor_slices(images)
    .map(flip)
    .batch(32)
    .prefetch(2)
)  # kerascheck: ignore[KC101] measured: the step is slower

# There on purpose, and it says so.
count = len(images)  # noqa: KC101, KC900
size = images.size  # kerascheck: ignore[serial-map, unused-suppression]
text = "x = 1  # noqa: KC101"
"""
x = 1  # kerascheck: ignore[KC405]
"""

model = keras.Sequential([keras.Input((28, 28, 1)), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
for dataset in (by_code, by_prefix, by_name, by_anything, over_lines):
    for batch in dataset:
        model.train_on_batch(batch, np.zeros((32, 1)))
