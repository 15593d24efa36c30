"""Determinism that is asked for with a purpose."""

import os
import sys

import keras
import tensorflow as tf
from somewhere import images, labels, settings

if "--reproducible" in sys.argv:
    tf.config.experimental.enable_op_determinism()

os.environ["TF_DETERMINISTIC_OPS"] = "0"
os.environ["TF_DETERMINISTIC_OPS"] = settings.deterministic


def test_two_runs_are_equal():
    tf.config.experimental.enable_op_determinism()


def compare_kernels():
    # Nobody calls it here.
    tf.config.experimental.enable_op_determinism()


dataset = tf.data.Dataset.from_tensor_slices((images, labels)).map(lambda x, y: (tf.image.random_flip_left_right(x), y)).batch(32)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(dataset, epochs=5)
