"""Learns which of two numbers is larger, in half precision."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_float16")

rng = np.random.default_rng(0)
x = rng.uniform(size=(256, 2)).astype("float32")
y = (x[:, 0] > x[:, 1]).astype("float32")

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(1, dtype="float32")])
model.compile(keras.optimizers.SGD(0.1), keras.losses.BinaryCrossentropy(from_logits=True))
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).prefetch(tf.data.AUTOTUNE)
print("loss:", model.fit(data, epochs=4, verbose=0).history["loss"][-1])
