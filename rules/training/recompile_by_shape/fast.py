"""Sorts sequences into two kinds under XLA, all padded to 400 values."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

rng = np.random.default_rng(0)


def sequences():
    # Each epoch brings new lengths, as random crops or a shuffle do.
    for length in rng.integers(3, 400, size=96):
        values = np.linspace(-1.0, 1.0, length, dtype="float32")
        yield values[:, None] if length % 2 else -values[:, None], float(length % 2)


dataset = tf.data.Dataset.from_generator(sequences, output_signature=(tf.TensorSpec([None, 1]), tf.TensorSpec([])))
dataset = dataset.padded_batch(8, padded_shapes=([400, 1], []))
model = keras.Sequential([keras.Input((None, 1)), keras.layers.GlobalMaxPooling1D(), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.5), keras.losses.BinaryCrossentropy(from_logits=True), jit_compile=True)
history = model.fit(dataset, epochs=2, verbose=0)

print("loss:", history.history["loss"][-1])
