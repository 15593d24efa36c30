"""Steps that XLA does not compile, or whose batches have few shapes."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

source = tf.data.Dataset.from_generator(
    lambda: iter(np.load("x.npy")), output_signature=(tf.TensorSpec([None, 1]), tf.TensorSpec([]))
)
padded = source.padded_batch(8, padded_shapes=([None, 1], []))
rows = tf.data.Dataset.from_tensor_slices((np.load("x.npy"), np.load("y.npy")))


def network(layer, shape=(None, 1)):
    return keras.Sequential([keras.Input(shape), layer, keras.layers.GlobalMaxPooling1D(), keras.layers.Dense(1)])


model = network(keras.layers.Dense(4))
model.compile("sgd", "mse", jit_compile=True)
# One length for all, or for each bucket.
model.fit(source.padded_batch(8, padded_shapes=([64, 1], [])))
model.fit(source.bucket_by_sequence_length(lambda x, y: len(x), [16, 32], [8, 8, 8], pad_to_bucket_boundary=True))
# What follows may fix the shape.
model.fit(padded.map(lambda x, y: (x[:, :16], y)))
# Rows of an array.
model.fit(rows.padded_batch(8))
model.fit(rows.batch(8))
# Unknown data.
model.fit(load())
# A few steps.
model.fit(padded, steps_per_epoch=5)

# XLA is off, or may be.
off = network(keras.layers.Dense(4))
off.compile("sgd", "mse", jit_compile=False)
off.fit(padded)
unknown = network(keras.layers.Dense(4))
unknown.compile("sgd", "mse", jit_compile=use_xla)
unknown.fit(padded)
eager = network(keras.layers.Dense(4))
eager.compile("sgd", "mse", jit_compile=True, run_eagerly=debug)
eager.fit(padded)

# Its kernels of cuDNN switch XLA off.
recurrent = network(keras.layers.LSTM(4, return_sequences=True))
recurrent.compile("sgd", "mse", jit_compile=True)
recurrent.fit(padded)

# Raises for other lengths.
fixed = network(keras.layers.Dense(4), (64, 1))
fixed.compile("sgd", "mse", jit_compile=True)
fixed.fit(padded)


@tf.function(jit_compile=True)
def step(values):
    return tf.reduce_sum(values)


@tf.function(jit_compile=use_xla, reduce_retracing=True)
def perhaps(values):
    return tf.reduce_sum(values)


for values, labels in source.padded_batch(8, padded_shapes=([64, 1], [])):
    step(values)
for values, labels in padded.take(5):
    step(values)
for values, labels in padded:
    perhaps(values)


def test_lengths():
    for values, labels in padded:
        step(values)
