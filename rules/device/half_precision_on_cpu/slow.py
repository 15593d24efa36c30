"""A script for a machine without a GPU, with settings from one that had it."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_bfloat16")  # KC314:warning

rng = np.random.default_rng(0)
pictures = rng.random((128, 12, 12, 1)).astype("float32")
bright = (pictures.mean(axis=(1, 2, 3)) > 0.5).astype("int32")

model = keras.Sequential(
    [keras.Input((12, 12, 1)), layers.Conv2D(8, 3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(2, dtype="float32")]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=True)  # KC314
print("loss:", model.fit(pictures, bright, epochs=2, verbose=0).history["loss"][-1])
