"""Determinism is asked for: parallel random maps would be run one by one anyway, and slower."""

import keras
import numpy as np
import tensorflow as tf

tf.config.experimental.enable_op_determinism()
keras.utils.set_random_seed(0)

images = np.zeros((64, 32, 32, 3), dtype=np.uint8)
labels = np.zeros(64, dtype=np.int64)


def augment(image, label):
    return tf.image.random_flip_left_right(tf.cast(image, tf.float32)), label


model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(tf.data.Dataset.from_tensor_slices((images, labels)).map(augment).batch(8).prefetch(1))
