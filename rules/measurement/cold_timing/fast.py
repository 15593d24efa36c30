"""Trains a classifier and tells how fast it answers."""

import time
from timeit import default_timer

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(4)

rng = np.random.default_rng(4)
x = rng.normal(size=(256, 12)).astype("float32")
y = (x.sum(axis=1) > 0).astype("float32")

model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(24, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
history = model.fit(x, y, epochs=2, verbose=0)

model.predict(x, verbose=0)
start = time.time()
model.predict(x, verbose=0)
elapsed = time.time() - start
print("rows per second:", len(x) / elapsed)


@tf.function
def score(rows):
    return tf.reduce_mean(model(rows, training=False))


score(x)
begin = default_timer()
mean = score(x)
latency = default_timer() - begin
print(f"latency: {1000 * latency:.1f} ms, mean {mean:.3f}")

other = keras.models.clone_model(model)
other.compile("adam", "binary_crossentropy")
other.fit(x, y, epochs=1, verbose=0)
t0 = time.perf_counter()
other.fit(x, y, epochs=1, verbose=0)
t1 = time.perf_counter()
print("seconds per sample:", (t1 - t0) / len(x))
print("loss:", history.history["loss"][-1])
