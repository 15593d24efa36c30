import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

rng = np.random.default_rng(0)

x = rng.random((2048, 64), dtype="float32")
y = rng.integers(0, 10, 2048)
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=True)
for epoch in range(30):
    for start in range(0, 2048, 32):
        model.train_on_batch(x[start : start + 32], y[start : start + 32])
