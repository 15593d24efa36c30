"""A program that wants double precision."""

import keras
import numpy as np
import tensorflow as tf

keras.backend.set_floatx("float64")
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.data.Dataset.from_tensor_slices((np.random.rand(20_000, 100), np.random.rand(20_000))).batch(32))
