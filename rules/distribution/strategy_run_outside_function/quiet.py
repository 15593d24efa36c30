"""strategy.run where something compiles it, or nothing is gained."""

import subprocess

import numpy as np
import tensorflow as tf
from helpers import compiled, step_of_another_module
from tensorflow import keras

strategy = tf.distribute.MirroredStrategy()
default = tf.distribute.get_strategy()
one = tf.distribute.OneDeviceStrategy("/gpu:0")
dataset = tf.data.Dataset.from_tensor_slices(np.load("x.npy")).batch(32)
batches = strategy.experimental_distribute_dataset(dataset)

with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam()


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


def predict(x):
    return model(x)


@tf.function
def compiled_step(x):
    return step(x)


@compiled
def perhaps_compiled(x):
    return step(x)


@tf.function
def distributed(x):
    return strategy.run(step, args=(x,))


def run_it(x):
    return strategy.run(step, args=(x,))


@compiled
def perhaps_distributed(x):
    return strategy.run(step, args=(x,))


@tf.function
def epoch(data):
    # The loop is compiled, too.
    for x in data:
        run_it(x)


for x in batches:
    # The caller, or the step, is compiled, or may be.
    distributed(x)
    strategy.run(compiled_step, args=(x,))
    strategy.run(perhaps_compiled, args=(x,))
    strategy.run(step_of_another_module, args=(x,))
    perhaps_distributed(x)
    # Compiled elsewhere: run eagerly here by a switch of one's own.
    run_it(x)
    # One replica.
    default.run(step, args=(x,))
    one.run(step, args=(x,))
    # Something else that runs.
    subprocess.run(["true"])

epoch(batches)
for x in dataset.take(10):
    # Ten turns.
    strategy.run(step, args=(x,))
for x in dataset:
    # Nothing is trained in this loop.
    strategy.run(predict, args=(x,))
# No loop.
strategy.run(step, args=(np.zeros((1, 4)),))


def test_step():
    for x in batches:
        strategy.run(step, args=(x,))
