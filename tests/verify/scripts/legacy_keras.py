"""Legacy tf.keras (tf-keras): run with TF_USE_LEGACY_KERAS=1."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.random((2048, 64), dtype="float32")
y = rng.integers(0, 10, 2048)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(10)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=True)
model.fit(data, validation_data=data, epochs=3, verbose=0)
