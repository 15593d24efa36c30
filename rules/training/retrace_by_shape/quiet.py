"""Compiled functions in loops whose arguments have few shapes, or whose signature leaves them open."""

import numpy as np
import tensorflow as tf

source = tf.data.Dataset.from_generator(lambda: iter(np.load("x.npy")), output_signature=tf.TensorSpec([None]))
padded = source.padded_batch(8)


@tf.function
def step(values):
    return tf.reduce_sum(values)


@tf.function(reduce_retracing=True)
def relaxed(values):
    return tf.reduce_sum(values)


@tf.function(experimental_relax_shapes=True)
def relaxed_before(values):
    return tf.reduce_sum(values)


@tf.function(input_signature=[tf.TensorSpec([None, None])])
def signed(values):
    return tf.reduce_sum(values)


def plain(values):
    return tf.reduce_sum(values)


@tf.function(jit_compile=False, **{"reduce_retracing": True})
def spelled(values):
    return tf.reduce_sum(values)


options = {} if tf.__version__ < "2.9" else {"reduce_retracing": True}


@tf.function(**options)
def perhaps(values):
    return tf.reduce_sum(values)


for values in padded:
    # Dimensions are left open, or nothing is traced.
    relaxed(values)
    relaxed_before(values)
    signed(values)
    spelled(values)
    perhaps(values)
    plain(values)

for values in source.padded_batch(8, padded_shapes=[128]):
    # One length for all.
    step(values)

pairs = tf.data.Dataset.zip((source, source))
for values, labels in pairs.padded_batch(8, padded_shapes=([128], [None])):
    # The part with a length of its own is not given.
    step(values)

for values in source.bucket_by_sequence_length(tf.size, [10, 20], [8, 8, 8], pad_to_bucket_boundary=True):
    # A length for each bucket.
    step(values)

for values in padded.map(lambda batch: batch[:, :16]):
    # What follows may fix the shape.
    step(values)

for values in source.ragged_batch(8):
    # A ragged tensor has one type, whatever its rows are.
    step(values)

for values in tf.data.Dataset.from_tensor_slices(np.load("y.npy")).batch(8):
    # Only the last batch is smaller.
    step(values)

for values in padded.take(5):
    # Five traces.
    step(values)

x = tf.constant(np.load("y.npy"))
for i in range(100):
    # A window that moves.
    step(x[i : i + 8])
    step(x[i:][:8])

window = tf.zeros([8])
for value in x:
    # As much goes as comes.
    step(window)
    window = tf.concat([window[1:], value[None]], 0)

rows = tf.zeros([0])
for i in range(100):
    # Cut to size again.
    step(rows)
    rows = tf.concat([rows, x[:2]], 0)
    rows = rows[-8:]

total = tf.zeros([0])
for value in x:
    # Grows, but goes through nothing compiled before the end.
    total = tf.concat([total, value[None]], 0)
step(total)
for i in range(100):
    if i % 50 == 0:
        # Once in so many turns.
        step(x[:i])


def test_lengths():
    for values in padded:
        step(values)
