"""Trains on small digits and on a table with few examples per step."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)

BATCH_SIZE = 4

rng = np.random.default_rng(0)
digits = rng.random((1024, 12, 12, 1)).astype("float32")
kinds = rng.integers(0, 4, 1024)
digits[np.arange(1024), kinds * 3] += 1

reader = keras.Sequential(
    [
        layers.Input((12, 12, 1)),
        layers.Conv2D(4, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(4, activation="softmax"),
    ]
)
reader.compile("adam", "sparse_categorical_crossentropy")
ds = tf.data.Dataset.from_tensor_slices((digits, kinds)).shuffle(1024).batch(BATCH_SIZE).prefetch(tf.data.AUTOTUNE)  # KC411:pedantic
reader.fit(ds, epochs=1, verbose=0)


def train(x, y, size=8):
    model = keras.Sequential()
    model.add(layers.Dense(16, activation="relu", input_shape=(6,)))
    model.add(layers.Dense(1))
    model.compile(keras.optimizers.Adam(0.01), "mse")
    return model.fit(x, y, batch_size=size, epochs=2, verbose=0)  # KC411:pedantic


table = rng.normal(size=(1024, 6)).astype("float32")
linear = keras.Sequential([layers.Dense(1, input_dim=table.shape[1])])
linear.compile("sgd", "mse")
linear.fit(table, table.mean(axis=1), epochs=1, verbose=0)  # KC411:pedantic
few = np.transpose(np.array([range(100), range(301, 401)]))
short = keras.Sequential([layers.Dense(1)])
short.compile("sgd", "mse")
short.fit(few / 401, np.arange(100) / 100, batch_size=1, verbose=0)  # KC411:pedantic
waves = rng.normal(size=(1024, 10, 1)).astype("float32")
memory = keras.Sequential([layers.LSTM(8, input_shape=waves.shape[1:]), layers.Dense(1)])
memory.compile("adam", "mse")
memory.fit(waves, waves[:, -1], batch_size=16, verbose=0)  # KC411:pedantic
history = train(table, table.sum(axis=1))
print("loss:", reader.evaluate(digits, kinds, verbose=0) + history.history["loss"][-1])
