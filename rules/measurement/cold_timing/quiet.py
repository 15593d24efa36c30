"""Clocks around what is warm, long, or cold on purpose."""

import time

import benchmarks
import keras
import numpy as np
import tensorflow as tf

x, y = np.load("x.npy"), np.load("y.npy")


def build():
    model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(32), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


# How long the training took.
model = build()
start = time.time()
model.fit(x, y, epochs=1)
print("training took", time.time() - start)

# A speed, over very many epochs.
other = build()
start = time.time()
other.fit(x, y, epochs=100)
print("steps per second:", 100 * len(x) / 32 / (time.time() - start))

# The same ran before.
model.predict(x[:32])
start = time.time()
model.predict(x[:32])
print("rows per second:", 32 / (time.time() - start))

# fit has validated with the step of evaluate.
checked = build()
checked.fit(x, y, validation_data=(x, y))
start = time.time()
checked.evaluate(x, y)
print("rows per second:", len(x) / (time.time() - start))

# Code that is not visible may have run it.
given = build()
benchmarks.prepare(given)
start = time.time()
given.predict(x)
print("rows per second:", len(x) / (time.time() - start))

# Where the model comes from is not visible, nor is what was done with it there.
start = time.time()
benchmarks.MODEL.predict(x)
print("rows per second:", len(x) / (time.time() - start))

# That is what is asked for.
fresh = build()
start = time.perf_counter()
fresh.predict(x)
print("first call, with tracing, per row:", (time.perf_counter() - start) / len(x))

# Repeated by a loop.
repeated = build()
times = []
for _ in range(50):
    start = time.perf_counter()
    repeated.predict_on_batch(x[:32])
    times.append(time.perf_counter() - start)
print("median latency:", np.median(times[1:]))


@tf.function
def step(features):
    return tf.reduce_sum(features)


# A pass over the data.
batches = tf.data.Dataset.from_tensor_slices(x).batch(32)
start = time.time()
for features in batches:
    step(features)
print("rows per second:", len(x) / (time.time() - start))

# Several things together.
both = build()
start = time.time()
both.fit(x, y)
both.predict(x)
print("rows per second:", len(x) / (time.time() - start))

# No compiled function at all.
start = time.time()
np.linalg.svd(x)
print("rows per second:", len(x) / (time.time() - start))


def bench(model):
    # Nobody calls this here.
    fresh = build()
    start = time.time()
    fresh.predict(x)
    return len(x) / (time.time() - start)


def test_speed():
    # A test.
    fresh = build()
    start = time.time()
    fresh.predict(x)
    assert len(x) / (time.time() - start) > 10
