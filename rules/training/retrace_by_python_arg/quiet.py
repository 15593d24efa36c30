"""Arguments of compiled functions that are no new Python numbers or strings."""

import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras

x = np.load("x.npy")
batches = tf.data.Dataset.from_tensor_slices(x).batch(32)
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
heads = [keras.layers.Dense(1) for _ in range(20)]
count = len(x)


@tf.function
def step(batch, number, training=True):
    return tf.reduce_sum(model(batch, training=training)) * tf.cast(number, tf.float32)


@tf.function(input_signature=[tf.TensorSpec([None, 16]), tf.TensorSpec([], tf.int32)])
def signed(batch, number):
    return tf.reduce_sum(batch) * tf.cast(number, tf.float32)


@tf.function
def head(batch, number):
    # The number picks an object: a trace for each is meant.
    return heads[number](batch)


@tf.function
def unrolled(batch, turns):
    # Python counts while tracing.
    for _ in range(turns):
        batch = batch * 2
    return batch


@tf.function
def log(batch, name):
    # The string is a name, and no data.
    tf.summary.scalar(name, tf.reduce_sum(batch), step=0)
    return batch


@tf.function
def shorten(name):
    return tf.strings.substr(name, 0, 3)


def plain(batch, number):
    return model(batch) * number


for i, batch in enumerate(batches):
    # Tensors, or NumPy numbers, which are tensors to tf.function.
    step(batch, tf.constant(i))
    step(batch, tf.convert_to_tensor(0.5 * i))
    step(batch, np.float32(i))
    # A signature turns numbers into tensors.
    signed(batch, i)
    # Two values, then four.
    step(batch, tf.constant(1), training=i > 100)
    step(batch, i % 4)
    step(batch, i // 100000)
    # Not compiled.
    plain(batch, i)
    # Once in so many steps.
    if i % 500 == 0:
        step(batch, i)

for i, batch in batches.enumerate():
    # tf.data counts in tensors.
    step(batch, i)

for k in range(20):
    head(x, k)
    unrolled(x, k)

for k in range(20):
    log(x, f"loss {k}")
    # A tensor, and an array, which is one to tf.function.
    shorten(tf.constant(f"loss {k}"))
    shorten(np.array([f"loss {k}"]))
    # Four values.
    shorten(f"loss {k % 4}")

for name in sys.argv:
    # Of which nothing is known.
    shorten(name)

for mode in ("train", "test"):
    # Two values.
    shorten(mode)

for size in range(5):
    # Five turns.
    step(x, size)

rate = 0.1
for batch in batches:
    # The same number every time.
    step(batch, rate)
    step(batch, 3)
    step(batch, count)


@tf.function
def whole(data):
    # Inside of compiled code there is one trace of it all.
    for i in range(30):
        step(data, i)


whole(x)


def test_numbers():
    for i in range(30):
        step(x, i)
