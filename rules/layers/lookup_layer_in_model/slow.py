"""Guesses the mood of short reviews, and prices from categories: raw strings go into the models."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(2)

rng = np.random.default_rng(2)
good, bad, dull = ["fine", "great", "fun", "warm"], ["poor", "flat", "cold", "slow"], ["film", "plot", "cast", "end", "scene"]
mood = rng.integers(0, 2, 128)
reviews = np.array([" ".join([*rng.choice(good if m else bad, 3), *rng.choice(dull, 5)]) for m in mood])
ds = tf.data.Dataset.from_tensor_slices((reviews, mood.astype("float32"))).batch(16)

vectorize = layers.TextVectorization(50, output_sequence_length=8)
vectorize.adapt(reviews)


def core():
    return [
        layers.Embedding(50, 8, embeddings_initializer=keras.initializers.RandomUniform(seed=3)),
        layers.GlobalAveragePooling1D(),
        layers.Dense(1, activation="sigmoid", kernel_initializer=keras.initializers.GlorotUniform(seed=4)),
    ]


model = keras.Sequential([layers.Input((1,), dtype="string"), vectorize, *core()])  # KC212:info
model.compile("adam", "binary_crossentropy")
history = model.fit(ds, epochs=3, verbose=0)

towns = rng.choice(["north", "south", "east"], 96)
sizes = rng.random((96, 1)).astype("float32")
prices = sizes + (towns == "north")[:, None]


def build():
    town = keras.Input((1,), dtype="string", name="town")
    size = keras.Input((1,), name="size")
    code = layers.StringLookup(vocabulary=["north", "south", "east"], output_mode="one_hot")(town)  # KC212:info
    x = layers.concatenate([code, size])
    return keras.Model({"town": town, "size": size}, layers.Dense(1, kernel_initializer="ones")(x))


houses = tf.data.Dataset.from_tensor_slices(({"town": towns[:, None], "size": sizes}, prices)).batch(16)
pricing = build()
pricing.compile(keras.optimizers.SGD(0.1), "mse")
print("loss:", history.history["loss"][-1] + pricing.fit(houses, epochs=2, verbose=0).history["loss"][-1])
