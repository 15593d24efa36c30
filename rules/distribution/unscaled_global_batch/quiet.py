"""Strategies beside batches that are none of their business, or are scaled somewhere."""

import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")


def build():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


# One device.
one = tf.distribute.MirroredStrategy(["GPU:0"])
with one.scope():
    build().fit(x, y, batch_size=64)

default = tf.distribute.get_strategy()
with default.scope():
    build().fit(x, y, batch_size=64)

strategy = tf.distribute.MirroredStrategy()

# Not in the scope.
alone = build()
alone.fit(x, y, batch_size=64)

with strategy.scope():
    model = build()

# From outside.
model.fit(x, y, batch_size=int(sys.argv[1]))
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(int(sys.argv[1])).prefetch(1))


# The batches of one worker.
def make(context):
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(64).prefetch(1)


model.fit(strategy.distribute_datasets_from_function(make))

# Only looked at.
for batch in strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(64)):
    print(batch)

# Validation.
model.fit(x, y, batch_size=int(sys.argv[1]), validation_data=tf.data.Dataset.from_tensor_slices((x, y)).batch(8))
