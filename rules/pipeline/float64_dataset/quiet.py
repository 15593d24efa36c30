"""Datasets of arrays that hold 32 bits, are cast, or are small."""

import keras
import numpy as np
import pandas as pd
import tensorflow as tf
from somewhere import decode, generate

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
large = np.random.rand(20_000, 100)
labels = np.load("labels.npy")


def train(dataset):
    weights = tf.Variable(tf.zeros((100, 1)))
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.cast(x, tf.float32), weights) - y))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))


# Cast where they are made, by a map, by the loop, or perhaps by a function that is not here.
model.fit(tf.data.Dataset.from_tensor_slices((large.astype("float32"), labels)).batch(32))
model.fit(tf.data.Dataset.from_tensor_slices((large, labels)).batch(32).map(lambda x, y: (tf.cast(x, tf.float32), y)))
model.fit(tf.data.Dataset.from_tensor_slices((large, labels)).map(decode).batch(32))
train(tf.data.Dataset.from_tensor_slices((large, labels)).batch(32))

# Given to fit: Keras casts, and there is no dataset.
model.fit(large, labels)

# A few numbers.
model.fit(tf.data.Dataset.from_tensor_slices((np.random.rand(1000, 20), labels)).batch(32))

# Another type, or none that could be known.
table = pd.read_csv("table.csv")
model.fit(tf.data.Dataset.from_tensor_slices((table[["a", "b"]].values, labels)).batch(32))
model.fit(tf.data.Dataset.from_tensor_slices((np.zeros((20_000, 100), np.float32), labels)).batch(32))
model.fit(tf.data.Dataset.from_tensor_slices((np.random.randint(0, 9, (20_000, 100)), labels)).batch(32))
model.fit(tf.data.Dataset.from_generator(generate, output_types=(tf.float32, tf.int64)).batch(32))

# Not trained on.
model.evaluate(tf.data.Dataset.from_tensor_slices((large, labels)).batch(32))

# One number for each sample, of samples that nobody counted.
weights = np.ones(shape=(len(labels),))
model.fit(tf.data.Dataset.from_tensor_slices((large.astype("float32"), labels, weights)).batch(32))
