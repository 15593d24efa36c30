"""Classifies rows by the sign of their sum with a small dense network."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


def load(rows):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 10)).astype("float32")
    y = (x.sum(axis=1) > 0).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(32)


train = load(256)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
gpus = tf.config.list_physical_devices("GPU")
if gpus:
    try:
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)  # KC307
    except RuntimeError as error:
        print(error)
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
history = model.fit(train, epochs=3, verbose=0)
print("loss:", history.history["loss"][-1])
