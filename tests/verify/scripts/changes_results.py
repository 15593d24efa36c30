import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

rng = np.random.default_rng(0)

x = rng.random((2048, 64), dtype="float32")
y = rng.integers(0, 10, 2048)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
model.compile(keras.optimizers.SGD(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=True)
model.fit(data, epochs=3, verbose=0)
