"""The layers that matter have a policy of their own."""

import keras
import numpy as np

half = keras.DTypePolicy("mixed_bfloat16")
model = keras.Sequential(
    [
        keras.Input((64, 64, 3)),
        keras.layers.Conv2D(256, 3, activation="relu", dtype=half),
        keras.layers.Conv2D(512, 3, activation="relu", dtype=half),
        keras.layers.GlobalAveragePooling2D(dtype=half),
        keras.layers.Dense(10),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(np.load("x.npy"), np.load("y.npy"), epochs=10)
