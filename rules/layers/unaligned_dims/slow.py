"""A classifier for short sequences under mixed precision, with round decimal widths."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
keras.config.set_dtype_policy("mixed_bfloat16")

rng = np.random.default_rng(0)
tokens = rng.integers(0, 50, (128, 6))
kinds = tokens[:, 0] // 10

model = keras.Sequential(
    [
        layers.Input((6,), dtype="int32"),
        layers.Embedding(50, 50),  # KC213:info
        layers.GlobalAveragePooling1D(),
        layers.Dense(100, activation="relu"),  # KC213
        layers.Dense(64, activation="relu"),
        layers.Dense(5, activation="softmax", dtype="float32"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy")
print("loss:", model.fit(tokens, kinds, epochs=2, verbose=0).history["loss"][-1])
