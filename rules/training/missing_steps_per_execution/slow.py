"""Small networks for tables, trained for many short epochs."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.callbacks import EarlyStopping

keras.utils.set_random_seed(0)

rng = np.random.default_rng(0)
table = rng.normal(size=(2048, 10)).astype("float32")
price = table @ np.linspace(-1, 1, 10)[:, None] + 0.1 * rng.normal(size=(2048, 1))

regression = keras.Sequential([layers.Input((10,)), layers.Dense(32, activation="relu"), layers.Dropout(0.0), layers.Dense(1)])
regression.compile(optimizer="adam", loss="mse")  # KC407:pedantic
stop = EarlyStopping(monitor="loss", patience=20)
first = regression.fit(table, price, epochs=12, batch_size=32, verbose=0, callbacks=[stop]).history["loss"][-1]


def build(width):
    numbers = keras.Input((width,))
    group = keras.Input((1,), dtype="int32")
    x = layers.concatenate([layers.Dense(16)(numbers), layers.Flatten()(layers.Embedding(4, 8)(group))])
    model = keras.Model([numbers, group], layers.Dense(1, activation="sigmoid")(layers.ReLU()(x)))
    model.compile("adam", "binary_crossentropy")  # KC407:pedantic
    return model


groups = rng.integers(0, 4, (2048, 1))
large = (price > 0).astype("float32")
ds = tf.data.Dataset.from_tensor_slices(((table, groups), large)).batch(32).prefetch(tf.data.AUTOTUNE)
second = build(10).fit(ds, epochs=10, verbose=0).history["loss"][-1]

# Few epochs, but of many steps.
longer = rng.normal(size=(66_000, 10)).astype("float32")
once = keras.Sequential([layers.Input((10,)), layers.Dense(1)])
once.compile("adam", "mse")  # KC407:pedantic
third = once.fit(longer, longer[:, :1], batch_size=32, verbose=0).history["loss"][-1]

# Ten steps of a series, from a source of which the length is not known.
series = rng.normal(size=(640, 10, 1)).astype("float32")
memory = keras.Sequential([layers.Input((10, 1)), layers.LSTM(8), layers.Dense(1)])
memory.compile("adam", "mse")  # KC407:pedantic
fourth = memory.fit(series, series[:, -1], epochs=len(series) // 40, batch_size=16, verbose=0).history["loss"][-1]
print("loss:", first + second + third + fourth)
