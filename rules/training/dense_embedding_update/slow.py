"""Rates items with a large embedding."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(0)

ids = np.random.default_rng(0).integers(0, 1_000_000, (2048, 20))
ratings = np.sin(ids[:, :1]).astype("float32")

inputs = keras.Input((20,), dtype="int64")
x = keras.layers.Embedding(1_000_000, 32)(inputs)  # KC424
x = keras.layers.GlobalAveragePooling1D()(x)
model = keras.Model(inputs, keras.layers.Dense(1)(x))
model.compile("adam", "mse")
history = model.fit(ids, ratings, batch_size=64, epochs=2, verbose=2)
print("loss:", history.history["loss"][-1])
