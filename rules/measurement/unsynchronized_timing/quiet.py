"""Clocks that wait for the result, or that do not tell a speed."""

import time

import keras
import numpy as np
import tensorflow as tf

x = tf.random.normal((1024, 16))
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
batches = tf.data.Dataset.from_tensor_slices(x).batch(32)


@tf.function
def forward(features):
    return tf.reduce_mean(model(features))


# The result is read.
start = time.time()
forward(x).numpy()
print("rows per second:", 1024 / (time.time() - start))

start = time.time()
model(x).numpy()
print("took", time.time() - start)

# Something else is measured too, or it.
start = time.time()
rows = model(np.load("rows.npy"))
print("took", time.time() - start)
start = time.time()
for row in range(3):
    tf.print(tf.linalg.matmul(x, x, transpose_a=True))
print("took", time.time() - start)
start = time.time()
squares = x * x
print("took", time.time() - start)

# It is read by a function.
start = time.time()
print(float(forward(x)))
print("rows per second:", 1024 / (time.time() - start))

# The devices are waited for.
start = time.time()
for _ in range(10):
    forward(x)
tf.test.experimental.sync_devices()
print("rows per second:", 10240 / (time.time() - start))

# predict returns an array.
start = time.time()
model.predict(x)
print("rows per second:", 1024 / (time.time() - start))

# How long the program took.
start = time.time()
forward(x)
print("done after", time.time() - start)

# A pass over the data, the last result of which is read.
for epoch in range(3):
    start = time.time()
    for features in batches:
        last = forward(features)
    print("loss:", float(last), "took", time.time() - start)

# How long all of it took.
start = time.time()
for features in batches:
    forward(features)
print("done after", time.time() - start)

# The CPU is done when it returns.
with tf.device("/cpu:0"):
    forward(x)
start = time.time()
with tf.device("/cpu:0"):
    forward(x)
print("on the CPU:", time.time() - start)

# NumPy does not run on devices.
start = time.time()
np.linalg.svd(np.ones((64, 64)))
print("matrices per second:", 1 / (time.time() - start))


def bench():
    # Nobody calls this here.
    start = time.time()
    forward(x)
    return 1024 / (time.time() - start)


def test_speed():
    # A test.
    start = time.time()
    forward(x)
    assert 1024 / (time.time() - start) > 10
