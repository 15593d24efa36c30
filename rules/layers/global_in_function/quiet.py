"""Globals that never change, that are no Python numbers, or that are not read while something is traced."""

import tensorflow as tf

BATCH = 32
RATE = 0.1
section = 1
rate = tf.Variable(0.1)
steps = 0
traces = 0
epoch = 0


@tf.function
def constants(x):
    # Nothing changes these.
    return x * RATE + BATCH


@tf.function
def variable(x):
    # A tf.Variable is read in every step.
    return x * rate


@tf.function
def sections(x):
    # A later section of the script sets it anew, for functions of its own.
    return x * section


section = 2


@tf.function
def argument(x, epoch):
    # Its own parameter, and a keyword of another function.
    steps = 1
    return tf.cast(x, tf.float32) * steps * tf.reduce_sum(tf.ones(3)) * epoch


@tf.function
def counted(x):
    # It changes while this is traced, and by this.
    global traces
    traces += 1
    return x


def plain(x):
    # Not compiled.
    return x * epoch + steps


for i in range(3):
    rate.assign(0.9 * rate)
    epoch += 1
    steps += 1
    print(constants(1.0), variable(1.0), sections(1.0), argument(1.0, epoch=tf.constant(1.0)), counted(1.0), plain(1.0))
