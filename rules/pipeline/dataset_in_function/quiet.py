"""Datasets in compiled code that hold no arrays, and datasets of arrays that are made outside."""

import numpy as np
import tensorflow as tf

features = np.ones((64, 4), "float32")
outside = tf.data.Dataset.from_tensor_slices(features).batch(8)


@tf.function
def total(dataset):
    # Made outside and passed in.
    result = tf.zeros(())
    for batch in dataset:
        result += tf.reduce_sum(batch)
    return result


@tf.function
def counted(n):
    # A dataset of numbers, and of a tensor that was passed in.
    result = tf.zeros((), tf.int64)
    for i in tf.data.Dataset.range(5):
        result += i
    for value in tf.data.Dataset.from_tensor_slices(n):
        result += tf.cast(value, tf.int64)
    return result


@tf.function
def given(rows):
    # Of an argument nobody knows more.
    return tf.data.Dataset.from_tensor_slices(rows).reduce(0.0, lambda a, b: a + tf.reduce_sum(b))


def plain():
    # Nothing compiles this.
    return tf.data.Dataset.from_tensor_slices(np.zeros((10, 2)))


print(total(outside), counted(tf.range(3)), given(tf.ones((3, 2))), plain())
