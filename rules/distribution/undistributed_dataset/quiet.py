"""Loops around strategy.run whose replicas get different data, or with a single replica."""

import subprocess

import numpy as np
import tensorflow as tf
from tensorflow import keras

strategy = tf.distribute.MirroredStrategy()
one = tf.distribute.MirroredStrategy(["GPU:0"])
default = tf.distribute.get_strategy()
single = tf.distribute.OneDeviceStrategy("/gpu:0")
workers = tf.distribute.MultiWorkerMirroredStrategy()
chosen = tf.distribute.MirroredStrategy() if several else tf.distribute.get_strategy()
dataset = tf.data.Dataset.from_tensor_slices(np.load("x.npy")).batch(32)
batches = strategy.experimental_distribute_dataset(dataset)
parts = strategy.distribute_datasets_from_function(lambda context: dataset)
perhaps = strategy.experimental_distribute_dataset(dataset) if several else dataset

with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])


@tf.function
def step(x):
    return model(x)


@tf.function
def changed(x):
    x = divide(x)
    return strategy.run(step, args=(x,))


# Distributed, or perhaps.
for x in batches:
    strategy.run(step, args=(x,))
for x in parts:
    strategy.run(step, args=(x,))
for x in perhaps:
    strategy.run(step, args=(x,))
# Unknown data.
for x in load():
    strategy.run(step, args=(x,))
# The batch changes before the step gets it.
for x in dataset:
    changed(x)
for x in dataset:
    x = divide(x)
    strategy.run(step, args=(x,))
for x in dataset:
    strategy.run(step, args=(divide(x),))
# Another value.
for x in dataset:
    strategy.run(step, args=(y,))
# One replica, or one on each worker.
for x in dataset:
    one.run(step, args=(x,))
for x in dataset:
    default.run(step, args=(x,))
for x in dataset:
    single.run(step, args=(x,))
for x in dataset:
    workers.run(step, args=(x,))
# The same condition may choose both.
if not several:
    for x in dataset:
        chosen.run(step, args=(x,))
# A number of the step.
for i in tf.data.Dataset.range(1000):
    strategy.run(step, args=(i,))
# A few steps.
for x in dataset.take(5):
    strategy.run(step, args=(x,))
# Something else that runs.
for x in dataset:
    subprocess.run(["true"])


def test_step():
    for x in dataset:
        strategy.run(step, args=(x,))
