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
model.fit(x, y, epochs=3, batch_size=32, verbose=0, shuffle=False)
